// Which kernel of one key serves a capacity best, where no tuning data says so: a pure model of how CTAs fill the chip.
#pragma once

#include <compare>
#include <cstdint>

#include "mlaforge/kernel_contract.h"

namespace mlaforge {

/// Exact quotients of 32-bit numbers by one multiplication: select looks at every kernel of a key.
class Divider {
 public:
  Divider() = default;
  explicit Divider(uint32_t divisor) : divisor_(divisor), inverse_(divisor == 1 ? 0 : UINT64_MAX / divisor + 1) {}

  uint32_t floor(uint32_t number) const {
    __extension__ using Wide = unsigned __int128;
    return divisor_ == 1 ? number : static_cast<uint32_t>((Wide{inverse_} * number) >> 64);
  }
  uint32_t divisor() const { return divisor_; }
  uint32_t ceil(uint32_t number) const { return floor(number + divisor_ - 1); }

 private:
  uint32_t divisor_ = 1;
  uint64_t inverse_ = 0;  ///< ceil(2^64 / divisor), which is exact for numbers below 2^32
};

struct SplitProblem {
  int64_t batch = 1;            ///< requests of a full launch
  int64_t longest_context = 1;  ///< KV tokens
};

/// What of a kernel its time depends on, worked out once for a device.
struct SplitCandidate {
  uint32_t splits = 1, head_groups = 1;
  uint32_t cus = 32;                ///< of an XCD
  Divider by_block{128};            ///< tokens
  Divider by_splits{1};             ///< blocks
  Divider by_slots{32};             ///< CTAs that an XCD runs at once: one a CU, or two of a kernel of 64-token blocks
  int64_t start_clocks = 0;         ///< of the first CTA on a CU
  int64_t alone_clocks = 0;         ///< a block's, when its CTA has a CU for itself
  int64_t shared_clocks = 0;        ///< a block's, when two CTAs share a CU
  int64_t stream_start_clocks = 0;  ///< until HBM streams
  int64_t restart_clocks = 0;       ///< what more than one round costs a kernel that HBM binds
  int64_t partial_bytes = 0;        ///< a request's; 0 with one split
};

SplitCandidate candidate_of(const mlaforge_kernel_row& row, int64_t compute_units);

/// Clocks from the attention kernel's start to the step's end; predicted with the figures in split_choice.cpp, not
/// measured. docs/runtime.md has the formula.
int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate);

/// All of the splits when one of them has no block, else 0.
int64_t idle_splits(const SplitProblem& problem, const SplitCandidate& candidate);

/// What rows of one key are compared by, least first: a count that leaves no split without a block before one that does
/// (of those the one with fewest), then predicted clocks, then fewer splits (less to combine).
struct SplitCost {
  int64_t idle_splits = 0;
  int64_t clocks = 0;
  int64_t splits = 0;

  auto operator<=>(const SplitCost&) const = default;
};

}  // namespace mlaforge
