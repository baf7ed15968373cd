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
  explicit Divider(uint32_t divisor) : divisor_(divisor), inverse_(((uint64_t{1} << 63) + divisor - 1) / divisor) {}

  uint32_t floor(uint32_t number) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint32_t>((Wide{inverse_} * number) >> 63);
  }
  uint32_t divisor() const { return divisor_; }
  uint32_t ceil(uint32_t number) const { return floor(number + divisor_ - 1); }

 private:
  uint32_t divisor_ = 1;
  uint64_t inverse_ = uint64_t{1} << 63;  ///< ceil(2^63 / divisor): its error x a number stays below 2^48
};

/// What is to be served, within what the formula can hold.
struct SplitProblem {
  uint32_t batch = 1;        ///< requests of a full launch, at most 2^20
  uint32_t context = 1;      ///< the longest, in KV tokens; at least 1
  int64_t cache_clocks = 0;  ///< that the cache's bytes take from HBM
};

SplitProblem split_problem(int64_t batch, int64_t longest_context);

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
  int64_t combine_clocks = 0;       ///< the gap and combining no bytes; 0 with one split
  int64_t partial_bytes = 0;        ///< a request's; 0 with one split
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
