#include <algorithm>

#include "reference/inputs.h"

namespace mlaforge::reference {

const std::vector<std::string>& input_names() {
  static const std::vector<std::string> names = {"normal", "spike7", "spike11",   "rising",
                                                 "tiny_q", "huge_q", "all_bytes", "one_token"};
  return names;
}

std::optional<InputKind> parse_input(std::string_view name) {
  const std::vector<std::string>& names = input_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<InputKind>(found - names.begin()));
}

}  // namespace mlaforge::reference
