// Number formats against tables built here from their definitions, and rounding against a search over all codes.
#include "simulator/alu/formats.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catch.h"

using namespace mlaforge::simulator;

namespace {

struct Definition {
  const char* name;
  const MiniFloat& format;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  double max;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all{{"fp8 e4m3", kFp8, 4, 3, 7, 448.0},    {"bf8 e5m2", kBf8, 5, 2, 15, 57344.0},
                                           {"fp6 e2m3", kFp6, 2, 3, 1, 7.5},      {"bf6 e3m2", kBf6, 3, 2, 3, 28.0},
                                           {"fp4 e2m1", kFp4, 2, 1, 1, 6.0},      {"f16", kF16, 5, 10, 15, 65504.0},
                                           {"bf16", kBf16, 8, 7, 127, 0x1.fep127}};
  return all;
}

// Value of a code from sign, exponent and mantissa; NaN and infinity by the format's rule.
double by_definition(const Definition& d, uint32_t code) {
  const int e_max = (1 << d.exponent_bits) - 1;
  const int mantissa = static_cast<int>(code) & ((1 << d.mantissa_bits) - 1);
  const int exponent = static_cast<int>(code) >> d.mantissa_bits & e_max;
  const double sign = (code >> (d.exponent_bits + d.mantissa_bits) & 1) != 0 ? -1.0 : 1.0;
  const bool ieee = d.name == std::string("bf8 e5m2") || d.name == std::string("f16") || d.name == std::string("bf16");
  if (ieee && exponent == e_max) return mantissa == 0 ? sign * INFINITY : NAN;
  if (d.name == std::string("fp8 e4m3") && exponent == e_max && mantissa == 7) return NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - d.bias - d.mantissa_bits);
  return sign * std::ldexp(1.0 + std::ldexp(mantissa, -d.mantissa_bits), exponent - d.bias);
}

