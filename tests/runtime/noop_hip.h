// A HIP table that does nothing but count its calls: for what the runtime itself does, and how long that takes.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/src/hip_api.h"

namespace mlaforge::test {

/// The kinds of calls that a launch must not make, and those that it does.
struct HipCalls {
  size_t loads = 0;             ///< modules and functions
  size_t memory = 0;            ///< allocations, frees, copies, fills
  size_t synchronisations = 0;  ///< and streams made or destroyed
  size_t queries = 0;           ///< devices, properties, streams' devices
  size_t launches = 0;
};

inline HipCalls hip_calls;  // one thread's

inline HipApi noop_api() {
  static constexpr auto count = [](size_t HipCalls::* kind) {
    ++(hip_calls.*kind);
    return 0;
  };
  HipApi api;
  api.path = "noop";
  api.get_device_count = [](int* devices) {
    *devices = 1;
    return count(&HipCalls::queries);
  };
  api.get_device = [](int* device) {
    *device = 0;
    return count(&HipCalls::queries);
  };
  api.set_device = [](int) { return count(&HipCalls::queries); };
  api.get_device_properties = [](void* properties, int) {
    std::strcpy(static_cast<char*>(properties) + 396, "gfx950");
    return count(&HipCalls::queries);
  };
  api.device_get_attribute = [](int* value, int, int) {
    *value = 256;
    return count(&HipCalls::queries);
  };
  api.stream_get_device = [](HipStream, int* device) {
    *device = 0;
    return count(&HipCalls::queries);
  };
  api.module_load_data = [](HipModule* module, const void* image) {
    *module = const_cast<void*>(image);
    return count(&HipCalls::loads);
  };
  api.module_unload = [](HipModule) { return count(&HipCalls::loads); };
  api.module_get_function = [](HipFunction* function, HipModule module, const char*) {
    *function = module;
    return count(&HipCalls::loads);
  };
  api.module_launch_kernel = [](HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                HipStream, void**, void**) { return count(&HipCalls::launches); };
  api.malloc = [](void**, size_t) { return count(&HipCalls::memory); };
  api.free = [](void*) { return count(&HipCalls::memory); };
  api.memcpy = [](void*, const void*, size_t, int) { return count(&HipCalls::memory); };
  api.memset = [](void*, int, size_t) { return count(&HipCalls::memory); };
  api.stream_create = [](HipStream*) { return count(&HipCalls::synchronisations); };
  api.stream_destroy = [](HipStream) { return count(&HipCalls::synchronisations); };
  api.stream_synchronize = [](HipStream) { return count(&HipCalls::synchronisations); };
  api.device_synchronize = [] { return count(&HipCalls::synchronisations); };
  api.get_error_string = [](int) { return "none"; };
  return api;
}

}  // namespace mlaforge::test
