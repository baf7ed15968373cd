// SOP1: moves, bit counts and searches, EXEC-saving logic, relative moves.
#include <array>
#include <bit>

#include "simulator/exec/salu.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

constexpr auto mov = [](auto a, bool&) { return a; };
constexpr auto bit_not = [](auto a, bool& scc) {
  scc = static_cast<decltype(a)>(~a) != 0;
  return static_cast<decltype(a)>(~a);
};

template <typename T>
T reverse_bits(T value) {
  T result = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit) result = static_cast<T>(result << 1 | (value >> bit & 1));
  return result;
}
constexpr auto brev = [](auto a, bool&) { return reverse_bits(a); };

/// In each quad of bits (W = 4) or each byte's quads: all ones when any is set.
constexpr auto wqm = [](auto a, bool& scc) {
  decltype(a) result = 0;
  for (unsigned bit = 0; bit < sizeof(a) * 8; bit += 4) {
    if (a >> bit & 15) result |= decltype(a){15} << bit;
  }
  scc = result != 0;
  return result;
};
/// One bit a quad, gathered at the bottom.
constexpr auto quadmask = [](auto a, bool& scc) {
  decltype(a) result = 0;
  for (unsigned quad = 0; quad < sizeof(a) * 2; ++quad) {
    if (a >> (quad * 4) & 15) result |= decltype(a){1} << quad;
  }
  scc = result != 0;
  return result;
};
constexpr auto bcnt0 = [](auto a, bool& scc) {
  const u32 count = static_cast<u32>(sizeof(a) * 8) - static_cast<u32>(std::popcount(a));
  scc = count != 0;
  return count;
};
constexpr auto bcnt1 = [](auto a, bool& scc) {
  scc = a != 0;
  return static_cast<u32>(std::popcount(a));
};
// Searches give all ones when there is nothing to find.
constexpr auto ff0 = [](auto a, bool&) {
  const auto inverted = static_cast<decltype(a)>(~a);
  return inverted == 0 ? ~0u : static_cast<u32>(std::countr_zero(inverted));
};
constexpr auto ff1 = [](auto a, bool&) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); };
constexpr auto flbit = [](auto a, bool&) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); };
/// Leading bits equal to the sign; all ones when all are.
constexpr auto flbit_signed = [](auto a, bool&) {
  const auto flipped = static_cast<decltype(a)>(a >> (sizeof(a) * 8 - 1) ? ~a : a);
  return flipped == 0 ? ~0u : static_cast<u32>(std::countl_zero(flipped));
};
constexpr auto sext8 = [](u32 a, bool&) { return static_cast<u32>(static_cast<i32>(static_cast<int8_t>(a))); };
constexpr auto sext16 = [](u32 a, bool&) { return static_cast<u32>(static_cast<i32>(static_cast<int16_t>(a))); };
constexpr auto abs_i32 = [](u32 a, bool& scc) {
  const u32 result = a >> 31 ? 0 - a : a;
  scc = result != 0;
  return result;
};
constexpr auto bitreplicate = [](u32 a, bool&) {
  u64 result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) result |= u64{a >> bit & 1} * 3 << (2 * bit);
  return result;
};

template <typename T>
void cmov(Wave& wave, const Instruction& i) {
  if (wave.scc) write_scalar<T>(wave, i.operands[0], read_scalar<T>(wave, i.operands[1]));
}

template <typename T, bool Set>
void bitset(Wave& wave, const Instruction& i) {
  const u32 bit = scalar32(wave, i.operands[1]) & (sizeof(T) * 8 - 1);
  const T old = read_scalar<T>(wave, i.operands[0]);
  write_scalar<T>(wave, i.operands[0], Set ? old | T{1} << bit : old & ~(T{1} << bit));
}

/// d = EXEC; EXEC = F(source, EXEC); SCC = EXEC != 0.
template <auto F>
void saveexec(Wave& wave, const Instruction& i) {
  const u64 source = scalar64(wave, i.operands[1]);
  const u64 exec = wave.exec();
  set_scalar64(wave, i.operands[0], exec);
  wave.set_exec(F(source, exec));
  wave.scc = wave.exec() != 0;
}

/// EXEC = F(source, EXEC); d = EXEC.
template <auto F>
void wrexec(Wave& wave, const Instruction& i) {
  wave.set_exec(F(scalar64(wave, i.operands[1]), wave.exec()));
  set_scalar64(wave, i.operands[0], wave.exec());
  wave.scc = wave.exec() != 0;
}

Operand relative(const Wave& wave, Operand op) {
  const u32 index = op.index + wave.m0();
  if (index + op.dwords > 102) {
    raise_fault(wave, FaultKind::register_bounds, "M0 moves the SGPR number beyond s101");
  }
  op.index = static_cast<uint16_t>(index);
  return op;
}
template <typename T>
void movrels(Wave& wave, const Instruction& i) {
  write_scalar<T>(wave, i.operands[0], read_scalar<T>(wave, relative(wave, i.operands[1])));
}
template <typename T>
void movreld(Wave& wave, const Instruction& i) {
  write_scalar<T>(wave, relative(wave, i.operands[0]), read_scalar<T>(wave, i.operands[1]));
}

