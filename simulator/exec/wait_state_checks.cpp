#include "simulator/exec/wait_state_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/exec/matrix_passes.h"
#include "simulator/exec/register_names.h"

namespace mlaforge::simulator {
namespace {

using namespace wait_states;

/// Count of wait states at the start: far from every rule.
constexpr uint64_t first_state = 1000;
/// More than any rule asks for: what lies further back needs no look. Most registers do.
constexpr uint64_t longest_rule = 24;

bool is_valu(const Instruction& i) { return i.unit == Unit::valu; }
bool is_matrix(const Instruction& i) { return i.unit == Unit::mfma; }
bool is_vector_memory(const Instruction& i) { return i.unit == Unit::vmem || i.unit == Unit::flat; }
bool is_memory(const Instruction& i) { return is_vector_memory(i) || i.unit == Unit::ds; }
bool is_dpp(const Instruction& i) { return i.modifiers.dpp != DppControl::none; }

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}
bool is_lane_access(const Instruction& i) {
  return starts_with_any(i.mnemonic, {"v_readlane", "v_readfirstlane", "v_writelane"});
}
bool is_transcendental(const Instruction& i) {
  return starts_with_any(i.mnemonic, {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"});
}
bool is_dot(const Instruction& i) { return i.mnemonic.starts_with("v_dot"); }
bool is_permlane_swap(const Instruction& i) {
  return i.mnemonic.starts_with("v_permlane") && i.mnemonic.ends_with("_swap_b32");
}
bool is_setreg(const Instruction& i) { return i.mnemonic.starts_with("s_setreg"); }

/// The result goes to a selected part of its register: SDWA, the high half by op_sel, a byte but the lowest.
bool writes_selected_part(const Instruction& i) {
  if (!is_valu(i) || i.mnemonic.starts_with("v_pk_") || is_dot(i)) return false;
  if (i.encoding == Encoding::sdwa) return i.modifiers.dst_sel != SdwaSel::dword;
  const bool bytes =
      starts_with_any(i.mnemonic, {"v_cvt_sr_fp8", "v_cvt_sr_bf8", "v_cvt_scalef32_sr_fp8", "v_cvt_scalef32_sr_bf8"}) ||
      i.mnemonic.find("_pk_fp4") != std::string::npos;
  // The destination's bit stands behind the sources'; a byte is named by two.
  return (i.modifiers.op_sel & (bytes ? 12u : 1u << (i.operand_count - 1u))) != 0;
}

MatrixWriter matrix_of(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  MatrixKind kind = MatrixKind::xdl;
  if (name.ends_with("_f64")) {
    kind = name.find("16x16") != std::string_view::npos ? MatrixKind::f64_16x16 : MatrixKind::f64_4x4;
  } else if (name.ends_with("_f32")) {
    kind = MatrixKind::f32;
  }
  return {kind, static_cast<unsigned>(matrix_passes(i))};
}

/// The operand of a matrix instruction that the product is added to; smfmac adds to its result.
size_t addend_of(const Instruction& i) { return i.mnemonic.starts_with("v_smfmac") ? 0 : 3; }
/// The operand of a dot product that the sum starts from.
size_t dot_addend_of(const Instruction& i) { return i.operand_count > 3 ? 3 : 0; }

}  // namespace

void WaitStateChecks::start() { *this = WaitStateChecks{}, now_ = first_state; }

void WaitStateChecks::need(const Wave& wave, const Instruction* first, uint64_t since, unsigned states,
                           std::string_view what) const {
  if (since == 0 || now_ - since >= states) return;
  raise_fault(wave, FaultKind::wait_states,
              fmt::format("{}: {} wait states lie between it and '{}' at 0x{:x}, {} are needed", what, now_ - since,
                          first->text, first->pc, states));
}

void WaitStateChecks::need(const Wave& wave, const Instruction* first, uint64_t since, unsigned states, unsigned row,
                           std::string_view what) const {
  if (since == 0 || now_ - since >= states) return;
  need(wave, first, since, states, fmt::format("{} {}", vector_register_name(row), what));
}

void WaitStateChecks::check_matrix_result(const Wave& wave, const Instruction& i, const Operand& op, size_t number,
                                          unsigned row) const {
  const VectorTimes& w = vector_[row];
  unsigned states = matrix_to_read(w.matrix_writer, is_memory(i));
  if (is_matrix(i) && number == addend_of(i)) {
    const Operand& result = w.writer->operands[0];
    const bool same = result.index == op.index && result.dwords == op.dwords;
    states = same ? matrix_to_same_addend(w.matrix_writer, matrix_of(i).kind)
                  : matrix_to_addend(w.matrix_writer, matrix_of(i).kind);
  }
  need(wave, w.writer, w.matrix, states, row, "is a matrix result read early");
}

void WaitStateChecks::check_vector_read(const Wave& wave, const Instruction& i, const Operand& op,
                                        size_t number) const {
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const VectorTimes& w = vector_[r];
    if (now_ - w.any > longest_rule) continue;
    if (w.matrix != 0) check_matrix_result(wave, i, op, number, r);
    if (is_matrix(i)) need(wave, w.writer, w.valu, valu_vgpr_to_matrix, r, "is read by a matrix instruction");
    if (w.dot != 0 && (is_valu(i) || is_memory(i))) {
      const bool summed = w.writer->mnemonic == i.mnemonic && number == dot_addend_of(i);
      if (!summed) need(wave, w.writer, w.dot, dot_to_other, r, "is a dot product");
    }
    if (!is_valu(i)) continue;
    if (is_dpp(i)) need(wave, w.writer, w.any, vgpr_to_dpp, r, "is read by DPP");
    if (starts_with_any(i.mnemonic, {"v_readlane", "v_readfirstlane"})) {
      need(wave, w.writer, w.valu, valu_vgpr_to_readlane, r, "is read into an SGPR");
    }
    if (is_permlane_swap(i)) need(wave, w.writer, w.valu, valu_vgpr_to_permlane_swap, r, "is swapped");
    if (!is_transcendental(i)) {
      need(wave, w.writer, w.transcendental, transcendental_to_valu, r, "is a transcendental result");
    }
    need(wave, w.writer, w.part, part_to_valu, r, "was written in a part");
  }
}

void WaitStateChecks::check_vector_write(const Wave& wave, const Instruction& i, const Operand& op) const {
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const VectorTimes& w = vector_[r];
    const uint64_t latest = std::max({w.any, w.addend, stores_.back().time});
    if (now_ - latest > longest_rule) continue;
    if (is_valu(i) || is_memory(i)) {
      need(wave, w.writer, w.matrix, matrix_to_write(w.matrix_writer), r, "is overwritten before the matrix result");
      need(wave, w.reader, w.addend, addend_to_write(w.addend_reader), r, "is overwritten while it is an addend");
      if (w.dot != 0 && w.writer->mnemonic != i.mnemonic) {
        need(wave, w.writer, w.dot, dot_to_other, r, "is overwritten before the dot product");
      }
    }
    if (is_valu(i)) need(wave, w.writer, w.part, part_to_valu, r, "was written in a part");
    // The old value of a DPP result stays in lanes that are masked off.
    if (is_dpp(i)) need(wave, w.writer, w.any, vgpr_to_dpp, r, "is kept by DPP");
    if (!is_valu(i) && !is_matrix(i)) continue;
    for (const WideStore& store : stores_) {
      if (r < store.first || r >= unsigned{store.first} + store.count) continue;
      need(wave, store.store, store.time, wide_store_to_valu_write, r, "is overwritten while a store reads it");
    }
  }
}

