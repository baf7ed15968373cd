// Which kernel of one key serves a capacity best, where no tuning data says so: a pure model of how CTAs fill the chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mlaforge/kernel_contract.h"

namespace mlaforge {

/// Exact quotients of 32-bit numbers by a divisor up to 2^16, by one multiplication: select looks at every kernel of a
/// key.
class Divider {
 public:
  Divider() = default;
  explicit Divider(uint32_t divisor) : inverse_(((uint64_t{1} << 63) + divisor - 1) / divisor) {}

  uint32_t floor(uint32_t number) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint32_t>((Wide{inverse_} * number) >> 63);
  }
  /// Of a number from 1.
  uint32_t ceil(uint32_t number) const { return floor(number - 1) + 1; }

 private:
  uint64_t inverse_ = uint64_t{1} << 63;  ///< ceil(2^63 / divisor): its error x a number stays below 2^48
};

/// What is to be served, within what the formula can hold.
struct SplitProblem {
  uint32_t batch = 1;        ///< requests of a full launch, at most 2^20
  uint32_t context = 1;      ///< the longest, in KV tokens; at least 1
  int64_t cache_clocks = 0;  ///< that the cache's bytes take from HBM
};

SplitProblem split_problem(int64_t batch, int64_t longest_context);

/// What of a kernel its time depends on, worked out once for a device. One cache line: select reads those of a whole
/// key.
struct alignas(64) SplitCandidate {
  Divider by_splits;  ///< blocks
  Divider by_slots;   ///< CTAs
  uint16_t splits = 1, head_groups = 1;
  uint16_t cus = 32;                ///< of an XCD
  uint16_t slots = 32;              ///< CTAs that an XCD runs at once: one a CU, or two of a kernel of 64-token blocks
  uint32_t block_log2 = 7;          ///< of a block's tokens, 64 or 128
  uint32_t partial_bytes = 0;       ///< a request's; 0 with one split
  int32_t start_clocks = 0;         ///< of the first CTA on a CU
  int32_t alone_clocks = 0;         ///< a block's, when its CTA has a CU for itself
  int32_t shared_clocks = 0;        ///< a block's, when two CTAs share a CU
  int32_t stream_start_clocks = 0;  ///< until HBM streams
  int32_t restart_clocks = 0;       ///< what more than one round costs a kernel that HBM binds
  int32_t combine_clocks = 0;       ///< the gap and combining no bytes; 0 with one split
};

SplitCandidate candidate_of(const mlaforge_kernel_row& row, int64_t compute_units);

/// Clocks from the attention kernel's start to the step's end; predicted with the figures in split_choice.cpp, not
/// measured. docs/runtime.md has the formula.
int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate);

/// The candidate that serves best, of those with `splits` where it is not 0; no_candidate where there is none. Least
/// is, in this order: a count that leaves no split without a block before one that does (of those the fewest),
/// predicted clocks, splits (fewer are less to combine), the place in the span.
size_t cheapest(const SplitProblem& problem, std::span<const SplitCandidate> candidates, uint32_t splits);
inline constexpr size_t no_candidate = SIZE_MAX;

}  // namespace mlaforge
