// Launches with option timing=1: recorded and replayed on the cycle model in the place of a whole functional run.
#pragma once

#include "simulator/core/launch.h"
#include "simulator/hip/options.h"

namespace mlaforge::simulator {

/// Records and replays a launch and keeps its timing for mlaforge_simulator_timing_json. Only the workgroups that stand
/// for the launch are executed. The caller holds Machine::execution. Throws ApiError for a kernel's fault.
void time_kernel(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory,
                 const SimulatorOptions& options);

/// Forgets the launches so far.
void forget_timings();

}  // namespace mlaforge::simulator
