// `mlaforge mutate` over kernels of every kind: the figures of docs/simulator.md. Takes minutes.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;

namespace {

struct Kernel {
  std::string config, name;
};

}  // namespace

TEST_CASE("every mutant of every kind of kernel is caught or explained") {
  const auto kernel = GENERATE(values<Kernel>({
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s2_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s8_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s1_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s2_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950"},
      {"kimi_k3_tp8", "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s2_p1__gfx950_ws"},
      {"kimi_k2_tp8", "mla_decode_bf16q_fp8kv_h8_g1_q1_b128_s2_p1__gfx950_wide"},
      {"kimi_k3_tp8_cp8", "mla_decode_bf16q_fp8kv_h96_g6_q1_b128_s1_p1__gfx950_cp8"},
  }));
  CAPTURE(kernel.config, kernel.name);
  const std::string config = std::string(MLAFORGE_SOURCE) + "/configs/" + kernel.config + ".json";
  const Outcome outcome = mlaforge_command({"mutate", "--config", config, "--kernel", kernel.name, "--json"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto document = nlohmann::json::parse(outcome.out);
  CHECK(document.at("unexplained") == 0);
  for (const auto& report : document.at("kernels")) CHECK(report.at("caught") > report.at("explained"));
}
