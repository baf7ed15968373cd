#include "simulator/decode/roles.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace mlaforge::simulator {
namespace {

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}
bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

bool is_lane_swap(std::string_view name) {
  return name.starts_with("v_swap") || (name.starts_with("v_permlane") && name.ends_with("_swap_b32"));
}

/// How many of the first operands are results.
unsigned results_of(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  switch (i.unit) {
    case Unit::salu:
      return starts_with_any(name, {"s_cmp", "s_bitcmp", "s_setreg", "s_set_gpr", "s_setvskip", "s_setprio", "s_nop",
                                    "s_sleep", "s_waitcnt", "s_barrier", "s_endpgm", "s_trap", "s_sendmsg"})
                 ? 0
                 : 1;
    case Unit::branch:
      return starts_with_any(name, {"s_swappc", "s_call"}) ? 1 : 0;
    case Unit::smem:
      if (contains(name, "_atomic_")) return i.modifiers.sc0 ? 1 : 0;
      return starts_with_any(name, {"s_load", "s_buffer_load", "s_scratch_load", "s_mem"}) ? 1 : 0;
    case Unit::mfma:
      return 1;
    case Unit::valu:
      if (name == "v_nop" || name == "v_clrexcp") return 0;
      return is_lane_swap(name) ||
                     starts_with_any(name, {"v_add_co_", "v_sub_co_", "v_subrev_co_", "v_addc_co_", "v_subb_co_",
                                            "v_subbrev_co_", "v_div_scale_", "v_mad_u64_u32", "v_mad_i64_i32"})
                 ? 2
                 : 1;
    case Unit::flat:
    case Unit::vmem:
      if (i.modifiers.lds || contains(name, "_load_lds_")) return 0;
      if (contains(name, "_load_")) return 1;
      return contains(name, "_atomic_") && i.modifiers.sc0 ? 1 : 0;
    case Unit::ds:
      return contains(name, "_rtn") || starts_with_any(name, {"ds_read", "ds_bpermute", "ds_permute", "ds_swizzle",
                                                              "ds_append", "ds_consume", "ds_ordered_count"})
                 ? 1
                 : 0;
    case Unit::other:
      return 0;
  }
  return 0;
}

/// Results that are read as well.
bool accumulates(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  return is_lane_swap(name) ||
         starts_with_any(name, {"v_fmac_", "v_mac_", "v_pk_fmac_", "v_dot2c_", "v_dot4c_", "v_dot8c_", "v_smfmac",
                                "s_addk", "s_mulk", "s_bitset"}) ||
         (starts_with_any(name, {"buffer_atomic", "s_atomic", "s_buffer_atomic"}) && i.modifiers.sc0);
}

}  // namespace

Roles roles_of(const Instruction& i) {
  Roles roles;
  const std::string_view name = i.mnemonic;
  const unsigned results = std::min<unsigned>(results_of(i), i.operand_count);
  const auto all = static_cast<uint8_t>((1u << i.operand_count) - 1);
  roles.written = static_cast<uint8_t>((1u << results) - 1);
  roles.read = static_cast<uint8_t>(accumulates(i) ? all : all & ~roles.written);
  const auto is_vccz = [](const Operand& op) {
    return op.kind == OperandKind::special && op.index == static_cast<uint16_t>(SpecialRegister::vccz);
  };
  const bool reads_status = name == "s_getreg_b32" && i.modifiers.hwreg_id == hw_status;  // holds VCCZ
  roles.reads_vcc = starts_with_any(name, {"s_cbranch_vcc", "v_div_fmas"}) || reads_status ||
                    std::any_of(i.operands.begin(), i.operands.end(), is_vccz);
  roles.writes_exec = name.starts_with("v_cmpx") || contains(name, "saveexec") || contains(name, "_wrexec_") ||
                      contains(name, "_fork") || name == "s_cbranch_join";
  roles.reads_m0 = i.modifiers.lds || contains(name, "_load_lds_") || contains(name, "_addtid_") ||
                   name.starts_with("s_movrel") || name == "s_sendmsg";
  roles.crosses_lanes = i.modifiers.dpp != DppControl::none || starts_with_any(name, {"v_readlane", "v_permlane"}) ||
                        contains(name, "permute") || name == "ds_swizzle_b32";
  return roles;
}

}  // namespace mlaforge::simulator
