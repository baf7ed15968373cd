#include "split_choice.h"

#include <algorithm>

namespace mlaforge {
namespace {

// Fitted to the cycle model's nominal times for the MI355X (docs/timing.md): predictions, to be replaced by tuning
// data. Clocks at 2.4 GHz.
constexpr int64_t kStart = 7500;          // launch to the first block's end, less a block; a CTA's end
constexpr int64_t kNextRound = 3000;      // the same for the CTAs that follow on a CU
constexpr int64_t kPipelineFill = 3000;   // the warp-specialized pipeline's QK is a block ahead
constexpr int64_t kBlock128 = 2770;       // 128 tokens, 16 rows
constexpr int64_t kBlock64Alone = 1870;   // 64 tokens, 16 rows, one CTA on the CU
constexpr int64_t kBlock64Shared = 2700;  // two CTAs on the CU
constexpr int64_t kRowTile128 = 1300;     // each further 16 rows; half of it with 64 tokens
constexpr int64_t kHbmStart = 7000;       // until HBM streams, and the last CTA's end; two CTAs a CU hide some of it
constexpr int64_t kHbmStart64 = 6000;
constexpr int64_t kHbmRestart = 5500;      // where one CTA a CU has to end before the next starts
constexpr int64_t kGapAndCombine = 7100;   // the gap between the kernels, and a combine kernel of few bytes
constexpr int64_t kHbmBytesAClock = 2417;  // 5.8 TB/s
constexpr int64_t kCombineBytesAClock = 2290;

/// More requests than any launch has; keeps products within 32 bits.
constexpr int64_t kMostBatch = 1 << 20;

uint32_t context_of(const SplitProblem& problem) {
  return static_cast<uint32_t>(std::clamp<int64_t>(problem.longest_context, 1, INT32_MAX));
}

}  // namespace

SplitCandidate candidate_of(const mlaforge_kernel_row& row, int64_t compute_units) {
  const auto splits = static_cast<uint32_t>(row.splits);
  const auto groups = static_cast<uint32_t>(row.head_groups);
  const auto cus = static_cast<uint32_t>(std::clamp<int64_t>(compute_units / MLAFORGE_XCDS, 1, 1 << 16));
  const int64_t heads_of_group = (row.heads + row.head_groups - 1) / row.head_groups;
  const int64_t more_tiles = std::max<int64_t>(1, (heads_of_group * row.qlen + 15) / 16) - 1;
  const bool half_block = row.block_tokens <= 64;
  const int64_t tile = (half_block ? kRowTile128 / 2 : kRowTile128) * more_tiles;
  const int64_t element_bytes = row.partial_dtype == MLAFORGE_F32 ? 4 : 2;
  SplitCandidate candidate;
  candidate.splits = splits;
  candidate.head_groups = groups;
  candidate.cus = cus;
  candidate.by_block = Divider(static_cast<uint32_t>(row.block_tokens));
  candidate.by_splits = Divider(splits);
  candidate.by_slots = Divider(half_block ? 2 * cus : cus);
  candidate.start_clocks = kStart + (row.pipeline == MLAFORGE_WARP_SPECIALIZED ? kPipelineFill : 0);
  candidate.alone_clocks = (half_block ? kBlock64Alone : kBlock128) + tile;
  candidate.shared_clocks = half_block ? kBlock64Shared + 2 * tile : candidate.alone_clocks;
  candidate.stream_start_clocks = half_block ? kHbmStart64 : kHbmStart;
  candidate.restart_clocks = half_block ? 0 : kHbmRestart;
  candidate.partial_bytes =
      row.splits > 1 ? int64_t{row.splits} * row.qlen * row.heads * (MLAFORGE_LATENT_DIM * element_bytes + 4) : 0;
  return candidate;
}

int64_t predicted_clocks(const SplitProblem& problem, const SplitCandidate& candidate) {
  const auto batch = static_cast<uint32_t>(std::clamp<int64_t>(problem.batch, 1, kMostBatch));
  const uint32_t context = context_of(problem);
  const uint32_t units = (batch * candidate.splits + MLAFORGE_XCDS - 1) / MLAFORGE_XCDS;
  const uint32_t ctas = units * candidate.head_groups;  // of the fullest XCD
  const int64_t rounds = candidate.by_slots.ceil(ctas);
  const uint32_t full_rounds = candidate.by_slots.floor(ctas);
  const bool last_is_alone = rounds > full_rounds && ctas - full_rounds * candidate.by_slots.divisor() <= candidate.cus;
  const int64_t blocks = candidate.by_splits.ceil(candidate.by_block.ceil(context));
  const int64_t shared_rounds = last_is_alone ? full_rounds : rounds;
  const int64_t computing =
      candidate.start_clocks + (rounds - 1) * kNextRound +
      blocks * (shared_rounds * candidate.shared_clocks + (last_is_alone ? candidate.alone_clocks : 0));
  const int64_t partial_bytes = batch * candidate.partial_bytes;
  const int64_t cache_bytes = int64_t{batch} * context * MLAFORGE_KEY_DIM;
  const int64_t streaming = candidate.stream_start_clocks + (rounds > 1 ? candidate.restart_clocks : 0) +
                            (cache_bytes + partial_bytes) / kHbmBytesAClock;
  const int64_t combine = candidate.splits > 1 ? kGapAndCombine + partial_bytes / kCombineBytesAClock : 0;
  // Over several rounds neither hides wholly behind the other where both take about as long.
  const int64_t longer = std::max(computing, streaming);
  const int64_t exposed = rounds > 1 ? std::max<int64_t>(0, 2 * std::min(computing, streaming) - longer) / 8 : 0;
  return longer + exposed + combine;
}

int64_t idle_splits(const SplitProblem& problem, const SplitCandidate& candidate) {
  return candidate.splits > candidate.by_block.ceil(context_of(problem)) ? candidate.splits : 0;
}

}  // namespace mlaforge
