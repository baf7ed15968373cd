#include "simulator/decode/parse.h"

#include <algorithm>
#include <array>
#include <string>

namespace mlaforge::simulator {
namespace {

bool is_sopp(uint32_t word) { return word >> 23 == 0x17f; }
bool is_sopk(uint32_t word) { return word >> 28 == 0xb && !is_sopp(word) && ((word >> 23) & 0x1f) < 0x1d; }

struct Suffix {
  std::string_view text;
  Encoding encoding;
};
constexpr std::array<Suffix, 4> suffixes{
    {{"_e32", Encoding::e32}, {"_dpp", Encoding::dpp}, {"_sdwa", Encoding::sdwa}, {"_e64", Encoding::e64}}};

Unit unit_of(std::string_view mnemonic) {
  const auto is = [&](std::string_view prefix) { return mnemonic.starts_with(prefix); };
  if (is("v_mfma_") || is("v_smfmac_")) return Unit::mfma;
  if (is("v_")) return Unit::valu;
  if (is("ds_")) return Unit::ds;
  if (is("flat_") || is("global_") || is("scratch_")) return Unit::flat;
  if (is("buffer_") || is("tbuffer_")) return Unit::vmem;
  if (is("s_load_") || is("s_buffer_") || is("s_store_") || is("s_scratch_") || is("s_dcache_") || is("s_mem") ||
      is("s_atc_") || is("s_atomic_")) {
    return Unit::smem;
  }
  if (is("s_branch") || is("s_cbranch") || is("s_setpc") || is("s_swappc") || is("s_call")) return Unit::branch;
  if (is("s_")) return Unit::salu;
  return Unit::other;
}

/// "[1,0,1]" to bits, first entry lowest.
std::optional<uint8_t> parse_bits(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  uint8_t bits = 0;
  int position = 0;
  for (char c : text) {
    if (c == '0' || c == '1') bits = static_cast<uint8_t>(bits | ((c - '0') << position++));
  }
  return bits;
}

std::optional<SdwaSel> parse_sel(std::string_view text) {
  constexpr std::array<std::string_view, 7> names{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<SdwaSel>(found - names.begin());
}

bool set_number(Modifiers& m, std::string_view name, int64_t value) {
  if (name == "offset") {
    m.offset = value;
    m.has_offset = true;
  } else if (name == "offset0") {
    m.offset0 = static_cast<uint32_t>(value);
  } else if (name == "offset1") {
    m.offset1 = static_cast<uint32_t>(value);
  } else if (name == "mul") {
    m.omod = value == 2 ? 1 : 2;
  } else if (name == "div") {
    m.omod = 3;
  } else if (name == "cbsz") {
    m.cbsz = static_cast<uint8_t>(value);
  } else if (name == "abid") {
    m.abid = static_cast<uint8_t>(value);
  } else if (name == "blgp") {
    m.blgp = static_cast<uint8_t>(value);
  } else if (name == "bitop3") {
    m.bitop3 = static_cast<uint8_t>(value);
  } else if (name == "row_mask") {
    m.row_mask = static_cast<uint8_t>(value);
  } else if (name == "bank_mask") {
    m.bank_mask = static_cast<uint8_t>(value);
  } else if (name == "bound_ctrl") {
    m.bound_ctrl = true;  // printed only when on, as 0 or 1 by version
  } else if (name == "fi") {
    m.fi = value != 0;
  } else {
    return false;
  }
  return true;
}

bool set_dpp(Modifiers& m, std::string_view name, std::optional<int64_t> value) {
  struct Control {
    std::string_view name;
    DppControl control;
  };
  constexpr std::array<Control, 12> controls{{{"row_shl", DppControl::row_shl},
                                              {"row_shr", DppControl::row_shr},
                                              {"row_ror", DppControl::row_ror},
                                              {"wave_shl", DppControl::wave_shl},
                                              {"wave_rol", DppControl::wave_rol},
                                              {"wave_shr", DppControl::wave_shr},
                                              {"wave_ror", DppControl::wave_ror},
                                              {"row_mirror", DppControl::row_mirror},
                                              {"row_half_mirror", DppControl::row_half_mirror},
                                              {"row_bcast", DppControl::row_bcast},
                                              {"row_newbcast", DppControl::row_newbcast},
                                              {"row_share", DppControl::row_newbcast}}};
  for (const Control& control : controls) {
    if (name != control.name) continue;
    m.dpp = control.control;
    m.dpp_amount = static_cast<uint8_t>(value.value_or(0));
    return true;
  }
  return false;
}

bool set_list(Modifiers& m, std::string_view name, std::string_view value) {
  if (name == "quad_perm") {
    m.dpp = DppControl::quad_perm;
    size_t position = 0;
    for (char c : value) {
      if (c >= '0' && c <= '3' && position < 4) m.dpp_quad[position++] = static_cast<uint8_t>(c - '0');
    }
    return position == 4;
  }
  const auto bits = parse_bits(value);
  if (!bits) return false;
  if (name == "op_sel") {
    m.op_sel = *bits;
  } else if (name == "op_sel_hi") {
    m.op_sel_hi = *bits;
    m.has_op_sel_hi = true;
  } else if (name == "neg_lo" || name == "neg") {
    m.neg_lo = *bits;
  } else if (name == "neg_hi") {
    m.neg_hi = *bits;
  } else {
    return false;
  }
  return true;
}

bool set_flag(Modifiers& m, std::string_view name) {
  if (name == "clamp") {
    m.clamp = true;
  } else if (name == "sc0" || name == "glc") {
    m.sc0 = true;
  } else if (name == "sc1" || name == "scc") {
    m.sc1 = true;
  } else if (name == "nt" || name == "slc") {
    m.nt = true;
  } else if (name == "lds") {
    m.lds = true;
  } else if (name == "offen") {
    m.offen = true;
  } else if (name == "idxen") {
    m.idxen = true;
  } else if (name == "gds") {
    // Printed behind ds_gws_* only, which have no other form.
  } else {
    return set_dpp(m, name, std::nullopt);
  }
  return true;
}

/// A sdwa source's selection goes to the operand of that number, the destinations (and vcc) not counted.
bool set_sdwa_source(Instruction& instruction, std::string_view name, SdwaSel sel) {
  const int wanted = name == "src0_sel" ? 0 : 1;
  // The sources are the last vector or scalar operands; a trailing vcc (v_cndmask, v_addc) is no SDWA source.
  int sources[2] = {-1, -1};
  int found = 0;
  int first = 1;
  const auto is_vcc = [&](int i) {
    const Operand& op = instruction.operands[static_cast<size_t>(i)];
    return op.kind == OperandKind::sgpr && op.index == vcc_lo && op.dwords == 2;
  };
  if (instruction.operand_count > 1 && is_vcc(1)) first = 2;  // v_add_co_u32_sdwa v0, vcc, v1, v2
  for (int i = first; i < instruction.operand_count && found < 2; ++i) sources[found++] = i;
  if (sources[wanted] < 0) return false;
  instruction.operands[static_cast<size_t>(sources[wanted])].sel = sel;
  return true;
}

bool set_modifier(Instruction& instruction, std::string_view part) {
  Modifiers& m = instruction.modifiers;
  const size_t colon = part.find(':');
  if (colon == std::string_view::npos) return set_flag(m, part);
  const std::string_view name = part.substr(0, colon);
  const std::string_view value = part.substr(colon + 1);
  if (name == "dst_sel") {
    const auto sel = parse_sel(value);
    if (sel) m.dst_sel = *sel;
    return sel.has_value();
  }
  if (name == "src0_sel" || name == "src1_sel") {
    const auto sel = parse_sel(value);
    return sel && set_sdwa_source(instruction, name, *sel);
  }
  if (name == "dst_unused") {
    m.dst_unused = value == "UNUSED_PAD"    ? SdwaUnused::pad
                   : value == "UNUSED_SEXT" ? SdwaUnused::sext
                                            : SdwaUnused::preserve;
    return true;
  }
  if (name == "offset" && value.starts_with("swizzle(")) {
    m.offset = instruction.words[0] & 0xffff;
    m.has_offset = true;
    return true;
  }
  if (name == "format") return true;  // of a typed buffer: the handler reads it from the words
  if (value.starts_with('[')) return set_list(m, name, value);
  const auto number = parse_integer(value);
  return number && (set_number(m, name, *number) || set_dpp(m, name, number));
}

bool is_modifier(std::string_view part) {
  const size_t colon = part.find(':');
  return colon != std::string_view::npos && colon < part.find_first_of("[(|");
}

void add_operand(Instruction& instruction, const Operand& op) {
  instruction.operands[instruction.operand_count++] = op;
}

void add_simm16(Instruction& instruction) {
  Operand op;
  op.kind = OperandKind::imm;
  op.value16 = static_cast<uint16_t>(instruction.words[0]);
  op.value64 = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(op.value16)));
  op.value32 = static_cast<uint32_t>(op.value64);
  add_operand(instruction, op);
}

/// SOPP and SOPK keep their immediate in the low half of the first word; its text varies too much to be read.
bool parse_short_immediate(Instruction& instruction, const std::vector<std::string_view>& parts) {
  const uint32_t word = instruction.words[0];
  Modifiers& m = instruction.modifiers;
  m.vmcnt = static_cast<uint8_t>((word & 0xf) | ((word >> 14 & 3) << 4));
  m.expcnt = static_cast<uint8_t>(word >> 4 & 7);
  m.lgkmcnt = static_cast<uint8_t>(word >> 8 & 15);
  m.hwreg_id = static_cast<uint8_t>(word & 0x3f);
  m.hwreg_offset = static_cast<uint8_t>(word >> 6 & 0x1f);
  m.hwreg_bits = static_cast<uint8_t>((word >> 11 & 0x1f) + 1);
  if (is_sopk(word)) {
    for (std::string_view part : parts) {
      if (auto op = parse_operand(part, instruction.mnemonic); op && !op->is_constant()) add_operand(instruction, *op);
    }
  }
  add_simm16(instruction);
  if (instruction.mnemonic == "s_setreg_imm32_b32") {
    Operand literal;
    literal.kind = OperandKind::literal;
    literal.value32 = instruction.words[1];
    literal.value64 = literal.value32;
    add_operand(instruction, literal);
  }
  return true;
}

}  // namespace

