#include "split_choice.h"

#include <algorithm>

namespace mlaforge {
namespace {

// Figures of the cycle model for the MI355X (docs/timing.md): predictions, to be replaced by tuning data.
constexpr int64_t kBlockClocks = 2850;         // a 128-token block with 16 rows a CTA, when HBM does not bind
constexpr int64_t kRowTileClocks = 850;        // each further 16 rows
constexpr int64_t kStartClocks = 7200;         // a CTA's start and end
constexpr int64_t kPipelineFillClocks = 2400;  // the warp-specialized pipeline's QK is a block ahead
constexpr int64_t kCombineClocks = 9400;       // the gap and the combine kernel
constexpr int64_t kBlockBytes = split_block_tokens * MLAFORGE_KEY_DIM;
constexpr int64_t kHbmBytesAClock = 2417;  // 5.8 TB/s at 2.4 GHz

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t block_count(const SplitProblem& problem) {
  return std::max<int64_t>(1, ceil_divide(problem.longest_context, split_block_tokens));
}

}  // namespace

SplitCandidate candidate_of(const mlaforge_kernel_row& row) {
  return {.heads = row.heads,
          .qlen = row.qlen,
          .head_groups = row.head_groups,
          .splits = row.splits,
          .warp_specialized = row.pipeline == MLAFORGE_WARP_SPECIALIZED};
}

int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate) {
  const int64_t units_of_xcd = ceil_divide(std::max<int64_t>(1, problem.batch) * candidate.splits, MLAFORGE_XCDS);
  const int64_t cus_of_xcd = std::max<int64_t>(1, problem.compute_units / MLAFORGE_XCDS);
  const int64_t rounds = ceil_divide(units_of_xcd * candidate.head_groups, cus_of_xcd);
  // Chunks that stream at once; the head groups of a unit share one.
  const int64_t streams_of_xcd = std::min(units_of_xcd, std::max<int64_t>(1, cus_of_xcd / candidate.head_groups));
  const int64_t hbm = kBlockBytes * streams_of_xcd * MLAFORGE_XCDS / kHbmBytesAClock;
  const int64_t row_tiles = ceil_divide(ceil_divide(candidate.heads, candidate.head_groups) * candidate.qlen, 16);
  const int64_t block = std::max(kBlockClocks + kRowTileClocks * (row_tiles - 1), hbm);
  const int64_t start = kStartClocks + (candidate.warp_specialized ? kPipelineFillClocks : 0);
  const int64_t combine = candidate.splits > 1 ? kCombineClocks : 0;
  return rounds * (ceil_divide(block_count(problem), candidate.splits) * block + start) + combine;
}

SplitCost split_cost(const SplitProblem& problem, const SplitCandidate& candidate) {
  return {.idle_splits = candidate.splits > block_count(problem) ? candidate.splits : 0,
          .clocks = predicted_clocks(problem, candidate),
          .splits = candidate.splits};
}

}  // namespace mlaforge
