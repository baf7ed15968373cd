#include "split_choice.h"

#include <algorithm>
#include <bit>

namespace mlaforge {
namespace {

// Fitted to the cycle model's nominal times for the MI355X (docs/timing.md): predictions, to be replaced by tuning
// data. Clocks at 2.4 GHz.
constexpr int32_t kStart = 6170;          // launch to the first block's end, less a block; a CTA's end
constexpr int32_t kStart64 = 5690;        // the same with 64 tokens
constexpr int32_t kStartWarp = 5510;      // the same, warp-specialized
constexpr int32_t kNextRound = 1500;      // the same for the CTAs that follow on a CU
constexpr int32_t kBlock128 = 2830;       // 128 tokens, 16 rows, uniform pipeline
constexpr int32_t kBlockWarp = 2160;      // the same, warp-specialized
constexpr int32_t kBlock64Alone = 1870;   // 64 tokens, 16 rows, one CTA on the CU
constexpr int32_t kBlock64Shared = 2800;  // two CTAs on the CU
constexpr int32_t kRowTile128 = 1480;     // each further 16 rows; half of it with 64 tokens
constexpr int32_t kRowTileWarp = 1090;    // the same, warp-specialized
constexpr int32_t kHbmStart = 6860;       // until HBM streams, and the last CTA's end; two CTAs a CU hide some of it
constexpr int32_t kHbmStart64 = 2920;
constexpr int32_t kHbmRestart = 5800;     // where one CTA a CU has to end before the next starts
constexpr int32_t kGapAndCombine = 5310;  // the gap between the kernels, and a combine kernel of few bytes
constexpr uint64_t kHbmBytesAClock =
    2417;  // 5.8 TB/s; the combine kernel, which reads the Infinity Cache, about as fast

/// More requests than any launch has; keeps products within 32 bits.
constexpr int64_t kMostBatch = 1 << 20;

/// Of the longest request.
inline uint32_t blocks_of(const SplitProblem& problem, const SplitCandidate& candidate) {
  return ((problem.context - 1) >> candidate.block_log2) + 1;
}

/// predicted_clocks, inlined where many are compared; no branch that depends on the problem.
inline int64_t clocks_of(const SplitProblem& problem, const SplitCandidate& candidate) {
  const uint32_t units = (problem.batch * candidate.splits + MLAFORGE_XCDS - 1) / MLAFORGE_XCDS;
  const uint32_t ctas = units * candidate.head_groups;  // of the fullest XCD
  const uint32_t full_rounds = candidate.by_slots.floor(ctas);
  const uint32_t left = ctas - full_rounds * candidate.slots;
  const int64_t last_is_alone = left != 0 && left <= candidate.cus ? 1 : 0;
  const int64_t rounds = full_rounds + (left != 0 ? 1 : 0);
  const int64_t blocks = candidate.by_splits.ceil(blocks_of(problem, candidate));
  const int64_t computing =
      candidate.start_clocks + (rounds - 1) * kNextRound +
      blocks * ((rounds - last_is_alone) * candidate.shared_clocks + last_is_alone * candidate.alone_clocks);
  const auto partials = static_cast<int64_t>(uint64_t{problem.batch} * candidate.partial_bytes / kHbmBytesAClock);
  const int64_t restart = rounds > 1 ? candidate.restart_clocks : 0;
  const int64_t streaming = candidate.stream_start_clocks + restart + problem.cache_clocks + partials;
  // Over several rounds neither hides wholly behind the other where both take about as long.
  const int64_t longer = std::max(computing, streaming);
  const int64_t both = std::max<int64_t>(0, 2 * std::min(computing, streaming) - longer);
  const int64_t exposed = rounds > 1 ? both / 8 : 0;
  return longer + exposed + candidate.combine_clocks + partials;
}

/// cheapest's order as one number: 9 bits of idle splits, 45 of clocks, 9 of splits.
inline uint64_t cost_of(const SplitProblem& problem, const SplitCandidate& candidate) {
  const uint64_t idle = candidate.splits > blocks_of(problem, candidate) ? candidate.splits : 0;
  const auto clocks = static_cast<uint64_t>(std::min(clocks_of(problem, candidate), (int64_t{1} << 45) - 1));
  return idle << 54 | clocks << 9 | (candidate.splits - 1);
}

}  // namespace

SplitCandidate candidate_of(const mlaforge_kernel_row& row, int64_t compute_units) {
  const auto cus = static_cast<uint16_t>(std::clamp<int64_t>(compute_units / MLAFORGE_XCDS, 1, 1 << 14));
  const int32_t heads_of_group = (row.heads + row.head_groups - 1) / row.head_groups;
  const int32_t more_tiles = std::max(1, (heads_of_group * row.qlen + 15) / 16) - 1;
  const bool half_block = row.block_tokens <= 64;
  const bool warp_specialized = row.pipeline == MLAFORGE_WARP_SPECIALIZED;
  const int32_t tile = (warp_specialized ? kRowTileWarp : half_block ? kRowTile128 / 2 : kRowTile128) * more_tiles;
  const int32_t row_bytes = MLAFORGE_LATENT_DIM * (row.partial_dtype == MLAFORGE_F32 ? 4 : 2) + 4;
  SplitCandidate candidate;
  candidate.splits = static_cast<uint16_t>(row.splits);
  candidate.head_groups = static_cast<uint16_t>(row.head_groups);
  candidate.cus = cus;
  candidate.slots = half_block ? static_cast<uint16_t>(2 * cus) : cus;
  candidate.block_log2 =
      static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::max(row.block_tokens, 1))) - 1);
  candidate.by_splits = Divider(candidate.splits);
  candidate.by_slots = Divider(candidate.slots);
  candidate.start_clocks = warp_specialized ? kStartWarp : half_block ? kStart64 : kStart;
  candidate.alone_clocks = (warp_specialized ? kBlockWarp : half_block ? kBlock64Alone : kBlock128) + tile;
  candidate.shared_clocks = half_block ? kBlock64Shared + 2 * tile : candidate.alone_clocks;
  candidate.stream_start_clocks = half_block ? kHbmStart64 : kHbmStart;
  candidate.restart_clocks = half_block ? 0 : kHbmRestart;
  candidate.combine_clocks = row.splits > 1 ? kGapAndCombine : 0;
  candidate.partial_bytes = row.splits > 1 ? static_cast<uint32_t>(row.splits * row.qlen * row.heads * row_bytes) : 0;
  return candidate;
}

SplitProblem split_problem(int64_t batch, int64_t longest_context) {
  SplitProblem problem;
  problem.batch = static_cast<uint32_t>(std::clamp<int64_t>(batch, 1, kMostBatch));
  problem.context = static_cast<uint32_t>(std::clamp<int64_t>(longest_context, 1, INT32_MAX));
  problem.cache_clocks =
      static_cast<int64_t>(uint64_t{problem.batch} * problem.context * MLAFORGE_KEY_DIM / kHbmBytesAClock);
  return problem;
}

int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate) {
  return clocks_of(problem, candidate);
}

size_t cheapest(const SplitProblem& problem, std::span<const SplitCandidate> candidates, uint32_t splits) {
  size_t best = no_candidate;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (splits != 0 && candidates[i].splits != splits) {
      continue;
    }
    const uint64_t cost = cost_of(problem, candidates[i]);
    best = cost < least ? i : best;
    least = std::min(cost, least);
  }
  return best;
}

}  // namespace mlaforge
