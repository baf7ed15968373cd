// A HIP table for tests that records its calls and fails where it is told to. One at a time: HIP's calls carry no
// context.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "runtime/src/hip_api.h"

namespace mlaforge::test {

struct RecordedLaunch {
  HipFunction function;
  unsigned grid, threads;
  HipStream stream;
  std::string arguments;  ///< the packed argument buffer's bytes
};

/// State behind the fake's functions. A module's handle is 1 + its index in `loaded`; a function's is 100 + its in
/// `functions`.
struct FakeHip {
  std::string target = "gfx950:sramecc+:xnack-";
  size_t target_offset = 396;  ///< where the properties struct carries it
  int devices = 2;
  int current_device = 1;
  std::string failing_call;  ///< HIP's name of the call that returns an error
  std::vector<std::string> calls;
  std::vector<std::string> loaded;     ///< the first bytes of each image: here, the symbol that it holds
  std::vector<std::string> functions;  ///< symbols asked for
  int unloaded = 0;
  std::vector<RecordedLaunch> launches;
};

inline FakeHip* fake = nullptr;

inline int called(const char* name) {
  fake->calls.emplace_back(name);
  return fake->failing_call == name ? 999 : 0;
}

inline int record_launch(HipFunction function, unsigned grid, unsigned grid_y, unsigned grid_z, unsigned threads,
                         unsigned block_y, unsigned block_z, unsigned shared_bytes, HipStream stream, void** parameters,
                         void** extra) {
  const int error = called("hipModuleLaunchKernel");
  const bool packed = parameters == nullptr && reinterpret_cast<uintptr_t>(extra[0]) == 1 &&
                      reinterpret_cast<uintptr_t>(extra[2]) == 2 && reinterpret_cast<uintptr_t>(extra[4]) == 3;
  if (error != 0 || !packed || grid_y * grid_z * block_y * block_z != 1 || shared_bytes != 0) {
    return 999;
  }
  fake->launches.push_back(
      {function, grid, threads, stream, std::string(static_cast<char*>(extra[1]), *static_cast<size_t*>(extra[3]))});
  return 0;
}

/// The table over `state`, which must outlive its use.
inline HipApi fake_api(FakeHip& state) {
  fake = &state;
  HipApi api;
  api.path = "fake";
  api.get_device_count = [](int* count) {
    *count = fake->devices;
    return called("hipGetDeviceCount");
  };
  api.get_device = [](int* device) {
    *device = fake->current_device;
    return called("hipGetDevice");
  };
  api.set_device = [](int device) {
    fake->current_device = device;
    return called("hipSetDevice");
  };
  api.get_device_properties = [](void* properties, int) {
    std::strcpy(static_cast<char*>(properties), "Fake of gfx950");
    std::strcpy(static_cast<char*>(properties) + fake->target_offset, fake->target.c_str());
    return called("hipGetDeviceProperties");
  };
  api.device_get_attribute = [](int* value, int, int) {
    *value = 256;
    return called("hipDeviceGetAttribute");
  };
  api.module_load_data = [](HipModule* module, const void* image) {
    if (const int error = called("hipModuleLoadData"); error != 0) {
      return error;
    }
    fake->loaded.emplace_back(static_cast<const char*>(image));
    *module = reinterpret_cast<HipModule>(fake->loaded.size());
    return 0;
  };
  api.module_unload = [](HipModule) {
    ++fake->unloaded;
    return called("hipModuleUnload");
  };
  api.module_get_function = [](HipFunction* function, HipModule module, const char* name) {
    const int error = called("hipModuleGetFunction");
    if (error != 0 || fake->loaded[reinterpret_cast<size_t>(module) - 1] != name) {
      return 500;
    }
    fake->functions.emplace_back(name);
    *function = reinterpret_cast<HipFunction>(99 + fake->functions.size());
    return 0;
  };
  api.module_launch_kernel = record_launch;
  api.get_error_string = [](int) { return "fake failure"; };
  return api;
}

/// The symbol of a function handle.
inline std::string symbol(HipFunction function) { return fake->functions[reinterpret_cast<size_t>(function) - 100]; }

}  // namespace mlaforge::test
