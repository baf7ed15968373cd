// The functional key of a kernel: what a problem fixes. Packed into a number, so that a table is searched by one
// compare.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// A pool of more bytes than this needs a kernel with 64-bit offsets (wide_kv); unsigned 32-bit offsets reach all of
/// a pool of exactly this size.
inline constexpr uint64_t narrow_pool_limit_bytes = uint64_t{1} << 32;

/// heads, qlen, page_size, q_dtype, kv_dtype, context_parallel, wide_kv in 60 bits; equal keys are equal numbers, and
/// numbers are ordered as the fields are. The last 4 bits are probability_parts, more parts first.
uint64_t pack_key(const mlaforge_kernel_row& row);
/// The problem's key with probability_parts as asked for, or the most that there can be.
uint64_t pack_key(const mlaforge_problem& problem, bool wide);

/// Whether two packed keys differ in nothing but probability_parts.
inline bool same_function(uint64_t a, uint64_t b) { return (a >> 4) == (b >> 4); }

/// The order of a table: the packed key, then splits, head_groups, block_tokens, pipeline, partial_dtype.
std::strong_ordering compare_keys(const mlaforge_kernel_row& a, const mlaforge_kernel_row& b);

/// A key as text, "heads 12, qlen 4, ...": for messages.
std::string describe(const mlaforge_kernel_row& row);

/// "heads is 300; allowed: 1 .. 128" for the first field of a row's key that no kernel can have; empty when all can be.
std::string key_problem(const mlaforge_kernel_row& row);

/// Ranges of a problem's fields, host only. INVALID_ARGUMENT with the field, its value and what is allowed.
mlaforge_status check_problem(const mlaforge_problem& problem);

}  // namespace mlaforge
