// exp2, log2, reciprocal, square roots, sin and cos as the transcendental unit gives them.
//
// The hardware's tables are not published; AMD states 1 ULP for the f32 forms. Here each is computed in double and
// rounded once, so it lies within half a unit of the true value, and within 1.5 units of any 1-ULP hardware result.
// The polynomials use only additions and multiplications, so every host gives the same bits and loops vectorize.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlaforge::simulator {

// 2^x, |relative error| < 2^-50 for |x| <= 300; saturates beyond (an f32 overflows or vanishes long before).
inline double exp2_double(double x) {
  const double limited = x > 300.0 ? 300.0 : x < -300.0 ? -300.0 : x;  // NaN stays
  constexpr double shifter = 0x1.8p52;
  const double rounded = (limited + shifter) - shifter;
  // ln(2) (x - round(x)), at most 0.35 in magnitude: the Taylor series needs 14 terms.
  const double r = (limited - rounded) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The integer part sits in the low bits of the shifted sum.
  const uint64_t n = std::bit_cast<uint64_t>(limited + shifter) - std::bit_cast<uint64_t>(shifter);
  const double scale = std::bit_cast<double>((n + 1023) << 52);
  return x != x ? x : p * scale;
}

// log2 of a positive, finite, normal double (every positive f32 and f16 is one).
inline double log2_positive(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  // Mantissa in [sqrt(1/2), sqrt(2)), so that near 1 the exponent is 0 and the result keeps its relative accuracy.
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
  const auto exponent = static_cast<int64_t>(shifted) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double q = s * s;
  double p = 1.0 / 23.0;
  p = p * q + 1.0 / 21.0;
  p = p * q + 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  p = p * q + 1.0;
  return static_cast<double>(static_cast<int32_t>(exponent)) + s * p * 0x1.71547652b82fep+1;
}

inline float exp2_f32(float x) { return static_cast<float>(exp2_double(static_cast<double>(x))); }

inline float log2_f32(float x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool ordinary = x > 0.0f && x < infinity;
  const auto value = static_cast<float>(log2_positive(ordinary ? static_cast<double>(x) : 1.0));
  const float special = x == 0.0f ? -infinity : x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : x;
  return ordinary ? value : special;
}

// Square root without errno, so that loops vectorize.
template <class T>
T square_root(T x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x);
#else
  return std::sqrt(x);
#endif
}

// x 2^n for f32 and f16, rounded once: exact in double, where |n| beyond 300 has long overflowed or vanished.
inline float ldexp_f32(float x, int32_t n) {
  const int32_t limited = n > 300 ? 300 : n < -300 ? -300 : n;
  const double power = std::bit_cast<double>(static_cast<uint64_t>(limited + 1023) << 52);
  return static_cast<float>(static_cast<double>(x) * power);
}

inline float rcp_f32(float x) { return 1.0f / x; }
inline float sqrt_f32(float x) { return square_root(x); }
inline float rsq_f32(float x) { return static_cast<float>(1.0 / square_root(static_cast<double>(x))); }

// Input in revolutions. Outside +-256 the ISA gives 0 for sine and 1 for cosine.
inline double sin_revolutions(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) > 256.0) return 0.0;
  const double turn = x - std::nearbyint(x);
  return std::sin(turn * 0x1.921fb54442d18p+2);
}
inline double cos_revolutions(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) > 256.0) return 1.0;
  const double turn = x - std::nearbyint(x);
  return std::cos(turn * 0x1.921fb54442d18p+2);
}

// Bits of 2/pi that v_trig_preop_f64 serves: 53 of them from `segment`, as the ISA's formula has it.
double trig_preop(double x, uint32_t segment);

}  // namespace mlaforge::simulator
