// A HIP table for tests that records its calls and fails where it is told to. One at a time, for any number of threads:
// HIP's calls carry no context.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/src/hip_api.h"

namespace mlaforge::test {

inline constexpr size_t image_header_bytes = 64;  ///< of an ELF, before the symbol that stands for its contents

struct RecordedLaunch {
  HipFunction function;
  unsigned grid, grid_y, threads;
  HipStream stream;
  std::string arguments;  ///< the packed argument buffer's bytes
};

/// State behind the fake's functions. A module's handle is 1 + its index in `loaded`; a function's is 100 + its in
/// `functions`.
struct FakeHip {
  std::mutex mutex;
  std::string target = "gfx950:sramecc+:xnack-";
  size_t target_offset = 396;  ///< where the properties struct carries it
  int devices = 2;
  std::string failing_call;  ///< HIP's name of the call that returns an error
  size_t failing_at = 0;     ///< the call of this place, from 1, returns an error
  std::vector<std::string> calls;
  std::vector<std::string> loaded;     ///< the symbol that each image holds
  std::vector<int> loaded_on;          ///< the device that was current then
  std::vector<std::string> functions;  ///< symbols asked for
  std::vector<int> unloads;            ///< of each module
  std::map<HipStream, int> streams;    ///< devices of streams; 0 where not said
  std::vector<RecordedLaunch> launches;

  FakeHip* before = nullptr;  ///< the table in use before this one, and again after it

  FakeHip() = default;
  FakeHip(const FakeHip&) = delete;
  FakeHip& operator=(const FakeHip&) = delete;
  ~FakeHip();

  int unloaded() const {
    int count = 0;
    for (const int unloads_of_module : unloads) {
      count += unloads_of_module;
    }
    return count;
  }
};

inline FakeHip* fake = nullptr;
inline FakeHip::~FakeHip() {
  if (fake == this) {
    fake = before;
  }
}

inline thread_local int current_device = 1;  ///< as hipSetDevice left it

/// Notes a call under the lock that the caller holds; the error that it is to return.
inline int called(const char* name) {
  fake->calls.emplace_back(name);
  return fake->failing_call == name || fake->failing_at == fake->calls.size() ? 999 : 0;
}

inline int record_launch(HipFunction function, unsigned grid, unsigned grid_y, unsigned grid_z, unsigned threads,
                         unsigned block_y, unsigned block_z, unsigned shared_bytes, HipStream stream, void** parameters,
                         void** extra) {
  const std::scoped_lock lock(fake->mutex);
  const int error = called("hipModuleLaunchKernel");
  const bool packed = parameters == nullptr && reinterpret_cast<uintptr_t>(extra[0]) == 1 &&
                      reinterpret_cast<uintptr_t>(extra[2]) == 2 && reinterpret_cast<uintptr_t>(extra[4]) == 3;
  if (error != 0 || !packed || grid_z * block_y * block_z != 1 || shared_bytes != 0) {
    return 999;
  }
  fake->launches.push_back({function, grid, grid_y, threads, stream,
                            std::string(static_cast<char*>(extra[1]), *static_cast<size_t*>(extra[3]))});
  return 0;
}

inline int load_module(HipModule* module, const void* image) {
  const std::scoped_lock lock(fake->mutex);
  if (const int error = called("hipModuleLoadData"); error != 0) {
    return error;
  }
  fake->loaded.emplace_back(static_cast<const char*>(image) + image_header_bytes);
  fake->loaded_on.push_back(current_device);
  fake->unloads.push_back(0);
  *module = reinterpret_cast<HipModule>(fake->loaded.size());
  return 0;
}

inline int unload_module(HipModule module) {
  const std::scoped_lock lock(fake->mutex);
  ++fake->unloads.at(reinterpret_cast<size_t>(module) - 1);
  return called("hipModuleUnload");
}

inline int get_function(HipFunction* function, HipModule module, const char* name) {
  const std::scoped_lock lock(fake->mutex);
  const int error = called("hipModuleGetFunction");
  if (error != 0 || fake->loaded[reinterpret_cast<size_t>(module) - 1] != name) {
    return 500;
  }
  fake->functions.emplace_back(name);
  *function = reinterpret_cast<HipFunction>(99 + fake->functions.size());
  return 0;
}

inline int set_current(int device) {
  const std::scoped_lock lock(fake->mutex);
  const int error = called("hipSetDevice");
  if (error == 0) {
    current_device = device;
  }
  return error;
}

/// The table over `state`, which must outlive its use.
inline HipApi fake_api(FakeHip& state) {
  if (fake != &state) {
    state.before = fake;
    fake = &state;
  }
  HipApi api;
  api.path = "fake";
  current_device = 1;
  api.get_device_count = [](int* count) {
    const std::scoped_lock lock(fake->mutex);
    *count = fake->devices;
    return called("hipGetDeviceCount");
  };
  api.get_device = [](int* device) {
    const std::scoped_lock lock(fake->mutex);
    *device = current_device;
    return called("hipGetDevice");
  };
  api.set_device = set_current;
  api.get_device_properties = [](void* properties, int) {
    const std::scoped_lock lock(fake->mutex);
    std::strcpy(static_cast<char*>(properties), "Fake of gfx950");
    std::strcpy(static_cast<char*>(properties) + 256, "gfx\1\2");  // a UUID may be any bytes
    std::strcpy(static_cast<char*>(properties) + fake->target_offset, fake->target.c_str());
    return called("hipGetDeviceProperties");
  };
  api.device_get_attribute = [](int* value, int, int) {
    const std::scoped_lock lock(fake->mutex);
    *value = 256;
    return called("hipDeviceGetAttribute");
  };
  api.stream_get_device = [](HipStream stream, int* device) {
    const std::scoped_lock lock(fake->mutex);
    *device = fake->streams[stream];
    return called("hipStreamGetDevice");
  };
  api.module_load_data = load_module;
  api.module_unload = unload_module;
  api.module_get_function = get_function;
  api.module_launch_kernel = record_launch;
  api.get_error_string = [](int) { return "fake failure"; };
  return api;
}

/// The symbol of a function handle.
inline std::string symbol(HipFunction function) { return fake->functions[reinterpret_cast<size_t>(function) - 100]; }

}  // namespace mlaforge::test
