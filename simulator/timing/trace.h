// A replay's events as a trace that Perfetto opens.
#pragma once

#include <span>
#include <string>

#include "simulator/timing/grid.h"

namespace mlaforge::simulator::timing {

/// The JSON trace format: a process a launch, a track a wave, slices of issue and of what a wave waits for, in
/// microseconds of the nominal prediction.
std::string perfetto_trace(std::span<const LaunchTiming> launches, double clock_ghz);

}  // namespace mlaforge::simulator::timing
