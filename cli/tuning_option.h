// The option --tuning: which tuning data chooses among a config's kernels.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/run/kernels.h"
#include "generator/result.h"

namespace mlaforge::cli {

/// Adds --tuning FILE|none.
CLI::Option* add_tuning_option(CLI::App& command, std::string& tuning);

/// Lets `kernels` choose by the file that was named; by nothing for "none". Left out, by the one that ships with the
/// config: tuning/NAME.json beside the config's file, or the built-in one of the built-in config, where there is one.
/// Errors: the named file cannot be read; data that the runtime refuses.
Status use_tuning(run::Kernels& kernels, const std::string& option, const std::string& config_path);

}  // namespace mlaforge::cli
