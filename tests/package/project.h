// Another project that uses mlaforge: an install tree that was moved, sources of its own, its build.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/compile/process.h"
#include "tests/generator/temporary_folder.h"

namespace mlaforge::test {

/// Runs a command, its program by PATH.
ProcessResult run(std::vector<std::string> argv);

/// Installs this build below `folder`, moves it, and gives its place now.
std::filesystem::path install_and_move(const TemporaryFolder& folder);

/// Configures `source` into `build` with this build's compilers.
ProcessResult configure(const std::filesystem::path& source, const std::filesystem::path& build,
                        const std::vector<std::string>& options);

ProcessResult build(const std::filesystem::path& folder);

}  // namespace mlaforge::test
