// Conversions between integers, f16, bf16, f32, f64 and fp8/bf8 without block scale.
#include <algorithm>
#include <cmath>

#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u16 = uint16_t;

// Nearest even in [-1, 1] scaled to the integer range; NaN is 0.
float to_snorm(float x) { return __builtin_roundevenf(std::clamp(is_nan(x) ? 0.0f : x, -1.0f, 1.0f) * 32767.0f); }
float to_unorm(float x) { return __builtin_roundevenf(std::clamp(is_nan(x) ? 0.0f : x, 0.0f, 1.0f) * 65535.0f); }
u16 snorm(float x) { return static_cast<u16>(static_cast<int>(to_snorm(x))); }
u16 unorm(float x) { return static_cast<u16>(static_cast<int>(to_unorm(x))); }
u32 pack(u16 low, u16 high) { return low | static_cast<u32>(high) << 16; }

// The ISA leaves v_cvt_pk_u8_f32's rounding open; like every float to integer conversion here it truncates.
u32 to_u8(float x) { return std::min(to_integer<u32>(x), 255u); }
u32 insert_u8(float x, u32 byte, u32 into) {
  const u32 shift = 8 * (byte & 3);
  return (into & ~(0xffu << shift)) | to_u8(x) << shift;
}

// Fills the dropped `bits` of the magnitude with the top random bits and truncates.
u32 add_random(u32 value, u32 random, u32 bits) { return value + (random >> (32 - bits)); }
u16 bf16_stochastic(float x, u32 random) {
  const u32 value = std::bit_cast<u32>(x);
  if ((value & 0x7f800000) == 0x7f800000) return f32_to_bf16(x);
  return static_cast<u16>(add_random(value, random, 16) >> 16);
}

