// Floating-point instructions on edge values: IEEE arithmetic of the host in double or by hand, NaN rules of the ISA.
#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr uint32_t kQuiet = 0x7fc00001;
constexpr uint32_t kSignaling = 0x7f800001;

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

const std::vector<float> kFloats{0.0f,
                                 -0.0f,
                                 1.0f,
                                 -1.0f,
                                 0.5f,
                                 3.0f,
                                 0x1p-126f,
                                 0x1p-149f,
                                 -0x1p-130f,
                                 kInf,
                                 -kInf,
                                 0x1.8p127f,
                                 -0x1.fffffep127f,
                                 1e-20f,
                                 7.25f,
                                 -2.5f,
                                 0x1.000002p0f};

// Distance in units in the last place between `value` and the double `exact`.
double ulps(float value, double exact) {
  const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::fabs(static_cast<double>(value) - exact) / unit;
}

}  // namespace

TEST_CASE("f32 arithmetic rounds once, as a double result rounded to f32 does") {
  const auto instructions =
      WaveRunner::decode("v_add_f32 v3, v1, v2\nv_sub_f32 v4, v1, v2\nv_mul_f32 v5, v1, v2\nv_subrev_f32 v6, v1, v2");
  for (size_t shift = 0; shift < kFloats.size(); ++shift) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      wave.v(1, lane) = bits(kFloats[static_cast<size_t>(lane) % kFloats.size()]);
      wave.v(2, lane) = bits(kFloats[(static_cast<size_t>(lane) + shift) % kFloats.size()]);
    }
    for (const Instruction& instruction : instructions) wave.execute(instruction);
    for (int lane = 0; lane < 64; ++lane) {
      const double a = static_cast<double>(wave.f32(1, lane));
      const double b = static_cast<double>(wave.f32(2, lane));
      const auto same = [&](int reg, double exact) {
        CAPTURE(a, b, exact);
        const bool right =
            std::isnan(exact) ? std::isnan(wave.f32(reg, lane)) : wave.v(reg, lane) == bits(static_cast<float>(exact));
        CHECK(right);
      };
      same(3, a + b);
      same(4, a - b);
      same(5, a * b);  // 48 bits: exact in double
      same(6, b - a);
    }
  }
}

TEST_CASE("v_fma_f32 rounds once where a multiply and an add round twice") {
  WaveRunner wave;
  wave.set_f32(1, 0x1.000002p0f);
  wave.set_f32(2, 0x1.000002p0f);
  wave.set_f32(3, -0x1.000004p0f);
  wave.set_f32(4, -0x1.000004p0f);
  wave.run(
      "v_fma_f32 v0, v1, v2, v3\nv_fmac_f32 v4, v1, v2\nv_mul_f32 v5, v1, v2\nv_add_f32 v5, v5, v3\n"
      "v_fma_f32 v6, -v1, |v3|, v3\nv_fmaak_f32 v7, v1, v2, 0xbf800002\nv_fmamk_f32 v8, v1, 0x3f800001, v3");
  CHECK(wave.f32(0, 0) == 0x1p-46f);
  CHECK(wave.f32(4, 0) == 0x1p-46f);
  CHECK(wave.f32(5, 0) == 0.0f);
  CHECK(wave.f32(6, 0) == static_cast<float>(-(1 + 0x1p-23) * (1 + 0x1p-22) - (1 + 0x1p-22)));
  CHECK(wave.f32(7, 0) == 0x1p-46f);
  CHECK(wave.f32(8, 0) == 0x1p-46f);
}

