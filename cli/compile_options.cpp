#include "cli/compile_options.h"

namespace mlaforge::cli {

void add_compile_options(CLI::App& command, std::string& compiler, std::string& cache) {
  command.add_option("--compiler", compiler, "hipcc or clang++; default: MLAFORGE_COMPILER, hipcc, clang++-22");
  command.add_option("--cache", cache, "Folder of the compile cache; default: $XDG_CACHE_HOME/mlaforge");
}

}  // namespace mlaforge::cli