void WaitStateChecks::check_scalar_read(const Wave& wave, const Instruction& i, const Operand& op,
                                        size_t number) const {
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    const ScalarTimes& s = scalar_[r];
    if (now_ - s.valu > longest_rule) continue;
    const std::string name = scalar_register_name(r);
    if (is_vector_memory(i)) {
      need(wave, s.writer, s.valu, valu_sgpr_to_vmem, name + " is read by vector memory");
    } else if (is_lane_access(i) && number == 2) {
      need(wave, s.writer, s.valu, valu_sgpr_to_lane_select, name + " selects a lane");
    } else if (is_valu(i)) {
      need(wave, s.writer, s.valu, valu_sgpr_to_valu, name + " is read by a VALU");
    }
  }
}

void WaitStateChecks::check_implicit(const Wave& wave, const Instruction& i) const {
  const ScalarTimes& exec = scalar_[exec_lo];
  const ScalarTimes& vcc = scalar_[vcc_lo];
  const ScalarTimes& m0 = scalar_[m0_index];
  const auto recent = [&](uint64_t time) { return now_ - time <= longest_rule; };
  if (recent(vcc.valu) && i.mnemonic.starts_with("v_div_fmas")) {
    need(wave, vcc.writer, vcc.valu, valu_vcc_to_div_fmas, "vcc scales");
  }
  if (is_dpp(i)) need(wave, exec.writer, exec.valu, valu_exec_to_dpp, "exec is used by DPP");
  if (recent(exec.valu) && (is_lane_access(i) || is_permlane_swap(i) || is_matrix(i))) {
    need(wave, exec.writer, exec.valu, valu_exec_to_lane_access, "exec is used across lanes");
  }
  if (i.roles.reads_m0) need(wave, m0.writer, m0.salu, salu_m0_to_reader, "m0 is read");
  if (i.unit == Unit::salu && (is_setreg(i) || i.mnemonic == "s_getreg_b32")) {
    const ScalarTimes& set = hardware_[i.modifiers.hwreg_id & 63u];
    need(wave, set.writer, set.salu, setreg_to_same_register, "the hardware register was just set");
  }
  if (recent(f64_matrix_) && starts_with_any(i.mnemonic, {"v_fma_f64", "v_fmac_f64"})) {
    need(wave, f64_matrix_by_, f64_matrix_, f64_matrix_to_fma_f64, "an f64 matrix instruction is running");
  }
}

