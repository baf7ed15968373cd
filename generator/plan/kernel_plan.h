// What a kernel will be, in numbers: rows, LDS map, DMA schedule, MFMA steps, register estimate and limits.
// Plans choose; the emitter and the templates only write them down.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "mlaforge/kernel_contract.h"

namespace mlaforge {

struct Variant;

/// A named piece of the workgroup's LDS, in the order of the map.
struct LdsRegion {
  std::string name;
  std::string declaration;  ///< the member of the emitted struct Lds
  std::string purpose;      ///< one line for the map at the top of the source
  int bytes = 0;
};

/// One global_load_lds_dwordx4 of a wave: 64 lanes x 16 B of its 16-token tile.
struct DmaStep {
  int column = 0;      ///< first byte of the cache row that the step brings: 128 x line, 512 for the tails
  std::string source;  ///< the lane's offset in the emitted source: line0 (tokens 0..7), line1 (8..15) or tail
  int lds_offset = 0;  ///< bytes from the tile's base
  std::string what;
};

/// One MFMA of S^T = K Q^T.
struct QkStep {
  int number = 0;
  int row_tile = 0;
  std::string operand;  ///< hi[line], lo[line] or tail
};

/// One 128-byte line of a K tile and the MFMAs that take it; the last is the 64-byte tail, twice, against hi | lo.
struct QkLine {
  int line = 0;
  bool is_tail = false;
  int lds_offset = 0;  ///< bytes from the tile's base
  int younger = 0;     ///< DMA steps of the same tile that may still be in flight when the line is read
  std::vector<QkStep> steps;
};

/// One transpose read: 16 latents of 32 tokens.
struct TransposeRead {
  int at = 0;      ///< which of the lane's offsets: 2 x chunk of the wave + half of a tile
  int offset = 0;  ///< bytes
};

/// 16 of the wave's latents: V^T for the block's tokens.
struct VTile {
  int latent_base = 0;  ///< first latent, before the wave's share
  std::vector<TransposeRead> reads;
};

struct KernelPlan {
  std::string name;
  std::string target;
  // The functional key.
  int heads = 0, head_groups = 0, qlen = 0, block_tokens = 0, splits = 0, page_size = 0;
  int probability_parts = 0, context_parallel = 0;
  std::string query_dtype, partial_dtype, pipeline;  ///< as in configs
  bool wide_kv = false;
  // Rows of a workgroup: row = head in group x qlen + position.
  int heads_per_group = 0, rows = 0, row_tiles = 0;
  // Launch.
  int threads = 0, waves = 0, waves_per_simd = 0;
  int qk_waves = 0;  ///< waves that own tokens of a block; the first ones
  int pv_waves = 0;  ///< waves that own latents; all, or those behind the QK waves
  std::vector<LdsRegion> lds;
  int lds_bytes = 0, lds_limit = 0;
  int probability_arrays = 0;  ///< of a row tile: with 64-token blocks, and folded, hi and lo share one
  /// At most 8 rows, which stand twice in the tile's 16: P's low part lies in the second eight, so that two parts cost
  /// the MFMAs and the LDS of one, and are taken where one is asked for.
  bool folded = false;
  std::vector<DmaStep> dma;
  std::vector<QkLine> qk_lines;
  std::vector<VTile> v_tiles;
  int qk_mfmas = 0, pv_mfmas = 0;  ///< a block, all waves
  int vgpr_estimate = 0, vgpr_limit = 0;
  // Budget of a block in clocks of a CU: MFMA over its 4 SIMDs, and its share of HBM when every CU streams its own
  // chunk.
  int mfma_clocks = 0, hbm_clocks = 0;
  int predicted_block_clocks = 0;  ///< of the whole schedule when HBM does not bind; fitted to the cycle model
};

/// Why a variant cannot be built, and what is closest to it that can.
struct PlanRefusal {
  std::string field;    ///< the variant's field at fault
  std::string value;    ///< its value
  std::string allowed;  ///< what the plan can serve
  std::string reason;   ///< one sentence, with the numbers
  std::string nearest;  ///< the nearest thing that works
};

using PlanResult = std::variant<KernelPlan, PlanRefusal>;

/// The kernel that merges `splits` partials of a row. Grid: rows x parts workgroups.
struct CombinePlan {
  std::string name;
  std::string target;
  std::string partial_dtype;  ///< bf16 or f32
  int splits = 0;
  int parts = 0;  ///< workgroups a row, each with 512 / parts latents; also the splits that a wave merges at a time
  int threads = 0, waves = 0;
  int steps = 0;  ///< partials that a lane asks for: ceil(splits / (waves x parts))
  int lds_bytes = 0;
};

/// One E4M3 part of P that stands against a power of two: its largest is rounded too, so o is divided by the sum of
/// what PV took, which is kept beside the exact sum.
inline bool has_separate_weight(const KernelPlan& plan) {
  return plan.pipeline == "warp_specialized" && plan.probability_parts == 1 && !plan.folded;
}

/// The smallest number of head groups whose rows fit one tile of 16: ceil(heads / groups) x qlen <= 16.
/// heads in 1 .. 128, qlen in 1 .. 8.
int auto_head_groups(int heads, int qlen);

/// The pipeline, of those that can be planned for the variant's other fields, whose block is predicted shorter.
mlaforge_pipeline choose_pipeline(const Variant& variant);

/// Plans a variant for its target, or says why it cannot be.
PlanResult make_plan(const Variant& variant);

/// splits in 2 .. 256; partial_dtype "bf16" or "f32".
CombinePlan make_combine_plan(int splits, const std::string& partial_dtype, const std::string& target);

nlohmann::json to_json(const KernelPlan& plan);
nlohmann::json to_json(const CombinePlan& plan);
nlohmann::json to_json(const PlanRefusal& refusal);

}  // namespace mlaforge
