// The choice of a HIP compiler and the command line by which it makes a code object.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/result.h"

namespace mlaforge {

struct Compiler {
  std::filesystem::path path = {};  ///< absolute
  std::string version = {};         ///< all that `--version` prints
  bool is_hipcc = false;            ///< it brings HIP's headers; plain clang builds freestanding
};

/// `request` (a name or path) where given, else MLAFORGE_COMPILER, else hipcc where its clang is 20 or newer and so
/// knows gfx950, else clang++-22. Error: none is found, or the one asked for does not run.
Expected<Compiler> find_compiler(const std::string& request);

/// First line of the version.
std::string version_line(const Compiler& compiler);

/// Arguments behind the program's name, all but include folder, input and output.
std::vector<std::string> compile_flags(const Compiler& compiler, const std::string& target);

}  // namespace mlaforge