TEST_CASE("maximum and minimum: signed zeros, quiet and signaling NaN, with and without IEEE mode") {
  struct Row {
    uint32_t a, b, max_ieee, min_ieee, max_plain, min_plain;
  };
  const uint32_t one = bits(1.0f);
  const std::vector<Row> rows{
      {bits(0.0f), bits(-0.0f), bits(0.0f), bits(-0.0f), bits(0.0f), bits(-0.0f)},
      {bits(-0.0f), bits(0.0f), bits(0.0f), bits(-0.0f), bits(0.0f), bits(-0.0f)},
      {bits(2.0f), one, bits(2.0f), one, bits(2.0f), one},
      {kQuiet, one, one, one, one, one},
      {one, kQuiet, one, one, one, one},
      {kSignaling, one, kSignaling | 0x400000, kSignaling | 0x400000, one, one},
      {one, kSignaling, kSignaling | 0x400000, kSignaling | 0x400000, one, one},
      {bits(-kInf), bits(kInf), bits(kInf), bits(-kInf), bits(kInf), bits(-kInf)},
      {bits(0x1p-149f), bits(0.0f), bits(0x1p-149f), 0, bits(0x1p-149f), 0},
  };
  const auto instructions = WaveRunner::decode("v_max_f32 v3, v1, v2\nv_min_f32 v4, v1, v2");
  for (const Row& row : rows) {
    CAPTURE(row.a, row.b);
    WaveRunner wave;
    wave.set(1, row.a);
    wave.set(2, row.b);
    for (const Instruction& i : instructions) wave.execute(i);
    CHECK(wave.v(3, 9) == row.max_ieee);
    CHECK(wave.v(4, 9) == row.min_ieee);
    wave.wave().mode &= ~mode_bits::ieee;
    for (const Instruction& i : instructions) wave.execute(i);
    CHECK(wave.v(3, 9) == row.max_plain);
    CHECK(wave.v(4, 9) == row.min_plain);
  }
}

TEST_CASE("med3, max3, min3 and the IEEE 2019 forms") {
  WaveRunner wave;
  wave.set_lanes<uint32_t>(1, {bits(1.0f), bits(3.0f), bits(2.0f), kQuiet});
  wave.set_lanes<uint32_t>(2, {bits(2.0f), bits(2.0f), bits(3.0f), bits(5.0f)});
  wave.set_lanes<uint32_t>(3, {bits(3.0f), bits(1.0f), bits(1.0f), bits(4.0f)});
  wave.run(
      "v_med3_f32 v4, v1, v2, v3\nv_max3_f32 v5, v1, v2, v3\nv_min3_f32 v6, v1, v2, v3\n"
      "v_maximum3_f32 v7, v1, v2, v3\nv_minimum3_f32 v8, v1, v2, v3");
  for (int lane = 0; lane < 3; ++lane) {
    CHECK(wave.f32(4, lane) == 2.0f);
    CHECK(wave.f32(5, lane) == 3.0f);
    CHECK(wave.f32(6, lane) == 1.0f);
    CHECK(wave.f32(7, lane) == 3.0f);
    CHECK(wave.f32(8, lane) == 1.0f);
  }
  CHECK(wave.f32(4, 3) == 4.0f);  // with a NaN, med3 is min3
  CHECK(wave.f32(5, 3) == 5.0f);
  CHECK(std::isnan(wave.f32(7, 3)));
  CHECK(std::isnan(wave.f32(8, 3)));
}

