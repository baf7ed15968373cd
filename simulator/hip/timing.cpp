#include "simulator/hip/timing.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/mlaforge_simulator.h"
#include "simulator/timing/grid.h"
#include "simulator/timing/report.h"
#include "simulator/timing/trace.h"

namespace mlaforge::simulator {
namespace {

/// Guarded by Machine::execution.
std::vector<timing::LaunchTiming>& timings() {
  static auto& kept = *new std::vector<timing::LaunchTiming>;
  return kept;
}

}  // namespace

void time_kernel(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory,
                 const SimulatorOptions& options) {
  timing::GridOptions wanted{
      .budget = options.timing_budget, .trace = options.timing_trace, .ranges = options.timing_ranges, .recent = {}};
  if (!timings().empty()) wanted.recent = timings().back().written;
  timing::TimingResult result = timing::time_launch(timing::mi355x(), kernel, config, memory, wanted);
  if (result.fault) fail(*result.fault);
  timings().push_back(std::move(result.timing));
}

void forget_timings() {
  const std::scoped_lock running(machine().execution);
  timings().clear();
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_timing_json(void) {
  thread_local std::string text;
  const std::scoped_lock running(machine().execution);
  nlohmann::json launches = nlohmann::json::array();
  for (const timing::LaunchTiming& launch : timings()) launches.push_back(timing::to_json(launch));
  const nlohmann::json json = {{"device", timing::device_json(timing::mi355x())}, {"launches", launches}};
  text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.c_str();
}

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_timing_trace_json(void) {
  thread_local std::string text;
  const std::scoped_lock running(machine().execution);
  text = timing::perfetto_trace(timings(), timing::parameters_at(timing::mi355x(), timing::Point::nominal).clock_ghz);
  return text.c_str();
}
