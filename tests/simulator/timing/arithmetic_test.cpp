// Rates and latencies of vector and matrix instructions against the chip's published figures.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/timing/clocks.h"

using namespace mlaforge::simulator::timing;
using test::clocks_a_body;
using test::Run;

namespace {

/// Four independent accumulators in turn.
std::string four(const std::string& mnemonic, int result, int a, int b, const std::string& modifiers = "") {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const int d = 64 + 16 * i;
    text += fmt::format("{} v[{}:{}], v[0:{}], v[16:{}], v[{}:{}]{}\n", mnemonic, d, d + result - 1, a - 1, 16 + b - 1,
                        d, d + result - 1, modifiers);
  }
  return text;
}

double mfma_clocks(const std::string& mnemonic, int result, int a, int b, const std::string& modifiers = "") {
  return clocks_a_body({.before = "", .body = four(mnemonic, result, a, b, modifiers)}) / 4;
}

}  // namespace

TEST_CASE("MFMA rates, clocks a wave instruction") {
  CHECK(mfma_clocks("v_mfma_f32_16x16x128_f8f6f4", 4, 8, 8) == 32);
  CHECK(mfma_clocks("v_mfma_f32_16x16x128_f8f6f4", 4, 4, 4, " cbsz:4 blgp:4") == 16);
  CHECK(mfma_clocks("v_mfma_f32_32x32x64_f8f6f4", 16, 8, 8) == 64);
  CHECK(mfma_clocks("v_mfma_f32_16x16x32_fp8_fp8", 4, 2, 2) == 16);
  CHECK(mfma_clocks("v_mfma_f32_32x32x16_fp8_fp8", 16, 2, 2) == 32);
  CHECK(mfma_clocks("v_mfma_f32_16x16x32_bf16", 4, 4, 4) == 16);
  CHECK(mfma_clocks("v_mfma_f32_32x32x16_bf16", 16, 4, 4) == 32);
}

TEST_CASE("The peak that the MFMA rate gives is the datasheet's 5.03 PFLOPS of fp8") {
  const double flop = 2.0 * 16 * 16 * 128 / mfma_clocks("v_mfma_f32_16x16x128_f8f6f4", 4, 8, 8);
  CHECK(flop * 4 * 256 * 2.4e9 == Approx(5.03e15).epsilon(0.01));
}

TEST_CASE("A chain through the accumulator runs back to back: about 18 clocks of 16x16x32 measured, 17 without one") {
  const double chain =
      clocks_a_body({.before = "", .body = "v_mfma_f32_16x16x32_f16 v[64:67], v[0:3], v[16:19], v[64:67]"});
  CHECK(chain >= 16);
  CHECK(chain <= 18);
}

TEST_CASE("A reader of an MFMA's result waits as long as the hazard tables ask") {
  // Wait states between the two, each an issue of 4 clocks: 8 for 4 passes, 12 for 8, 20 for 16 (LLVM PR 126132).
  struct Row {
    std::string mfma;
    int wait_states;
  };
  const std::array rows{Row{"v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[0:1], v[16:17], v[32:35]", 8},
                        Row{"v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[0:7], v[16:23], v[32:35]", 12},
                        Row{"v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[0:7], v[16:23], v[32:47]", 20}};
  for (const Row& row : rows) {
    CAPTURE(row.mfma);
    // The sum feeds the next MFMA's operand, so that a body is one round trip.
    const double body = clocks_a_body({.before = "", .body = row.mfma + "\nv_add_f32 v0, v64, v64"});
    const double add_latency = 8;
    CHECK(body == 4.0 * (row.wait_states + 1) + add_latency);
  }
}

TEST_CASE("Eight waves of one CU keep four matrix units busy") {
  Run run{.before = "", .body = four("v_mfma_f32_16x16x128_f8f6f4", 4, 8, 8), .threads = 512};
  CHECK(clocks_a_body(run) / 4 == Approx(64).epsilon(0.02));  // two waves a SIMD
}

TEST_CASE("f32 FMA: 4 clocks independent, 8 dependent") {
  CHECK(clocks_a_body({.before = "", .body = "v_fma_f32 v1, v2, v3, v4\nv_fma_f32 v5, v6, v7, v8"}) / 2 == 4);
  CHECK(clocks_a_body({.before = "", .body = "v_fma_f32 v1, v1, v3, v4"}) == 8);
}

TEST_CASE("exp2: 8 clocks a wave, 16 at the slow end") {
  const Run run{.before = "", .body = "v_exp_f32 v1, v2\nv_exp_f32 v3, v4"};
  CHECK(clocks_a_body(run) / 2 == 8);
  const auto slow = static_cast<size_t>(Point::slow);
  const double clock_ghz = parameters_at(mi355x(), Point::slow).clock_ghz;
  const double us = test::time_kernel(run, 40).us[slow] - test::time_kernel(run, 20).us[slow];
  CHECK(us * clock_ghz * 1e3 / 40 == Approx(16));
}

TEST_CASE("A second wave of the SIMD hides a dependent chain") {
  const std::string chain = "v_fma_f32 v1, v1, v3, v4";
  CHECK(clocks_a_body({.before = "", .body = chain, .threads = 512}) == Approx(8).epsilon(0.05));
}

TEST_CASE("s_nop takes its wait states, s_sleep 64 clocks a unit") {
  CHECK(clocks_a_body({.before = "", .body = "s_nop 7"}) == 32);
  CHECK(clocks_a_body({.before = "", .body = "s_sleep 2"}) == 128);
}
