// Conversions between registers' formats, exhaustively for fp8 and bf8.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Value of an E4M3 or E5M2 byte from its fields alone.
float byte_value(uint32_t code, int exponent_bits) {
  const int mantissa_bits = 7 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const auto mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
  const float sign = (code & 0x80) != 0 ? -1.0f : 1.0f;
  if (exponent_bits == 4 && (code & 0x7f) == 0x7f) return kNan;
  if (exponent_bits == 5 && exponent == 31) return mantissa == 0 ? sign * kInf : kNan;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  return sign * std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
}

bool same(float a, float b) { return std::isnan(b) ? std::isnan(a) : bits(a) == bits(b); }

}  // namespace

TEST_CASE("all 256 fp8 and bf8 bytes widen to f32 in every form") {
  const auto instructions = WaveRunner::decode(
      "v_cvt_pk_f32_fp8 v[2:3], v1\nv_cvt_pk_f32_fp8_sdwa v[4:5], v1 src0_sel:WORD_1\nv_cvt_pk_f32_bf8 v[6:7], v1\n"
      "v_cvt_pk_f32_bf8_sdwa v[8:9], v1 src0_sel:WORD_1\nv_cvt_f32_fp8 v10, v1\nv_cvt_f32_fp8_sdwa v11, v1 "
      "src0_sel:BYTE_1\n"
      "v_cvt_f32_fp8_sdwa v12, v1 src0_sel:BYTE_3\nv_cvt_f32_bf8_sdwa v13, v1 src0_sel:BYTE_2\n"
      "v_cvt_pk_f32_fp8_e64 v[14:15], v1");
  for (int part = 0; part < 4; ++part) {
    WaveRunner wave;
    const auto byte_of = [&](int lane, int i) {
      return static_cast<uint32_t>(part * 64 + lane * (2 * i + 1) + i * 77) & 0xff;
    };
    for (int lane = 0; lane < 64; ++lane)
      wave.v(1, lane) = byte_of(lane, 0) | byte_of(lane, 1) << 8 | byte_of(lane, 2) << 16 | byte_of(lane, 3) << 24;
    for (const Instruction& i : instructions) wave.execute(i);
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < 4; ++i) {
        CHECK(same(wave.f32(2 + i, lane), byte_value(byte_of(lane, i), 4)));
        CHECK(same(wave.f32(6 + i, lane), byte_value(byte_of(lane, i), 5)));
      }
      CHECK(same(wave.f32(10, lane), byte_value(byte_of(lane, 0), 4)));
      CHECK(same(wave.f32(11, lane), byte_value(byte_of(lane, 1), 4)));
      CHECK(same(wave.f32(12, lane), byte_value(byte_of(lane, 3), 4)));
      CHECK(same(wave.f32(13, lane), byte_value(byte_of(lane, 2), 5)));
      CHECK(same(wave.f32(14, lane), byte_value(byte_of(lane, 0), 4)));
      CHECK(same(wave.f32(15, lane), byte_value(byte_of(lane, 1), 4)));
    }
  }
}

