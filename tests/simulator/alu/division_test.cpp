// The compiler's division sequences, whole: the quotient must be the correctly rounded one of the host's division.
#include <cmath>
#include <random>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

// As LLVM expands an IEEE f32 fdiv; numerator v1, denominator v2, quotient v10.
constexpr const char* kDivideF32 =
    "v_div_scale_f32 v3, s[4:5], v2, v2, v1\nv_div_scale_f32 v4, vcc, v1, v2, v1\nv_rcp_f32 v5, v3\n"
    "v_fma_f32 v6, -v3, v5, 1.0\nv_fma_f32 v5, v6, v5, v5\nv_mul_f32 v7, v4, v5\nv_fma_f32 v8, -v3, v7, v4\n"
    "v_fma_f32 v7, v8, v5, v7\nv_fma_f32 v9, -v3, v7, v4\nv_div_fmas_f32 v9, v9, v5, v7\nv_div_fixup_f32 v10, v9, v2, "
    "v1";

// The same for f64: numerator v[2:3], denominator v[4:5], quotient v[20:21].
constexpr const char* kDivideF64 =
    "v_div_scale_f64 v[6:7], s[4:5], v[4:5], v[4:5], v[2:3]\nv_rcp_f64 v[8:9], v[6:7]\n"
    "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0\nv_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]\n"
    "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0\nv_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]\n"
    "v_div_scale_f64 v[12:13], vcc, v[2:3], v[4:5], v[2:3]\nv_mul_f64 v[14:15], v[12:13], v[8:9]\n"
    "v_fma_f64 v[16:17], -v[6:7], v[14:15], v[12:13]\nv_div_fmas_f64 v[18:19], v[16:17], v[8:9], v[14:15]\n"
    "v_div_fixup_f64 v[20:21], v[18:19], v[4:5], v[2:3]";

}  // namespace

TEST_CASE("f32 division is correctly rounded, denormal quotients and edge values included") {
  const auto instructions = WaveRunner::decode(kDivideF32);
  std::vector<std::pair<float, float>> pairs;
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> edges{
      0.0f,      -0.0f,           1.0f,     -3.0f,    inf,    -inf, NAN,       0x1p-149f, 0x1.fffffep-127f,
      0x1p-126f, 0x1.fffffep127f, 0x1p126f, 0x1p127f, 1e-38f, 7.0f, 0x1p-100f, 0x1p100f};
  for (float a : edges)
    for (float b : edges) pairs.emplace_back(a, b);
  std::mt19937 random(42);
  while (pairs.size() < 64 * 200) {
    const uint32_t a = static_cast<uint32_t>(random());
    const uint32_t b = static_cast<uint32_t>(random());
    pairs.emplace_back(std::bit_cast<float>(a), std::bit_cast<float>(b));
  }
  for (size_t start = 0; start + 64 <= pairs.size(); start += 64) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      wave.v(1, lane) = std::bit_cast<uint32_t>(pairs[start + static_cast<size_t>(lane)].first);
      wave.v(2, lane) = std::bit_cast<uint32_t>(pairs[start + static_cast<size_t>(lane)].second);
    }
    for (const Instruction& i : instructions) wave.execute(i);
    for (int lane = 0; lane < 64; ++lane) {
      const auto [a, b] = pairs[start + static_cast<size_t>(lane)];
      const float quotient = a / b;
      CAPTURE(a, b, quotient, wave.f32(10, lane));
      if (std::isnan(quotient))
        REQUIRE(std::isnan(wave.f32(10, lane)));
      else
        REQUIRE(wave.v(10, lane) == std::bit_cast<uint32_t>(quotient));
    }
  }
}

