#include <array>
#include <charconv>

#include "simulator/core/wave.h"
#include "simulator/decode/parse.h"

namespace mlaforge::simulator {
namespace {

struct FloatConstant {
  std::string_view text;
  uint16_t f16;
  uint32_t f32;
  uint64_t f64;
};

// The float inline constants, operand codes 240 to 248; the last is 1/(2 pi).
constexpr std::array<FloatConstant, 10> float_constants{{
    {"0.5", 0x3800, 0x3f000000, 0x3fe0000000000000},
    {"-0.5", 0xb800, 0xbf000000, 0xbfe0000000000000},
    {"1.0", 0x3c00, 0x3f800000, 0x3ff0000000000000},
    {"-1.0", 0xbc00, 0xbf800000, 0xbff0000000000000},
    {"2.0", 0x4000, 0x40000000, 0x4000000000000000},
    {"-2.0", 0xc000, 0xc0000000, 0xc000000000000000},
    {"4.0", 0x4400, 0x40800000, 0x4010000000000000},
    {"-4.0", 0xc400, 0xc0800000, 0xc010000000000000},
    {"0.15915494", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882},
    {"0.15915494309189532", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882},
}};

struct NamedRegister {
  std::string_view name;
  OperandKind kind;
  uint16_t index;
  uint16_t dwords;
};

constexpr uint16_t special(SpecialRegister which) { return static_cast<uint16_t>(which); }

constexpr std::array<NamedRegister, 31> named_registers{{
    {"vcc", OperandKind::sgpr, vcc_lo, 2},
    {"vcc_lo", OperandKind::sgpr, vcc_lo, 1},
    {"vcc_hi", OperandKind::sgpr, vcc_lo + 1, 1},
    {"exec", OperandKind::sgpr, exec_lo, 2},
    {"exec_lo", OperandKind::sgpr, exec_lo, 1},
    {"exec_hi", OperandKind::sgpr, exec_lo + 1, 1},
    {"m0", OperandKind::sgpr, m0_index, 1},
    {"flat_scratch", OperandKind::sgpr, flat_scratch_lo, 2},
    {"flat_scratch_lo", OperandKind::sgpr, flat_scratch_lo, 1},
    {"flat_scratch_hi", OperandKind::sgpr, flat_scratch_lo + 1, 1},
    {"xnack_mask", OperandKind::sgpr, xnack_mask_lo, 2},
    {"xnack_mask_lo", OperandKind::sgpr, xnack_mask_lo, 1},
    {"xnack_mask_hi", OperandKind::sgpr, xnack_mask_lo + 1, 1},
    {"src_scc", OperandKind::special, special(SpecialRegister::scc), 1},
    {"scc", OperandKind::special, special(SpecialRegister::scc), 1},
    {"src_vccz", OperandKind::special, special(SpecialRegister::vccz), 1},
    {"vccz", OperandKind::special, special(SpecialRegister::vccz), 1},
    {"src_execz", OperandKind::special, special(SpecialRegister::execz), 1},
    {"execz", OperandKind::special, special(SpecialRegister::execz), 1},
    {"src_shared_base", OperandKind::special, special(SpecialRegister::shared_base), 2},
    {"src_shared_limit", OperandKind::special, special(SpecialRegister::shared_limit), 2},
    {"src_private_base", OperandKind::special, special(SpecialRegister::private_base), 2},
    {"src_private_limit", OperandKind::special, special(SpecialRegister::private_limit), 2},
    {"shared_base", OperandKind::special, special(SpecialRegister::shared_base), 2},
    {"shared_limit", OperandKind::special, special(SpecialRegister::shared_limit), 2},
    {"private_base", OperandKind::special, special(SpecialRegister::private_base), 2},
    {"private_limit", OperandKind::special, special(SpecialRegister::private_limit), 2},
    {"src_pops_exiting_wave_id", OperandKind::special, special(SpecialRegister::pops_exiting_wave_id), 1},
    {"src_lds_direct", OperandKind::special, special(SpecialRegister::lds_direct), 1},
    {"lds_direct", OperandKind::special, special(SpecialRegister::lds_direct), 1},
    {"off", OperandKind::off, 0, 0},
}};

bool strip(std::string_view& text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix) || text.size() < prefix.size() + suffix.size()) return false;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return true;
}

