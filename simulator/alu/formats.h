// Number formats of gfx950 below 32 bits and their conversions: fp8 E4M3 (OCP), bf8 E5M2, fp6 E2M3, bf6 E3M2,
// fp4 E2M1, f16, bf16 and the E8M0 block scale. Pure functions on bit patterns.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace mlaforge::simulator {

// How a conversion discards bits. Numbering of MODE.FP_ROUND.
enum class Rounding : uint8_t { NearestEven = 0, TowardPlus = 1, TowardMinus = 2, TowardZero = 3 };

// A sign, exponent, mantissa format. `special` says what the top exponent means.
struct MiniFloat {
  enum class Special : uint8_t {
    Ieee,       // top exponent: infinity and NaN (E5M2, f16, bf16)
    OnlyNan,    // only the all-ones code is NaN, no infinity (E4M3 OCP)
    AllFinite,  // every code is a number (fp6, bf6, fp4)
  };
  int exponent_bits;
  int mantissa_bits;
  Special special;

  constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t sign_mask() const { return 1u << (width() - 1); }
  constexpr uint32_t nan() const {
    return special == Special::OnlyNan ? sign_mask() - 1
                                       : (((1u << exponent_bits) - 1) << mantissa_bits) | (1u << (mantissa_bits - 1));
  }
  constexpr uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  // The largest finite magnitude's code.
  constexpr uint32_t max_finite() const {
    switch (special) {
      case Special::Ieee:
        return infinity() - 1;
      case Special::OnlyNan:
        return sign_mask() - 2;
      case Special::AllFinite:
        return sign_mask() - 1;
    }
    return 0;
  }
};

inline constexpr MiniFloat kFp8{4, 3, MiniFloat::Special::OnlyNan};
inline constexpr MiniFloat kBf8{5, 2, MiniFloat::Special::Ieee};
inline constexpr MiniFloat kFp6{2, 3, MiniFloat::Special::AllFinite};
inline constexpr MiniFloat kBf6{3, 2, MiniFloat::Special::AllFinite};
inline constexpr MiniFloat kFp4{2, 1, MiniFloat::Special::AllFinite};
inline constexpr MiniFloat kF16{5, 10, MiniFloat::Special::Ieee};
inline constexpr MiniFloat kBf16{8, 7, MiniFloat::Special::Ieee};

// What an overflow, an infinity or a NaN becomes; MODE.FP16_OVFL sets `saturate`.
struct Overflow {
  bool saturate = false;
};

// Whether fp8 E4M3, which has no infinity, turns an infinite input into +-448 under MODE.FP16_OVFL, or into NaN.
// LLVM documents FP16_OVFL as "clamped to +-MAX ... while still preserving true INF values", and E4M3 can only
// preserve an infinity as NaN. Confidence C.
inline constexpr bool kFp8InfinitySaturates = false;

// Exact value of a code. NaN is the quiet NaN with the code's sign.
double decode(const MiniFloat& format, uint32_t code);

// Rounds `value` once to the format. Without `saturate` an overflow gives infinity, or NaN where the format has
// none; AllFinite formats always saturate, and their NaN is the largest magnitude (they cannot express one).
uint32_t encode(const MiniFloat& format, double value, Overflow overflow = {},
                Rounding rounding = Rounding::NearestEven);

// Stochastic rounding: the magnitude is truncated after adding `random` / 2^32 of a unit in the last place.
uint32_t encode_stochastic(const MiniFloat& format, double value, uint32_t random, Overflow overflow = {});

// E8M0 scale: 2^(code - 127); 0xff is NaN, 0 is 2^-127.
double decode_e8m0(uint8_t code);

const std::array<float, 256>& fp8_table();
const std::array<float, 256>& bf8_table();

// ---- f16 and bf16 on bit patterns, written so that a loop over lanes vectorizes ------------------------------------

inline float bf16_to_f32(uint16_t code) { return std::bit_cast<float>(static_cast<uint32_t>(code) << 16); }

inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

inline float f16_to_f32(uint16_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(code & 0x7fff) << 13;
  // Denormals by subtraction of the implied one, so that no denormal f32 ever appears.
  const float denormal = std::bit_cast<float>(magnitude + (113u << 23)) - std::bit_cast<float>(113u << 23);
  const uint32_t normal = magnitude + (112u << 23);
  const uint32_t special = magnitude | 0x7f800000;  // a signaling NaN stays one
  const uint32_t finite = (code & 0x7c00) == 0 ? std::bit_cast<uint32_t>(denormal) : normal;
  return std::bit_cast<float>(sign | ((code & 0x7c00) == 0x7c00 ? special : finite));
}

// Nearest even; overflow to infinity, or to 65504 under FP16_OVFL (a true infinity stays).
uint16_t f32_to_f16(float value, Overflow overflow = {}, Rounding rounding = Rounding::NearestEven);
uint16_t f64_to_f16(double value, Overflow overflow = {}, Rounding rounding = Rounding::NearestEven);

// The same for the common case (nearest even, no saturation), branch free.
inline uint16_t f32_to_f16_nearest(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal results: rebias and round at bit 13.
  const uint32_t rebased = magnitude - (112u << 23);
  const uint32_t normal = (rebased + 0xfff + ((rebased >> 13) & 1)) >> 13;
  // Denormal results: adding 0.5 aligns the f16 denormal unit (2^-24) with the f32 unit in the last place.
  const float shifted = std::bit_cast<float>(magnitude < (113u << 23) ? magnitude : 0u) + 0.5f;
  const uint32_t denormal = std::bit_cast<uint32_t>(shifted) - (126u << 23);
  uint32_t result = magnitude < (113u << 23) ? denormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00u : result;  // 65520 and above round to infinity
  result = magnitude > 0x7f800000 ? (0x7e00u | ((magnitude >> 13) & 0x3ff)) : result;
  return static_cast<uint16_t>(sign | result);
}

}  // namespace mlaforge::simulator