TEST_CASE("f64 division is correctly rounded") {
  const auto instructions = WaveRunner::decode(kDivideF64);
  std::mt19937_64 random(43);
  const std::vector<double> edges{
      0.0,      -0.0, 1.0,      -3.0,    INFINITY, NAN, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023,
      0x1p1022, 7.0,  0x1p-800, 0x1p800, 0x1p-1030};
  std::vector<std::pair<double, double>> pairs;
  for (double a : edges)
    for (double b : edges) pairs.emplace_back(a, b);
  while (pairs.size() < 64 * 100) pairs.emplace_back(std::bit_cast<double>(random()), std::bit_cast<double>(random()));
  for (size_t start = 0; start + 64 <= pairs.size(); start += 64) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      const auto [a, b] = pairs[start + static_cast<size_t>(lane)];
      const auto put = [&](int reg, double v) {
        wave.v(reg, lane) = static_cast<uint32_t>(std::bit_cast<uint64_t>(v));
        wave.v(reg + 1, lane) = static_cast<uint32_t>(std::bit_cast<uint64_t>(v) >> 32);
      };
      put(2, a);
      put(4, b);
    }
    for (const Instruction& i : instructions) wave.execute(i);
    for (int lane = 0; lane < 64; ++lane) {
      const auto [a, b] = pairs[start + static_cast<size_t>(lane)];
      const double quotient = a / b;
      CAPTURE(a, b, quotient, wave.f64(20, lane));
      if (std::isnan(quotient))
        REQUIRE(std::isnan(wave.f64(20, lane)));
      else
        REQUIRE(wave.u64(20, lane) == std::bit_cast<uint64_t>(quotient));
    }
  }
}

TEST_CASE("div_fixup's special cases") {
  WaveRunner wave;
  wave.set_f32(1, 123.0f);
  wave.set_lanes<float>(2, {0.0f, INFINITY, -0.0f, 2.0f, INFINITY, -2.0f, NAN});
  wave.set_lanes<float>(3, {0.0f, INFINITY, 1.0f, -INFINITY, -1.0f, 0.0f, 1.0f});
  wave.run("v_div_fixup_f32 v4, v1, v2, v3");
  CHECK(wave.v(4, 0) == 0xffc00000);
  CHECK(wave.v(4, 1) == 0xffc00000);
  CHECK(wave.f32(4, 2) == -INFINITY);
  CHECK(wave.f32(4, 3) == -INFINITY);
  CHECK(wave.v(4, 4) == 0x80000000);
  CHECK(wave.v(4, 5) == 0x80000000);
  CHECK(std::isnan(wave.f32(4, 6)));
}

TEST_CASE("the 32-bit unsigned division sequence of LLVM") {
  // v1 / v2 by v_rcp_iflag_f32, one Newton step in integers and two corrections; quotient in v10.
  const auto instructions = WaveRunner::decode(
      "v_cvt_f32_u32 v3, v2\nv_rcp_iflag_f32 v3, v3\nv_sub_u32 v4, 0, v2\nv_mul_f32 v3, 0x4f7ffffe, v3\nv_cvt_u32_f32 "
      "v3, v3\n"
      "v_mul_lo_u32 v4, v4, v3\nv_mul_hi_u32 v4, v3, v4\nv_add_u32 v3, v3, v4\nv_mul_hi_u32 v3, v1, v3\nv_mul_lo_u32 "
      "v4, v3, v2\n"
      "v_sub_u32 v5, v1, v4\nv_add_u32 v6, 1, v3\nv_cmp_ge_u32 vcc, v5, v2\nv_cndmask_b32 v3, v3, v6, vcc\nv_sub_u32 "
      "v6, v5, v2\n"
      "v_cndmask_b32 v5, v5, v6, vcc\nv_add_u32 v6, 1, v3\nv_cmp_ge_u32 vcc, v5, v2\nv_cndmask_b32 v10, v3, v6, vcc");
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      wave.v(1, lane) = static_cast<uint32_t>(random()) >> (random() % 32);
      wave.v(2, lane) = std::max(1u, static_cast<uint32_t>(random()) >> (random() % 32));
    }
    wave.v(1, 0) = 0xffffffff;
    wave.v(2, 0) = 1;
    wave.v(1, 1) = 0xffffffff;
    wave.v(2, 1) = 0xffffffff;
    for (const Instruction& i : instructions) wave.execute(i);
    for (int lane = 0; lane < 64; ++lane) REQUIRE(wave.v(10, lane) == wave.v(1, lane) / wave.v(2, lane));
  }
}
