// Small integers in bytes, nibbles and halves of registers: conversions, dot products, sums of differences, packing.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

/// Edges, then a mixture; different for each register.
uint32_t word(int reg, int lane) {
  constexpr std::array<uint32_t, 8> edges{0,          0xffffffff, 0x80008000, 0x7fff7fff,
                                          0x00ff00ff, 0x80808080, 0x01020304, 0x7f80ff01};
  if (lane < 8) return edges[static_cast<size_t>(lane + reg) % 8];
  return static_cast<uint32_t>(lane * 0x9e3779b9u + static_cast<uint32_t>(reg) * 0x85ebca6bu) ^ 0x5bd1e995u;
}
WaveRunner filled() {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    for (int reg = 1; reg <= 12; ++reg) wave.v(reg, lane) = word(reg, lane);
  }
  return wave;
}

uint32_t byte(uint32_t value, int i) { return value >> (8 * i) & 0xff; }
int16_t low(uint32_t value) { return static_cast<int16_t>(value); }
int16_t high(uint32_t value) { return static_cast<int16_t>(value >> 16); }
uint16_t half(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

uint32_t differences(uint32_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    const auto x = static_cast<int>(byte(a, i)), y = static_cast<int>(byte(b, i));
    if (!masked || y != 0) sum += static_cast<uint32_t>(std::abs(x - y));
  }
  return sum;
}

}  // namespace

TEST_CASE("bytes and halves to floats and back") {
  WaveRunner wave = filled();
  wave.run(
      "v_cvt_f32_ubyte0 v20, v1\nv_cvt_f32_ubyte1 v21, v1\nv_cvt_f32_ubyte3 v22, v1\nv_cvt_f16_i16 v23, v1\n"
      "v_cvt_f16_u16 v24, v1");
  for (int lane = 0; lane < 64; ++lane) {
    const uint32_t a = word(1, lane);
    CHECK(wave.f32(20, lane) == static_cast<float>(byte(a, 0)));
    CHECK(wave.f32(21, lane) == static_cast<float>(byte(a, 1)));
    CHECK(wave.f32(22, lane) == static_cast<float>(byte(a, 3)));
    CHECK((wave.v(23, lane) & 0xffff) == half(low(a)));
    CHECK((wave.v(24, lane) & 0xffff) == half(a & 0xffff));
  }
}

TEST_CASE("f16 to integers saturates, to normalised ones rounds to nearest") {
  const std::vector<double> values{0,   1.9, -1.9, 65504, -65504, 40000, INFINITY, -INFINITY,
                                   NAN, 0.5, -0.5, 1,     -1,     0.25,  2,        -2};
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(1, lane) = half(values[static_cast<size_t>(lane) % 16]);
    wave.v(2, lane) = half(values[static_cast<size_t>(lane + 5) % 16]);
    wave.set_f32(3, 0.75f);
    wave.set_f32(4, -3.0f);
  }
  wave.run(
      "v_cvt_i16_f16 v20, v1\nv_cvt_u16_f16 v21, v1\nv_cvt_norm_i16_f16 v22, v1\nv_cvt_norm_u16_f16 v23, v1\n"
      "v_cvt_pknorm_i16_f16 v24, v1, v2\nv_cvt_pknorm_u16_f16 v25, v1, v2\nv_cvt_pknorm_u16_f32 v26, v3, v4");
  const auto integer = [](double value, double lowest, double highest) {
    return std::isnan(value) ? 0 : static_cast<int>(std::trunc(std::clamp(value, lowest, highest)));
  };
  const auto normal = [](double value, bool with_sign) {
    const double inside = std::isnan(value) ? 0 : std::clamp(value, with_sign ? -1.0 : 0.0, 1.0);
    return static_cast<uint32_t>(static_cast<int>(std::nearbyint(inside * (with_sign ? 32767 : 65535)))) & 0xffff;
  };
  for (int lane = 0; lane < 64; ++lane) {
    const auto as_half = [&](int from) {
      return static_cast<double>(static_cast<_Float16>(values[static_cast<size_t>(from) % 16]));
    };
    const double a = as_half(lane), b = as_half(lane + 5);
    CAPTURE(a, b);
    CHECK(low(wave.v(20, lane)) == integer(a, -32768, 32767));
    CHECK((wave.v(21, lane) & 0xffff) == static_cast<uint32_t>(integer(a, 0, 65535)));
    CHECK((wave.v(22, lane) & 0xffff) == normal(a, true));
    CHECK((wave.v(23, lane) & 0xffff) == normal(a, false));
    CHECK(wave.v(24, lane) == (normal(a, true) | normal(b, true) << 16));
    CHECK(wave.v(25, lane) == (normal(a, false) | normal(b, false) << 16));
    CHECK(wave.v(26, lane) == 49151);  // 0.75 * 65535 = 49151.25, and 0 above
  }
}

TEST_CASE("a float into one byte of a register") {
  WaveRunner wave;
  wave.set_lanes<float>(1, {3.0f, 255.0f, 300.0f, -1.0f, NAN, 17.0f});
  for (int lane = 0; lane < 64; ++lane) wave.v(2, lane) = static_cast<uint32_t>(lane / 8);
  wave.set(3, 0x11223344);
  wave.set(5, 0x55667788);
  wave.run("v_cvt_pk_u8_f32 v4, v1, v2, v3\nv_cvt_pkaccum_u8_f32 v5, v1, v2");
  const uint32_t bytes[] = {3, 255, 255, 0, 0, 17};
  for (int lane = 0; lane < 64; ++lane) {
    const int shift = 8 * (lane / 8 % 4);
    const uint32_t code = bytes[lane % 6];
    CHECK(wave.v(4, lane) == ((0x11223344u & ~(0xffu << shift)) | code << shift));
    CHECK(wave.v(5, lane) == ((0x55667788u & ~(0xffu << shift)) | code << shift));
  }
}

