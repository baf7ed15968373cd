// Checks of options' values that CLI11's conversions let through: numbers beyond their range, which it saturates, and
// floating-point words.
#pragma once

#include <CLI/CLI.hpp>

namespace mlaforge::cli {

/// Decimal digits of a number of 64 bits.
CLI::Validator whole_number();

/// A finite number that a float holds.
CLI::Validator finite_number();
/// Text that is not empty: an unset shell variable must not stand for the default.
CLI::Validator not_empty();

}  // namespace mlaforge::cli
