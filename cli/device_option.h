// The option --device of the commands that run or time kernels: a GPU, or the simulator and its cycle model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "generator/result.h"
#include "runtime/src/hip_api.h"

namespace mlaforge::cli {

/// Adds --device auto|simulator|hip, described as the commands that time kernels have it.
CLI::Option* add_device_option(CLI::App& command, std::string& device);

/// The HIP library of a device; errors name each path that was tried.
Expected<HipApi> open_hip(const std::string& device);

/// The simulator, for the commands that have no other device.
Expected<HipApi> open_simulator();

}  // namespace mlaforge::cli
