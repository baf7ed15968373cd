// What the HIP tests share: a loaded module, device buffers that free themselves, and the report of the last failure.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>
#include <vector>

#include "catch.h"
#include "files.h"
#include "simulator/hip/mlaforge_simulator.h"

inline std::string report() { return mlaforge_simulator_last_report(); }

#define REQUIRE_HIP(call)                 \
  do {                                    \
    const hipError_t hip_result = (call); \
    INFO(#call << ": " << report());      \
    REQUIRE(hip_result == hipSuccess);    \
  } while (false)

struct LoadedModule {
  hipModule_t handle = nullptr;

  explicit LoadedModule(const std::string& name = "gfx950.co") {
    REQUIRE_HIP(hipModuleLoad(&handle, code_object_path(name).c_str()));
  }
  ~LoadedModule() {
    if (handle != nullptr) (void)hipModuleUnload(handle);
  }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  hipFunction_t function(const char* name) const {
    hipFunction_t result = nullptr;
    REQUIRE_HIP(hipModuleGetFunction(&result, handle, name));
    return result;
  }
};

template <typename T>
struct DeviceBuffer {
  T* data = nullptr;
  size_t count = 0;

  explicit DeviceBuffer(const std::vector<T>& values) : count(values.size()) {
    REQUIRE_HIP(hipMalloc(reinterpret_cast<void**>(&data), count * sizeof(T)));
    REQUIRE_HIP(hipMemcpy(data, values.data(), count * sizeof(T), hipMemcpyHostToDevice));
  }
  ~DeviceBuffer() { (void)hipFree(data); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  std::vector<T> read() const {
    std::vector<T> values(count);
    REQUIRE_HIP(hipMemcpy(values.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }
};

// Launches with kernelParams.
template <typename... Arguments>
hipError_t launch(hipFunction_t function, unsigned grid, unsigned block, Arguments... arguments) {
  void* parameters[] = {&arguments..., nullptr};
  return hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, parameters, nullptr);
}
