#include "simulator/exec/register_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simulator/core/launch.h"
#include "simulator/exec/matrix_passes.h"
#include "simulator/exec/wait_states.h"

namespace mlaforge::simulator {
namespace {

constexpr uint64_t all_lanes = ~uint64_t{0};
/// Count of wait states at the start: far from every rule.
constexpr uint64_t first_state = 1000;

bool is_valu(const Instruction& i) { return i.unit == Unit::valu; }
bool is_vector_memory(const Instruction& i) { return i.unit == Unit::vmem || i.unit == Unit::flat; }
bool is_lane_access(const Instruction& i) {
  return i.mnemonic.starts_with("v_readlane") || i.mnemonic.starts_with("v_readfirstlane") ||
         i.mnemonic.starts_with("v_writelane");
}
bool is_transcendental(const Instruction& i) {
  constexpr std::array prefixes{"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* p) { return i.mnemonic.starts_with(p); });
}
bool is_permlane_swap(const Instruction& i) {
  return i.mnemonic.starts_with("v_permlane") && i.mnemonic.ends_with("_swap_b32");
}
bool is_f32_matrix(const Instruction& i) { return i.mnemonic.ends_with("f32") && !i.mnemonic.ends_with("xf32"); }

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

std::string vector_name(unsigned row) {
  return row >= first_agpr_row ? fmt::format("a{}", row - first_agpr_row) : fmt::format("v{}", row);
}
std::string scalar_name(unsigned index) {
  if (index == vcc_lo || index == vcc_lo + 1u) return "vcc";
  if (index == m0_index) return "m0";
  if (index == exec_lo || index == exec_lo + 1u) return "exec";
  return fmt::format("s{}", index);
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
  now_ = first_state;
  vector_.fill({});
  scalar_.fill({});
  wide_store_ = 0;
  wide_store_count_ = 0;
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
        raise_fault(wave, FaultKind::uninitialized, scalar_name(r) + " is read but was never written");
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
      raise_fault(
          wave, FaultKind::uninitialized,
          fmt::format("{} is read but was never written in {} of its lanes", vector_name(r), std::popcount(missing)),
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

void RegisterChecks::need(const Wave& wave, const Instruction* writer, uint64_t since, unsigned states,
                          std::string_view what) const {
  if (since == 0 || now_ - since >= states) return;
  raise_fault(wave, FaultKind::wait_states,
              fmt::format("{}: {} wait states lie between it and '{}' at 0x{:x}, {} are needed", what, now_ - since,
                          writer->text, writer->pc, states));
}

void RegisterChecks::check_vector_read(const Wave& wave, const Instruction& i, const Operand& op, bool addend) const {
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const WriteTimes& w = vector_[r];
    if (w.matrix != 0) {
      const unsigned states = addend ? wait_states::matrix_to_addend(w.matrix_passes, w.xdl)
                                     : wait_states::matrix_to_read(w.matrix_passes, w.xdl);
      const bool forwarded = addend && w.matrix_first == op.index && w.matrix_writer->operands[0].dwords == op.dwords;
      if (!forwarded) need(wave, w.matrix_writer, w.matrix, states, vector_name(r) + " is a matrix result read early");
    }
    if (w.writer == nullptr || !is_valu(i)) continue;
    if (i.modifiers.dpp != DppControl::none && &op == &i.operands[std::countr_zero(unsigned{i.roles.read})]) {
      need(wave, w.writer, w.valu, wait_states::valu_vgpr_to_dpp, vector_name(r) + " is read by DPP");
    }
    if (i.mnemonic.starts_with("v_readlane") || i.mnemonic.starts_with("v_readfirstlane")) {
      need(wave, w.writer, w.valu, wait_states::valu_vgpr_to_readlane, vector_name(r) + " is read into an SGPR");
    }
    if (is_permlane_swap(i)) {
      need(wave, w.writer, w.valu, wait_states::valu_vgpr_to_permlane_swap, vector_name(r) + " is swapped");
    }
    if (!is_transcendental(i)) {
      need(wave, w.writer, w.transcendental, wait_states::transcendental_to_valu,
           vector_name(r) + " is a transcendental result");
    }
    need(wave, w.writer, w.part, wait_states::part_to_valu, vector_name(r) + " was written in a part");
  }
}

void RegisterChecks::check_vector_write(const Wave& wave, const Instruction& i, const Operand& op) const {
  if (!is_valu(i)) return;
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const WriteTimes& w = vector_[r];
    if (w.matrix != 0) {
      need(wave, w.matrix_writer, w.matrix, wait_states::matrix_to_read(w.matrix_passes, w.xdl),
           vector_name(r) + " is overwritten before the matrix result");
    }
    if (w.matrix_addend != 0) {
      need(wave, w.matrix_writer, w.matrix_addend, wait_states::addend_to_valu_write(w.addend_passes),
           vector_name(r) + " is overwritten while it is an addend");
    }
    if (wide_store_count_ != 0 && r >= wide_store_first_ && r < unsigned{wide_store_first_} + wide_store_count_) {
      need(wave, wide_store_by_, wide_store_, wait_states::wide_store_to_valu_write,
           vector_name(r) + " is overwritten while a store reads it");
    }
  }
}

void RegisterChecks::check_scalar_read(const Wave& wave, const Instruction& i, const Operand& op, size_t number) const {
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const ScalarTimes& s = scalar_[r];
    if (s.valu == 0) continue;
    if (is_vector_memory(i)) {
      need(wave, s.writer, s.valu, wait_states::valu_sgpr_to_vmem, scalar_name(r) + " is read by vector memory");
    } else if (is_lane_access(i) && number == 2) {
      need(wave, s.writer, s.valu, wait_states::valu_sgpr_to_lane_select, scalar_name(r) + " selects a lane");
    } else if (is_valu(i)) {
      need(wave, s.writer, s.valu, wait_states::valu_sgpr_to_valu, scalar_name(r) + " is read by a VALU");
    }
  }
}

void RegisterChecks::check_implicit(const Wave& wave, const Instruction& i) const {
  if (uninitialized_ && i.roles.reads_m0 && !written_sgprs_.test(m0_index)) {
    raise_fault(wave, FaultKind::uninitialized, "m0 is read but was never written");
  }
  if (!wait_states_) return;
  const ScalarTimes& exec = scalar_[exec_lo];
  if (i.mnemonic.starts_with("v_div_fmas")) {
    need(wave, scalar_[vcc_lo].writer, scalar_[vcc_lo].valu, wait_states::valu_vcc_to_div_fmas, "vcc scales");
  }
  if (is_valu(i) && i.modifiers.dpp != DppControl::none) {
    need(wave, exec.writer, exec.valu, wait_states::valu_exec_to_dpp, "exec is used by DPP");
  }
  if (is_lane_access(i)) {
    need(wave, exec.writer, exec.valu, wait_states::valu_exec_to_lane_access, "exec is used by a lane access");
  }
  if (i.roles.reads_m0 && i.unit != Unit::salu) {
    need(wave, scalar_[m0_index].writer, scalar_[m0_index].salu, wait_states::salu_m0_to_lds_dma, "m0 is read");
  }
}

void RegisterChecks::note_times(const Instruction& i) {
  const unsigned states = i.mnemonic == "s_nop" ? (i.operands[0].value16 & 15u) + 1 : 1;
  now_ += states;
  const bool matrix = i.unit == Unit::mfma;
  const auto passes = static_cast<uint8_t>(matrix ? matrix_passes(i) : 0);
  for (size_t k = 0; k < i.operand_count; ++k) {
    const Operand& op = i.operands[k];
    const bool written = (i.roles.written >> k & 1) != 0;
    for (unsigned r = op.index; written && r < op.index + unsigned{op.dwords}; ++r) {
      if (op.kind == OperandKind::sgpr) {
        scalar_[r] = {is_valu(i) ? now_ : 0, i.unit == Unit::salu ? now_ : 0, &i};
      } else if (op.is_vector()) {
        WriteTimes& w = vector_[r];
        if (matrix) {
          w = {.valu = 0,
               .transcendental = 0,
               .part = 0,
               .matrix = now_,
               .matrix_addend = w.matrix_addend,
               .matrix_passes = passes,
               .addend_passes = w.addend_passes,
               .xdl = !is_f32_matrix(i),
               .matrix_first = op.index,
               .writer = nullptr,
               .matrix_writer = &i};
        } else {
          w = {};
          if (!is_valu(i)) continue;
          w.valu = now_;
          w.transcendental = is_transcendental(i) ? now_ : 0;
          w.part = i.roles.keeps_part ? now_ : 0;
          w.writer = &i;
        }
      }
    }
    if (matrix && k == 3 && op.is_vector()) {
      for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
        vector_[r].matrix_addend = now_;
        vector_[r].addend_passes = passes;
        vector_[r].matrix_writer = &i;
      }
    }
  }
  if (is_valu(i) && i.roles.writes_exec) scalar_[exec_lo] = {now_, 0, &i};
  wide_store_count_ = 0;
  if (is_vector_memory(i) && i.mnemonic.find("_store_dwordx") != std::string_view::npos) {
    const Operand& data = i.operands[i.unit == Unit::vmem ? 0 : 1];
    if (data.is_vector() && data.dwords > 2 && (i.unit == Unit::flat || i.operands[3].kind != OperandKind::sgpr)) {
      wide_store_ = now_;
      wide_store_first_ = data.index;
      wide_store_count_ = data.dwords;
      wide_store_by_ = &i;
    }
  }
}

void RegisterChecks::check(const Wave& wave, const Instruction& i) {
  const bool carried = carries(i);
  for (size_t k = 0; k < i.operand_count; ++k) {
    const Operand& op = i.operands[k];
    if (!op.is_vector() && op.kind != OperandKind::sgpr) continue;
    if ((i.roles.read >> k & 1) != 0) {
      if (uninitialized_ && !carried && !saves(i, k) && !merges_lanes(i, k)) check_written(wave, i, op, k);
      if (wait_states_ && op.is_vector()) check_vector_read(wave, i, op, i.unit == Unit::mfma && k == 3);
      if (wait_states_ && !op.is_vector()) check_scalar_read(wave, i, op, k);
    }
    if (wait_states_ && (i.roles.written >> k & 1) != 0 && op.is_vector()) check_vector_write(wave, i, op);
  }
  check_implicit(wave, i);
  for (size_t k = 0; k < i.operand_count; ++k) {
    if ((i.roles.written >> k & 1) != 0 && !(carried && k == 0)) note_written(wave, i, i.operands[k]);
  }
  if (carried) carry(wave, i);
  if (wait_states_) note_times(i);
}

}  // namespace mlaforge::simulator
