// A Variant is the functional key of one attention kernel: what a launch must match exactly.
// Name = symbol = file stem = table key; the grammar of names is docs/names.md.
#pragma once

#include <compare>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "generator/result.h"
#include "mlaforge/kernel_contract.h"

namespace mlaforge {

/// The members stand in the order of mlaforge_kernel_row's key, so that sorted variants are a sorted table.
struct Variant {
  int heads = 0;                           ///< query heads of one rank, 1 .. 128
  int qlen = 1;                            ///< query positions a request, 1 .. 8
  int page_size = 1;                       ///< tokens a page, a power of two, 1 .. 256
  mlaforge_dtype q_dtype = MLAFORGE_BF16;  ///< bf16 or fp8_e4m3
  mlaforge_dtype kv_dtype = MLAFORGE_FP8_E4M3;
  int context_parallel = 1;  ///< ranks that share a request's tokens: 1, 2, 4, 8
  bool wide_kv = false;      ///< 64-bit offsets into the pool
  int splits = 1;            ///< runs that a request's blocks are cut into, 1 .. 256
  int head_groups = 1;       ///< workgroups that share a rank's heads
  int block_tokens = 128;    ///< KV tokens a step of the kernel: 64 or 128
  mlaforge_pipeline pipeline = MLAFORGE_UNIFORM;
  mlaforge_dtype partial_dtype = MLAFORGE_BF16;  ///< of the split's unmerged outputs: bf16 or f32
  int probability_parts = 2;                     ///< E4M3 parts that P is carried in: 2 or 1
  std::string target = "gfx950";

  auto operator<=>(const Variant&) const = default;
};

/// The variant's name, e.g. mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950.
std::string format(const Variant& variant);

/// The variant of a name; an error says where the name leaves the grammar and what may stand there.
/// parse(format(v)) == v for every variant whose members are in range.
Expected<Variant> parse(std::string_view name);

/// Names as configs and JSON outputs spell them: bf16, f32, fp8_e4m3; uniform, warp_specialized.
std::string_view dtype_name(mlaforge_dtype dtype);
std::string_view pipeline_name(mlaforge_pipeline pipeline);

nlohmann::json to_json(const Variant& variant);

}  // namespace mlaforge