TEST_CASE("transcendentals stay within one unit in the last place of the C library's double results") {
  WaveRunner wave;
  double worst[6] = {};
  for (int round = 0; round < 200; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      const int i = round * 64 + lane;
      wave.v(1, lane) = bits(-126.0f + 253.9f * static_cast<float>(i) / 12800.0f);
      wave.v(2, lane) = bits(std::ldexp(1.0f + static_cast<float>(i % 997) / 997.0f, i % 240 - 120));
    }
    static const auto instructions = WaveRunner::decode(
        "v_exp_f32 v3, v1\nv_log_f32 v4, v2\nv_rcp_f32 v5, v2\nv_rsq_f32 v6, v2\nv_sqrt_f32 v7, v2\nv_sin_f32 v8, v1");
    for (const Instruction& i : instructions) wave.execute(i);
    for (int lane = 0; lane < 64; ++lane) {
      const double x = static_cast<double>(wave.f32(1, lane));
      const double y = static_cast<double>(wave.f32(2, lane));
      worst[0] = std::max(worst[0], ulps(wave.f32(3, lane), std::exp2(x)));
      if (y != 1.0) worst[1] = std::max(worst[1], ulps(wave.f32(4, lane), std::log2(y)));
      worst[2] = std::max(worst[2], ulps(wave.f32(5, lane), 1 / y));
      worst[3] = std::max(worst[3], ulps(wave.f32(6, lane), 1 / std::sqrt(y)));
      worst[4] = std::max(worst[4], ulps(wave.f32(7, lane), std::sqrt(y)));
      worst[5] = std::max(worst[5], std::fabs(static_cast<double>(wave.f32(8, lane)) - std::sin(2 * M_PI * x)));
    }
  }
  for (int i = 0; i < 5; ++i) CHECK(worst[i] < 0.5001);
  CHECK(worst[5] < 1e-6);
}

TEST_CASE("transcendentals at their edges") {
  WaveRunner wave;
  wave.set_lanes<float>(1,
                        {-kInf, kInf, 0.0f, 128.0f, -150.0f, -126.5f, 1.0f, std::numeric_limits<float>::quiet_NaN()});
  wave.set_lanes<float>(2, {0.0f, -0.0f, -1.0f, kInf, 1.0f, 0x1p-140f, 8.0f, 0x1p127f});
  wave.run("v_exp_f32 v3, v1\nv_log_f32 v4, v2\nv_rcp_f32 v5, v2\nv_sqrt_f32 v6, v2\nv_rsq_f32 v7, v2");
  const float exp_expected[] = {0.0f, kInf, 1.0f, kInf, 0.0f, 0.0f, 2.0f};  // denormal results are flushed
  for (int lane = 0; lane < 7; ++lane) CHECK(wave.f32(3, lane) == exp_expected[lane]);
  CHECK(std::isnan(wave.f32(3, 7)));
  CHECK(wave.f32(4, 0) == -kInf);
  CHECK(wave.f32(4, 1) == -kInf);
  CHECK(std::isnan(wave.f32(4, 2)));
  CHECK(wave.f32(4, 3) == kInf);
  CHECK(wave.v(4, 4) == 0);
  CHECK(wave.f32(4, 5) == -kInf);  // a denormal counts as zero
  CHECK(wave.f32(4, 6) == 3.0f);
  CHECK(wave.f32(5, 0) == kInf);
  CHECK(wave.f32(5, 1) == -kInf);
  CHECK(wave.v(5, 3) == 0);
  CHECK(wave.f32(5, 7) == 0.0f);  // 2^-127 is denormal
  CHECK(wave.v(6, 1) == 0x80000000);
  CHECK(std::isnan(wave.f32(6, 2)));
  CHECK(wave.f32(7, 0) == kInf);
}

