// Instructions that move data between lanes or between registers, and the few that fit no other table.
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

const Operand& indexed_source(const Wave& wave, const Instruction& instruction, Instruction& moved) {
  if (!relative_indexing(wave)) return instruction.operands[1];
  moved = with_relative_indices(wave, instruction);
  return moved.operands[1];
}

// EXEC all off reads lane 0.
void readfirstlane(Wave& wave, const Instruction& instruction) {
  Instruction moved;
  const Operand& source = indexed_source(wave, instruction, moved);
  const int lane = wave.exec() == 0 ? 0 : __builtin_ctzll(wave.exec());
  set_scalar32(wave, instruction.operands[0],
               source.is_vector() ? wave.vgpr[source.index].lane[lane] : scalar32(wave, source));
}

void readlane(Wave& wave, const Instruction& instruction) {
  Instruction moved;
  const Operand& source = indexed_source(wave, instruction, moved);
  const u32 lane = scalar32(wave, instruction.operands[2]) & 63;
  set_scalar32(wave, instruction.operands[0], wave.vgpr[source.index].lane[lane]);
}

void writelane(Wave& wave, const Instruction& instruction) {
  const u32 lane = scalar32(wave, instruction.operands[2]) & 63;
  row(wave, instruction.operands[0])[lane] = scalar32(wave, instruction.operands[1]);
}

void swap(Wave& wave, const Instruction& instruction) {
  Row* first = &wave.vgpr[instruction.operands[0].index];
  Row* second = &wave.vgpr[instruction.operands[1].index];
  const Row old_first = *first;
  const Row old_second = *second;
  blend(first->lane, old_second.lane, wave.exec());
  blend(second->lane, old_first.lane, wave.exec());
}

// Rows of `size` lanes: odd rows of the first register change places with the even rows of the second.
// The ISA's pseudocode does not mention EXEC; here a lane that is off is not written, and a lane whose partner is off
// keeps its value unless fi (take it anyway) or bound_ctrl (take 0) is set.
template <int size>
void permlane_swap(Wave& wave, const Instruction& instruction) {
  u32* first = row(wave, instruction.operands[0]);
  u32* second = row(wave, instruction.operands[1]);
  const u64 exec = wave.exec();
  const Modifiers& m = instruction.modifiers;
  const auto on = [&](int lane) { return (exec >> lane & 1) != 0; };
  for (int start = 0; start < wave_lanes; start += 2 * size) {
    for (int i = 0; i < size; ++i) {
      const int even = start + i;
      const int odd = start + size + i;
      const u32 from_first = first[odd];
      const u32 from_second = second[even];
      if (on(odd) && (on(even) || m.fi))
        first[odd] = from_second;
      else if (on(odd) && m.bound_ctrl)
        first[odd] = 0;
      if (on(even) && (on(odd) || m.fi))
        second[even] = from_first;
      else if (on(even) && m.bound_ctrl)
        second[even] = 0;
    }
  }
}

// Bits of the mask below each lane, added to source 1.
template <bool high>
void mbcnt(Wave& wave, const Instruction& given) {
  Instruction moved;
  const Instruction* instruction = &given;
  if (relative_indexing(wave)) [[unlikely]]
    instruction = &(moved = with_relative_indices(wave, given));
  Row lo[2], out;
  const u32* mask = src32(wave, instruction->operands[1], lo[0]);
  const u32* base = src32(wave, instruction->operands[2], lo[1]);
  for (u32 lane = 0; lane < wave_lanes; ++lane) {
    const u64 below = (u64{1} << lane) - 1;
    const u32 part = static_cast<u32>(high ? below >> 32 : below);
    out.lane[lane] = static_cast<u32>(__builtin_popcount(mask[lane] & part)) + base[lane];
  }
  blend(row(wave, instruction->operands[0]), out.lane, wave.exec());
}

u32 truth_table(uint8_t table, u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 row_index = 0; row_index < 8; ++row_index) {
    if ((table >> row_index & 1) == 0) continue;
    result |= ((row_index & 4) != 0 ? a : ~a) & ((row_index & 2) != 0 ? b : ~b) & ((row_index & 1) != 0 ? c : ~c);
  }
  return result;
}

// Any Boolean function of three operands: bit (a b c) of the table is the result.
template <Kind kind>
void bitop3(Wave& wave, const Instruction& given) {
  Instruction moved;
  const Instruction* instruction = &given;
  if (relative_indexing(wave)) [[unlikely]]
    instruction = &(moved = with_relative_indices(wave, given));
  Row lo[3], unused, out;
  Source sources[3];
  for (int i = 0; i < 3; ++i)
    sources[i] = fetch(wave, *instruction, instruction->operands[static_cast<size_t>(i + 1)], i, kind, lo[i], unused);
  for (int lane = 0; lane < wave_lanes; ++lane)
    out.lane[lane] =
        truth_table(instruction->modifiers.bitop3, sources[0].lo[lane], sources[1].lo[lane], sources[2].lo[lane]);
  finish(wave, *instruction, kind, out, unused, 3);
}

u32 masked_sad(u64 a, u32 b, u32 c, int byte_offset) {
  const auto part = static_cast<u32>(a >> (8 * byte_offset));
  u32 sum = c;
  for (int i = 0; i < 4; ++i) {
    const u32 x = part >> (8 * i) & 0xff;
    const u32 y = b >> (8 * i) & 0xff;
    sum += y == 0 ? 0 : x > y ? x - y : y - x;
  }
  return sum;
}

void mqsad_u32(Wave& wave, const Instruction& instruction) {
  Row lo[2], hi;
  const Source64 a = src64(wave, instruction.operands[1], lo[0], hi);
  const u32* b = src32(wave, instruction.operands[2], lo[1]);
  const Operand& c = instruction.operands[3];
  Row out[4];
  for (int part = 0; part < 4; ++part)
    for (int lane = 0; lane < wave_lanes; ++lane)
      out[part].lane[lane] = masked_sad(a.lo[lane] | static_cast<u64>(a.hi[lane]) << 32, b[lane],
                                        wave.vgpr[static_cast<size_t>(c.index + part)].lane[lane], part);
  for (int part = 0; part < 4; ++part) blend(row(wave, instruction.operands[0], part), out[part].lane, wave.exec());
}

void nop(Wave&, const Instruction&) {}

constexpr OpEntry kOps[] = {
    {"v_nop", nop},
    {"v_clrexcp", nop},  // no exceptions are recorded
    {"v_readfirstlane_b32", readfirstlane},
    {"v_readlane_b32", readlane},
    {"v_writelane_b32", writelane},
    {"v_swap_b32", swap},
    {"v_permlane16_swap_b32", permlane_swap<16>},
    {"v_permlane32_swap_b32", permlane_swap<32>},
    {"v_mbcnt_lo_u32_b32", mbcnt<false>},
    {"v_mbcnt_hi_u32_b32", mbcnt<true>},
    {"v_bitop3_b32", bitop3<Kind::b32>},
    {"v_bitop3_b16", bitop3<Kind::b16>, nullptr, alu_detail::preserve_high},
    {"v_mqsad_u32_u8", mqsad_u32},
};

}  // namespace

std::span<const OpEntry> lane_ops() { return kOps; }

}  // namespace mlaforge::simulator
