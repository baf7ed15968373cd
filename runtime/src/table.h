// The dispatch table: rows sorted by key, and the choice of one for a problem. No HIP in here.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// A pool of more bytes than this needs a kernel with 64-bit offsets (wide_kv); unsigned 32-bit offsets reach all of
/// a pool of exactly this size.
inline constexpr uint64_t narrow_pool_limit_bytes = uint64_t{1} << 32;

/// Compares keys in the contract's order.
std::strong_ordering compare_keys(const mlaforge_kernel_row& a, const mlaforge_kernel_row& b);

/// A key as text, "heads 12, qlen 4, ...": for messages.
std::string describe(const mlaforge_kernel_row& row);

/// Ranges of a problem's fields, host only. INVALID_ARGUMENT with the field, its value and what is allowed.
mlaforge_status check_problem(const mlaforge_problem& problem);

/// The row of `table` (sorted) that serves `problem`, as an index; the wide kernels also serve small pools.
/// NO_KERNEL leaves the whole explanation as the thread's message.
mlaforge_status select_row(std::span<const mlaforge_kernel_row> table, int64_t compute_units,
                           const mlaforge_problem& problem, size_t& index);

/// The message of a miss: the first field that nothing matches, the nearest rows, the config that generates the kernel.
std::string explain_miss(std::span<const mlaforge_kernel_row> table, const mlaforge_problem& problem);

}  // namespace mlaforge