TEST_CASE("rounding to integers, fract, frexp and ldexp") {
  WaveRunner wave;
  wave.set_lanes<float>(1, {2.5f, 3.5f, -2.5f, -0.5f, 0x1p30f, -1e-10f, 0x1p-140f, kInf});
  wave.run(
      "v_rndne_f32 v2, v1\nv_trunc_f32 v3, v1\nv_ceil_f32 v4, v1\nv_floor_f32 v5, v1\nv_fract_f32 v6, v1\n"
      "v_frexp_exp_i32_f32 v7, v1\nv_frexp_mant_f32 v8, v1\nv_mov_b32 v9, 3\nv_ldexp_f32 v10, v1, v9");
  const float rndne[] = {2, 4, -2, -0.0f, 0x1p30f};
  const float ceil[] = {3, 4, -2, -0.0f, 0x1p30f};
  const float floor[] = {2, 3, -3, -1, 0x1p30f};
  for (int lane = 0; lane < 5; ++lane) {
    CHECK(wave.v(2, lane) == bits(rndne[lane]));
    CHECK(wave.v(4, lane) == bits(ceil[lane]));
    CHECK(wave.v(5, lane) == bits(floor[lane]));
  }
  CHECK(wave.f32(3, 2) == -2.0f);
  CHECK(wave.f32(6, 2) == 0.5f);
  CHECK(wave.f32(6, 5) == 0x1.fffffep-1f);  // never 1
  CHECK(static_cast<int32_t>(wave.v(7, 0)) == 2);
  CHECK(wave.f32(8, 0) == 0.625f);
  CHECK(static_cast<int32_t>(wave.v(7, 6)) == -139);
  CHECK(wave.f32(8, 6) == 0.5f);
  CHECK(wave.v(7, 7) == 0);
  CHECK(wave.f32(8, 7) == kInf);
  CHECK(wave.f32(10, 0) == 20.0f);
  CHECK(wave.f32(10, 6) == 0x1p-137f);
}

TEST_CASE("denormals and rounding follow MODE") {
  WaveRunner wave;
  wave.set_f32(1, 0x1p-130f);
  wave.set_f32(2, 1.0f);
  wave.set_f32(3, 0x1p-126f);
  wave.set_f32(4, 0.5f);
  const auto add = WaveRunner::decode("v_add_f32 v5, v1, v1\nv_mul_f32 v6, v3, v4\nv_add_f32 v7, v2, v1");
  const auto run = [&] {
    for (const Instruction& i : add) wave.execute(i);
  };
  run();
  CHECK(wave.f32(5, 0) == 0x1p-129f);
  CHECK(wave.f32(6, 0) == 0x1p-127f);
  wave.wave().mode &= ~(3u << mode_bits::denorm_f32_shift);  // flush both
  run();
  CHECK(wave.v(5, 0) == 0);
  CHECK(wave.v(6, 0) == 0);
  wave.wave().mode |= 2u << mode_bits::denorm_f32_shift;  // flush inputs only
  run();
  CHECK(wave.v(5, 0) == 0);
  CHECK(wave.f32(6, 0) == 0x1p-127f);
  wave.wave().mode = hip_mode | 1;  // toward +infinity
  run();
  CHECK(wave.f32(7, 0) == 0x1.000002p0f);
  wave.wave().mode = hip_mode | 2;
  run();
  CHECK(wave.f32(7, 0) == 1.0f);
  wave.wave().mode = hip_mode | 3;
  wave.run("v_sub_f32 v7, v2, v1");
  CHECK(wave.f32(7, 0) == 0x1.fffffep-1f);
  // f64 rounding is a field of its own.
  wave.wave().mode = hip_mode | 1u << mode_bits::round_f64_f16_shift;
  run();
  CHECK(wave.f32(7, 0) == 1.0f);
  wave.set64(10, std::bit_cast<uint64_t>(1.0));
  wave.set64(12, std::bit_cast<uint64_t>(0x1p-80));
  wave.run("v_add_f64 v[14:15], v[10:11], v[12:13]");
  CHECK(wave.f64(14, 0) == 0x1.0000000000001p0);
}

