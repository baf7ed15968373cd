#include "simulator/hip/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "simulator/hip/error.h"
#include "simulator/hip/mlaforge_simulator.h"
#include "simulator/hip/timing.h"

namespace mlaforge::simulator {
namespace {

// A program built against HIP 5 asks for libamdhip64.so.5 and reads that version's values.
bool loaded_as_hip5() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&machine), &info) == 0 || info.dli_fname == nullptr) return false;
  return std::string_view(info.dli_fname).find("libamdhip64.so.5") != std::string_view::npos;
}

int& thread_device() {
  thread_local int device = 0;
  return device;
}

}  // namespace

Machine::Machine() {
  if (loaded_as_hip5()) options_.hip_abi = 5;
  environment_problem_ = apply_environment(options_);
  print_reports(options_.reports);
  for (auto& bytes : stack_bytes_) bytes = kDefaultStackBytes;
}

SimulatorOptions Machine::options() const {
  const std::scoped_lock lock(options_mutex_);
  if (!environment_problem_.empty()) fail(hipErrorInvalidValue, environment_problem_);
  return options_;
}

std::string Machine::set_option(std::string_view key, std::string_view value) {
  const std::scoped_lock lock(options_mutex_);
  std::string problem = simulator::set_option(options_, key, value);
  print_reports(options_.reports);
  return problem;
}

Machine& machine() {
  static Machine& instance = *new Machine;
  return instance;
}

int Machine::device_count() const { return options().devices; }

DeviceMask Machine::reachable_from(int device) const {
  return peers_[static_cast<size_t>(device)].load() | DeviceMask{1} << device;
}

bool Machine::set_peer_access(int device, int peer, bool enabled) {
  const DeviceMask bit = DeviceMask{1} << peer;
  auto& peers = peers_[static_cast<size_t>(device)];
  const DeviceMask before = enabled ? peers.fetch_or(bit) : peers.fetch_and(~bit);
  return ((before & bit) != 0) != enabled;
}

int current_device() {
  const int device = thread_device();
  return device < machine().device_count() ? device : 0;  // there may be fewer than when the thread chose
}

void set_current_device(int device) {
  check_device(device);
  thread_device() = device;
}

void check_device(int device) {
  const int count = machine().device_count();
  if (device >= 0 && device < count) return;
  fail(hipErrorInvalidDevice, fmt::format("device {} does not exist; the simulator has {}", device,
                                          count == 1 ? "device 0" : fmt::format("devices 0 to {}", count - 1)));
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_version(void) { return MLAFORGE_VERSION; }

MLAFORGE_HIP_EXPORT int mlaforge_simulator_set_option(const char* key, const char* value) {
  return guarded(__func__, [&] {
    require(key, "key");
    require(value, "value");
    const std::string problem = machine().set_option(key, value);
    if (!problem.empty()) fail(hipErrorInvalidValue, problem);
    if (std::string_view(key) == "timing") forget_timings();
  });
}

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_last_report(void) { return last_report().c_str(); }
MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_last_report_json(void) { return last_report_json().c_str(); }
