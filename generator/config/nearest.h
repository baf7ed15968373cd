// The nearest thing that works: closest name by edits, closest number by distance; and lists and counts in words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlaforge {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate of the least edit distance, if that is at most half of the longer name's length;
/// a candidate that contains the name is nearest of all.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// The divisors of `number`, ascending.
std::vector<int> divisors(int number);

/// "1, 2 or 4".
std::string join_or(std::span<const std::string> items);

/// "1 kernel", "2 kernels".
std::string counted(size_t number, std::string_view noun);

}  // namespace mlaforge