constexpr OpEntry kOps[] = {
    op<[](int32_t a) { return static_cast<float>(a); }, float, int32_t>("v_cvt_f32_i32"),
    op<[](u32 a) { return static_cast<float>(a); }, float, u32>("v_cvt_f32_u32"),
    op<[](float a) { return to_integer<u32>(a); }, u32, float>("v_cvt_u32_f32"),
    op<[](float a) { return to_integer<int32_t>(a); }, int32_t, float>("v_cvt_i32_f32"),
    op<[](float a) { return to_integer<int32_t>(std::floor(a + 0.5f)); }, int32_t, float>("v_cvt_rpi_i32_f32"),
    op<[](float a) { return to_integer<int32_t>(std::floor(a)); }, int32_t, float>("v_cvt_flr_i32_f32"),
    op<[](u32 a) { return static_cast<float>(static_cast<int32_t>(a << 28) >> 28) / 16.0f; }, float, u32>(
        "v_cvt_off_f32_i4"),
    op<[](u32 a) { return static_cast<float>(a & 0xff); }, float, u32>("v_cvt_f32_ubyte0"),
    op<[](u32 a) { return static_cast<float>(a >> 8 & 0xff); }, float, u32>("v_cvt_f32_ubyte1"),
    op<[](u32 a) { return static_cast<float>(a >> 16 & 0xff); }, float, u32>("v_cvt_f32_ubyte2"),
    op<[](u32 a) { return static_cast<float>(a >> 24); }, float, u32>("v_cvt_f32_ubyte3"),

    op<[](double a) { return to_integer<int32_t>(a); }, int32_t, double>("v_cvt_i32_f64"),
    op<[](double a) { return to_integer<u32>(a); }, u32, double>("v_cvt_u32_f64"),
    op<[](int32_t a) { return static_cast<double>(a); }, double, int32_t>("v_cvt_f64_i32"),
    op<[](u32 a) { return static_cast<double>(a); }, double, u32>("v_cvt_f64_u32"),
    op<[](double a) { return static_cast<float>(a); }, float, double>("v_cvt_f32_f64"),
    op<[](float a) { return static_cast<double>(a); }, double, float>("v_cvt_f64_f32"),

    op<[](float a) { return a; }, Half, float>("v_cvt_f16_f32"),
    op<[](float a) { return a; }, float, Half>("v_cvt_f32_f16"),
    op<[](u16 a) { return static_cast<float>(a); }, Half, u16>("v_cvt_f16_u16"),
    op<[](int16_t a) { return static_cast<float>(a); }, Half, int16_t>("v_cvt_f16_i16"),
    op<[](float a) { return static_cast<u16>(std::min(to_integer<u32>(a), 0xffffu)); }, u16, Half>("v_cvt_u16_f16"),
    op<[](float a) { return static_cast<int16_t>(std::clamp(to_integer<int32_t>(a), -0x8000, 0x7fff)); }, int16_t,
       Half>("v_cvt_i16_f16"),
    op<[](float a) { return snorm(a); }, u16, Half>("v_cvt_norm_i16_f16"),
    op<[](float a) { return unorm(a); }, u16, Half>("v_cvt_norm_u16_f16"),
    op<[](u16 a) { return bf16_to_f32(a); }, float, u16>("v_cvt_f32_bf16"),

    op<[](float a, float b) { return pack(f32_to_bf16(a), f32_to_bf16(b)); }, u32, float, float>("v_cvt_pk_bf16_f32"),
    op<[](float a, float b) { return pack(f32_to_f16_nearest(a), f32_to_f16_nearest(b)); }, u32, float, float>(
        "v_cvt_pk_f16_f32"),
    op<[](float a, float b) {
      return pack(f32_to_f16(a, {}, Rounding::TowardZero), f32_to_f16(b, {}, Rounding::TowardZero));
    },
       u32, float, float>("v_cvt_pkrtz_f16_f32"),
    op<[](float a, float b) { return pack(snorm(a), snorm(b)); }, u32, float, float>("v_cvt_pknorm_i16_f32"),
    op<[](float a, float b) { return pack(unorm(a), unorm(b)); }, u32, float, float>("v_cvt_pknorm_u16_f32"),
    op<[](float a, float b) { return pack(snorm(a), snorm(b)); }, u32, Half, Half>("v_cvt_pknorm_i16_f16"),
    op<[](float a, float b) { return pack(unorm(a), unorm(b)); }, u32, Half, Half>("v_cvt_pknorm_u16_f16"),
    op<[](int32_t a, int32_t b) {
      return pack(static_cast<u16>(std::clamp(a, -0x8000, 0x7fff)), static_cast<u16>(std::clamp(b, -0x8000, 0x7fff)));
    },
       u32, int32_t, int32_t>("v_cvt_pk_i16_i32"),
    op<[](u32 a, u32 b) {
      return pack(static_cast<u16>(std::min(a, 0xffffu)), static_cast<u16>(std::min(b, 0xffffu)));
    },
       u32, u32, u32>("v_cvt_pk_u16_u32"),
    op<[](float a, u32 b, u32 c) { return insert_u8(a, b, c); }, u32, float, u32, u32>("v_cvt_pk_u8_f32"),
    op<[](float a, u32 b, u32 old) { return insert_u8(a, b, old); }, u32, float, u32, u32>("v_cvt_pkaccum_u8_f32"),
    op<[](u16 a, u16 b) { return pack(a, b); }, u32, RawF16, RawF16>("v_pack_b32_f16"),

    op<[](float a, u32 random) { return bf16_stochastic(a, random); }, u16, float, u32>("v_cvt_sr_bf16_f32",
                                                                                        alu_detail::preserve_high),
    op<[](float a, u32 random) { return static_cast<u16>(encode_stochastic(kF16, static_cast<double>(a), random)); },
       u16, float, u32>("v_cvt_sr_f16_f32", alu_detail::preserve_high),
};

}  // namespace

std::span<const OpEntry> convert_ops() { return kOps; }

}  // namespace mlaforge::simulator