// Nearest finite code to a magnitude by looking at all of them; ties to the even code.
uint32_t nearest_code(const Definition& d, double magnitude) {
  uint32_t best = 0;
  double best_distance = INFINITY;
  for (uint32_t code = 0; code < d.format.sign_mask(); ++code) {
    const double value = by_definition(d, code);
    if (!std::isfinite(value)) continue;
    const double distance = std::fabs(value - magnitude);
    if (distance < best_distance || (distance == best_distance && (code & 1) == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("every code decodes to the value of its sign, exponent and mantissa") {
  for (const Definition& d : definitions()) {
    INFO(d.name);
    for (uint32_t code = 0; code < 1u << d.format.width(); ++code) {
      const double expected = by_definition(d, code);
      const double value = decode(d.format, code);
      if (std::isnan(expected)) {
        CHECK(std::isnan(value));
        continue;
      }
      REQUIRE(value == expected);
      REQUIRE(std::signbit(value) == std::signbit(expected));
      if (std::isfinite(expected)) REQUIRE(encode(d.format, value) == code);
    }
    CHECK(decode(d.format, d.format.max_finite()) == d.max);
  }
}

TEST_CASE("E4M3's landmarks are those of the OCP specification") {
  CHECK(decode(kFp8, 0x7e) == 448.0);
  CHECK(std::isnan(decode(kFp8, 0x7f)));
  CHECK(std::isnan(decode(kFp8, 0xff)));
  CHECK(decode(kFp8, 0x80) == 0.0);
  CHECK(std::signbit(decode(kFp8, 0x80)));
  CHECK(decode(kFp8, 0x01) == 0x1p-9);
  CHECK(decode(kFp8, 0x08) == 0x1p-6);
  CHECK(fp8_table()[0x38] == 1.0f);
  CHECK(bf8_table()[0x3c] == 1.0f);
}

TEST_CASE("rounding is to nearest even on midpoints, their neighbours and random values") {
  std::mt19937_64 random(7);
  for (const Definition& d : definitions()) {
    if (d.format.width() > 8) continue;  // the search is quadratic
    INFO(d.name);
    std::vector<double> values;
    for (uint32_t code = 0; code < d.format.max_finite(); ++code) {
      const double low = by_definition(d, code);
      const double high = by_definition(d, code + 1);
      const double middle = (low + high) / 2;
      values.insert(values.end(), {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)});
    }
    std::uniform_real_distribution<double> mantissa(0.5, 1.0);
    for (int i = 0; i < 2000; ++i) values.push_back(std::ldexp(mantissa(random), static_cast<int>(random() % 40) - 24));
    for (double value : values) {
      if (value > d.max) continue;
      const uint32_t expected = nearest_code(d, value);
      REQUIRE(encode(d.format, value) == expected);
      REQUIRE(encode(d.format, -value) == (expected | d.format.sign_mask()));
    }
  }
}

TEST_CASE("overflow gives NaN, infinity or the largest number") {
  const Overflow saturate{true};
  // 464 is the midpoint of 448 and the missing 480: it ties to 448, whose code is even.
  CHECK(encode(kFp8, 464.0) == 0x7e);
  CHECK(encode(kFp8, std::nextafter(464.0, 500.0)) == 0x7f);
  CHECK(encode(kFp8, 1e30) == 0x7f);
  CHECK(encode(kFp8, -1e30) == 0xff);
  CHECK(encode(kFp8, 1e300, saturate) == 0x7e);
  CHECK(encode(kFp8, -1e300, saturate) == 0xfe);
  CHECK(encode(kFp8, NAN, saturate) == 0x7f);
  CHECK(encode(kBf8, 61440.0) == 0x7c);  // the midpoint of 57344 and 65536
  CHECK(encode(kBf8, std::nextafter(61440.0, 0.0)) == 0x7b);
  CHECK(encode(kBf8, 1e9, saturate) == 0x7b);
  CHECK(encode(kBf8, -INFINITY, saturate) == 0xfc);
  CHECK(encode(kFp4, 1e9) == 0x7);
  CHECK(encode(kFp6, -1e9) == 0x3f);
  CHECK(encode(kF16, 65520.0) == 0x7c00);
  CHECK(encode(kF16, 65519.99) == 0x7bff);
}

TEST_CASE("directed rounding of f16") {
  const double above_one = 1.0 + 0x1p-12;
  CHECK(encode(kF16, above_one, {}, Rounding::NearestEven) == 0x3c00);
  CHECK(encode(kF16, above_one, {}, Rounding::TowardPlus) == 0x3c01);
  CHECK(encode(kF16, above_one, {}, Rounding::TowardMinus) == 0x3c00);
  CHECK(encode(kF16, -above_one, {}, Rounding::TowardMinus) == 0xbc01);
  CHECK(encode(kF16, -above_one, {}, Rounding::TowardZero) == 0xbc00);
  CHECK(encode(kF16, 70000.0, {}, Rounding::TowardZero) == 0x7bff);
  CHECK(encode(kF16, 70000.0, {}, Rounding::TowardPlus) == 0x7c00);
  CHECK(encode(kF16, 0x1p-40, {}, Rounding::TowardPlus) == 0x0001);
}

TEST_CASE("stochastic rounding goes up with the probability of the fraction") {
  // 1 + 3/32 lies 3/4 of the way from 1.0 (0x38) to 1.125 (0x39).
  const double value = 1.0 + 3.0 / 32.0;
  CHECK(encode_stochastic(kFp8, value, 0) == 0x38);
  CHECK(encode_stochastic(kFp8, value, 0x3fffffff) == 0x38);
  CHECK(encode_stochastic(kFp8, value, 0x40000000) == 0x39);
  CHECK(encode_stochastic(kFp8, value, 0xffffffff) == 0x39);
  CHECK(encode_stochastic(kFp8, 1.0, 0xffffffff) == 0x38);
  CHECK(encode_stochastic(kFp8, -value, 0xffffffff) == 0xb9);
}

TEST_CASE("f16 and bf16 bit conversions agree with the definitions") {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const double half = decode(kF16, code);
    const float from_half = f16_to_f32(static_cast<uint16_t>(code));
    const float from_bf16 = bf16_to_f32(static_cast<uint16_t>(code));
    if (std::isnan(half)) {
      REQUIRE(std::isnan(from_half));
    } else {
      REQUIRE(static_cast<double>(from_half) == half);
      REQUIRE(f32_to_f16_nearest(from_half) == code);
    }
    if (!std::isnan(from_bf16)) {
      REQUIRE(static_cast<double>(from_bf16) == decode(kBf16, code));
      REQUIRE(f32_to_bf16(from_bf16) == code);
    }
  }
  // Every f16 rounding boundary: the midpoint and its two f32 neighbours.
  for (uint32_t code = 0; code < 0x7bff; ++code) {
    const double middle = (decode(kF16, code) + decode(kF16, code + 1)) / 2;
    const auto as_float = static_cast<float>(middle);
    REQUIRE(static_cast<double>(as_float) == middle);
    REQUIRE(f32_to_f16_nearest(as_float) == code + (code & 1));
    REQUIRE(f32_to_f16_nearest(std::nextafter(as_float, 0.0f)) == code);
    REQUIRE(f32_to_f16_nearest(std::nextafter(as_float, 1e30f)) == code + 1);
  }
}

TEST_CASE("E8M0 scales") {
  CHECK(decode_e8m0(127) == 1.0);
  CHECK(decode_e8m0(0) == 0x1p-127);
  CHECK(decode_e8m0(254) == 0x1p127);
  CHECK(std::isnan(decode_e8m0(255)));
}