TEST_CASE("v_cvt_pk_fp8_f32: every boundary between codes, overflow by MODE, the other half kept") {
  const auto low = WaveRunner::decode("v_cvt_pk_fp8_f32 v0, v1, v2");
  const auto high = WaveRunner::decode("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]");
  std::vector<float> values;
  std::vector<uint32_t> expected;
  for (uint32_t code = 0; code < 0x7e; ++code) {
    const float a = byte_value(code, 4);
    const float b = byte_value(code + 1, 4);
    const float middle = (a + b) / 2;
    values.insert(values.end(), {a, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)});
    expected.insert(expected.end(), {code, code + (code & 1), code, code + 1});
  }
  for (size_t start = 0; start < values.size(); start += 64) {
    WaveRunner wave;
    wave.set(0, 0xabcd1234);
    for (size_t lane = 0; lane < 64; ++lane) {
      const size_t i = std::min(start + lane, values.size() - 1);
      wave.v(1, static_cast<int>(lane)) = bits(values[i]);
      wave.v(2, static_cast<int>(lane)) = bits(-values[i]);
    }
    wave.execute(low[0]);
    for (size_t lane = 0; lane < 64; ++lane) {
      const uint32_t code = expected[std::min(start + lane, values.size() - 1)];
      REQUIRE(wave.v(0, static_cast<int>(lane)) == (0xabcd0000u | (code | 0x80) << 8 | code));
    }
    wave.execute(high[0]);
    for (size_t lane = 0; lane < 64; ++lane) {
      const uint32_t code = expected[std::min(start + lane, values.size() - 1)];
      REQUIRE(wave.v(0, static_cast<int>(lane)) >> 16 == ((code | 0x80) << 8 | code));
    }
  }
  WaveRunner wave;
  wave.set_lanes<float>(1, {464.0f, std::nextafter(464.0f, 1e9f), 1e30f, kInf, kNan, 448.0f});
  wave.set_lanes<float>(2, {-464.0f, -1000.0f, -1e30f, -kInf, -kNan, 0x1p-140f});
  wave.execute(low[0]);
  const uint32_t plain[] = {0xfe7e, 0xff7f, 0xff7f, 0xff7f, 0xff7f, 0x007e};
  for (int lane = 0; lane < 6; ++lane) CHECK((wave.v(0, lane) & 0xffff) == plain[lane]);
  wave.wave().mode |= mode_bits::fp16_ovfl;
  wave.execute(low[0]);
  const uint32_t saturated[] = {0xfe7e, 0xfe7e, 0xfe7e};
  for (int lane = 0; lane < 3; ++lane) CHECK((wave.v(0, lane) & 0xffff) == saturated[lane]);
  CHECK((wave.v(0, 4) & 0x7f7f) == 0x7f7f);
  // Rounding stays nearest whatever MODE says.
  wave.wave().mode = hip_mode | 3;
  wave.set_f32(1, 1.12f);
  wave.execute(low[0]);
  CHECK((wave.v(0, 0) & 0xff) == 0x39);
}

TEST_CASE("bf8 and stochastic conversions place their bytes") {
  WaveRunner wave;
  wave.set_f32(1, 1.0f + 3.0f / 32.0f);
  wave.set(2, 0x40000000);
  wave.set(3, 0x3fffffff);
  wave.set_f32(4, 1e9f);
  for (int reg : {10, 11, 12, 13, 14}) wave.set(reg, 0x11223344);
  wave.run(
      "v_cvt_sr_fp8_f32 v10, v1, v2\nv_cvt_sr_fp8_f32 v11, v1, v3 op_sel:[0,0,1,0]\n"
      "v_cvt_sr_bf8_f32 v12, v1, v3 op_sel:[0,0,0,1]\nv_cvt_pk_bf8_f32 v13, v1, v4\n"
      "v_cvt_pk_bf8_f32 v14, v4, v1 op_sel:[0,0,1]");
  CHECK(wave.v(10, 0) == 0x11223339);
  CHECK(wave.v(11, 0) == 0x11223844);
  CHECK(wave.v(12, 0) == 0x113c3344);
  CHECK(wave.v(13, 0) == 0x11227c3c);
  CHECK(wave.v(14, 0) == 0x3c7c3344);
}

