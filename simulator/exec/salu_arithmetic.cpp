// SOP2 and the arithmetic of SOPK. SCC: carry or overflow of sums, "result is not zero" of logic and shifts.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "simulator/exec/salu.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

template <auto F>
constexpr Handler binary32 = scalar_binary<u32, u32, u32, F>;
template <auto F>
constexpr Handler binary64 = scalar_binary<u64, u64, u64, F>;
template <auto F>
constexpr Handler shift64 = scalar_binary<u64, u64, u32, F>;

constexpr auto add_u32 = [](u32 a, u32 b, bool& scc) {
  const u32 sum = a + b;
  scc = sum < a;
  return sum;
};
constexpr auto sub_u32 = [](u32 a, u32 b, bool& scc) {
  scc = b > a;
  return a - b;
};
constexpr auto add_i32 = [](u32 a, u32 b, bool& scc) {
  const u32 sum = a + b;
  scc = ((a ^ sum) & (b ^ sum)) >> 31;
  return sum;
};
constexpr auto sub_i32 = [](u32 a, u32 b, bool& scc) {
  const u32 difference = a - b;
  scc = ((a ^ b) & (a ^ difference)) >> 31;
  return difference;
};
constexpr auto addc_u32 = [](u32 a, u32 b, bool& scc) {
  const u64 sum = u64{a} + b + scc;
  scc = sum >> 32;
  return static_cast<u32>(sum);
};
constexpr auto subb_u32 = [](u32 a, u32 b, bool& scc) {
  const u64 difference = u64{a} - b - scc;
  scc = difference >> 63;
  return static_cast<u32>(difference);
};
constexpr auto min_i32 = [](i32 a, i32 b, bool& scc) {
  scc = a < b;
  return std::min(a, b);
};
constexpr auto max_i32 = [](i32 a, i32 b, bool& scc) {
  scc = a > b;
  return std::max(a, b);
};
constexpr auto min_u32 = [](u32 a, u32 b, bool& scc) {
  scc = a < b;
  return std::min(a, b);
};
constexpr auto max_u32 = [](u32 a, u32 b, bool& scc) {
  scc = a > b;
  return std::max(a, b);
};
constexpr auto cselect = [](auto a, auto b, bool& scc) { return scc ? a : b; };

template <auto F>
constexpr auto logic = [](auto a, auto b, bool& scc) {
  const auto result = static_cast<decltype(a)>(F(a, b));
  scc = result != 0;
  return result;
};
constexpr auto op_and = logic<[](auto a, auto b) { return a & b; }>;
constexpr auto op_or = logic<[](auto a, auto b) { return a | b; }>;
constexpr auto op_xor = logic<[](auto a, auto b) { return a ^ b; }>;
constexpr auto op_andn2 = logic<[](auto a, auto b) { return a & ~b; }>;
constexpr auto op_orn2 = logic<[](auto a, auto b) { return a | ~b; }>;
constexpr auto op_nand = logic<[](auto a, auto b) { return ~(a & b); }>;
constexpr auto op_nor = logic<[](auto a, auto b) { return ~(a | b); }>;
constexpr auto op_xnor = logic<[](auto a, auto b) { return ~(a ^ b); }>;
// A shift by more than the width uses the low bits of the amount.
constexpr auto op_lshl = logic<[](auto a, u32 b) { return a << (b & (sizeof(a) * 8 - 1)); }>;
constexpr auto op_lshr = logic<[](auto a, u32 b) { return a >> (b & (sizeof(a) * 8 - 1)); }>;

template <typename T>
T extract(T value, u32 control) {
  constexpr u32 width = sizeof(T) * 8;
  const u32 offset = control & (width - 1);
  const u32 count = control >> 16 & 0x7f;
  if (count == 0) return 0;
  if (count >= width) return static_cast<T>(value >> offset);
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    // A field that reaches past the top is what is there, sign-extended from the top bit.
    if (offset + count >= width) return static_cast<T>(value >> offset);
    return static_cast<T>(static_cast<T>(static_cast<U>(value) << (width - offset - count)) >> (width - count));
  } else {
    return static_cast<T>((value >> offset) & ((T{1} << count) - 1));
  }
}
constexpr auto op_bfe = logic<[](auto a, u32 b) { return extract(a, b); }>;

constexpr auto bfm32 = [](u32 a, u32 b, bool&) { return ((1u << (a & 31)) - 1) << (b & 31); };
constexpr auto bfm64 = [](u32 a, u32 b, bool&) { return ((u64{1} << (a & 63)) - 1) << (b & 63); };
constexpr auto mul_lo = [](u32 a, u32 b, bool&) { return a * b; };
constexpr auto mul_hi_u = [](u32 a, u32 b, bool&) { return static_cast<u32>(u64{a} * b >> 32); };
constexpr auto mul_hi_i = [](i32 a, i32 b, bool&) { return static_cast<i32>(i64{a} * b >> 32); };
constexpr auto absdiff = [](u32 a, u32 b, bool& scc) {
  const u32 difference = a - b;
  const u32 result = difference >> 31 ? 0 - difference : difference;
  scc = result != 0;
  return result;
};
template <u32 N>
constexpr auto lshl_add = [](u32 a, u32 b, bool& scc) {
  const u64 sum = (u64{a} << N) + b;
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
};
constexpr auto pack_ll = [](u32 a, u32 b, bool&) { return (a & 0xffff) | b << 16; };
constexpr auto pack_lh = [](u32 a, u32 b, bool&) { return (a & 0xffff) | (b & 0xffff0000); };
constexpr auto pack_hh = [](u32 a, u32 b, bool&) { return a >> 16 | (b & 0xffff0000); };