TEST_CASE("f64 arithmetic") {
  WaveRunner wave;
  wave.set_lanes<double>(2, {1.5, -0.0, 1e308, 0x1p-1060, 3.0});
  wave.set_lanes<double>(4, {2.25, 0.0, 1e308, 0.5, 1.0 / 3.0});
  wave.set_lanes<double>(6, {-1.0, 1.0, -1e308, 0.0, -1.0});
  wave.run(
      "v_add_f64 v[8:9], v[2:3], v[4:5]\nv_mul_f64 v[10:11], v[2:3], v[4:5]\n"
      "v_fma_f64 v[12:13], v[2:3], v[4:5], v[6:7]\nv_max_f64 v[14:15], v[2:3], v[4:5]\n"
      "v_rcp_f64 v[16:17], v[4:5]\nv_sqrt_f64 v[18:19], v[4:5]\nv_floor_f64 v[20:21], v[2:3]\n"
      "v_ldexp_f64 v[22:23], v[2:3], -3\nv_frexp_mant_f64 v[24:25], v[2:3]\nv_frexp_exp_i32_f64 v26, v[2:3]\n"
      "v_rndne_f64 v[28:29], v[2:3]\nv_add_f64 v[30:31], -v[2:3], |v[6:7]|");
  CHECK(wave.f64(8, 0) == 3.75);
  CHECK(wave.f64(8, 2) == std::numeric_limits<double>::infinity());
  CHECK(wave.f64(10, 3) == 0x1p-1061);
  CHECK(wave.f64(12, 0) == 2.375);
  CHECK(wave.f64(12, 4) == -0x1p-54);  // 3 * fl(1/3) - 1, exact
  CHECK(wave.u64(14, 1) == 0);
  CHECK(wave.f64(16, 3) == 2.0);
  CHECK(wave.f64(18, 0) == 1.5);
  CHECK(wave.f64(20, 0) == 1.0);
  CHECK(wave.f64(22, 0) == 0.1875);
  CHECK(wave.f64(24, 0) == 0.75);
  CHECK(wave.v(26, 0) == 1);
  CHECK(static_cast<int32_t>(wave.v(26, 3)) == -1059);
  CHECK(wave.f64(28, 0) == 2.0);
  CHECK(wave.f64(30, 0) == -0.5);
}

TEST_CASE("v_trig_preop_f64 gives 53-bit pieces of 2/pi") {
  WaveRunner wave;
  wave.set64(2, std::bit_cast<uint64_t>(1.0));
  wave.run("v_trig_preop_f64 v[4:5], v[2:3], 0\nv_trig_preop_f64 v[6:7], v[2:3], 1");
  const long double two_over_pi = 0.636619772367581343075535053490057448L;
  const double high = wave.f64(4, 0);
  CHECK(high == static_cast<double>(std::floor(std::ldexp(two_over_pi, 53)) * 0x1p-53L));
  CHECK(std::fabs(static_cast<double>(two_over_pi - static_cast<long double>(high)) - wave.f64(6, 0)) < 0x1p-64);
}

TEST_CASE("f16 arithmetic: one rounding, denormals, and the untouched upper half") {
  WaveRunner wave;
  const auto half = [](double v) { return static_cast<uint16_t>(encode(kF16, v)); };
  // fma: 1.0009765625^2 - 1.001953125 = 2^-20 exactly, a denormal.
  wave.set(1, 0xaaaa0000u | half(1 + 0x1p-10));
  wave.set(2, 0xbbbb0000u | half(1 + 0x1p-10));
  wave.set(3, 0xcccc0000u | half(-1 - 0x1p-9));
  wave.set(4, 0xdddd0000u | half(2048));
  wave.set(5, 0xeeee0000u | half(1));
  wave.set(6, 0x12340000u);
  wave.set(7, 0x12340000u);
  wave.run(
      "v_fma_f16 v6, v1, v2, v3\nv_add_f16 v7, v4, v5\nv_mul_f16 v8, v4, v4\nv_rcp_f16 v9, v4\nv_max_f16 v10, v4, v5\n"
      "v_sqrt_f16 v11, v4\nv_ldexp_f16 v12, v5, 3\nv_mad_f16 v13, v1, v2, v3");
  CHECK(wave.v(6, 0) == (0x12340000u | half(0x1p-20)));  // v_fma_f16 keeps the upper half
  CHECK(wave.v(7, 0) == half(2048));                     // 2049 ties to even; VOP2 zeroes the upper half
  CHECK(wave.v(8, 0) == 0x7c00);
  CHECK(wave.v(9, 0) == half(0x1p-11));
  CHECK(wave.v(10, 0) == half(2048));
  CHECK(wave.v(11, 0) == half(std::sqrt(2048.0)));
  CHECK(wave.v(12, 0) == half(8));
  CHECK((wave.v(13, 0) & 0xffff) == 0);  // the product rounds first
  wave.wave().mode |= mode_bits::fp16_ovfl;
  wave.run("v_mul_f16 v8, v4, v4");
  CHECK(wave.v(8, 0) == 0x7bff);
}

