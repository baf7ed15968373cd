// Code objects placed in device memory, and their kernels as launchable functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/hip/handle_table.h"
#include "simulator/hip/hip_types.h"
#include "simulator/loader/code_object.h"

namespace mlaforge::simulator {

struct Module;

struct DeviceFunction {
  KernelCode code;
  KernelMetadata metadata;
  int device = 0;
  std::weak_ptr<const Module> module;  // expired: unloaded, its memory is gone
};

struct Module {
  std::string name;  // for messages: the file's, or "code object at 0x..."
  CodeObject object;
  int device = 0;
  uint64_t base = 0;
  std::vector<uint64_t> regions;
  std::vector<std::shared_ptr<DeviceFunction>> functions;

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();
};

HandleTable<Module>& modules();
HandleTable<DeviceFunction>& functions();

// The bytes of the bundle or code object that a pointer without a size points to.
Bytes image_at(const void* image);

// Places a code object or bundle in the memory of `device`. Throws ApiError.
std::shared_ptr<Module> load_module(Bytes file, std::string name, int device);

// A function or variable of a module. Throws ApiError with hipErrorNotFound that names the nearest.
std::shared_ptr<DeviceFunction> find_function(const Module& module, std::string_view name);
const GlobalVariable& find_variable(const Module& module, std::string_view name);

// A handle of hipModuleGetFunction, or the address of a registered host stub, whose module is then that of `device`.
// Throws ApiError.
std::shared_ptr<DeviceFunction> resolve_function(const void* handle_or_stub, int device);

}  // namespace mlaforge::simulator