// --- SOPK: operands are the destination (also a source) and the 16-bit immediate ---

void movk(Wave& wave, const Instruction& i) { set_scalar32(wave, i.operands[0], i.operands[1].value32); }
void cmovk(Wave& wave, const Instruction& i) {
  if (wave.scc) movk(wave, i);
}
void addk(Wave& wave, const Instruction& i) {
  bool scc = false;
  set_scalar32(wave, i.operands[0], add_i32(scalar32(wave, i.operands[0]), i.operands[1].value32, scc));
  wave.scc = scc;
}
void mulk(Wave& wave, const Instruction& i) {
  set_scalar32(wave, i.operands[0], scalar32(wave, i.operands[0]) * i.operands[1].value32);
}

constexpr std::array rows{
    OpEntry{"s_add_u32", binary32<add_u32>},
    OpEntry{"s_sub_u32", binary32<sub_u32>},
    OpEntry{"s_add_i32", binary32<add_i32>},
    OpEntry{"s_sub_i32", binary32<sub_i32>},
    OpEntry{"s_addc_u32", binary32<addc_u32>},
    OpEntry{"s_subb_u32", binary32<subb_u32>},
    OpEntry{"s_min_i32", scalar_binary<i32, i32, i32, min_i32>},
    OpEntry{"s_max_i32", scalar_binary<i32, i32, i32, max_i32>},
    OpEntry{"s_min_u32", binary32<min_u32>},
    OpEntry{"s_max_u32", binary32<max_u32>},
    OpEntry{"s_cselect_b32", binary32<cselect>},
    OpEntry{"s_cselect_b64", binary64<cselect>},
    OpEntry{"s_and_b32", binary32<op_and>},
    OpEntry{"s_and_b64", binary64<op_and>},
    OpEntry{"s_or_b32", binary32<op_or>},
    OpEntry{"s_or_b64", binary64<op_or>},
    OpEntry{"s_xor_b32", binary32<op_xor>},
    OpEntry{"s_xor_b64", binary64<op_xor>},
    OpEntry{"s_andn2_b32", binary32<op_andn2>},
    OpEntry{"s_andn2_b64", binary64<op_andn2>},
    OpEntry{"s_orn2_b32", binary32<op_orn2>},
    OpEntry{"s_orn2_b64", binary64<op_orn2>},
    OpEntry{"s_nand_b32", binary32<op_nand>},
    OpEntry{"s_nand_b64", binary64<op_nand>},
    OpEntry{"s_nor_b32", binary32<op_nor>},
    OpEntry{"s_nor_b64", binary64<op_nor>},
    OpEntry{"s_xnor_b32", binary32<op_xnor>},
    OpEntry{"s_xnor_b64", binary64<op_xnor>},
    OpEntry{"s_lshl_b32", binary32<op_lshl>},
    OpEntry{"s_lshl_b64", shift64<op_lshl>},
    OpEntry{"s_lshr_b32", binary32<op_lshr>},
    OpEntry{"s_lshr_b64", shift64<op_lshr>},
    OpEntry{"s_ashr_i32", scalar_binary<i32, i32, u32, op_lshr>},
    OpEntry{"s_ashr_i64", scalar_binary<i64, i64, u32, op_lshr>},
    OpEntry{"s_bfm_b32", binary32<bfm32>},
    OpEntry{"s_bfm_b64", scalar_binary<u64, u32, u32, bfm64>},
    OpEntry{"s_bfe_u32", binary32<op_bfe>},
    OpEntry{"s_bfe_i32", scalar_binary<i32, i32, u32, op_bfe>},
    OpEntry{"s_bfe_u64", shift64<op_bfe>},
    OpEntry{"s_bfe_i64", scalar_binary<i64, i64, u32, op_bfe>},
    OpEntry{"s_mul_i32", binary32<mul_lo>},
    OpEntry{"s_mul_hi_u32", binary32<mul_hi_u>},
    OpEntry{"s_mul_hi_i32", scalar_binary<i32, i32, i32, mul_hi_i>},
    OpEntry{"s_absdiff_i32", binary32<absdiff>},
    OpEntry{"s_lshl1_add_u32", binary32<lshl_add<1>>},
    OpEntry{"s_lshl2_add_u32", binary32<lshl_add<2>>},
    OpEntry{"s_lshl3_add_u32", binary32<lshl_add<3>>},
    OpEntry{"s_lshl4_add_u32", binary32<lshl_add<4>>},
    OpEntry{"s_pack_ll_b32_b16", binary32<pack_ll>},
    OpEntry{"s_pack_lh_b32_b16", binary32<pack_lh>},
    OpEntry{"s_pack_hh_b32_b16", binary32<pack_hh>},
    OpEntry{"s_movk_i32", movk},
    OpEntry{"s_cmovk_i32", cmovk},
    OpEntry{"s_addk_i32", addk},
    OpEntry{"s_mulk_i32", mulk},
};

}  // namespace

std::span<const OpEntry> scalar_arithmetic_ops() { return rows; }

}  // namespace mlaforge::simulator