std::optional<uint32_t> parse_unsigned(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// v7, v[0:3], a.., s.., ttmp..
std::optional<Operand> parse_register(std::string_view text) {
  struct File {
    std::string_view prefix;
    OperandKind kind;
    uint16_t base;
    uint32_t count;
  };
  constexpr std::array<File, 4> files{{{"ttmp", OperandKind::sgpr, ttmp0, 16},
                                       {"v", OperandKind::vgpr, 0, 256},
                                       {"a", OperandKind::agpr, first_agpr_row, 256},
                                       {"s", OperandKind::sgpr, 0, 102}}};
  for (const File& file : files) {
    if (!text.starts_with(file.prefix)) continue;
    std::string_view rest = text.substr(file.prefix.size());
    std::optional<uint32_t> first;
    std::optional<uint32_t> last;
    if (strip(rest, "[", "]")) {
      const size_t colon = rest.find(':');
      first = parse_unsigned(rest.substr(0, colon));
      last = colon == std::string_view::npos ? first : parse_unsigned(rest.substr(colon + 1));
    } else {
      first = last = parse_unsigned(rest);
    }
    if (!first || !last || *last < *first || *last >= file.count) return std::nullopt;
    Operand op;
    op.kind = file.kind;
    op.index = static_cast<uint16_t>(file.base + *first);
    op.dwords = static_cast<uint16_t>(*last - *first + 1);
    return op;
  }
  return std::nullopt;
}

Operand integer_operand(int64_t value, bool hexadecimal, std::string_view mnemonic) {
  Operand op;
  // LLVM prints inline integers in decimal, literals in hexadecimal.
  op.kind = !hexadecimal && value >= -16 && value <= 64 ? OperandKind::inline_constant : OperandKind::literal;
  op.value16 = static_cast<uint16_t>(value);
  op.value32 = static_cast<uint32_t>(value);
  op.value64 = static_cast<uint64_t>(value);
  if (op.kind == OperandKind::literal) {
    // A literal is 32 bits: the high half of a double, sign-extended for i64, else zero-extended.
    if (mnemonic.find("f64") != std::string_view::npos) {
      op.value64 = static_cast<uint64_t>(op.value32) << 32;
    } else if (mnemonic.find("i64") != std::string_view::npos) {
      op.value64 = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(op.value32)));
    } else {
      op.value64 = op.value32;
    }
  }
  return op;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<Operand> parse_operand(std::string_view part, std::string_view mnemonic) {
  for (const FloatConstant& constant : float_constants) {
    if (part != constant.text) continue;
    Operand op;
    op.kind = OperandKind::inline_constant;
    op.float_constant = true;
    op.value16 = constant.f16;
    op.value32 = constant.f32;
    op.value64 = constant.f64;
    return op;
  }
  if (const auto value = parse_integer(part)) {
    return integer_operand(*value, part.find("0x") != std::string_view::npos, mnemonic);
  }
  bool neg = false;
  bool abs = false;
  bool sext = false;
  for (bool changed = true; changed;) {
    changed = true;
    if (strip(part, "neg(", ")") || strip(part, "-", "")) {
      neg = true;
    } else if (strip(part, "abs(", ")") || strip(part, "|", "|")) {
      abs = true;
    } else if (strip(part, "sext(", ")")) {
      sext = true;
    } else if (strip(part, "lit(", ")") || strip(part, "lit64(", ")")) {
      if (const auto value = parse_integer(part)) {
        Operand op = integer_operand(*value, true, mnemonic);
        op.neg = neg;
        op.abs = abs;
        return op;
      }
      return std::nullopt;
    } else {
      changed = false;
    }
  }
  std::optional<Operand> op;
  for (const NamedRegister& named : named_registers) {
    if (part != named.name) continue;
    op.emplace();
    op->kind = named.kind;
    op->index = named.index;
    op->dwords = named.dwords;
  }
  if (!op) op = parse_register(part);
  // "-1.0" was read above; "-|1.0|" or neg(0.5) lands here.
  if (!op && (neg || abs)) op = parse_operand(part, mnemonic);
  if (op) {
    op->neg = op->neg != neg;
    op->abs = op->abs || abs;
    op->sext = op->sext || sext;
  }
  return op;
}

}  // namespace mlaforge::simulator
