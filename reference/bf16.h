// bfloat16: the upper half of a float, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace mlaforge::reference {

inline float decode_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Overflow goes to infinity, as IEEE's rounding does; NaN stays a (quiet) NaN.
inline uint16_t encode_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace mlaforge::reference
