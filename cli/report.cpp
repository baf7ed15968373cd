#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "generator/compile/compile.h"
#include "generator/emit/files.h"

namespace mlaforge::cli {

int report_errors(const Diagnostics& errors, bool json, ExitCode code) {
  for (const Diagnostic& error : errors) fmt::print(stderr, "mlaforge: {}\n", to_string(error));
  if (json) print_json({{"errors", to_json(errors)}});
  return code;
}

Status write_output(const char* option, const std::string& path, const std::string& text) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  bool written = false;
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    written = write_file(path, text).has_value();
  } else {
    std::ofstream file(path, std::ios::binary);
    file << text;
    written = file.flush().good();
  }
  if (written) return std::monostate{};
  return Diagnostic{
      .where = option, .problem = "cannot be written", .value = path, .allowed = "a path in a folder that exists"};
}

ExitCode compile_exit_code(const Diagnostics& errors) {
  const std::string& where = errors.front().where;
  return where == kCacheOption || where == "--compiler" ? exit_bad_input : exit_failed;
}

void print_json(const nlohmann::json& document) {
  // Errors quote what they were given, which may be no UTF-8.
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace mlaforge::cli
