// Plans as JSON: what `explain` and the manifest show and what the templates' holes name.
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "generator/plan/kernel_plan.h"

namespace mlaforge {
namespace {

using nlohmann::json;

std::string counted(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

json lds_json(const std::vector<LdsRegion>& regions) {
  json out = json::array();
  for (const LdsRegion& region : regions)
    out.push_back({{"name", region.name},
                   {"name_padded", fmt::format("{:<12}", region.name)},
                   {"declaration", region.declaration},
                   {"purpose", region.purpose},
                   {"bytes", region.bytes},
                   {"bytes_padded", fmt::format("{:>7}", region.bytes)}});
  return out;
}

json dma_json(const std::vector<DmaStep>& steps) {
  json out = json::array();
  for (const DmaStep& step : steps)
    out.push_back(
        {{"column", step.column}, {"source", step.source}, {"lds_offset", step.lds_offset}, {"what", step.what}});
  return out;
}

// Each line with its MFMAs, and the line behind it, which is read before them.
json qk_json(const std::vector<QkLine>& lines) {
  const auto place = [](const QkLine& line) {
    return json{
        {"line", line.line}, {"is_tail", line.is_tail}, {"lds_offset", line.lds_offset}, {"younger", line.younger}};
  };
  json out = json::array();
  for (size_t i = 0; i < lines.size(); ++i) {
    json steps = json::array();
    for (const QkStep& step : lines[i].steps)
      steps.push_back({{"number", step.number}, {"row_tile", step.row_tile}, {"operand", step.operand}});
    json line = place(lines[i]);
    line["steps"] = std::move(steps);
    line["next"] = i + 1 < lines.size() ? json::array({place(lines[i + 1])}) : json::array();
    out.push_back(std::move(line));
  }
  return out;
}

json v_json(const std::vector<VTile>& tiles) {
  json out = json::array();
  for (const VTile& tile : tiles) {
    json reads = json::array();
    for (const TransposeRead& read : tile.reads) reads.push_back({{"at", read.at}, {"offset", read.offset}});
    out.push_back({{"latent_base", tile.latent_base}, {"read_list", std::move(reads)}});
  }
  return out;
}

// The two tiles of a wave of the warp-specialized pipeline's QK half.
json tile_pair_json() {
  json out = json::array();
  for (int pair = 0; pair < 2; ++pair)
    out.push_back({{"pair", pair}, {"tile_offset", pair * 16 * 576}, {"token_offset", pair * 16}});
  return out;
}

// The B operands of PV: hi, then lo; or hi | lo where the block's 64 tokens fill half of k.
json p_operands_json(const KernelPlan& plan) {
  json out = json::array();
  for (int part = 0; part < plan.probability_arrays; ++part)
    out.push_back({{"part", part},
                   {"second_half", plan.block_tokens == 128 || plan.probability_parts == 2
                                       ? fmt::format("lds_load16(arrays[{}] + at.p[1])", part)
                                       : "i32x4{0, 0, 0, 0}"}});
  return out;
}

json row_tiles_json(int row_tiles) {
  json out = json::array();
  for (int tile = 0; tile < row_tiles; ++tile) out.push_back({{"row_tile", tile}, {"row_base", 16 * tile}});
  return out;
}

}  // namespace

json to_json(const KernelPlan& plan) {
  return {{"name", plan.name},
          {"target", plan.target},
          {"heads", plan.heads},
          {"head_groups", plan.head_groups},
          {"qlen", plan.qlen},
          {"query_length_text", counted(plan.qlen, "query position", "query positions")},
          {"block_tokens", plan.block_tokens},
          {"splits", plan.splits},
          {"splits_text", counted(plan.splits, "split", "splits")},
          {"direct_store", plan.splits == 1},
          {"page_size", plan.page_size},
          {"query_dtype", plan.query_dtype},
          {"bf16_query", plan.query_dtype == "bf16"},
          {"query_bytes", plan.query_dtype == "bf16" ? 2 : 1},
          {"query_text", plan.query_dtype == "bf16" ? "bf16 query as two E4M3 parts" : "E4M3 query"},
          {"scalar_names", plan.query_dtype == "bf16" ? json::array({{{"scale", "k_scale"}, {"field", "k"}},
                                                                     {{"scale", "v_scale"}, {"field", "v"}}})
                                                      : json::array({{{"scale", "q_scale"}, {"field", "q"}},
                                                                     {{"scale", "k_scale"}, {"field", "k"}},
                                                                     {{"scale", "v_scale"}, {"field", "v"}}})},
          {"partial_dtype", plan.partial_dtype},
          {"output_type", plan.splits > 1 && plan.partial_dtype == "f32" ? "float" : "__bf16"},
          {"output_text", plan.splits > 1 ? "a split's partial output" : "the output"},
          {"probability_parts", plan.probability_parts},
          {"two_parts", plan.probability_parts == 2 && !plan.folded},
          {"one_part", plan.probability_parts == 1 && !plan.folded},
          {"folded", plan.folded},
          {"tile_rows", plan.folded ? 8 : 16},
          {"probability_text", plan.folded                   ? "E4M3 hi + lo, lo in the tile's unused rows"
                               : plan.probability_parts == 2 ? "E4M3 hi + lo"
                                                             : "one E4M3 part"},
          {"pipeline", plan.pipeline},
          {"wide_kv", plan.wide_kv},
          {"pool_offset", plan.wide_kv ? "unsigned long" : "unsigned"},
          {"context_parallel", plan.context_parallel},
          {"world_log2", std::countr_zero(static_cast<unsigned>(plan.context_parallel))},
          {"heads_per_group", plan.heads_per_group},
          {"rows", plan.rows},
          {"row_tiles", plan.row_tiles},
          {"row_tile_list", row_tiles_json(plan.row_tiles)},
          {"threads", plan.threads},
          {"waves", plan.waves},
          {"waves_per_simd", plan.waves_per_simd},
          {"lds", lds_json(plan.lds)},
          {"lds_bytes", plan.lds_bytes},
          {"lds_limit", plan.lds_limit},
          {"dma", dma_json(plan.dma)},
          {"dma_count", plan.dma.size()},
          {"qk_lines", qk_json(plan.qk_lines)},
          {"v_tiles", v_json(plan.v_tiles)},
          {"v_tile_count", plan.v_tiles.size()},
          {"operand_type", plan.block_tokens == 128 ? "i32x8" : "i32x4"},
          {"operand_words", plan.block_tokens == 128 ? 8 : 4},
          {"p_operands", p_operands_json(plan)},
          {"probability_arrays", plan.probability_arrays},
          {"probability_row_text", plan.block_tokens == 128 ? "bytes of a row of P: one part of 128 tokens"
                                                            : "bytes of a row of P: 64 tokens hi | 64 tokens lo"},
          {"lo_place", plan.block_tokens == 128 ? "[1] + at" : "[0] + (at ^ 64)"},
          {"values_operand", plan.block_tokens == 128 ? "v.tile[t]" : "twice(v.tile[t])"},
          {"qk_waves", plan.qk_waves},
          {"pv_waves", plan.pv_waves},
          {"exchange_eight", plan.qk_waves == 8},
          {"exchange_four", plan.qk_waves == 4},
          {"uniform", plan.pipeline == "uniform"},
          {"warp_specialized", plan.pipeline == "warp_specialized"},
          {"wave_tokens", plan.block_tokens / plan.qk_waves},
          {"wave_latents", 512 / plan.pv_waves},
          {"page_copies", 64 * plan.qk_waves / plan.block_tokens},
          {"tile_pair", tile_pair_json()},
          {"separate_weight", has_separate_weight(plan)},
          {"divisor", has_separate_weight(plan) ? "weight" : "sum"},
          {"qk_mfmas", plan.qk_mfmas},
          {"pv_mfmas", plan.pv_mfmas},
          {"vgpr_estimate", plan.vgpr_estimate},
          {"vgpr_limit", plan.vgpr_limit},
          {"mfma_clocks", plan.mfma_clocks},
          {"hbm_clocks", plan.hbm_clocks},
          {"predicted_block_clocks", plan.predicted_block_clocks}};
}

json to_json(const CombinePlan& plan) {
  constexpr int kLanes = 64, kLatents = 512;
  const bool one_wave = plan.waves == 1;
  const int splits_a_step = plan.waves * plan.parts;
  // A value of each of `step_splits` splits, the first at `own`, by offsets from a scalar base. In the last step a lane
  // may have no split: its weight is 0.
  const auto lse_of = [&](int first, int step_splits, const std::string& own) {
    const std::string split = one_wave     ? fmt::format("{}", first)
                              : first == 0 ? own
                                           : fmt::format("{} + {}", own, first);
    return one_wave || first + step_splits <= plan.splits
               ? fmt::format("lses[{}]", split)
               : fmt::format("{0} < kSplits ? lses[{0}] : -kInfinity", split);
  };
  json split_steps = json::array();
  for (int step = 0; step < plan.steps; ++step) {
    const int first = step * splits_a_step;
    const std::string o = one_wave     ? fmt::format("({}u * o_step + latent * (unsigned)sizeof(Partial))", first)
                          : first == 0 ? "own_o"
                                       : fmt::format("(own_o + {}u * o_step)", first);
    const bool all_lanes = first + splits_a_step <= plan.splits;
    split_steps.push_back({{"o", all_lanes ? o : fmt::format("(own_split + {} < kSplits ? {} : own_o)", first, o)},
                           {"lse", lse_of(first, splits_a_step, "own_split")}});
  }
  // Every lane has some of all splits' LSEs, so that each wave knows the row's maximum and sum.
  json lse_steps = json::array();
  const int lses_a_step = one_wave ? 1 : kLanes;
  for (int first = 0; first < plan.splits; first += lses_a_step) {
    lse_steps.push_back({{"lse", lse_of(first, lses_a_step, "(unsigned)lane")}});
  }
  return {{"name", plan.name},
          {"target", plan.target},
          {"partial_dtype", plan.partial_dtype},
          {"partial_type", plan.partial_dtype == "f32" ? "float" : "__bf16"},
          {"splits", plan.splits},
          {"parts", plan.parts},
          {"partial_bytes", kLatents * (plan.partial_dtype == "f32" ? 4 : 2)},
          {"latents", kLatents / plan.parts},
          {"latents_a_lane", 8 / plan.parts},
          {"group_lanes", kLanes / plan.parts},
          {"eighths", plan.parts > 4},
          {"threads", plan.threads},
          {"waves", plan.waves},
          {"one_wave", one_wave},
          {"steps", plan.steps},
          {"splits_a_step", splits_a_step},
          {"split_steps", std::move(split_steps)},
          {"lse_steps", std::move(lse_steps)},
          {"lds_bytes", plan.lds_bytes}};
}

json to_json(const PlanRefusal& refusal) {
  return {{"field", refusal.field},
          {"value", refusal.value},
          {"allowed", refusal.allowed},
          {"reason", refusal.reason},
          {"nearest", refusal.nearest}};
}

}  // namespace mlaforge
