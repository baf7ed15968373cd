// The option --device of the commands that time kernels: a GPU, or the simulator's cycle model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "generator/result.h"
#include "runtime/src/hip_api.h"

namespace mlaforge::cli {

/// Adds --device auto|simulator|hip.
CLI::Option* add_device_option(CLI::App& command, std::string& device);

/// The HIP library of a device; errors name each path that was tried.
Expected<HipApi> open_hip(const std::string& device);

}  // namespace mlaforge::cli
