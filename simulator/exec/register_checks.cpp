#include "simulator/exec/register_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simulator/core/launch.h"
#include "simulator/exec/register_names.h"

namespace mlaforge::simulator {
namespace {

constexpr uint64_t all_lanes = ~uint64_t{0};
bool is_lane_access(const Instruction& i) {
  return i.mnemonic.starts_with("v_readlane") || i.mnemonic.starts_with("v_readfirstlane") ||
         i.mnemonic.starts_with("v_writelane");
}
/// Compilers copy registers of which a part has no value, and add 64-bit numbers of which the low half alone is used:
/// such an instruction passes on which dwords were written.
bool carries(const Instruction& i) {
  constexpr std::array names{"v_mov_b32",         "v_mov_b64",     "v_accvgpr_read_b32", "v_accvgpr_write_b32",
                             "v_accvgpr_mov_b32", "v_mad_u64_u32", "v_mad_i64_i32",      "v_lshl_add_u64",
                             "v_lshlrev_b64",     "s_mov_b32",     "s_mov_b64"};
  return i.encoding != Encoding::dpp && i.encoding != Encoding::sdwa &&
         std::find(names.begin(), names.end(), i.mnemonic) != names.end();
}

/// A function saves registers (vector ones to its stack frame, scalar ones to lanes) without knowing whether its caller
/// ever wrote them.
bool saves(const Instruction& i, size_t number) {
  return number == 1 && (i.mnemonic.starts_with("scratch_store_") || i.mnemonic == "v_writelane_b32");
}

/// Compilers set or clear the bits of the running lanes in a mask whose other bits have no value yet.
bool merges_lanes(const Instruction& i, size_t number) {
  const Operand& lanes = i.operands[2];
  return number == 1 && (i.mnemonic == "s_or_b64" || i.mnemonic == "s_andn2_b64") && lanes.kind == OperandKind::sgpr &&
         lanes.index == exec_lo;
}

/// Packed f32 instructions read the halves of a pair that op_sel and op_sel_hi name.
bool reads_dword(const Instruction& i, size_t number, unsigned dword, unsigned dwords) {
  if (dwords != 2 || !i.mnemonic.starts_with("v_pk_") || number == 0) return true;
  const unsigned low = i.modifiers.op_sel >> (number - 1) & 1;
  const unsigned high = i.modifiers.op_sel_hi >> (number - 1) & 1;
  return dword == low || dword == high;
}

}  // namespace

void RegisterChecks::start(const Wave& wave, const Checks& checks, unsigned first_sgprs) {
  uninitialized_ = checks.uninitialized;
  wait_states_ = checks.wait_states;
  written_lanes_.fill(0);
  written_lanes_[0] = wave.exec();  // the packed workitem id
  written_sgprs_.reset();
  for (unsigned i = 0; i < first_sgprs; ++i) written_sgprs_.set(i);
  for (const unsigned i :
       {+flat_scratch_lo, flat_scratch_lo + 1, +xnack_mask_lo, xnack_mask_lo + 1, +exec_lo, exec_lo + 1}) {
    written_sgprs_.set(i);
  }
  for (unsigned i = ttmp0; i < ttmp0 + 16u; ++i) written_sgprs_.set(i);
  if (wait_states_) times_.start();
}

void RegisterChecks::carry(const Wave& wave, const Instruction& i) {
  const Operand& result = i.operands[0];
  const uint64_t exec = wave.exec();
  std::array<uint64_t, 2> lanes{all_lanes, all_lanes};
  for (unsigned d = 0; d < result.dwords; ++d) {
    for (size_t k = 1; k < i.operand_count; ++k) {
      const Operand& op = i.operands[k];
      if ((i.roles.read >> k & 1) == 0 || (!op.is_vector() && op.kind != OperandKind::sgpr)) continue;
      // The high half of a sum depends on the low ones too.
      for (unsigned s = 0; s < op.dwords && s <= d; ++s) {
        const unsigned r = op.index + s;
        lanes[d] &= op.is_vector() ? written_lanes_[r] : written_sgprs_.test(r) ? all_lanes : 0;
      }
    }
  }
  for (unsigned d = 0; d < result.dwords; ++d) {
    const unsigned r = result.index + d;
    if (result.kind == OperandKind::sgpr) {
      written_sgprs_.set(r, lanes[d] != 0);
    } else {
      written_lanes_[r] = (written_lanes_[r] & ~exec) | (lanes[d] & exec);
    }
  }
}

void RegisterChecks::check_written(const Wave& wave, const Instruction& i, const Operand& op, size_t number) const {
  if (op.kind == OperandKind::sgpr) {
    for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
      if (!written_sgprs_.test(r)) {
        raise_fault(wave, FaultKind::uninitialized, scalar_register_name(r) + " is read but was never written");
      }
    }
    return;
  }
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    if (!reads_dword(i, number, r - op.index, op.dwords)) continue;
    const uint64_t needed = i.unit == Unit::mfma ? all_lanes : wave.exec();
    uint64_t missing = needed & ~written_lanes_[r];
    // Which lanes such an instruction reads is its own affair: one written lane is enough here.
    if (i.roles.crosses_lanes || is_lane_access(i)) missing = written_lanes_[r] != 0 ? 0 : missing;
    if (missing != 0) {
      raise_fault(wave, FaultKind::uninitialized,
                  fmt::format("{} is read but was never written in {} of its lanes", vector_register_name(r),
                              std::popcount(missing)),
                  std::countr_zero(missing));
    }
  }
}

void RegisterChecks::note_written(const Wave& wave, const Instruction& i, const Operand& op) {
  const bool all = i.unit == Unit::mfma || i.mnemonic.starts_with("v_writelane");
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    if (op.kind == OperandKind::sgpr) {
      written_sgprs_.set(r);
    } else if (op.is_vector()) {
      written_lanes_[r] |= all ? all_lanes : wave.exec();
    }
  }
}

void RegisterChecks::check_uninitialized(const Wave& wave, const Instruction& i) {
  const bool carried = carries(i);
  for (size_t k = 0; k < i.operand_count && !carried; ++k) {
    const Operand& op = i.operands[k];
    const bool named = op.is_vector() || op.kind == OperandKind::sgpr;
    if (named && (i.roles.read >> k & 1) != 0 && !saves(i, k) && !merges_lanes(i, k)) check_written(wave, i, op, k);
  }
  if (i.roles.reads_m0 && !written_sgprs_.test(m0_index)) {
    raise_fault(wave, FaultKind::uninitialized, "m0 is read but was never written");
  }
  for (size_t k = 0; k < i.operand_count; ++k) {
    if ((i.roles.written >> k & 1) != 0 && !(carried && k == 0)) note_written(wave, i, i.operands[k]);
  }
  if (carried) carry(wave, i);
}

void RegisterChecks::check(const Wave& wave, const Instruction& i) {
  if (uninitialized_) check_uninitialized(wave, i);
  if (wait_states_) times_.check(wave, i);
}

}  // namespace mlaforge::simulator
