#include "cli/option_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <ranges>
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

CLI::Validator value_scale() {
  return CLI::Validator(
      [](std::string& text) {
        constexpr float least = 1e-30F, most = 1e30F;
        float value = 0;
        const bool fits = parses(text, value) && (value == 0 || (std::abs(value) >= least && std::abs(value) <= most));
        return fits ? std::string()
                    : fmt::format("value {} is neither 0 nor of {} .. {}, either sign", text, least, most);
      },
      "FACTOR", "value_scale");
}

void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? "it is empty" : ""; }, "", "not_empty");
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->check(not_empty);
    }
  }
}

CLI::Option* add_list_option(CLI::App& command, const std::string& name, std::vector<int>& values, int low, int high,
                             const std::string& help) {
  const auto take = [&values, name, low, high](const std::vector<std::string>& texts) {
    values.clear();
    for (const std::string& text : texts) {
      for (const auto member : std::views::split(text, ',')) {
        int value = 0;
        const std::string one(member.begin(), member.end());
        if (!parses(one, value) || value < low || value > high) {
          throw CLI::ValidationError(
              name, fmt::format("\"{}\" of the list {} is no whole number of {} .. {}", one, text, low, high));
        }
        values.push_back(value);
      }
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, take, help)
      ->type_name(fmt::format("{} .. {},...", low, high));
}

}  // namespace mlaforge::cli