TEST_CASE("shifted integers are packed into bytes, saturated") {
  WaveRunner wave = filled();
  wave.set(3, 0x23);  // 35: the low five bits count, 3
  wave.set(20, 0xabcd0000);
  wave.set(21, 0xabcd0000);
  wave.run("v_ashr_pk_i8_i32 v20, v1, v2, v3\nv_ashr_pk_u8_i32 v21, v1, v2, v3\nv_sat_pk_u8_i16 v22, v1");
  for (int lane = 0; lane < 64; ++lane) {
    const auto shifted = [&](int reg) { return static_cast<int32_t>(word(reg, lane)) >> 3; };
    const auto bytes = [&](int lowest, int highest) {
      const auto one = [&](int value) { return static_cast<uint32_t>(std::clamp(value, lowest, highest)) & 0xff; };
      return one(shifted(1)) | one(shifted(2)) << 8;
    };
    CHECK(wave.v(20, lane) == (0xabcd0000u | bytes(-128, 127)));
    CHECK(wave.v(21, lane) == (0xabcd0000u | bytes(0, 255)));
    const auto clamped = [](int value) { return static_cast<uint32_t>(std::clamp(value, 0, 255)); };
    CHECK((wave.v(22, lane) & 0xffff) == (clamped(low(word(1, lane))) | clamped(high(word(1, lane))) << 8));
  }
}

TEST_CASE("dot products of halves and nibbles") {
  WaveRunner wave = filled();
  wave.run(
      "v_dot2_u32_u16 v20, v1, v2, v3\nv_dot8_u32_u4 v21, v1, v2, v3\nv_dot2c_i32_i16 v4, v1, v2\n"
      "v_dot8c_i32_i4 v5, v1, v2");
  for (int lane = 0; lane < 64; ++lane) {
    const uint32_t a = word(1, lane), b = word(2, lane);
    const auto nibble = [](uint32_t value, int i) { return value >> (4 * i) & 15; };
    const auto with_sign = [](uint32_t value) { return static_cast<int>(value ^ 8) - 8; };
    uint32_t plain = word(3, lane), with_signs = word(5, lane);
    for (int i = 0; i < 8; ++i) {
      plain += nibble(a, i) * nibble(b, i);
      with_signs += static_cast<uint32_t>(with_sign(nibble(a, i)) * with_sign(nibble(b, i)));
    }
    CHECK(wave.v(20, lane) == word(3, lane) + (a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16));
    CHECK(wave.v(21, lane) == plain);
    const auto product = [](int16_t x, int16_t y) { return static_cast<uint32_t>(int{x} * int{y}); };
    CHECK(wave.v(4, lane) == word(4, lane) + product(low(a), low(b)) + product(high(a), high(b)));
    CHECK(wave.v(5, lane) == with_signs);
  }
}

TEST_CASE("sums of absolute differences of four positions") {
  WaveRunner wave = filled();
  wave.run(
      "v_qsad_pk_u16_u8 v[20:21], v[2:3], v1, v[4:5]\nv_mqsad_pk_u16_u8 v[22:23], v[2:3], v1, v[4:5]\n"
      "v_mqsad_u32_u8 v[24:27], v[2:3], v1, v[4:7]");
  for (int lane = 0; lane < 64; ++lane) {
    const uint64_t row = word(2, lane) | uint64_t{word(3, lane)} << 32;
    for (int at = 0; at < 4; ++at) {
      CAPTURE(lane, at);
      const auto four = static_cast<uint32_t>(row >> (8 * at));
      const uint32_t plain = differences(four, word(1, lane), false), masked = differences(four, word(1, lane), true);
      const uint32_t before = word(4 + at / 2, lane) >> (16 * (at % 2)) & 0xffff;
      const auto got = [&](int reg) { return wave.v(reg + at / 2, lane) >> (16 * (at % 2)) & 0xffff; };
      CHECK(got(20) == ((before + plain) & 0xffff));
      CHECK(got(22) == ((before + masked) & 0xffff));
      CHECK(wave.v(24 + at, lane) == word(4 + at, lane) + masked);
    }
  }
}

TEST_CASE("bits: not, shift and or, any function of three halves") {
  WaveRunner wave = filled();
  wave.set(20, 0xabcd0000);
  wave.run("v_not_b32 v21, v1\nv_lshl_or_b32 v22, v1, v2, v3\nv_bitop3_b16 v20, v1, v2, v3 bitop3:0xca");
  for (int lane = 0; lane < 64; ++lane) {
    const uint32_t a = word(1, lane), b = word(2, lane), c = word(3, lane);
    CHECK(wave.v(21, lane) == ~a);
    CHECK(wave.v(22, lane) == (a << (b & 31) | c));
    CHECK(wave.v(20, lane) == (0xabcd0000u | (((a & b) | (~a & c)) & 0xffff)));  // 0xca selects b by a, else c
  }
}
