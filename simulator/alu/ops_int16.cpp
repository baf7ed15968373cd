// 16-bit integer instructions. On gfx9 those inherited from VOP2 zero the upper half of the destination; the ones
// added with op_sel keep it (LLVM's zeroesHigh16BitsOfDest lists the former).
#include <algorithm>

#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using i32 = int32_t;
using u32 = uint32_t;
constexpr uint32_t kKeep = alu_detail::preserve_high;

u16 saturate_unsigned(i32 value) { return static_cast<u16>(std::clamp(value, 0, 0xffff)); }
i16 saturate_signed(i32 value) { return static_cast<i16>(std::clamp(value, -0x8000, 0x7fff)); }
u16 wrap(u32 value) { return static_cast<u16>(value); }

template <class T>
T med3(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr auto add = [](u16 a, u16 b) { return wrap(u32{a} + b); };
constexpr auto sub = [](u16 a, u16 b) { return wrap(u32{a} - b); };
constexpr auto subrev = [](u16 a, u16 b) { return wrap(u32{b} - a); };
constexpr auto mad = [](u16 a, u16 b, u16 c) { return wrap(u32{a} * b + c); };
constexpr auto mad_clamped = [](u16 a, u16 b, u16 c) {
  return static_cast<u16>(std::min<uint64_t>(uint64_t{a} * b + c, 0xffff));
};
constexpr auto mad_signed_clamped = [](i16 a, i16 b, i16 c) { return saturate_signed(a * b + c); };

constexpr OpEntry kOps[] = {
    op_clamp<add, [](u16 a, u16 b) { return saturate_unsigned(i32{a} + b); }, u16, u16, u16>("v_add_u16"),
    op_clamp<sub, [](u16 a, u16 b) { return saturate_unsigned(i32{a} - b); }, u16, u16, u16>("v_sub_u16"),
    op_clamp<subrev, [](u16 a, u16 b) { return saturate_unsigned(i32{b} - a); }, u16, u16, u16>("v_subrev_u16"),
    op_clamp<add, [](i16 a, i16 b) { return saturate_signed(a + b); }, u16, u16, u16>("v_add_i16", kKeep),
    op_clamp<sub, [](i16 a, i16 b) { return saturate_signed(a - b); }, u16, u16, u16>("v_sub_i16", kKeep),
    op<[](u16 a, u16 b) { return wrap(u32{a} * b); }, u16, u16, u16>("v_mul_lo_u16"),
    op_clamp<mad, mad_clamped, u16, u16, u16, u16>("v_mad_u16", kKeep),
    op_clamp<mad, mad_signed_clamped, u16, u16, u16, u16>("v_mad_i16", kKeep),
    op_clamp<mad, mad_clamped, u16, u16, u16, u16>("v_mad_legacy_u16"),
    op_clamp<mad, mad_signed_clamped, u16, u16, u16, u16>("v_mad_legacy_i16"),
    op<[](u16 a, u16 b) { return wrap(u32{b} << (a & 15)); }, u16, u16, u16>("v_lshlrev_b16"),
    op<[](u16 a, u16 b) { return wrap(u32{b} >> (a & 15)); }, u16, u16, u16>("v_lshrrev_b16"),
    op<[](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }, i16, u16, i16>("v_ashrrev_i16"),
    op<[](u16 a, u16 b) { return std::min(a, b); }, u16, u16, u16>("v_min_u16"),
    op<[](u16 a, u16 b) { return std::max(a, b); }, u16, u16, u16>("v_max_u16"),
    op<[](i16 a, i16 b) { return std::min(a, b); }, i16, i16, i16>("v_min_i16"),
    op<[](i16 a, i16 b) { return std::max(a, b); }, i16, i16, i16>("v_max_i16"),
    op<[](u16 a, u16 b, u16 c) { return std::min({a, b, c}); }, u16, u16, u16, u16>("v_min3_u16", kKeep),
    op<[](u16 a, u16 b, u16 c) { return std::max({a, b, c}); }, u16, u16, u16, u16>("v_max3_u16", kKeep),
    op<[](u16 a, u16 b, u16 c) { return med3(a, b, c); }, u16, u16, u16, u16>("v_med3_u16", kKeep),
    op<[](i16 a, i16 b, i16 c) { return std::min({a, b, c}); }, i16, i16, i16, i16>("v_min3_i16", kKeep),
    op<[](i16 a, i16 b, i16 c) { return std::max({a, b, c}); }, i16, i16, i16, i16>("v_max3_i16", kKeep),
    op<[](i16 a, i16 b, i16 c) { return med3(a, b, c); }, i16, i16, i16, i16>("v_med3_i16", kKeep),
};

}  // namespace

std::span<const OpEntry> int16_ops() { return kOps; }

}  // namespace mlaforge::simulator
