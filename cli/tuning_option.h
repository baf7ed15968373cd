// The option --tuning: which tuning data chooses among a config's kernels.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "generator/config/deployment_config.h"
#include "generator/result.h"

namespace mlaforge::cli {

/// Adds --tuning FILE|none.
CLI::Option* add_tuning_option(CLI::App& command, std::string& tuning);

struct TuningText {
  std::string name;  ///< the file's, for messages
  std::string text;  ///< empty: the cost model chooses
};

/// The file that was named; nothing for "none". Left out, the one that ships with the config: tuning/NAME.json beside
/// the config's file, or the built-in one of the built-in config; nothing where there is none. Error: the named file
/// cannot be read.
Expected<TuningText> find_tuning(const std::string& option, const std::string& config_path,
                                 const DeploymentConfig& config);

}  // namespace mlaforge::cli
