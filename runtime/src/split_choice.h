// Which kernel of one key serves a capacity best, where no tuning data says so: a pure model of how CTAs fill the chip.
#pragma once

#include <compare>
#include <cstdint>

#include "mlaforge/kernel_contract.h"

namespace mlaforge {

/// Tokens a block of every kernel covers at most, and the least that a split should have.
inline constexpr int64_t split_block_tokens = 128;

struct SplitProblem {
  int64_t batch = 1;            ///< requests of a full launch
  int64_t longest_context = 1;  ///< KV tokens
  int64_t compute_units = 256;
};

/// What tells kernels of one key apart here.
struct SplitCandidate {
  int64_t heads = 1, qlen = 1;  ///< the key's; rows of a CTA = ceil(heads / head_groups) x qlen
  int64_t head_groups = 1;
  int64_t splits = 1;
  bool warp_specialized = false;
};

SplitCandidate candidate_of(const mlaforge_kernel_row& row);

/// Clocks until a full launch is done; predicted with the figures in split_choice.cpp, not measured.
/// All head groups of a (request, split) run on one XCD and one CTA a CU at a time, so the fullest XCD needs
/// ceil(ceil(batch x splits / 8) x head_groups / (compute_units / 8)) rounds. A round takes the start and
/// ceil(blocks / splits) blocks, blocks = ceil(longest_context / 128); a block takes its schedule's time or its share
/// of HBM, whichever is longer. With more than one split the combine kernel comes on top.
int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate);

/// What rows of one key are compared by, least first: a count that leaves no split without a block before one that does
/// (of those the one with fewest), then predicted clocks, then fewer splits (less to combine).
struct SplitCost {
  int64_t idle_splits = 0;  ///< all of them when one has no block, else 0
  int64_t clocks = 0;
  int64_t splits = 0;

  auto operator<=>(const SplitCost&) const = default;
};

SplitCost split_cost(const SplitProblem& problem, const SplitCandidate& candidate);

}  // namespace mlaforge
