// Checks of options' values that CLI11's conversions let through: numbers beyond their range, which it saturates,
// floating-point words, and empty texts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mlaforge::cli {

/// Decimal digits of a number of 64 bits.
CLI::Validator whole_number();

/// A finite number that a float holds.
CLI::Validator finite_number();

/// The factor of values: zero, or such that sums of their products neither overflow nor lose bits.
CLI::Validator value_scale();

/// Every option of every subcommand refuses the empty text: an unset shell variable must not stand for the default.
void refuse_empty_values(CLI::App& app);

/// Adds an option that takes whole numbers of low .. high, with commas between them. An empty member, which CLI11's own
/// lists drop, is refused.
CLI::Option* add_list_option(CLI::App& command, const std::string& name, std::vector<int>& values, int low, int high,
                             const std::string& help);

}  // namespace mlaforge::cli