std::vector<std::string_view> split_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  const auto close = [&](size_t end) {
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && (c == ',' || c == ' ')) close(i);
  }
  close(text.size());
  return parts;
}

bool parse_instruction(Instruction& instruction, std::string& problem) {
  const std::string_view text = instruction.text;
  const size_t space = text.find(' ');
  std::string_view name = text.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  for (const Suffix& suffix : suffixes) {
    if (!name.ends_with(suffix.text)) continue;
    name.remove_suffix(suffix.text.size());
    if (instruction.encoding == Encoding::plain) instruction.encoding = suffix.encoding;
  }
  instruction.mnemonic = name;
  instruction.unit = unit_of(name);
  const auto parts = split_parts(rest);
  const uint32_t word = instruction.words[0];
  if (is_sopp(word) || is_sopk(word)) return parse_short_immediate(instruction, parts);
  for (std::string_view part : parts) {
    if (!is_modifier(part)) {
      if (part.starts_with(
              "gpr_idx(")) {  // s_set_gpr_idx_on s0, gpr_idx(SRC0,DST): the mask is the second source field
        part = {};
        add_simm16(instruction);
        Operand& mask = instruction.operands[instruction.operand_count - 1u];
        mask.value32 = word >> 8 & 0xff;
        mask.value64 = mask.value32;
        continue;
      }
      if (const auto op = parse_operand(part, name)) {
        if (instruction.operand_count == max_operands) {
          problem = "more than 8 operands";
          return false;
        }
        add_operand(instruction, *op);
        continue;
      }
    }
    if (!set_modifier(instruction, part)) {
      problem = "operand or modifier '" + std::string(part) + "'";
      return false;
    }
  }
  if (instruction.unit == Unit::smem) {  // its numbers are offsets, never inline constants
    for (Operand& op : instruction.operands) {
      if (op.is_constant()) op.kind = OperandKind::imm;
    }
  }
  // VOP3P reads the high halves for the high result unless told otherwise; LLVM prints op_sel_hi only when it differs.
  if (!instruction.modifiers.has_op_sel_hi && (name.starts_with("v_pk_") || name.starts_with("v_dot")))
    instruction.modifiers.op_sel_hi = 7;
  return true;
}

}  // namespace mlaforge::simulator
