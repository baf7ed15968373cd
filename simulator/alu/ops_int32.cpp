// 32-bit integer and bit instructions.
#include <algorithm>
#include <limits>

#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 kMaxU = std::numeric_limits<u32>::max();

i32 saturate(i64 value) {
  return static_cast<i32>(std::clamp<i64>(value, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}
u32 saturate_unsigned(i64 value) { return static_cast<u32>(std::clamp<i64>(value, 0, kMaxU)); }

i32 sext24(u32 value) { return static_cast<i32>(value << 8) >> 8; }
u32 low24(u32 value) { return value & 0xffffff; }

u32 byte_of(u32 value, int byte) { return value >> (8 * byte) & 0xff; }
u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }

[[gnu::always_inline]] inline u32 sad_u8(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += difference(byte_of(a, i), byte_of(b, i));
  return c;
}
[[gnu::always_inline]] inline u32 msad_u8(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += byte_of(b, i) == 0 ? 0 : difference(byte_of(a, i), byte_of(b, i));
  return c;
}

u64 sad_quad(u64 a, u32 b, u64 c, u32 (*one)(u32, u32, u32)) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i)
    result |=
        static_cast<u64>(one(static_cast<u32>(a >> (8 * i)), b, static_cast<u32>(c >> (16 * i) & 0xffff)) & 0xffff)
        << (16 * i);
  return result;
}

// One byte of v_perm_b32 on the pair {high, low}: 0..7 a byte, 8..11 copies of a sign bit (bits 15, 31, 47, 63), 12
// zero, above all ones. Branch-free and in 32 bits, so that the lane loop vectorizes well.
[[gnu::always_inline]] inline u32 permute_byte(u32 high, u32 low, u32 sel) {
  const u32 byte = ((sel & 4) != 0 ? high : low) >> (8 * (sel & 3)) & 0xff;
  const u32 sign_word = (sel & 2) != 0 ? high : low;
  const u32 sign = 0u - (((sel & 1) != 0 ? sign_word >> 16 : sign_word) >> 15 & 1);
  const u32 constant = sel == 12 ? 0u : 0xffu;
  return sel < 8 ? byte : sel < 12 ? sign & 0xff : constant;
}
[[gnu::always_inline]] inline u32 perm(u32 a, u32 b, u32 sel) {
  return permute_byte(a, b, sel & 0xff) | permute_byte(a, b, sel >> 8 & 0xff) << 8 |
         permute_byte(a, b, sel >> 16 & 0xff) << 16 | permute_byte(a, b, sel >> 24) << 24;
}

u32 bfe_u(u32 a, u32 offset, u32 width) { return a >> (offset & 31) & ((1u << (width & 31)) - 1); }
i32 bfe_i(u32 a, u32 offset, u32 width) {
  const u32 bits = width & 31;
  const u32 field = bfe_u(a, offset, width);
  const u32 up = bits == 0 ? 0 : 32 - bits;
  return bits == 0 ? 0 : static_cast<i32>(field << up) >> up;
}

[[gnu::always_inline]] inline u32 reverse(u32 v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}

[[gnu::always_inline]] inline u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= (byte_of(a, i) + byte_of(b, i) + (byte_of(c, i) & 1)) >> 1 << (8 * i);
  return result;
}

