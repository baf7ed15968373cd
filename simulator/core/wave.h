// The state of one wave, and the operand access that every handler uses.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/core/fault.h"
#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

inline constexpr int wave_lanes = 64;
inline constexpr int vgpr_rows = 512;
inline constexpr int first_agpr_row = 256;

/// One register of a wave: 64 lanes. Also what an operand is splatted into.
struct alignas(64) Row {
  uint32_t lane[wave_lanes];
};

struct Workgroup;
class MemoryQueue;

/// MODE register fields (ISA 3.4); the register itself is Wave::mode.
namespace mode_bits {
inline constexpr uint32_t round_f32_shift = 0;      // 2 bits: 0 nearest even, 1 +inf, 2 -inf, 3 zero
inline constexpr uint32_t round_f64_f16_shift = 2;  // 2 bits
inline constexpr uint32_t denorm_f32_shift = 4;     // 2 bits: bit 0 keep input denormals, bit 1 keep output denormals
inline constexpr uint32_t denorm_f64_f16_shift = 6;
inline constexpr uint32_t dx10_clamp = 1u << 8;
inline constexpr uint32_t ieee = 1u << 9;
inline constexpr uint32_t fp16_ovfl = 1u << 23;
inline constexpr uint32_t gpr_idx_en = 1u << 27;
inline constexpr uint32_t vskip = 1u << 28;       // vector instructions are not issued
inline constexpr uint32_t fork_stack_shift = 29;  // 3 bits: entries of s_cbranch_*_fork
}  // namespace mode_bits

struct Wave {
  std::array<Row, vgpr_rows> vgpr;   ///< row-major: 0..255 VGPRs, 256..511 AGPRs
  std::array<uint32_t, 128> sgpr{};  ///< by operand code: vcc at 106, ttmp at 108, m0 at 124, exec at 126
  bool scc = false;
  uint32_t mode = 0;
  uint64_t pc = 0;       ///< address of the instruction being executed
  uint64_t next_pc = 0;  ///< a branch writes it
  const Instruction* current = nullptr;

  Workgroup* group = nullptr;
  MemoryQueue* queue = nullptr;  ///< outstanding memory operations (simulator/exec)
  int index = 0;                 ///< in the workgroup
  uint64_t instructions = 0;     ///< executed so far
  bool ended = false;
  bool at_barrier = false;
  bool stop = false;  ///< the scheduler takes over after this instruction: barrier, end, sleep

  /// Registers with a load outstanding; a set bit makes any use of the register a fault.
  std::bitset<vgpr_rows> pending_vgpr;
  std::bitset<128> pending_sgpr;
  bool any_pending = false;

  uint64_t sgpr_pair(unsigned first) const { return sgpr[first] | (static_cast<uint64_t>(sgpr[first + 1]) << 32); }
  void set_sgpr_pair(unsigned first, uint64_t value) {
    sgpr[first] = static_cast<uint32_t>(value);
    sgpr[first + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t exec() const { return sgpr_pair(exec_lo); }
  uint64_t vcc() const { return sgpr_pair(vcc_lo); }
  void set_exec(uint64_t value) { set_sgpr_pair(exec_lo, value); }
  void set_vcc(uint64_t value) { set_sgpr_pair(vcc_lo, value); }
  uint32_t m0() const { return sgpr[m0_index]; }
};

/// Stops the launch: fills kernel, pc, disassembly, workgroup and wave from `wave`.
[[noreturn]] void raise_fault(const Wave& wave, FaultKind kind, std::string message, int lane = -1);

/// Value of a SpecialRegister (apertures, vccz, execz, scc), 64 bits.
uint64_t read_special(const Wave& wave, SpecialRegister which);

// --- scalar operands (SGPR, special, constant); raw bits, no neg or abs ---

inline uint32_t scalar32(const Wave& wave, const Operand& op) {
  if (op.kind == OperandKind::sgpr) return wave.sgpr[op.index];
  if (op.kind == OperandKind::special) {
    return static_cast<uint32_t>(read_special(wave, static_cast<SpecialRegister>(op.index)));
  }
  return op.value32;
}

/// A 64-bit operand: a register pair, or a constant in its 64-bit form.
inline uint64_t scalar64(const Wave& wave, const Operand& op) {
  if (op.kind == OperandKind::sgpr) return wave.sgpr_pair(op.index);
  if (op.kind == OperandKind::special) return read_special(wave, static_cast<SpecialRegister>(op.index));
  return op.value64;
}

inline void set_scalar32(Wave& wave, const Operand& op, uint32_t value) { wave.sgpr[op.index] = value; }
inline void set_scalar64(Wave& wave, const Operand& op, uint64_t value) { wave.set_sgpr_pair(op.index, value); }

// --- vector operands: 64 lanes of raw bits ---

inline const uint32_t* splat(uint32_t value, Row& scratch) {
  for (uint32_t& lane : scratch.lane) lane = value;
  return scratch.lane;
}

/// The lanes of a 32-bit operand: the register row itself, or `scratch` filled with the scalar or constant.
inline const uint32_t* src32(const Wave& wave, const Operand& op, Row& scratch) {
  if (op.is_vector()) return wave.vgpr[op.index].lane;
  return splat(scalar32(wave, op), scratch);
}

/// As src32 for 16-bit sources: a constant is in its 16-bit form (float_constant as binary16) in the low half.
inline const uint32_t* src16(const Wave& wave, const Operand& op, Row& scratch) {
  if (op.is_vector()) return wave.vgpr[op.index].lane;
  return splat(op.is_constant() ? op.value16 : scalar32(wave, op), scratch);
}

struct Source64 {
  const uint32_t* lo;
  const uint32_t* hi;
};

/// The lanes of a 64-bit operand, low and high dword rows.
inline Source64 src64(const Wave& wave, const Operand& op, Row& scratch_lo, Row& scratch_hi) {
  if (op.is_vector()) return {wave.vgpr[op.index].lane, wave.vgpr[op.index + 1].lane};
  const uint64_t value = scalar64(wave, op);
  return {splat(static_cast<uint32_t>(value), scratch_lo), splat(static_cast<uint32_t>(value >> 32), scratch_hi)};
}

/// Row `dword` of a vector destination, for handlers that mask by EXEC themselves.
inline uint32_t* row(Wave& wave, const Operand& op, int dword = 0) { return wave.vgpr[op.index + dword].lane; }

/// Writes `values` where `mask` (EXEC as a rule) has a bit; all lanes on is a plain copy.
inline void write_row(uint32_t* destination, const uint32_t* values, uint64_t mask) {
  if (mask == ~uint64_t{0}) {
    std::memmove(destination, values, sizeof(Row));
    return;
  }
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t keep = static_cast<uint32_t>((mask >> lane) & 1) - 1;  // all ones: keep
    destination[lane] = (destination[lane] & keep) | (values[lane] & ~keep);
  }
}

inline void write32(Wave& wave, const Operand& op, const uint32_t* values) {
  write_row(row(wave, op), values, wave.exec());
}

inline void write64(Wave& wave, const Operand& op, const uint32_t* lo, const uint32_t* hi) {
  write_row(row(wave, op, 0), lo, wave.exec());
  write_row(row(wave, op, 1), hi, wave.exec());
}

}  // namespace mlaforge::simulator
