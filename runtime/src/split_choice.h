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

/// What a CTA's start and end take, and what the combine kernel with the gap before it takes, in times of one block.
/// Predicted by the cycle model (docs/timing.md), not measured.
inline constexpr int64_t split_start_blocks = 3;
inline constexpr int64_t split_combine_blocks = 3;

/// Block times until a full launch is done. All head groups of a (request, split) run on one XCD, and one CTA a CU at a
/// time, so the fullest XCD needs ceil(ceil(batch x splits / 8) x head_groups / (compute_units / 8)) rounds; a round
/// takes the start and ceil(blocks / splits) blocks, blocks = ceil(longest_context / 128). With more than one split the
/// combine kernel comes on top.
int64_t split_block_times(const SplitProblem& problem, int64_t head_groups, int64_t splits);

/// Whether `a` serves better than `b`: a count that leaves no split without a block before one that does, then fewer
/// block times, then fewer splits (less to combine). A strict order on (head_groups, splits) up to equal cost.
bool better_splits(const SplitProblem& problem, int64_t a_head_groups, int64_t a_splits, int64_t b_head_groups,
                   int64_t b_splits);

}  // namespace mlaforge