template <class T>
T med3(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

i32 ashr(i32 value, u32 amount) { return value >> (amount & 31); }
u32 pack_bytes(i32 low, i32 high) { return (static_cast<u32>(low) & 0xff) | (static_cast<u32>(high) & 0xff) << 8; }

constexpr auto add = [](u32 a, u32 b) { return a + b; };
constexpr auto sub = [](u32 a, u32 b) { return a - b; };
constexpr auto subrev = [](u32 a, u32 b) { return b - a; };

constexpr OpEntry kOps[] = {
    op<[](u32 a) { return a; }, u32, u32>("v_mov_b32"),
    op<[](u64 a) { return a; }, u64, u64>("v_mov_b64"),
    op<[](u32 a) { return a; }, u32, u32>("v_accvgpr_read_b32"),
    op<[](u32 a) { return a; }, u32, u32>("v_accvgpr_write_b32"),
    op<[](u32 a) { return a; }, u32, u32>("v_accvgpr_mov_b32"),
    op<[](u32 a) { return ~a; }, u32, u32>("v_not_b32"),
    op<[](u32 a) { return reverse(a); }, u32, u32>("v_bfrev_b32"),
    op<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(__builtin_clz(a)); }, u32, u32>("v_ffbh_u32"),
    op<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(__builtin_ctz(a)); }, u32, u32>("v_ffbl_b32"),
    op<[](i32 a) {
      const u32 flipped = static_cast<u32>(a ^ (a >> 31));  // leading copies of the sign become zeros
      return flipped == 0 ? ~0u : static_cast<u32>(__builtin_clz(flipped));
    },
       u32, i32>("v_ffbh_i32"),
    op<[](u32 a) { return a << 1 ^ (a >> 31 != 0 ? 197u : 0u); }, u32, u32>("v_prng_b32"),

    op_clamp<add, [](u32 a, u32 b) { return saturate_unsigned(static_cast<i64>(a) + b); }, u32, u32, u32>("v_add_u32"),
    op_clamp<sub, [](u32 a, u32 b) { return saturate_unsigned(static_cast<i64>(a) - b); }, u32, u32, u32>("v_sub_u32"),
    op_clamp<subrev, [](u32 a, u32 b) { return saturate_unsigned(static_cast<i64>(b) - a); }, u32, u32, u32>(
        "v_subrev_u32"),
    op_clamp<add, [](i32 a, i32 b) { return saturate(static_cast<i64>(a) + b); }, u32, u32, u32>("v_add_i32"),
    op_clamp<sub, [](i32 a, i32 b) { return saturate(static_cast<i64>(a) - b); }, u32, u32, u32>("v_sub_i32"),
    op<[](u32 a, u32 b, u32 c) { return a + b + c; }, u32, u32, u32, u32>("v_add3_u32"),
    op<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }, u32, u32, u32, u32>("v_lshl_add_u32"),
    op<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }, u32, u32, u32, u32>("v_add_lshl_u32"),
    op<[](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }, u32, u32, u32, u32>("v_lshl_or_b32"),
    op<[](u32 a, u32 b, u32 c) { return (a & b) | c; }, u32, u32, u32, u32>("v_and_or_b32"),
    op<[](u32 a, u32 b, u32 c) { return a | b | c; }, u32, u32, u32, u32>("v_or3_b32"),
    op<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }, u32, u32, u32, u32>("v_xad_u32"),
    op<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }, u64, u64, u32, u64>("v_lshl_add_u64"),

    op<[](u32 a, u32 b) { return a & b; }, u32, u32, u32>("v_and_b32"),
    op<[](u32 a, u32 b) { return a | b; }, u32, u32, u32>("v_or_b32"),
    op<[](u32 a, u32 b) { return a ^ b; }, u32, u32, u32>("v_xor_b32"),
    op<[](u32 a, u32 b) { return ~(a ^ b); }, u32, u32, u32>("v_xnor_b32"),
    op<[](u32 a, u32 b) { return b << (a & 31); }, u32, u32, u32>("v_lshlrev_b32"),
    op<[](u32 a, u32 b) { return b >> (a & 31); }, u32, u32, u32>("v_lshrrev_b32"),
    op<[](u32 a, i32 b) { return ashr(b, a); }, i32, u32, i32>("v_ashrrev_i32"),
    op<[](u32 a, u64 b) { return b << (a & 63); }, u64, u32, u64>("v_lshlrev_b64"),
    op<[](u32 a, u64 b) { return b >> (a & 63); }, u64, u32, u64>("v_lshrrev_b64"),
    op<[](u32 a, i64 b) { return b >> (a & 63); }, i64, u32, i64>("v_ashrrev_i64"),

    op<[](u32 a, u32 b) { return std::min(a, b); }, u32, u32, u32>("v_min_u32"),
    op<[](u32 a, u32 b) { return std::max(a, b); }, u32, u32, u32>("v_max_u32"),
    op<[](i32 a, i32 b) { return std::min(a, b); }, i32, i32, i32>("v_min_i32"),
    op<[](i32 a, i32 b) { return std::max(a, b); }, i32, i32, i32>("v_max_i32"),
    op<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }, u32, u32, u32, u32>("v_min3_u32"),
    op<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }, u32, u32, u32, u32>("v_max3_u32"),
    op<[](u32 a, u32 b, u32 c) { return med3(a, b, c); }, u32, u32, u32, u32>("v_med3_u32"),
    op<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }, i32, i32, i32, i32>("v_min3_i32"),
    op<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }, i32, i32, i32, i32>("v_max3_i32"),
    op<[](i32 a, i32 b, i32 c) { return med3(a, b, c); }, i32, i32, i32, i32>("v_med3_i32"),

    op<[](u32 a, u32 b) { return a * b; }, u32, u32, u32>("v_mul_lo_u32"),
    op<[](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); }, u32, u32, u32>("v_mul_hi_u32"),
    op<[](i32 a, i32 b) { return static_cast<i32>(static_cast<i64>(a) * b >> 32); }, i32, i32, i32>("v_mul_hi_i32"),
    op<[](u32 a, u32 b) { return static_cast<u32>(sext24(a)) * static_cast<u32>(sext24(b)); }, u32, u32, u32>(
        "v_mul_i32_i24"),
    op<[](u32 a, u32 b) { return static_cast<i32>(static_cast<i64>(sext24(a)) * sext24(b) >> 32); }, i32, u32, u32>(
        "v_mul_hi_i32_i24"),
    op<[](u32 a, u32 b) { return low24(a) * low24(b); }, u32, u32, u32>("v_mul_u32_u24"),
    op<[](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(low24(a)) * low24(b) >> 32); }, u32, u32, u32>(
        "v_mul_hi_u32_u24"),
    op_clamp<[](u32 a, u32 b, u32 c) { return static_cast<u32>(sext24(a)) * static_cast<u32>(sext24(b)) + c; },
             [](u32 a, u32 b, i32 c) {
               return static_cast<u32>(saturate(static_cast<i64>(sext24(a)) * sext24(b) + c));
             },
             u32, u32, u32, u32>("v_mad_i32_i24"),
    op_clamp<[](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; },
             [](u32 a, u32 b, u32 c) { return saturate_unsigned(static_cast<i64>(low24(a)) * low24(b) + c); }, u32, u32,
             u32, u32>("v_mad_u32_u24"),
    op_clamp<[](uint16_t a, uint16_t b, u32 c) { return static_cast<u32>(a) * b + c; },
             [](uint16_t a, uint16_t b, u32 c) { return saturate_unsigned(static_cast<i64>(a) * b + c); }, u32,
             uint16_t, uint16_t, u32>("v_mad_u32_u16"),
    op_clamp<[](int16_t a, int16_t b, u32 c) { return static_cast<u32>(a * b) + c; },
             [](int16_t a, int16_t b, u32 c) { return saturate(static_cast<i64>(a) * b + static_cast<i32>(c)); }, u32,
             int16_t, int16_t, u32>("v_mad_i32_i16"),

    op<[](u32 a, u32 b, u32 c) { return bfe_u(a, b, c); }, u32, u32, u32, u32>("v_bfe_u32"),
    op<[](u32 a, u32 b, u32 c) { return bfe_i(a, b, c); }, i32, u32, u32, u32>("v_bfe_i32"),
    op<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }, u32, u32, u32, u32>("v_bfi_b32"),
    op<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }, u32, u32, u32>("v_bfm_b32"),
    op<[](u32 a, u32 b) { return static_cast<u32>(__builtin_popcount(a)) + b; }, u32, u32, u32>("v_bcnt_u32_b32"),
    op<[](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31)); }, u32, u32, u32,
       u32>("v_alignbit_b32"),
    op<[](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (8 * (c & 3))); }, u32, u32,
       u32, u32>("v_alignbyte_b32"),
    op<[](u32 a, u32 b, u32 c) __attribute__((always_inline)) { return perm(a, b, c); }, u32, u32, u32, u32>(
        "v_perm_b32"),
    op<[](u32 a, u32 b, u32 c) { return lerp_u8(a, b, c); }, u32, u32, u32, u32>("v_lerp_u8"),
    op<[](u32 a, u32 b, u32 c) { return sad_u8(a, b, c); }, u32, u32, u32, u32>("v_sad_u8"),
    op<[](u32 a, u32 b, u32 c) { return (sad_u8(a, b, 0) << 16) + c; }, u32, u32, u32, u32>("v_sad_hi_u8"),
    op<[](u32 a, u32 b, u32 c) { return difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16) + c; }, u32,
       u32, u32, u32>("v_sad_u16"),
    op<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; }, u32, u32, u32, u32>("v_sad_u32"),
    op<[](u32 a, u32 b, u32 c) { return msad_u8(a, b, c); }, u32, u32, u32, u32>("v_msad_u8"),
    op<[](u64 a, u32 b, u64 c) { return sad_quad(a, b, c, sad_u8); }, u64, u64, u32, u64>("v_qsad_pk_u16_u8"),
    op<[](u64 a, u32 b, u64 c) { return sad_quad(a, b, c, msad_u8); }, u64, u64, u32, u64>("v_mqsad_pk_u16_u8"),
    op<[](i32 a, i32 b, u32 c) {
      return static_cast<uint16_t>(pack_bytes(std::clamp(ashr(a, c), -128, 127), std::clamp(ashr(b, c), -128, 127)));
    },
       uint16_t, i32, i32, u32>("v_ashr_pk_i8_i32", alu_detail::preserve_high),
    op<[](i32 a, i32 b, u32 c) {
      return static_cast<uint16_t>(pack_bytes(std::clamp(ashr(a, c), 0, 255), std::clamp(ashr(b, c), 0, 255)));
    },
       uint16_t, i32, i32, u32>("v_ashr_pk_u8_i32", alu_detail::preserve_high),
    op<[](u32 a) {
      const auto low = static_cast<int16_t>(a);
      const auto high = static_cast<int16_t>(a >> 16);
      return static_cast<uint16_t>(pack_bytes(std::clamp<i32>(low, 0, 255), std::clamp<i32>(high, 0, 255)));
    },
       uint16_t, u32>("v_sat_pk_u8_i16"),
};

}  // namespace

std::span<const OpEntry> int32_ops() { return kOps; }

}  // namespace mlaforge::simulator
