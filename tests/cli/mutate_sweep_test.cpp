// `mlaforge mutate` over kernels of every kind: the figures of docs/simulator.md. Takes minutes.
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;

namespace {

struct Kernel {
  std::string config, name;
};

/// Kernels with few splits, and so short launches, of kinds that the shipped configs have with many or not at all.
constexpr const char* few_splits = R"({
  "name": "few_splits", "model": {"num_heads": 96}, "tensor_parallel": 8,
  "kernels": [
    {"query_length": 1, "head_groups": "auto", "splits": 2, "block_tokens": 64},
    {"query_length": 4, "head_groups": 3, "splits": 2, "pipeline": "warp_specialized"},
    {"query_length": 4, "head_groups": 2, "splits": 2, "pipeline": "warp_specialized", "query_dtype": "fp8_e4m3",
     "probability_parts": 1}
  ]})";

}  // namespace

TEST_CASE("every mutant of every kind of kernel is caught or explained") {
  const auto kernel = GENERATE(values<Kernel>({
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s8_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s2_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s2_p1__gfx950_ws"},
      {"few_splits", "mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s2_p1__gfx950"},
      {"few_splits", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s2_p1__gfx950_ws"},
      {"few_splits", "mla_decode_fp8q_fp8kv_h12_g2_q4_b128_s2_p1__gfx950_ws_pp1"},
      {"kimi_k2_tp8", "mla_decode_bf16q_fp8kv_h8_g1_q1_b128_s2_p1__gfx950_ws_wide"},
      {"kimi_k3_tp8_cp8", "mla_decode_bf16q_fp8kv_h96_g6_q1_b128_s1_p1__gfx950_ws_cp8"},
      {"kimi_k3_tp8", "mla_combine_bf16p_s4__gfx950"},
      {"kimi_k3_tp8", "mla_combine_bf16p_s32__gfx950"},
  }));
  CAPTURE(kernel.config, kernel.name);
  const TemporaryFolder folder;
  write(folder / "few_splits.json", few_splits);
  const std::string config = kernel.config == "few_splits"
                                 ? (folder / "few_splits.json").string()
                                 : std::string(MLAFORGE_SOURCE) + "/configs/" + kernel.config + ".json";
  const Outcome outcome = mlaforge_command({"mutate", "--config", config, "--kernel", kernel.name, "--json"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto document = nlohmann::json::parse(outcome.out);
  CHECK(document.at("unexplained") == 0);
  for (const auto& report : document.at("kernels")) CHECK(report.at("caught") > report.at("explained"));
}
