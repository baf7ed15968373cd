#include "simulator/hip/device.h"

#include <dlfcn.h>

#include "simulator/hip/error.h"
#include "simulator/hip/mlaforge_simulator.h"
#include "simulator/hip/timing.h"

namespace mlaforge::simulator {
namespace {

// A program built against HIP 5 asks for libamdhip64.so.5 and reads that version's values.
bool loaded_as_hip5() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&device), &info) == 0 || info.dli_fname == nullptr) return false;
  return std::string_view(info.dli_fname).find("libamdhip64.so.5") != std::string_view::npos;
}

}  // namespace

Device::Device() {
  if (loaded_as_hip5()) options_.hip_abi = 5;
  environment_problem_ = apply_environment(options_);
}

SimulatorOptions Device::options() const {
  const std::scoped_lock lock(options_mutex_);
  if (!environment_problem_.empty()) fail(hipErrorInvalidValue, environment_problem_);
  return options_;
}

std::string Device::set_option(std::string_view key, std::string_view value) {
  const std::scoped_lock lock(options_mutex_);
  return simulator::set_option(options_, key, value);
}

Device& device() {
  static Device& instance = *new Device;
  return instance;
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_version(void) { return MLAFORGE_VERSION; }

MLAFORGE_HIP_EXPORT int mlaforge_simulator_set_option(const char* key, const char* value) {
  return guarded(__func__, [&] {
    require(key, "key");
    require(value, "value");
    const std::string problem = device().set_option(key, value);
    if (!problem.empty()) fail(hipErrorInvalidValue, problem);
    if (std::string_view(key) == "timing") forget_timings();
  });
}

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_last_report(void) { return last_report().c_str(); }
MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_last_report_json(void) { return last_report_json().c_str(); }
