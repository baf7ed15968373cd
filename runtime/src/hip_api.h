// The HIP entry points that mlaforge uses, as a table filled by dlopen: from AMD's runtime or from the simulator.
// The declarations are this file's own, so that nothing of HIP is needed to build or to link.
#pragma once

#include <cstddef>
#include <string>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// hipError_t's values that are told apart here; all others are failures.
enum HipError : int { hip_success = 0 };
/// hipMemcpyKind.
enum HipCopyKind : int { hip_copy_host_to_device = 1, hip_copy_device_to_host = 2 };
/// hipDeviceAttribute_t: the one that is asked for; the value is the same in HIP 5, 6 and 7.
enum HipAttribute : int { hip_attribute_multiprocessor_count = 63 };

using HipModule = void*;
using HipFunction = void*;
using HipStream = void*;

/// Bytes that hold hipDeviceProp_t of every HIP version (the largest known, HIP 7's, has 1,472).
inline constexpr size_t hip_properties_bytes = 8192;

/// One HIP library's functions, named as HIP's, and where they came from. All are set unless said otherwise.
struct HipApi {
  int (*get_device_count)(int* count) = nullptr;
  int (*get_device)(int* device) = nullptr;
  int (*set_device)(int device) = nullptr;
  int (*get_device_properties)(void* properties, int device) = nullptr;
  int (*device_get_attribute)(int* value, int attribute, int device) = nullptr;
  int (*module_load_data)(HipModule* module, const void* image) = nullptr;
  int (*module_unload)(HipModule module) = nullptr;
  int (*module_get_function)(HipFunction* function, HipModule module, const char* name) = nullptr;
  int (*module_launch_kernel)(HipFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, HipStream stream,
                              void** parameters, void** extra) = nullptr;
  int (*malloc)(void** pointer, size_t bytes) = nullptr;
  int (*free)(void* pointer) = nullptr;
  int (*memcpy)(void* destination, const void* source, size_t bytes, int kind) = nullptr;
  int (*memset)(void* destination, int value, size_t bytes) = nullptr;
  int (*stream_create)(HipStream* stream) = nullptr;
  int (*stream_destroy)(HipStream stream) = nullptr;
  int (*stream_synchronize)(HipStream stream) = nullptr;
  int (*device_synchronize)() = nullptr;
  int (*stream_get_device)(HipStream stream, int* device) = nullptr;  ///< null before HIP 5.6: streams are not checked
  const char* (*get_error_string)(int error) = nullptr;

  /// The simulator's own two; null with AMD's runtime. set_option returns 0, or an error as HIP's.
  int (*simulator_set_option)(const char* key, const char* value) = nullptr;
  const char* (*simulator_last_report)() = nullptr;

  void* handle = nullptr;  ///< dlopen's
  std::string path;        ///< the library as it was opened

  bool is_simulator() const { return simulator_set_option != nullptr; }
};

/// Fills `api` from what `backend` names. MLAFORGE_BACKEND_AUTO takes AMD's runtime only where device 0's target is
/// gfx950. NO_DEVICE, with each path tried and why it was not taken, where nothing can be opened. The library stays
/// loaded: HIP runtimes do not survive dlclose.
mlaforge_status load_hip(mlaforge_backend backend, HipApi& api);

struct DeviceProperties {
  std::string name;    ///< as HIP reports it
  std::string target;  ///< "gfx950" of "gfx950:sramecc+:xnack-"; empty when the device does not say
};

/// HIP's error where there are none.
int device_properties(const HipApi& api, int device, DeviceProperties& properties);

/// The device's name; empty where HIP gives none.
std::string device_name(const HipApi& api, int device);

}  // namespace mlaforge
