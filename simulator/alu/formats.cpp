#include "simulator/alu/formats.h"

#include <cmath>
#include <limits>

namespace mlaforge::simulator {
namespace {

// Magnitude in units of the last place of `format` at that magnitude: value = units * 2^exponent, 1 <= units < 2^(m+1)
// for normal numbers, less for denormal ones. Scaling by a power of two is exact in double for every format here.
struct Units {
  double units;
  int exponent;
};

Units in_units(const MiniFloat& format, double magnitude) {
  const int min_exponent = 1 - format.bias();
  int exponent = magnitude == 0 ? min_exponent : std::ilogb(magnitude);
  if (exponent < min_exponent) exponent = min_exponent;
  const int unit_exponent = exponent - format.mantissa_bits;
  return {std::ldexp(magnitude, -unit_exponent), unit_exponent};
}

uint32_t code_of_units(const MiniFloat& format, uint64_t units, int unit_exponent) {
  const int biased = unit_exponent + format.mantissa_bits + format.bias();  // 1 for the denormal range
  const uint64_t implied = 1ull << format.mantissa_bits;
  // A carry out of the mantissa falls into the exponent field by itself.
  return static_cast<uint32_t>(
      units < implied ? units : (static_cast<uint64_t>(biased) << format.mantissa_bits) + units - implied);
}

uint32_t finish(const MiniFloat& format, bool negative, uint64_t units, int unit_exponent, Overflow overflow,
                bool overflow_to_max) {
  const uint32_t sign = negative ? format.sign_mask() : 0;
  // Far overflows would wrap the exponent field: compare exponents first.
  const int biased = unit_exponent + format.mantissa_bits + format.bias();
  const bool far = biased >= (1 << format.exponent_bits) + 1;
  const uint32_t code = far ? format.max_finite() + 1 : code_of_units(format, units, unit_exponent);
  if (code <= format.max_finite()) return sign | code;
  if (format.special == MiniFloat::Special::AllFinite || overflow.saturate || overflow_to_max)
    return sign | format.max_finite();
  return sign | (format.special == MiniFloat::Special::Ieee ? format.infinity() : format.nan());
}

uint32_t special_code(const MiniFloat& format, double value, Overflow overflow) {
  const uint32_t sign = std::signbit(value) ? format.sign_mask() : 0;
  if (format.special == MiniFloat::Special::AllFinite) return sign | format.max_finite();
  if (std::isnan(value)) return sign | format.nan();
  if (format.special == MiniFloat::Special::Ieee) return sign | format.infinity();
  return sign | (overflow.saturate && kFp8InfinitySaturates ? format.max_finite() : format.nan());
}

std::array<float, 256> make_table(const MiniFloat& format) {
  std::array<float, 256> table{};
  for (uint32_t code = 0; code < 256; ++code) table[code] = static_cast<float>(decode(format, code));
  return table;
}

}  // namespace

double decode(const MiniFloat& format, uint32_t code) {
  const bool negative = (code & format.sign_mask()) != 0;
  const uint32_t magnitude = code & (format.sign_mask() - 1);
  const uint32_t exponent = magnitude >> format.mantissa_bits;
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  double value;
  if (format.special == MiniFloat::Special::Ieee && exponent == (1u << format.exponent_bits) - 1) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (format.special == MiniFloat::Special::OnlyNan && magnitude == format.nan()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1u << format.mantissa_bits),
                       static_cast<int>(exponent) - format.bias() - format.mantissa_bits);
  }
  return negative ? -value : value;
}

uint32_t encode(const MiniFloat& format, double value, Overflow overflow, Rounding rounding) {
  if (!std::isfinite(value)) return special_code(format, value, overflow);
  const bool negative = std::signbit(value);
  const Units u = in_units(format, std::fabs(value));
  if (u.exponent > 200) return finish(format, negative, 0, u.exponent, overflow, false);
  const double whole = std::floor(u.units);
  const double rest = u.units - whole;
  auto units = static_cast<uint64_t>(whole);
  const bool toward_infinity = rounding == (negative ? Rounding::TowardMinus : Rounding::TowardPlus);
  if (rounding == Rounding::NearestEven)
    units += rest > 0.5 || (rest == 0.5 && (units & 1) != 0);
  else if (toward_infinity)
    units += rest > 0;
  return finish(format, negative, units, u.exponent, overflow, rounding != Rounding::NearestEven && !toward_infinity);
}

uint32_t encode_stochastic(const MiniFloat& format, double value, uint32_t random, Overflow overflow) {
  if (!std::isfinite(value)) return special_code(format, value, overflow);
  const Units u = in_units(format, std::fabs(value));
  if (u.exponent > 200) return finish(format, std::signbit(value), 0, u.exponent, overflow, false);
  const double whole = std::floor(u.units);
  const auto fraction = static_cast<uint64_t>(std::ldexp(u.units - whole, 32));
  const uint64_t units = static_cast<uint64_t>(whole) + ((fraction + random) >> 32);
  return finish(format, std::signbit(value), units, u.exponent, overflow, false);
}

double decode_e8m0(uint8_t code) {
  return code == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

const std::array<float, 256>& fp8_table() {
  static const std::array<float, 256> table = make_table(kFp8);
  return table;
}

const std::array<float, 256>& bf8_table() {
  static const std::array<float, 256> table = make_table(kBf8);
  return table;
}

uint16_t f64_to_f16(double value, Overflow overflow, Rounding rounding) {
  return static_cast<uint16_t>(encode(kF16, value, overflow, rounding));
}

uint16_t f32_to_f16(float value, Overflow overflow, Rounding rounding) {
  if (rounding == Rounding::NearestEven && !overflow.saturate) return f32_to_f16_nearest(value);
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return f32_to_f16_nearest(value);  // keeps the NaN's payload
  return f64_to_f16(value, overflow, rounding);
}

}  // namespace mlaforge::simulator