template <auto F>
constexpr Handler unary32 = scalar_unary<u32, u32, F>;
template <auto F>
constexpr Handler unary64 = scalar_unary<u64, u64, F>;
template <auto F>
constexpr Handler unary_i32_b64 = scalar_unary<u32, u64, F>;

constexpr std::array rows{
    OpEntry{"s_mov_b32", unary32<mov>},
    OpEntry{"s_mov_b64", unary64<mov>},
    OpEntry{"s_cmov_b32", cmov<u32>},
    OpEntry{"s_cmov_b64", cmov<u64>},
    OpEntry{"s_not_b32", unary32<bit_not>},
    OpEntry{"s_not_b64", unary64<bit_not>},
    OpEntry{"s_wqm_b32", unary32<wqm>},
    OpEntry{"s_wqm_b64", unary64<wqm>},
    OpEntry{"s_quadmask_b32", unary32<quadmask>},
    OpEntry{"s_quadmask_b64", unary64<quadmask>},
    OpEntry{"s_brev_b32", unary32<brev>},
    OpEntry{"s_brev_b64", unary64<brev>},
    OpEntry{"s_bcnt0_i32_b32", unary32<bcnt0>},
    OpEntry{"s_bcnt0_i32_b64", unary_i32_b64<bcnt0>},
    OpEntry{"s_bcnt1_i32_b32", unary32<bcnt1>},
    OpEntry{"s_bcnt1_i32_b64", unary_i32_b64<bcnt1>},
    OpEntry{"s_ff0_i32_b32", unary32<ff0>},
    OpEntry{"s_ff0_i32_b64", unary_i32_b64<ff0>},
    OpEntry{"s_ff1_i32_b32", unary32<ff1>},
    OpEntry{"s_ff1_i32_b64", unary_i32_b64<ff1>},
    OpEntry{"s_flbit_i32_b32", unary32<flbit>},
    OpEntry{"s_flbit_i32_b64", unary_i32_b64<flbit>},
    OpEntry{"s_flbit_i32", unary32<flbit_signed>},
    OpEntry{"s_flbit_i32_i64", unary_i32_b64<flbit_signed>},
    OpEntry{"s_sext_i32_i8", unary32<sext8>},
    OpEntry{"s_sext_i32_i16", unary32<sext16>},
    OpEntry{"s_abs_i32", unary32<abs_i32>},
    OpEntry{"s_bitreplicate_b64_b32", scalar_unary<u64, u32, bitreplicate>},
    OpEntry{"s_bitset0_b32", bitset<u32, false>},
    OpEntry{"s_bitset0_b64", bitset<u64, false>},
    OpEntry{"s_bitset1_b32", bitset<u32, true>},
    OpEntry{"s_bitset1_b64", bitset<u64, true>},
    OpEntry{"s_and_saveexec_b64", saveexec<[](u64 s, u64 e) { return s & e; }>},
    OpEntry{"s_or_saveexec_b64", saveexec<[](u64 s, u64 e) { return s | e; }>},
    OpEntry{"s_xor_saveexec_b64", saveexec<[](u64 s, u64 e) { return s ^ e; }>},
    OpEntry{"s_andn2_saveexec_b64", saveexec<[](u64 s, u64 e) { return s & ~e; }>},
    OpEntry{"s_orn2_saveexec_b64", saveexec<[](u64 s, u64 e) { return s | ~e; }>},
    OpEntry{"s_nand_saveexec_b64", saveexec<[](u64 s, u64 e) { return ~(s & e); }>},
    OpEntry{"s_nor_saveexec_b64", saveexec<[](u64 s, u64 e) { return ~(s | e); }>},
    OpEntry{"s_xnor_saveexec_b64", saveexec<[](u64 s, u64 e) { return ~(s ^ e); }>},
    OpEntry{"s_andn1_saveexec_b64", saveexec<[](u64 s, u64 e) { return ~s & e; }>},
    OpEntry{"s_orn1_saveexec_b64", saveexec<[](u64 s, u64 e) { return ~s | e; }>},
    OpEntry{"s_andn1_wrexec_b64", wrexec<[](u64 s, u64 e) { return ~s & e; }>},
    OpEntry{"s_andn2_wrexec_b64", wrexec<[](u64 s, u64 e) { return s & ~e; }>},
    OpEntry{"s_movrels_b32", movrels<u32>},
    OpEntry{"s_movrels_b64", movrels<u64>},
    OpEntry{"s_movreld_b32", movreld<u32>},
    OpEntry{"s_movreld_b64", movreld<u64>},
};

}  // namespace

std::span<const OpEntry> scalar_unary_ops() { return rows; }

}  // namespace mlaforge::simulator