TEST_CASE("packed f16 and f32") {
  WaveRunner wave;
  const auto half = [](double v) { return encode(kF16, v); };
  wave.set(1, half(1.5) | half(-2.0) << 16);
  wave.set(2, half(4.0) | half(8.0) << 16);
  wave.set(3, half(0.25) | half(0.5) << 16);
  wave.run(
      "v_pk_fma_f16 v4, v1, v2, v3\nv_pk_add_f16 v5, v1, v2 op_sel:[0,1] op_sel_hi:[1,0]\n"
      "v_pk_mul_f16 v6, v1, v2 neg_lo:[1,0] neg_hi:[0,1]\nv_pk_add_f16 v7, v1, 1.0 op_sel_hi:[1,0]\n"
      "v_pk_max_f16 v8, v1, v3\nv_pk_add_f16 v9, v1, v2 clamp");
  CHECK(wave.v(4, 1) == (half(6.25) | half(-15.5) << 16));
  CHECK(wave.v(5, 1) == (half(9.5) | half(2.0) << 16));
  CHECK(wave.v(6, 1) == (half(-6.0) | half(16.0) << 16));
  CHECK(wave.v(7, 1) == (half(2.5) | half(-1.0) << 16));
  CHECK(wave.v(8, 1) == (half(1.5) | half(0.5) << 16));
  CHECK(wave.v(9, 1) == (half(1.0) | half(1.0) << 16));

  wave.set_f32(10, 2.0f);
  wave.set_f32(11, 3.0f);
  wave.set_f32(12, 5.0f);
  wave.set_f32(13, 7.0f);
  wave.set_f32(14, 0.5f);
  wave.set_f32(15, 0.25f);
  wave.s(4) = bits(10.0f);
  wave.s(5) = bits(20.0f);
  wave.run(
      "v_pk_fma_f32 v[20:21], v[10:11], v[12:13], v[14:15]\n"
      "v_pk_mul_f32 v[22:23], v[10:11], v[12:13] op_sel:[0,1] op_sel_hi:[1,0]\n"
      "v_pk_add_f32 v[24:25], v[10:11], v[12:13] neg_lo:[0,1] neg_hi:[1,0]\n"
      "v_pk_mul_f32 v[26:27], v[10:11], s[4:5]\nv_pk_mul_f32 v[28:29], v[10:11], s[4:5] op_sel_hi:[1,0]\n"
      "v_pk_mov_b32 v[30:31], v[10:11], v[12:13] op_sel:[1,0]\nv_pk_mul_f32 v[32:33], v[10:11], 2.0 op_sel_hi:[1,0]");
  const float expected[][2] = {{10.5f, 21.25f}, {14.0f, 15.0f}, {-3.0f, 4.0f}, {20.0f, 60.0f},
                               {20.0f, 30.0f},  {3.0f, 5.0f},   {4.0f, 6.0f}};
  for (int i = 0; i < 7; ++i) {
    CAPTURE(i);
    CHECK(wave.f32(20 + 2 * i, 3) == expected[i][0]);
    CHECK(wave.f32(21 + 2 * i, 3) == expected[i][1]);
  }
  // Source and destination pairs may cross.
  wave.run("v_pk_mov_b32 v[10:11], v[10:11], v[10:11] op_sel:[1,0]");
  CHECK(wave.f32(10, 3) == 3.0f);
  CHECK(wave.f32(11, 3) == 2.0f);
}

