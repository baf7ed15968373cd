// Scalar semantics of floating-point instructions, written branch-free where a lane loop should vectorize.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mlaforge::simulator {

template <class T>
struct FloatTraits;
template <>
struct FloatTraits<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23;
};
template <>
struct FloatTraits<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52;
};

template <class T>
auto bits_of(T value) {
  return std::bit_cast<typename FloatTraits<T>::Bits>(value);
}
template <class T>
T quiet(T value) {
  using Bits = typename FloatTraits<T>::Bits;
  return std::bit_cast<T>(bits_of(value) | Bits{1} << (FloatTraits<T>::mantissa - 1));
}
template <class T>
bool is_nan(T value) {
  return value != value;
}
template <class T>
bool is_signaling(T value) {
  using Bits = typename FloatTraits<T>::Bits;
  return is_nan(value) && (bits_of(value) & Bits{1} << (FloatTraits<T>::mantissa - 1)) == 0;
}
template <class T>
int biased_exponent(T value) {
  using Bits = typename FloatTraits<T>::Bits;
  constexpr Bits mask = (Bits{1} << (8 * sizeof(T) - 1 - FloatTraits<T>::mantissa)) - 1;
  return static_cast<int>(bits_of(value) >> FloatTraits<T>::mantissa & mask);
}
template <class T>
bool is_denormal(T value) {
  return biased_exponent(value) == 0 && value != T{0};
}

// V_MAX/V_MIN: the number wins over a quiet NaN; a signaling NaN is quieted and wins in IEEE mode; -0 < +0.
template <class T>
T max_num(bool ieee, T a, T b) {
  T result = a > b ? a : b;
  result = a == b ? std::bit_cast<T>(bits_of(a) & bits_of(b)) : result;
  result = is_nan(b) ? a : result;
  result = is_nan(a) ? b : result;
  result = ieee && is_signaling(b) ? quiet(b) : result;
  return ieee && is_signaling(a) ? quiet(a) : result;
}
template <class T>
T min_num(bool ieee, T a, T b) {
  T result = a < b ? a : b;
  result = a == b ? std::bit_cast<T>(bits_of(a) | bits_of(b)) : result;
  result = is_nan(b) ? a : result;
  result = is_nan(a) ? b : result;
  result = ieee && is_signaling(b) ? quiet(b) : result;
  return ieee && is_signaling(a) ? quiet(a) : result;
}
// IEEE 754-2019 maximum and minimum: any NaN gives a quiet NaN.
template <class T>
T maximum(T a, T b) {
  const T result = max_num(false, a, b);
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : result;
}
template <class T>
T minimum(T a, T b) {
  const T result = min_num(false, a, b);
  return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : result;
}
template <class T>
T med3(bool ieee, T a, T b, T c) {
  const T low = min_num(ieee, min_num(ieee, a, b), c);
  const T high = max_num(ieee, max_num(ieee, a, b), c);
  const T middle = high == a ? max_num(ieee, b, c) : high == b ? max_num(ieee, a, c) : max_num(ieee, a, b);
  return is_nan(a) || is_nan(b) || is_nan(c) ? low : middle;
}

// Rounds an exact sum a + b to odd: correct to round again to any format at least two bits narrower.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  // Truncate towards zero, then stick the inexact bit to the end.
  const uint64_t truncated = bits - ((error < 0) != (sum < 0) && error != 0 ? 1u : 0u);
  const bool inexact = error != 0 && std::fabs(sum) <= std::numeric_limits<double>::max();
  return inexact ? std::bit_cast<double>(truncated | 1) : sum;
}
inline float float_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  const bool inexact = back != value && value == value;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest) - (std::fabs(back) > std::fabs(value) ? 1u : 0u);
  return inexact ? std::bit_cast<float>(bits | 1) : nearest;
}

// f16 results as floats rounded to odd (see Half in lanes.h).
inline float half_add(float a, float b) { return float_to_odd(static_cast<double>(a) + static_cast<double>(b)); }
inline float half_fma(float a, float b, float c) {
  return float_to_odd(sum_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}

template <class T>
T fract(T x) {
  // The subtraction can round up to 1 for tiny negative x; hardware keeps the result below 1.
  constexpr T below_one = T{1} - std::numeric_limits<T>::epsilon() / 2;
  const T result = x - std::floor(x);
  return result > below_one ? below_one : result;
}

template <class T>
T frexp_mantissa(T x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}
template <class T>
int32_t frexp_exponent(T x) {
  int exponent = 0;
  if (!std::isfinite(x) || x == T{0}) return 0;
  std::frexp(x, &exponent);
  return exponent;
}

// Conversions to integers truncate, saturate, and turn NaN into 0.
template <class Int, class T>
Int to_integer(T x) {
  constexpr T low = static_cast<T>(std::numeric_limits<Int>::min());
  constexpr T high = static_cast<T>(1ull << (std::numeric_limits<Int>::digits - 1)) * T{2};  // first value too large
  const bool inside = x > low - T{1} && x < high;
  const Int converted = static_cast<Int>(inside ? x : T{0});
  return inside      ? converted
         : x >= high ? std::numeric_limits<Int>::max()
         : is_nan(x) ? Int{0}
                     : std::numeric_limits<Int>::min();
}

// One bit of the v_cmp_class mask for a value given by its raw bits.
template <int exponent_bits, int mantissa_bits, class Bits>
uint32_t class_bit(Bits bits) {
  const bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  const auto exponent = static_cast<uint32_t>(bits >> mantissa_bits & ((Bits{1} << exponent_bits) - 1));
  const Bits mantissa = bits & ((Bits{1} << mantissa_bits) - 1);
  if (exponent == (1u << exponent_bits) - 1) {
    if (mantissa != 0) return (mantissa >> (mantissa_bits - 1)) != 0 ? 1u << 1 : 1u << 0;
    return negative ? 1u << 2 : 1u << 9;
  }
  if (exponent != 0) return negative ? 1u << 3 : 1u << 8;
  if (mantissa != 0) return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 5 : 1u << 6;
}

}  // namespace mlaforge::simulator
