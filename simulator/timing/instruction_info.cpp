#include "simulator/timing/instruction_info.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mlaforge::simulator::timing {
namespace {

bool any_prefix(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

Control control_of(std::string_view name) {
  if (name == "s_waitcnt") return Control::wait;
  if (name == "s_barrier") return Control::barrier;
  if (name == "s_sleep") return Control::sleep;
  if (name == "s_nop") return Control::nop;
  if (name == "s_setprio") return Control::priority;
  if (name.starts_with("s_endpgm")) return Control::end;
  if (any_prefix(name, {"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call"})) return Control::branch;
  return Control::none;
}

Port port_of(const Instruction& i, Control control) {
  switch (i.unit) {
    case Unit::salu:
      return control == Control::none ? Port::salu : Port::none;
    case Unit::smem:
      return Port::scalar_memory;
    case Unit::valu:
      return Port::valu;
    case Unit::mfma:
      return i.mnemonic.starts_with("v_accvgpr") ? Port::valu : Port::mfma;
    case Unit::vmem:
    case Unit::flat:
      return Port::vector_memory;
    case Unit::ds:
      return Port::lds;
    case Unit::branch:
    case Unit::other:
      return Port::none;
  }
  return Port::none;
}

Speed speed_of(std::string_view name) {
  if (any_prefix(name, {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"})) {
    return Speed::transcendental;
  }
  if (any_prefix(name, {"v_mul_lo_u32", "v_mul_hi_", "v_mad_u64_u32", "v_mad_i64_i32", "v_div_", "v_lshlrev_b64",
                        "v_lshrrev_b64", "v_ashrrev_i64"})) {
    return Speed::wide;
  }
  if (name.starts_with("v_permlane") && name.find("swap") != std::string_view::npos) return Speed::permlane_swap;
  if (name.starts_with("v_cvt_") &&
      (name.find("fp8") != std::string_view::npos || name.find("bf8") != std::string_view::npos)) {
    return Speed::convert_fp8;
  }
  return Speed::full;
}

/// How many of the first operands are results.
size_t result_count(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  const bool store = name.find("_store_") != std::string_view::npos || name.starts_with("ds_write");
  if (store || i.operand_count == 0) return 0;
  if (any_prefix(name, {"s_cmp", "s_bitcmp", "s_setreg", "s_dcache", "buffer_inv", "buffer_wbl2"})) return 0;
  if (i.modifiers.lds || name.find("_load_lds_") != std::string_view::npos) return 0;
  if (any_prefix(name, {"v_add_co_", "v_sub_co_", "v_subrev_co_", "v_addc_co_", "v_subb_co_", "v_subbrev_co_",
                        "v_div_scale_", "v_mad_u64_u32", "v_mad_i64_i32"})) {
    return 2;
  }
  if (name.starts_with("v_swap") || (name.starts_with("v_permlane") && name.find("swap") != std::string_view::npos)) {
    return 2;
  }
  return 1;
}

/// Instructions that keep a part of their result register, or add to it.
bool reads_result(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  return any_prefix(name, {"v_fmac_", "v_mac_", "v_pk_fmac_", "v_dot2c_", "v_dot4c_", "v_dot8c_", "v_writelane",
                           "v_cvt_pk_fp8", "v_cvt_pk_bf8", "v_cvt_sr_", "v_swap", "v_permlane"}) ||
         i.encoding == Encoding::dpp || i.encoding == Encoding::sdwa || i.modifiers.op_sel != 0;
}

bool register_of(const Operand& op, RegisterRange& range) {
  if (op.is_vector()) {
    range = {op.index, op.dwords};
    return true;
  }
  if (op.kind == OperandKind::sgpr) {
    range = {static_cast<uint16_t>(scalar_registers + op.index), op.dwords};
    return true;
  }
  if (op.kind == OperandKind::special && static_cast<SpecialRegister>(op.index) == SpecialRegister::scc) {
    range = {scc_register, 1};
    return true;
  }
  return false;
}

void add_read(InstructionInfo& info, RegisterRange range) {
  if (info.read_count < info.reads.size()) info.reads[info.read_count++] = range;
}
void add_write(InstructionInfo& info, RegisterRange range) {
  if (info.write_count < info.writes.size()) info.writes[info.write_count++] = range;
}

void set_registers(InstructionInfo& info, const Instruction& i) {
  const size_t results = result_count(i);
  for (size_t k = 0; k < i.operand_count; ++k) {
    RegisterRange range;
    if (!register_of(i.operands[k], range)) continue;
    if (k < results) {
      add_write(info, range);
      info.scalar_result |= info.port == Port::valu && range.first >= scalar_registers;
      if (reads_result(i)) add_read(info, range);
    } else if (info.port == Port::mfma && k == 3) {
      info.addend = range;
    } else {
      add_read(info, range);
    }
  }
  const std::string_view name = i.mnemonic;
  if (name.starts_with("s_cbranch_scc") || any_prefix(name, {"s_cselect", "s_addc", "s_subb", "s_cmov"})) {
    add_read(info, {scc_register, 1});
  }
  if (any_prefix(name, {"s_cbranch_vcc", "v_div_fmas"})) {
    add_read(info, {static_cast<uint16_t>(scalar_registers + vcc_lo), 2});
  }
  if (info.port == Port::salu) add_write(info, {scc_register, 1});
}

}  // namespace

InstructionInfo describe(const Instruction& i) {
  InstructionInfo info;
  info.pc = i.pc;
  info.text = i.text;
  info.control = control_of(i.mnemonic);
  info.port = port_of(i, info.control);
  if (info.port == Port::valu) info.speed = speed_of(i.mnemonic);
  if (info.port == Port::mfma) info.passes = static_cast<uint8_t>(matrix_passes(i));
  set_registers(info, i);
  info.vmcnt = i.modifiers.vmcnt;
  info.lgkmcnt = i.modifiers.lgkmcnt;
  if (i.operand_count != 0 && i.operands[0].kind == OperandKind::imm) {
    info.argument = i.operands[0].value16;
    if (info.control == Control::branch) info.target = i.pc + i.size + i.operands[0].value64 * 4;
  }
  return info;
}

}  // namespace mlaforge::simulator::timing