TEST_CASE("scaled conversions: narrowing divides by the scale's power of two, widening multiplies") {
  WaveRunner wave;
  wave.set_f32(1, 8.0f);
  wave.set_f32(2, -12.0f);
  wave.set_f32(3, 5.0f);  // only the exponent counts: 4
  wave.set(4, 0xffffffff);
  wave.set(5, 0xc0400000u >> 16 | 0x41000000u);  // bf16: low -3, high 8
  wave.set(6, encode(kF16, 8.0) | encode(kF16, -12.0) << 16);
  for (int reg : {10, 11, 12, 13, 14, 15}) wave.set(reg, 0x55555555);
  wave.run(
      "v_cvt_scalef32_pk_fp8_f32 v10, v1, v2, v3\nv_cvt_scalef32_pk_fp8_f32 v11, v1, v2, v3 op_sel:[0,0,0,1]\n"
      "v_cvt_scalef32_pk_fp4_f32 v12, v1, v2, v3 op_sel:[0,0,1,1]\nv_cvt_scalef32_pk_bf8_f16 v13, v6, v3\n"
      "v_cvt_scalef32_pk_fp8_bf16 v14, v5, v3 op_sel:[0,0,1]\nv_cvt_scalef32_sr_fp8_f32 v15, v1, v4, v3 "
      "op_sel:[0,0,1,0]");
  CHECK(wave.v(10, 0) == 0x5555c440);  // 2.0 = 0x40, -3.0 = 0xc4
  CHECK(wave.v(11, 0) == 0xc4405555);
  CHECK(wave.v(12, 0) == 0xd4555555);  // e2m1: 2.0 = 4, -3.0 = 0xd
  CHECK(wave.v(13, 0) == 0x5555c240);  // e5m2: 2.0 = 0x40, -3.0 = 0xc2
  CHECK(wave.v(14, 0) == 0x40b45555);  // -0.75 = 0xb4, 2.0 = 0x40
  CHECK(wave.v(15, 0) == 0x55554055);

  wave.set(20, 0xc440b438);  // fp8: 1.0, -0.75, 2.0, -3.0
  wave.set(21, 0xd4d4d4d4);
  wave.set(31, 0x77770000);
  wave.run(
      "v_cvt_scalef32_pk_f32_fp8 v[22:23], v20, v3\nv_cvt_scalef32_pk_f32_fp8 v[24:25], v20, v3 op_sel:[1,0,0]\n"
      "v_cvt_scalef32_f32_fp8 v26, v20, v3 op_sel:[1,1,0]\nv_cvt_scalef32_pk_f32_fp4 v[28:29], v21, v3 op_sel:[1,0,0]\n"
      "v_cvt_scalef32_pk_bf16_fp8 v30, v20, v3\nv_cvt_scalef32_f16_fp8 v31, v20, v3 op_sel:[0,1,0]");
  CHECK(wave.f32(22, 0) == 4.0f);
  CHECK(wave.f32(23, 0) == -3.0f);
  CHECK(wave.f32(24, 0) == 8.0f);
  CHECK(wave.f32(25, 0) == -12.0f);
  CHECK(wave.f32(26, 0) == -12.0f);
  CHECK(wave.f32(28, 0) == 8.0f);
  CHECK(wave.f32(29, 0) == -12.0f);
  CHECK(wave.v(30, 0) == (bits(4.0f) >> 16 | (bits(-3.0f) & 0xffff0000)));
  CHECK(wave.v(31, 0) == (0x77770000u | encode(kF16, 8.0)));
}

TEST_CASE("32 six-bit elements pack and unpack") {
  WaveRunner wave;
  // Element i of lane l: a value that fp6 E2M3 holds exactly, different for each i.
  const auto value = [](int lane, int i) { return static_cast<float>((i * 3 + lane) % 61 - 30) / 4.0f; };
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < 16; ++i) {
      wave.v(32 + i, lane) = bits(value(lane, 2 * i));
      wave.v(48 + i, lane) = bits(value(lane, 2 * i + 1));
    }
  wave.set_f32(2, 2.0f);
  wave.set_f32(3, 1.0f);
  wave.run(
      "v_cvt_scalef32_2xpk16_fp6_f32 v[4:9], v[32:47], v[48:63], v2\nv_cvt_scalef32_pk32_f32_fp6 v[64:95], v[4:9], v2\n"
      "v_cvt_scalef32_pk32_f16_fp6 v[96:111], v[4:9], v3");
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < 32; ++i) {
      const float wanted = value(lane, i);
      // Half the value fits in E2M3's steps of 1/8 and up to 7.5; larger steps round.
      const double code = decode(kFp6, encode(kFp6, static_cast<double>(wanted) / 2));
      CHECK(wave.f32(64 + i, lane) == static_cast<float>(code * 2));
      const uint32_t half = wave.v(96 + i / 2, lane) >> (16 * (i % 2)) & 0xffff;
      CHECK(decode(kF16, half) == code);
    }
}