void WaitStateChecks::note_vector_write(const Instruction& i, const Operand& op) {
  VectorTimes times;
  times.any = now_;
  times.writer = &i;
  if (is_matrix(i)) {
    times.matrix = now_;
    times.matrix_writer = matrix_of(i);
  } else if (is_valu(i)) {
    times.valu = is_dot(i) ? 0 : now_;
    times.dot = is_dot(i) ? now_ : 0;
    times.transcendental = is_transcendental(i) ? now_ : 0;
    times.part = writes_selected_part(i) ? now_ : 0;
  }
  for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
    // Who reads it as an addend stays.
    times.addend = vector_[r].addend;
    times.addend_reader = vector_[r].addend_reader;
    times.reader = vector_[r].reader;
    vector_[r] = times;
  }
}

void WaitStateChecks::note(const Instruction& i) {
  now_ += i.unit == Unit::salu && i.mnemonic == "s_nop" ? (i.operands[0].value16 & 15u) + 1 : 1;
  if (is_matrix(i)) {
    const Operand& addend = i.operands[addend_of(i)];
    const MatrixWriter reader = matrix_of(i);
    for (unsigned r = addend.index; addend.is_vector() && r < addend.index + unsigned{addend.dwords}; ++r) {
      vector_[r].addend = now_;
      vector_[r].addend_reader = reader;
      vector_[r].reader = &i;
    }
    if (i.mnemonic.ends_with("_f64")) f64_matrix_ = now_, f64_matrix_by_ = &i;
  }
  for (size_t k = 0; k < i.operand_count; ++k) {
    const Operand& op = i.operands[k];
    if ((i.roles.written >> k & 1) == 0) continue;
    if (op.is_vector()) note_vector_write(i, op);
    for (unsigned r = op.index; op.kind == OperandKind::sgpr && r < op.index + unsigned{op.dwords}; ++r) {
      scalar_[r] = {is_valu(i) ? now_ : 0, i.unit == Unit::salu ? now_ : 0, &i};
    }
  }
  if (is_valu(i) && i.roles.writes_exec) scalar_[exec_lo] = {now_, 0, &i};
  if (i.unit == Unit::salu && is_setreg(i)) hardware_[i.modifiers.hwreg_id & 63u] = {0, now_, &i};
  if (!is_vector_memory(i)) return;
  const bool stores = i.mnemonic.find("_store_dwordx") != std::string_view::npos ||
                      i.mnemonic.find("_store_format_xyz") != std::string_view::npos ||
                      i.mnemonic.find("_atomic_cmpswap_x2") != std::string_view::npos;
  if (!stores) return;
  // Data stand first in buffer stores without a result, and second where an address does.
  const size_t result = i.roles.written & 1u;
  const Operand& data = i.operands[result + (i.unit == Unit::vmem && result == 0 ? 0 : 1)];
  // A buffer store whose offset is an SGPR takes a clock more to issue.
  if (i.unit == Unit::vmem && i.operands[i.operand_count - 1u].kind == OperandKind::sgpr) return;
  if (!data.is_vector() || data.dwords <= 2) return;
  stores_[0] = stores_[1];
  stores_[1] = {now_, data.index, data.dwords, &i};
}

void WaitStateChecks::check(const Wave& wave, const Instruction& i) {
  for (size_t k = 0; k < i.operand_count; ++k) {
    const Operand& op = i.operands[k];
    const bool read = (i.roles.read >> k & 1) != 0;
    if (read && op.is_vector()) check_vector_read(wave, i, op, k);
    if (read && op.kind == OperandKind::sgpr) check_scalar_read(wave, i, op, k);
    if ((i.roles.written >> k & 1) != 0 && op.is_vector()) check_vector_write(wave, i, op);
  }
  check_implicit(wave, i);
  note(i);
}

}  // namespace mlaforge::simulator
