// E4M3 as the OCP 8-bit floating point specification defines it: bias 7, no infinities, S.1111.111 is NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlaforge::reference {

inline constexpr double e4m3_largest = 448.0;  ///< S.1111.110
inline constexpr uint8_t e4m3_nan = 0x7f;

/// The value of a byte: (-1)^s x 2^(e-7) x (1 + m/8), or (-1)^s x 2^-6 x m/8 where e is 0.
inline double decode_e4m3(uint8_t byte) {
  const int exponent = (byte >> 3) & 15;
  const int mantissa = byte & 7;
  const double sign = (byte & 0x80) != 0 ? -1.0 : 1.0;
  if (exponent == 15 && mantissa == 7) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return exponent == 0 ? sign * std::ldexp(mantissa, -9) : sign * std::ldexp(8 + mantissa, exponent - 10);
}

/// The nearest byte, ties to the even one; beyond the largest it saturates, NaN stays NaN, signs of zero stay.
inline uint8_t encode_e4m3(double value) {
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return static_cast<uint8_t>(sign | e4m3_nan);
  }
  if (magnitude >= e4m3_largest) {
    return static_cast<uint8_t>(sign | 0x7e);
  }
  // The binade's step is 2^(exponent - 3); below 2^-6 all steps are 2^-9.
  const int exponent = std::max(static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023, -6);
  const double step = std::bit_cast<double>(static_cast<uint64_t>(exponent - 3 + 1023) << 52);
  // 0 .. 16 steps; 16 carries into the next exponent by itself, since the codes are consecutive.
  const int steps = static_cast<int>(std::nearbyint(magnitude / step));
  return static_cast<uint8_t>(sign | (((exponent + 6) << 3) + steps));
}

}  // namespace mlaforge::reference
