#include "cli/option_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace mlaforge::cli {
namespace {

template <typename Number>
bool parses(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t value = 0;
        return parses(text, value) ? std::string() : fmt::format("value {} is no number of 0 .. {}", text, UINT64_MAX);
      },
      "UINT64", "whole_number");
}

CLI::Validator finite_number() {
  return CLI::Validator(
      [](std::string& text) {
        float value = 0;
        return parses(text, value) && std::isfinite(value)
                   ? std::string()
                   : fmt::format("value {} is no finite number that a float holds", text);
      },
      "FINITE", "finite_number");
}

CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? "it is empty" : ""; }, "", "not_empty");
}

}  // namespace mlaforge::cli
