// VOP3P operands: each source gives a low and a high element, chosen by op_sel and op_sel_hi, with its own sign.
#pragma once

#include "simulator/alu/lanes.h"

namespace mlaforge::simulator {

// The 16-bit elements of source `source` for the low and the high result, in the low halves of the lanes.
// neg_lo and neg_hi flip the sign of f16 and bf16; f16 denormals are flushed as MODE asks.
enum class PackedType : uint8_t { integer, f16, bf16 };
struct PackedRows {
  Row low;
  Row high;
};
void fetch_packed16(const Wave& wave, const Instruction& instruction, int source, PackedType type, PackedRows& rows);

// The 32-bit elements of a v_pk_*_f32 source. Rows are the registers themselves unless a sign or constant needs `rows`.
struct PackedSources {
  const uint32_t* low;
  const uint32_t* high;
};
PackedSources fetch_packed32(const Wave& wave, const Instruction& instruction, int source, PackedRows& rows);

// op_sel_hi with its default of all ones.
inline uint32_t op_sel_hi(const Instruction& instruction) {
  return instruction.modifiers.has_op_sel_hi ? instruction.modifiers.op_sel_hi : 0xffu;
}

// The operand of source `source`: the destination's old value beyond the printed ones.
inline const Operand& packed_operand(const Instruction& instruction, int source) {
  return instruction.operands[static_cast<size_t>(source + 1 < instruction.operand_count ? source + 1 : 0)];
}

}  // namespace mlaforge::simulator
