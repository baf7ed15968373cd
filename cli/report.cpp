#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

namespace mlaforge::cli {

int report_errors(const Diagnostics& errors, bool json, ExitCode code) {
  for (const Diagnostic& error : errors) fmt::print(stderr, "mlaforge: {}\n", to_string(error));
  if (json) print_json({{"errors", to_json(errors)}});
  return code;
}

void print_json(const nlohmann::json& document) { fmt::print("{}\n", document.dump(2)); }

}  // namespace mlaforge::cli
