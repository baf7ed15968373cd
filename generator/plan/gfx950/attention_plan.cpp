#include "generator/plan/gfx950/attention_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "generator/plan/gfx950/limits.h"
#include "mlaforge/kernel_contract.h"

namespace mlaforge::gfx950 {
namespace {

constexpr int kTileRows = 16;
constexpr int kTileTokens = 16;
constexpr int kLineBytes = 128;
constexpr int kLines = MLAFORGE_LATENT_DIM / kLineBytes;
constexpr int kTileBytes = kTileTokens * MLAFORGE_KEY_DIM;
constexpr int kDmaBytes = kLanes * 16;

std::optional<PlanRefusal> refuse_unserved(const Variant& v) {
  const auto refusal = [](std::string field, std::string value, std::string allowed, std::string reason,
                          std::string nearest) {
    return PlanRefusal{.field = std::move(field),
                       .value = std::move(value),
                       .allowed = std::move(allowed),
                       .reason = std::move(reason),
                       .nearest = std::move(nearest)};
  };
  if (v.kv_dtype != MLAFORGE_FP8_E4M3)
    return refusal("kv_dtype", std::string(dtype_name(v.kv_dtype)), "fp8_e4m3",
                   "the kernel reads K and V^T as E4M3 MFMA operands", "fp8_e4m3");
  if (v.q_dtype != MLAFORGE_BF16 && v.q_dtype != MLAFORGE_FP8_E4M3)
    return refusal("query_dtype", std::string(dtype_name(v.q_dtype)), "bf16, fp8_e4m3",
                   "the query is split into E4M3 parts, or is E4M3", "bf16");
  if (v.partial_dtype != MLAFORGE_BF16 && v.partial_dtype != MLAFORGE_F32)
    return refusal("partial_dtype", std::string(dtype_name(v.partial_dtype)), "bf16, f32",
                   "the combine kernel reads these", "bf16");
  if (v.block_tokens != 64 && v.block_tokens != 128)
    return refusal("block_tokens", std::to_string(v.block_tokens), "64, 128",
                   "a block is a tile of 16 tokens for each of 4 or 8 waves", v.block_tokens < 96 ? "64" : "128");
  if (v.pipeline == MLAFORGE_WARP_SPECIALIZED && v.block_tokens != 128)
    return refusal("block_tokens", std::to_string(v.block_tokens), "128 with the warp-specialized pipeline",
                   "four waves take 32 tokens each while four others take 128 latents each", "128");
  return std::nullopt;
}

std::optional<PlanRefusal> refuse_out_of_range(const Variant& v) {
  const auto range = [](std::string field, int value, int low, int high) -> std::optional<PlanRefusal> {
    if (value >= low && value <= high) return std::nullopt;
    return PlanRefusal{.field = field,
                       .value = std::to_string(value),
                       .allowed = fmt::format("{} .. {}", low, high),
                       .reason = fmt::format("{} {} is outside what a kernel can have", field, value),
                       .nearest = std::to_string(value < low ? low : high)};
  };
  if (auto r = range("heads", v.heads, 1, 128)) return r;
  if (auto r = range("qlen", v.qlen, 1, 8)) return r;
  if (auto r = range("splits", v.splits, 1, 256)) return r;
  if (auto r = range("probability_parts", v.probability_parts, 1, 2)) return r;
  if (auto r = range("context_parallel", v.context_parallel, 1, 8)) return r;
  if (!std::has_single_bit(static_cast<unsigned>(v.context_parallel)))
    return PlanRefusal{.field = "context_parallel",
                       .value = std::to_string(v.context_parallel),
                       .allowed = "1, 2, 4, 8",
                       .reason = "the rank's share of the tokens is found by a shift",
                       .nearest = std::to_string(std::bit_floor(static_cast<unsigned>(v.context_parallel)))};
  if (auto r = range("page_size", v.page_size, 1, 256)) return r;
  if (auto r = range("head_groups", v.head_groups, 1, v.heads)) return r;
  if (!std::has_single_bit(static_cast<unsigned>(v.page_size)))
    return PlanRefusal{.field = "page_size",
                       .value = std::to_string(v.page_size),
                       .allowed = "a power of two, 1 .. 256",
                       .reason = "the page of a token is found by a shift",
                       .nearest = std::to_string(std::bit_floor(static_cast<unsigned>(v.page_size)))};
  return std::nullopt;
}

// Registers that live through the block loop, and what is live on top at its widest, the PV step.
int estimate_vgprs(const KernelPlan& plan) {
  const int query = plan.query_dtype == "bf16" ? 72 : 36;  // a row tile's operands; the fp8 tail's other half is zero
  const int output = 4 * MLAFORGE_LATENT_DIM / (kTileRows * plan.pv_waves);
  const int probability = 8 * plan.probability_arrays;
  constexpr int kRowState = 8;  // a row tile
  constexpr int kVTile = 8, kProducts = 16, kAddresses = 36;
  if (plan.pipeline == "uniform")
    return plan.row_tiles * (query + output + kRowState + kProducts) + 4 * kVTile + probability + kAddresses;
  constexpr int kKeys = 16, kLogits = 8;
  const int qk_wave = plan.row_tiles * (query + kLogits + kRowState) + kKeys + kAddresses;
  const int pv_wave = plan.row_tiles * (output + probability + kRowState) + 8 * kVTile + kAddresses;
  return std::max(qk_wave, pv_wave);
}

std::vector<LdsRegion> lds_map(const KernelPlan& plan) {
  const int tiles = plan.block_tokens / kTileTokens;
  const bool warp_specialized = plan.pipeline == "warp_specialized";
  std::vector<LdsRegion> regions = {
      {.name = "slots",
       .declaration = "u8 slots[2 * kSlotBytes];",
       .purpose = fmt::format("two K slots of {} tiles x 16 tokens x 576 B; V^T is read from them too", tiles),
       .bytes = 2 * tiles * kTileBytes},
      {.name = "probability",
       .declaration = "u8 probability[kRowTiles][kProbabilityArrays][kProbabilityArray];",
       .purpose = plan.block_tokens == 128 ? "P of a block, E4M3: [row tile][part][16 rows][128 tokens]"
                                           : "P of a block, E4M3: [row tile][1][16 rows][64 tokens hi | 64 tokens lo]",
       .bytes = plan.row_tiles * plan.probability_arrays * kTileRows * 128},
      {.name = warp_specialized ? "wave_maxima" : "exchange",
       .declaration = warp_specialized ? "float wave_maxima[kRowTiles][kQkWaves][16];"
                                       : "float exchange[kRowTiles][kQkWaves / 4][16][4];",
       .purpose = warp_specialized ? "what a block's P stands against: [row tile][wave][row]"
                                   : "row maxima of a block, row sums at the end: [row tile][wave / 4][row][wave % 4]",
       .bytes = plan.row_tiles * kTileRows * plan.qk_waves * 4},
      {.name = "pages",
       .declaration = warp_specialized ? "int pages[kPvWaves][2][64];" : "int pages[kQkWaves][64];",
       .purpose = warp_specialized ? "page ids of each PV wave's tokens of two blocks to come, in copies"
                                   : "page ids of each wave's tokens of a block to come, in copies",
       .bytes = plan.qk_waves * kLanes * 4 * (warp_specialized ? 2 : 1)},
  };
  if (warp_specialized) {
    const int totals = has_separate_weight(plan) ? 3 : 2;
    regions.push_back(
        {.name = "totals",
         .declaration = fmt::format("float totals[kRowTiles][{}][kQkWaves / 4][16][4];", totals),
         .purpose = "at the end: each wave's row maxima, then its row sums: [row tile][maxima, sums][0][row][wave]",
         .bytes = totals * plan.row_tiles * kTileRows * plan.qk_waves * 4});
  }
  return regions;
}

// The wave's tile of 16 tokens, line by line; a line is two steps of eight tokens, the tails are one step.
std::vector<DmaStep> dma_schedule() {
  std::vector<DmaStep> steps;
  for (int line = 0; line < kLines; ++line)
    for (int half = 0; half < 2; ++half)
      steps.push_back({.column = line * kLineBytes,
                       .source = half == 0 ? "line0" : "line1",
                       .lds_offset = (2 * line + half) * kDmaBytes,
                       .what = fmt::format("line {}, tokens {} .. {}", line, 8 * half, 8 * half + 7)});
  steps.push_back({.column = MLAFORGE_LATENT_DIM,
                   .source = "tail",
                   .lds_offset = 2 * kLines * kDmaBytes,
                   .what = "tails, tokens 0 .. 15"});
  return steps;
}

std::vector<QkLine> qk_schedule(const KernelPlan& plan) {
  std::vector<QkLine> lines;
  int number = 0;
  const int dma_steps = static_cast<int>(plan.dma.size());
  for (int line = 0; line <= kLines; ++line) {
    QkLine out{.line = line,
               .is_tail = line == kLines,
               .lds_offset = line * kTileTokens * kLineBytes,
               .younger = line == kLines ? 0 : dma_steps - 2 * (line + 1),
               .steps = {}};
    for (const char* part : {"hi", "lo"}) {
      if (part[0] == 'l' && (out.is_tail || plan.query_dtype != "bf16")) break;
      for (int tile = 0; tile < plan.row_tiles; ++tile)
        out.steps.push_back({.number = number++,
                             .row_tile = tile,
                             .operand = out.is_tail ? std::string("tail") : fmt::format("{}[{}]", part, line)});
    }
    lines.push_back(std::move(out));
  }
  return lines;
}

// A wave owns one or two 16-byte chunks of every token's line, which the swizzle spreads over all banks. A read takes
// 8 tokens of four tiles; lane groups 0 and 1 (2 and 3) take opposite halves of neighbouring tiles.
std::vector<VTile> v_schedule(const KernelPlan& plan) {
  const int chunks_per_wave = 8 / plan.pv_waves, tile_quads = plan.block_tokens / (4 * kTileTokens);
  std::vector<VTile> tiles;
  for (int line = 0; line < kLines; ++line)
    for (int chunk = 0; chunk < chunks_per_wave; ++chunk) {
      VTile tile{.latent_base = line * kLineBytes + chunk * kTileRows, .reads = {}};
      for (int quad = 0; quad < tile_quads; ++quad)
        for (int half = 0; half < 2; ++half)
          tile.reads.push_back(
              {.at = 2 * chunk + half, .offset = quad * 4 * kTileBytes + line * kTileTokens * kLineBytes});
      tiles.push_back(std::move(tile));
    }
  return tiles;
}

// Rows, waves, registers and LDS of a variant in range, whether they fit or not.
KernelPlan size_plan(const Variant& v) {
  KernelPlan plan;
  plan.name = format(v);
  plan.target = v.target;
  plan.heads = v.heads;
  plan.head_groups = v.head_groups;
  plan.qlen = v.qlen;
  plan.block_tokens = v.block_tokens;
  plan.splits = v.splits;
  plan.page_size = v.page_size;
  plan.probability_parts = v.probability_parts;
  plan.context_parallel = v.context_parallel;
  plan.query_dtype = std::string(dtype_name(v.q_dtype));
  plan.partial_dtype = std::string(dtype_name(v.partial_dtype));
  plan.pipeline = std::string(pipeline_name(v.pipeline));
  plan.wide_kv = v.wide_kv;
  plan.heads_per_group = (v.heads + v.head_groups - 1) / v.head_groups;
  plan.rows = plan.heads_per_group * v.qlen;
  plan.row_tiles = (plan.rows + kTileRows - 1) / kTileRows;
  plan.waves = v.block_tokens / kTileTokens;
  plan.qk_waves = v.pipeline == MLAFORGE_UNIFORM ? plan.waves : plan.waves / 2;
  plan.pv_waves = plan.qk_waves;
  plan.threads = plan.waves * kLanes;
  constexpr int kWavesOnUnit = 8;  // one workgroup of 8 waves or two of 4
  plan.waves_per_simd = kWavesOnUnit / kSimds;
  plan.folded = v.block_tokens == 128 && plan.rows <= kTileRows / 2;
  plan.probability_arrays = v.block_tokens == 128 && !plan.folded ? v.probability_parts : 1;

  plan.vgpr_limit = kVgprs / plan.waves_per_simd;
  plan.vgpr_estimate = estimate_vgprs(plan);
  plan.lds = lds_map(plan);
  for (const LdsRegion& region : plan.lds) plan.lds_bytes += region.bytes;
  plan.lds_limit = kLdsBytes * plan.waves / kWavesOnUnit;
  return plan;
}

bool fits(const KernelPlan& plan) { return plan.vgpr_estimate <= plan.vgpr_limit && plan.lds_bytes <= plan.lds_limit; }

PlanRefusal refuse_size(const Variant& v, const KernelPlan& plan) {
  Variant near = v;
  while (near.head_groups < v.heads && !fits(size_plan(near))) ++near.head_groups;
  return {.field = "head_groups",
          .value = std::to_string(v.head_groups),
          .allowed = fmt::format("{} .. {}, at most {} rows a workgroup", near.head_groups, v.heads,
                                 (v.heads + near.head_groups - 1) / near.head_groups * v.qlen),
          .reason = fmt::format(
              "{} rows are {} row tiles: about {} VGPRs a lane of at most {}, and {} bytes of LDS of at most {}",
              plan.rows, plan.row_tiles, plan.vgpr_estimate, plan.vgpr_limit, plan.lds_bytes, plan.lds_limit),
          .nearest = std::to_string(near.head_groups)};
}

// A block's clocks where neither HBM nor the L2 binds: a line through the cycle model's figures for one and two row
// tiles, both query types and both numbers of parts, which it meets within 8 %. A prediction; docs/timing.md.
int predict_block_clocks(const KernelPlan& plan) {
  const bool uniform = plan.pipeline == "uniform";
  const int clocks = uniform ? 1500 + 600 * plan.row_tiles + plan.mfma_clocks * 6 / 10
                             : 1500 + 150 * plan.row_tiles + plan.mfma_clocks / 2;
  return clocks * plan.block_tokens / 128;  // two workgroups of 64 tokens share a CU
}

}  // namespace

PlanResult make_attention_plan(const Variant& v) {
  if (auto refusal = refuse_out_of_range(v)) return *refusal;
  if (auto refusal = refuse_unserved(v)) return *refusal;

  KernelPlan plan = size_plan(v);
  if (!fits(plan)) return refuse_size(v, plan);

  plan.dma = dma_schedule();
  plan.qk_lines = qk_schedule(plan);
  plan.v_tiles = v_schedule(plan);
  const int tiles = v.block_tokens / kTileTokens;
  for (const QkLine& line : plan.qk_lines) plan.qk_mfmas += static_cast<int>(line.steps.size()) * tiles;
  plan.pv_mfmas = static_cast<int>(plan.v_tiles.size()) * plan.probability_arrays * plan.row_tiles * plan.pv_waves;
  plan.mfma_clocks = (plan.qk_mfmas + plan.pv_mfmas) * kMfmaK128Clocks / kSimds;
  plan.predicted_block_clocks = predict_block_clocks(plan);
  plan.hbm_clocks = static_cast<int>(plan.block_tokens * MLAFORGE_KEY_DIM / kHbmBytesPerClock);
  return plan;
}

}  // namespace mlaforge::gfx950
