// The options --compiler and --cache of the commands that compile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mlaforge::cli {

void add_compile_options(CLI::App& command, std::string& compiler, std::string& cache);

}  // namespace mlaforge::cli
