// The option --config, which all commands of the generator share, and the plans that follow from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "generator/config/deployment_config.h"
#include "generator/emit/emit.h"
#include "generator/result.h"

namespace mlaforge::cli {

/// Adds --config F; left out, the built-in configs/kimi_k3_tp8.json is taken.
CLI::Option* add_config_option(CLI::App& command, std::string& path);

/// Adds --config F [F ...] for commands that make one kernel set of several configs.
CLI::Option* add_config_option(CLI::App& command, std::vector<std::string>& paths);

/// The config of a path; the built-in one for an empty path. Errors name the file.
Expected<DeploymentConfig> read_config(const std::string& path);

/// The config's plans. Errors name the file, and the kernel that is refused.
Expected<DeploymentPlan> read_plan(const std::string& path);

/// The kernel set `name` of all these configs; an empty name is that of the one config, and several need one.
Expected<DeploymentPlan> read_set_plan(const std::vector<std::string>& paths, const std::string& name);

}  // namespace mlaforge::cli
