#include "generator/result.h"

namespace mlaforge {

std::string to_string(const Diagnostic& diagnostic) {
  std::string details;
  const auto add = [&details](const char* label, const std::string& text) {
    if (text.empty()) return;
    if (!details.empty()) details += "; ";
    details += label + text;
  };
  add("value: ", diagnostic.value);
  add("allowed: ", diagnostic.allowed);
  add("nearest: ", diagnostic.nearest);

  std::string text = diagnostic.where.empty() ? "" : diagnostic.where + ": ";
  text += diagnostic.problem;
  if (!details.empty()) text += " (" + details + ")";
  return text;
}

std::string to_string(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += "\n";
    text += to_string(diagnostic);
  }
  return text;
}

nlohmann::json to_json(const Diagnostics& diagnostics) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    nlohmann::json entry = {{"where", diagnostic.where}, {"problem", diagnostic.problem}};
    if (!diagnostic.value.empty()) entry["value"] = diagnostic.value;
    if (!diagnostic.allowed.empty()) entry["allowed"] = diagnostic.allowed;
    if (!diagnostic.nearest.empty()) entry["nearest"] = diagnostic.nearest;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace mlaforge
