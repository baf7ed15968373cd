#include "hip_api.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "error.h"

namespace mlaforge {
namespace {

constexpr size_t name_bytes = 256;  // of hipDeviceProp_t
constexpr size_t uuid_bytes = 16;   // behind the name, or other numbers
constexpr const char* simulator_file = "libmlaforge_simulator_hip.so";
constexpr std::array hip_files = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};

/// Takes one symbol; false and the reason when the library has none.
template <typename Function>
bool take(void* handle, const char* name, Function& function, std::string& reason) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) {
    reason = std::string("has no symbol ") + name;
  }
  return function != nullptr;
}

/// HIP 6 and 7 keep the old struct's function under the old name, and the new one's under this.
bool take_properties(HipApi& api, std::string& reason) {
  return take(api.handle, "hipGetDevicePropertiesR0600", api.get_device_properties, reason) ||
         take(api.handle, "hipGetDeviceProperties", api.get_device_properties, reason);
}

bool open_file(const std::string& path, HipApi& api, std::string& reason) {
  HipApi opened;
  opened.path = path;
  opened.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened.handle == nullptr) {
    const char* error = dlerror();
    reason = error != nullptr ? error : "cannot be opened";
    if (reason.starts_with(path + ": ")) {
      reason.erase(0, path.size() + 2);
    }
    return false;
  }
  void* handle = opened.handle;
  const bool complete =
      take(handle, "hipGetDeviceCount", opened.get_device_count, reason) &&
      take(handle, "hipGetDevice", opened.get_device, reason) &&
      take(handle, "hipSetDevice", opened.set_device, reason) && take_properties(opened, reason) &&
      take(handle, "hipDeviceGetAttribute", opened.device_get_attribute, reason) &&
      take(handle, "hipModuleLoadData", opened.module_load_data, reason) &&
      take(handle, "hipModuleUnload", opened.module_unload, reason) &&
      take(handle, "hipModuleGetFunction", opened.module_get_function, reason) &&
      take(handle, "hipModuleLaunchKernel", opened.module_launch_kernel, reason) &&
      take(handle, "hipMalloc", opened.malloc, reason) && take(handle, "hipFree", opened.free, reason) &&
      take(handle, "hipMemcpy", opened.memcpy, reason) && take(handle, "hipMemset", opened.memset, reason) &&
      take(handle, "hipStreamCreate", opened.stream_create, reason) &&
      take(handle, "hipStreamDestroy", opened.stream_destroy, reason) &&
      take(handle, "hipStreamSynchronize", opened.stream_synchronize, reason) &&
      take(handle, "hipDeviceSynchronize", opened.device_synchronize, reason) &&
      take(handle, "hipGetErrorString", opened.get_error_string, reason);
  if (!complete) {
    dlclose(handle);
    return false;
  }
  std::string absent;
  take(handle, "hipStreamGetDevice", opened.stream_get_device, absent);
  take(handle, "mlaforge_simulator_set_option", opened.simulator_set_option, absent);
  take(handle, "mlaforge_simulator_last_report", opened.simulator_last_report, absent);
  api = opened;
  return true;
}

/// AMD's kernel driver, or WSL's. Without one no GPU can answer, and AMD's runtime (with its compiler) need not be
/// loaded.
bool has_gpu_driver() {
  std::error_code error;
  return std::filesystem::exists("/dev/kfd", error) || std::filesystem::exists("/dev/dxg", error);
}

/// Folder of the executable or shared library that this code is part of.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&mlaforge_open), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::filesystem::path() : file.parent_path();
}

/// Where the simulator may lie, best first: as told, beside us, installed, in the build tree (from cli/ or tests/X/).
std::vector<std::string> simulator_paths() {
  if (const char* told = std::getenv("MLAFORGE_SIMULATOR_LIBRARY"); told != nullptr && *told != '\0') {
    return {told};
  }
  std::vector<std::string> paths;
  const std::filesystem::path folder = own_folder();
  for (const char* relative : {".", "../lib", "../lib/mlaforge", "../simulator", "../simulator/hip", "../../simulator",
                               "../../simulator/hip"}) {
    if (!folder.empty()) {
      paths.push_back((folder / relative / simulator_file).lexically_normal().string());
    }
  }
  paths.emplace_back(simulator_file);
  return paths;
}

/// Why AMD's runtime does not serve on this machine; empty when it does. `wanted` empty: any chip.
std::string unusable(const HipApi& api, const std::string& wanted) {
  int count = 0;
  if (const int error = api.get_device_count(&count); error != hip_success) {
    return std::string("hipGetDeviceCount: ") + api.get_error_string(error);
  }
  if (count < 1) {
    return "no device";
  }
  DeviceProperties properties;
  if (const int error = device_properties(api, 0, properties); error != hip_success) {
    return std::string("hipGetDeviceProperties: ") + api.get_error_string(error);
  }
  return wanted.empty() || properties.target == wanted ? std::string()
                                                       : "device 0 is " + properties.target + ", not " + wanted;
}

bool try_paths(const std::vector<std::string>& paths, const std::string& wanted_target, HipApi& api,
               std::string& tried) {
  for (const std::string& path : paths) {
    std::string reason;
    if (open_file(path, api, reason)) {
      reason = unusable(api, wanted_target);
      if (reason.empty()) {
        return true;
      }
    }
    tried.append("\n  ").append(path).append(": ").append(reason);
  }
  return false;
}

}  // namespace

mlaforge_status load_hip(mlaforge_backend backend, HipApi& api) {
  std::string tried;
  const std::vector<std::string> hip_paths(hip_files.begin(), hip_files.end());
  if (backend == MLAFORGE_BACKEND_AUTO && !has_gpu_driver()) {
    tried += "\n  libamdhip64.so: not loaded, there is no GPU driver (/dev/kfd)";
  } else if (backend != MLAFORGE_BACKEND_SIMULATOR &&
             try_paths(hip_paths, backend == MLAFORGE_BACKEND_AUTO ? "gfx950" : "", api, tried)) {
    return succeed();
  }
  if (backend != MLAFORGE_BACKEND_HIP && try_paths(simulator_paths(), "", api, tried)) {
    return succeed();
  }
  api = {};
  return fail(MLAFORGE_NO_DEVICE, "no HIP device; tried, in this order:" + tried);
}

int device_properties(const HipApi& api, int device, DeviceProperties& properties) {
  std::vector<char> bytes(hip_properties_bytes, '\0');
  if (const int error = api.get_device_properties(bytes.data(), device); error != hip_success) {
    return error;
  }
  bytes.back() = '\0';
  properties.target.clear();
  // gcnArchName is the only text after the name (first in every version) and the UUID that starts with "gfx"; its place
  // depends on HIP's version.
  for (size_t at = name_bytes + uuid_bytes; at + 16 < bytes.size() && properties.target.empty(); ++at) {
    if (std::memcmp(&bytes[at], "gfx", 3) == 0) {
      const std::string full(&bytes[at]);
      properties.target = full.substr(0, full.find(':'));
    }
  }
  bytes[name_bytes - 1] = '\0';
  properties.name = bytes.data();
  return hip_success;
}

std::string device_name(const HipApi& api, int device) {
  DeviceProperties properties;
  device_properties(api, device, properties);
  return properties.name;
}

}  // namespace mlaforge
