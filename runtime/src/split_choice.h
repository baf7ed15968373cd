// Which split count serves a capacity best, where no measurement says so: a pure model of how CTAs fill the chip.
#pragma once

#include <cstdint>

namespace mlaforge {

/// Tokens a block of every kernel covers at most, and the least that a split should have.
inline constexpr int64_t split_block_tokens = 128;

struct SplitProblem {
  int64_t batch = 1;            ///< requests of a full launch
  int64_t longest_context = 1;  ///< KV tokens
  int64_t compute_units = 256;
};

/// Block times until the last CTA of a full launch is done: rounds of the chip x blocks of the longest split,
/// ceil(batch x head_groups x splits / compute_units) x ceil(blocks / splits), blocks = ceil(longest_context / 128).
/// One CTA a CU runs at a time.
int64_t split_block_times(const SplitProblem& problem, int64_t head_groups, int64_t splits);

/// Whether `a` serves better than `b`: a count that leaves no split without a block before one that does, then fewer
/// block times, then fewer splits (less to combine). A strict order on (head_groups, splits) up to equal cost.
bool better_splits(const SplitProblem& problem, int64_t a_head_groups, int64_t a_splits, int64_t b_head_groups,
                   int64_t b_splits);

}  // namespace mlaforge
