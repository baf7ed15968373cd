// The families of instructions, each a table; the decoder joins them into one. Explicit calls: nothing registers
// itself.
#pragma once

#include <span>

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

/// Vector arithmetic, lane moves, conversions, MFMA (simulator/alu).
std::span<const OpEntry> alu_ops();
/// Scalar arithmetic, control flow, waits, hardware registers (simulator/exec).
std::span<const OpEntry> salu_ops();
/// SMEM, global, flat, scratch, buffer, LDS DMA, DS (simulator/exec).
std::span<const OpEntry> memory_ops();

/// The handler of instructions without an effect here: cache controls, priorities, s_nop.
inline void nothing(Wave&, const Instruction&) {}

/// The row of `mnemonic`, or null.
const OpEntry* find_op(std::string_view mnemonic);
/// All known mnemonics, sorted.
std::span<const std::string_view> known_mnemonics();

}  // namespace mlaforge::simulator
