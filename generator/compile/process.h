// Runs a program by its argument vector; no shell ever reads a path or a flag.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/result.h"

namespace mlaforge {

struct ProcessResult {
  int exit_code = 0;   ///< 128 + the signal where one ended it
  std::string output;  ///< stdout and stderr in one
};

/// Runs argv[0] (an absolute path) with stdin empty and waits. Error: the program cannot be started.
Expected<ProcessResult> run_process(const std::vector<std::string>& argv);

/// The absolute path of a program: as given if it has a slash, else by PATH; empty where there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace mlaforge
