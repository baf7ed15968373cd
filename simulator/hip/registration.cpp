#include "simulator/hip/registration.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"

namespace mlaforge::simulator {
namespace {

// What hipcc emits into .hipFatBinSegment.
struct FatBinaryWrapper {
  uint32_t magic;
  uint32_t version;
  const void* binary;
  const void* unused;
};

constexpr uint32_t kFatBinaryMagic = 0x48495046;  // "FPIH" in memory

struct ManagedVariable {
  std::string name;
  uint64_t address = 0;
};

struct FatBinary {
  const void* image = nullptr;
  std::array<std::shared_ptr<Module>, DeviceMemory::kMaxDevices> modules;  // by device; null until first used
  std::vector<ManagedVariable> managed;
};

struct Symbol {
  FatBinary* binary = nullptr;
  std::string name;
};

struct Registry {
  std::mutex mutex;
  std::map<void**, std::unique_ptr<FatBinary>> binaries;
  std::map<const void*, Symbol> kernels;
  std::map<const void*, Symbol> variables;
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

Module& loaded_module(FatBinary& binary, int device) {
  std::shared_ptr<Module>& kept = binary.modules[static_cast<size_t>(device)];
  if (!kept) {
    auto module = load_module(image_at(binary.image), "the program's fat binary", device);
    for (const ManagedVariable& managed : binary.managed) {
      // The device's variable is a pointer to the managed memory.
      const GlobalVariable& variable = find_variable(*module, managed.name);
      std::memcpy(reinterpret_cast<void*>(module->base + variable.address), &managed.address, sizeof managed.address);
    }
    kept = std::move(module);
  }
  return *kept;
}

FatBinary* find_binary(void** handle) {
  const auto at = registry().binaries.find(handle);
  return at == registry().binaries.end() ? nullptr : at->second.get();
}

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t lds_bytes;
  hipStream_t stream;
};

std::vector<CallConfiguration>& call_configurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

}  // namespace

std::shared_ptr<DeviceFunction> registered_function(const void* host_stub, int device) {
  const std::scoped_lock lock(registry().mutex);
  const auto at = registry().kernels.find(host_stub);
  return at == registry().kernels.end() ? nullptr
                                        : find_function(loaded_module(*at->second.binary, device), at->second.name);
}

DeviceVariable registered_variable(const void* host_shadow, int device) {
  const std::scoped_lock lock(registry().mutex);
  const auto at = registry().variables.find(host_shadow);
  if (at == registry().variables.end()) {
    fail(hipErrorInvalidSymbol, fmt::format("symbol {} is no registered device variable", host_shadow));
  }
  const Module& module = loaded_module(*at->second.binary, device);
  const GlobalVariable& variable = find_variable(module, at->second.name);
  return {.address = module.base + variable.address, .bytes = variable.bytes};
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  // A bad wrapper is no binary; the launches that would need it then report an unregistered function.
  if (wrapper == nullptr || wrapper->magic != kFatBinaryMagic || wrapper->binary == nullptr) return nullptr;
  auto binary = std::make_unique<FatBinary>();
  binary->image = wrapper->binary;
  auto** handle = reinterpret_cast<void**>(binary.get());
  const std::scoped_lock lock(registry().mutex);
  registry().binaries[handle] = std::move(binary);
  return handle;
}

MLAFORGE_HIP_EXPORT void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* device_name,
                                               unsigned int, void*, void*, dim3*, dim3*, int*) {
  const std::scoped_lock lock(registry().mutex);
  if (FatBinary* binary = find_binary(handle)) registry().kernels[host_function] = {binary, device_name};
}

MLAFORGE_HIP_EXPORT void __hipRegisterVar(void** handle, void* host_shadow, char*, char* device_name, int, size_t, int,
                                          int) {
  const std::scoped_lock lock(registry().mutex);
  if (FatBinary* binary = find_binary(handle)) registry().variables[host_shadow] = {binary, device_name};
}

MLAFORGE_HIP_EXPORT void __hipRegisterManagedVar(void* handle, void** pointer, void* initial_value, const char* name,
                                                 size_t bytes, unsigned) {
  const std::scoped_lock lock(registry().mutex);
  FatBinary* binary = find_binary(static_cast<void**>(handle));
  if (binary == nullptr || bytes == 0) return;
  const auto address = machine().memory.allocate(bytes, RegionKind::managed, std::string("managed variable ") + name);
  if (!address) return;
  *pointer = reinterpret_cast<void*>(*address);
  if (initial_value != nullptr) std::memcpy(*pointer, initial_value, bytes);
  binary->managed.push_back({.name = name, .address = *address});
  registry().variables[pointer] = {binary, name};
}

// Textures and surfaces do not exist on the device; their registration alone does no harm.
MLAFORGE_HIP_EXPORT void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}
MLAFORGE_HIP_EXPORT void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) {}

MLAFORGE_HIP_EXPORT void __hipUnregisterFatBinary(void** handle) {
  const std::scoped_lock lock(registry().mutex);
  FatBinary* binary = find_binary(handle);
  if (binary == nullptr) return;
  std::erase_if(registry().kernels, [&](const auto& entry) { return entry.second.binary == binary; });
  std::erase_if(registry().variables, [&](const auto& entry) { return entry.second.binary == binary; });
  registry().binaries.erase(handle);
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds_bytes, hipStream_t stream) {
  return guarded(__func__, [&] { call_configurations().push_back({grid, block, lds_bytes, stream}); });
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds_bytes, hipStream_t* stream) {
  return guarded(__func__, [&] {
    auto& stack = call_configurations();
    if (stack.empty()) fail(hipErrorMissingConfiguration, "no launch configuration was pushed");
    const CallConfiguration top = stack.back();
    stack.pop_back();
    *grid = top.grid;
    *block = top.block;
    *lds_bytes = top.lds_bytes;
    *stream = top.stream;
  });
}

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return guarded(__func__, [&] {
    require(address, "devPtr");
    *address = reinterpret_cast<void*>(registered_variable(symbol, current_device()).address);
  });
}

hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return guarded(__func__, [&] {
    require(bytes, "size");
    *bytes = registered_variable(symbol, current_device()).bytes;
  });
}