TEST_CASE("float dot products and mixed fma") {
  WaveRunner wave;
  const auto half = [](double v) { return encode(kF16, v); };
  wave.set(1, half(2.0) | half(3.0) << 16);
  wave.set(2, half(5.0) | half(7.0) << 16);
  wave.set_f32(3, 100.0f);
  wave.set(4, bits(2.0f) >> 16 | (bits(3.0f) & 0xffff0000));
  wave.set(5, bits(5.0f) >> 16 | (bits(7.0f) & 0xffff0000));
  wave.set_f32(6, 1.0f);
  wave.set_f32(7, 1.0f);
  wave.run(
      "v_dot2_f32_f16 v8, v1, v2, v3\nv_dot2_f32_bf16 v9, v4, v5, v3\nv_dot2c_f32_f16 v6, v1, v2\n"
      "v_dot2c_f32_bf16 v7, v4, v5\nv_dot2_f32_f16 v10, v1, v2, v3 neg_lo:[0,0,1]\n"
      "v_fma_mix_f32 v11, v1, v3, -v2 op_sel:[1,0,0] op_sel_hi:[1,0,1]\nv_mov_b32 v12, -1\n"
      "v_fma_mixlo_f16 v12, v1, v2, v3 op_sel_hi:[1,1,0]\nv_fma_mixhi_f16 v12, v1, v2, v3 op_sel_hi:[1,1,0]");
  CHECK(wave.f32(8, 0) == 131.0f);
  CHECK(wave.f32(9, 0) == 131.0f);
  CHECK(wave.f32(6, 0) == 32.0f);
  CHECK(wave.f32(7, 0) == 32.0f);
  CHECK(wave.f32(10, 0) == -69.0f);
  CHECK(wave.f32(11, 0) == 295.0f);
  CHECK(wave.v(12, 0) == (half(110.0) | half(110.0) << 16));
}

TEST_CASE("v_cmp_class and float compares with NaN") {
  WaveRunner wave;
  wave.set_lanes<uint32_t>(1, {kSignaling, kQuiet, bits(-kInf), bits(-1.0f), bits(-0x1p-140f), bits(-0.0f), bits(0.0f),
                               bits(0x1p-140f), bits(1.0f), bits(kInf)});
  for (int bit = 0; bit < 10; ++bit) {
    wave.set(2, 1u << bit);
    wave.run("v_cmp_class_f32 vcc, v1, v2");
    for (int lane = 0; lane < 64; ++lane) CHECK((wave.wave().vcc() >> lane & 1) == (lane % 10 == bit ? 1u : 0u));
  }
  wave.set_f32(3, 0.0f);
  wave.run(
      "v_cmp_lt_f32_e64 s[0:1], v1, v3\nv_cmp_nge_f32_e64 s[2:3], v1, v3\nv_cmp_u_f32_e64 s[4:5], v1, v3\n"
      "v_cmp_lg_f32_e64 s[6:7], v1, v3\nv_cmp_neq_f32_e64 s[8:9], v1, v3\nv_cmp_o_f32_e64 s[10:11], v1, v3\n"
      "v_cmp_nlg_f32_e64 s[12:13], v1, v3\nv_cmp_eq_f32_e64 s[14:15], |v1|, v3");
  const auto low10 = [&](int pair) { return wave.wave().sgpr_pair(static_cast<unsigned>(pair)) & 0x3ff; };
  CHECK(low10(0) == 0b0000011100);
  CHECK(low10(2) == 0b0000011111);
  CHECK(low10(4) == 0b0000000011);
  CHECK(low10(6) == 0b1110011100);
  CHECK(low10(8) == 0b1110011111);
  CHECK(low10(10) == 0b1111111100);
  CHECK(low10(12) == 0b0001100011);
  CHECK(low10(14) == 0b0001100000);
}
