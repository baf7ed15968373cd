#include "cli/output_file.h"

#include <filesystem>

namespace mlaforge::cli {

Status check_output(const char* option, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  if ((folder.empty() || fs::is_directory(folder, ignored)) && !fs::is_directory(path, ignored))
    return std::monostate{};
  return Diagnostic{.where = option,
                    .problem = "cannot be written",
                    .value = path,
                    .allowed = "a path in a folder that exists",
                    .nearest = {}};
}

}  // namespace mlaforge::cli
