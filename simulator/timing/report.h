// A launch's timing as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "simulator/timing/grid.h"

namespace mlaforge::simulator::timing {

nlohmann::json to_json(const LaunchTiming& timing);
/// What a program needs to put launches together, each {low, nominal, high} in the order of time: launch_us,
/// kernel_gap_us, hbm_tb_s (the one with the most first), clock_ghz.
nlohmann::json device_json(const DeviceFile& file);

}  // namespace mlaforge::simulator::timing