TEST_CASE("float to integer truncates, saturates and maps NaN to 0") {
  WaveRunner wave;
  wave.set_lanes<float>(1, {2.9f, -2.9f, 3e9f, -3e9f, 5e9f, kNan, kInf, -kInf});
  wave.set_lanes<double>(2, {2.9, -2.9, 3e9, -3e9, 5e9, NAN, INFINITY, -INFINITY});
  wave.run(
      "v_cvt_i32_f32 v4, v1\nv_cvt_u32_f32 v5, v1\nv_cvt_i32_f64 v6, v[2:3]\nv_cvt_u32_f64 v7, v[2:3]\n"
      "v_cvt_flr_i32_f32 v8, v1\nv_cvt_rpi_i32_f32 v9, v1");
  const int32_t as_int[] = {2, -2, INT32_MAX, INT32_MIN, INT32_MAX, 0, INT32_MAX, INT32_MIN};
  const uint32_t as_uint[] = {2, 0, 3000000000u, 0, UINT32_MAX, 0, UINT32_MAX, 0};
  for (int lane = 0; lane < 8; ++lane) {
    CHECK(static_cast<int32_t>(wave.v(4, lane)) == as_int[lane]);
    CHECK(static_cast<int32_t>(wave.v(6, lane)) == as_int[lane]);
    CHECK(wave.v(5, lane) == as_uint[lane]);
    CHECK(wave.v(7, lane) == as_uint[lane]);
  }
  CHECK(static_cast<int32_t>(wave.v(8, 1)) == -3);
  CHECK(static_cast<int32_t>(wave.v(9, 0)) == 3);
}

TEST_CASE("integer to float, f32 to f64, f16, bf16 and normalized forms") {
  WaveRunner wave;
  wave.set_lanes<uint32_t>(1, {0u, 0xffffffffu, 0x80000000u, 16777217u, 0x7fffffffu});
  wave.set_lanes<float>(2, {1.5f, -0x1p-25f, 65520.0f, 0x1.004p0f, -1.0f});
  wave.set_lanes<float>(3, {0x1.018p0f, 0x1.008p0f, 0x1.01p0f, kNan, 0.5f});
  wave.run(
      "v_cvt_f32_i32 v4, v1\nv_cvt_f32_u32 v5, v1\nv_cvt_f64_i32 v[6:7], v1\nv_cvt_f64_u32 v[8:9], v1\n"
      "v_cvt_f16_f32 v10, v2\nv_cvt_pk_bf16_f32 v11, v3, v2\nv_cvt_pkrtz_f16_f32 v12, v2, v2\n"
      "v_cvt_f32_bf16 v13, v11\nv_cvt_f32_f16 v14, v10\nv_cvt_f32_ubyte2 v15, v1\nv_cvt_off_f32_i4 v16, v1\n"
      "v_cvt_pknorm_i16_f32 v17, v2, v3\nv_cvt_pk_i16_i32 v18, v1, v1\nv_cvt_pk_u16_u32 v19, v1, v1\n"
      "v_cvt_pk_f16_f32 v20, v2, v3\nv_cvt_f32_f64 v21, v[6:7]\nv_cvt_f64_f32 v[22:23], v2");
  CHECK(wave.f32(4, 1) == -1.0f);
  CHECK(wave.f32(5, 1) == 0x1p32f);
  CHECK(wave.f32(4, 2) == -0x1p31f);
  CHECK(wave.f32(4, 3) == 16777216.0f);
  CHECK(wave.f64(6, 4) == 2147483647.0);
  CHECK(wave.f64(8, 1) == 4294967295.0);
  CHECK(wave.v(10, 0) == 0x3e00);
  CHECK(wave.v(10, 1) == 0x8000);  // half of the smallest f16 ties to even zero
  CHECK(wave.v(10, 2) == 0x7c00);
  CHECK(wave.v(10, 3) == 0x3c01);
  CHECK((wave.v(11, 0) & 0xffff) == 0x3f81);
  CHECK((wave.v(11, 1) & 0xffff) == 0x3f80);
  CHECK((wave.v(11, 2) & 0xffff) == 0x3f80);  // a tie to even
  CHECK((wave.v(11, 3) & 0xffff) == 0x7fc0);
  CHECK(wave.v(11, 0) >> 16 == 0x3fc0);
  CHECK((wave.v(12, 2) & 0xffff) == 0x7bff);
  CHECK(wave.f32(13, 0) == 0x1.02p0f);
  CHECK(wave.f32(14, 0) == 1.5f);
  CHECK(wave.f32(15, 1) == 255.0f);
  CHECK(wave.f32(16, 1) == -0.0625f);
  CHECK(wave.v(17, 4) == (0x8001u | 0x4000u << 16));
  CHECK(wave.v(18, 1) == 0xffffffff);
  CHECK(wave.v(18, 2) == 0x80008000);
  CHECK(wave.v(19, 1) == 0xffffffff);
  CHECK(wave.v(20, 0) >> 16 == 0x3c06);
  CHECK(wave.f32(21, 4) == 0x1p31f);
  CHECK(wave.f64(22, 1) == -0x1p-25);
}
