#include "tests/simulator/every_mnemonic.h"

#include <array>
#include <cstring>
#include <random>

#include "simulator/decode/program.h"

namespace mlaforge::simulator::test {
namespace {

/// An encoding of gfx9: the bits that name it, and where its opcode lies.
struct Encoded {
  uint32_t fixed;
  unsigned shift;
  unsigned bits;
};

constexpr std::array encodings{
    Encoded{0x80000000, 23, 7},   // SOP2
    Encoded{0xb0000000, 23, 5},   // SOPK
    Encoded{0xbe800000, 8, 8},    // SOP1
    Encoded{0xbf000000, 16, 7},   // SOPC
    Encoded{0xbf800000, 16, 7},   // SOPP
    Encoded{0xc0000000, 18, 8},   // SMEM
    Encoded{0x00000000, 25, 6},   // VOP2
    Encoded{0x7e000000, 9, 8},    // VOP1
    Encoded{0x7c000000, 17, 8},   // VOPC
    Encoded{0xd0000000, 16, 10},  // VOP3
    Encoded{0xd3800000, 16, 7},   // VOP3P, the matrix instructions among them
    Encoded{0xd4000000, 18, 8},   // VINTRP
    Encoded{0xd8000000, 17, 8},   // DS
    Encoded{0xd8010000, 17, 8},   // DS on the global data share
    Encoded{0xdc000000, 18, 7},   // FLAT
    Encoded{0xdc004000, 18, 7},   // SCRATCH
    Encoded{0xdc008000, 18, 7},   // GLOBAL
    Encoded{0xe0000000, 18, 7},   // MUBUF
    Encoded{0xe8000000, 15, 4},   // MTBUF
    Encoded{0xf0000000, 18, 7},   // MIMG
    Encoded{0xc4000000, 0, 4},    // EXP
};

std::string base_name(std::string_view text) {
  std::string_view name = text.substr(0, text.find(' '));
  for (const std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  // v_add_f32_e64_dpp has two.
  if (name.ends_with("_e64")) name.remove_suffix(4);
  return std::string(name);
}

void collect(std::set<std::string>& names, Disassembler& disassembler, const std::array<uint32_t, 4>& words) {
  const auto [size, text] = disassembler.decode(std::as_bytes(std::span(words)), 0);
  if (size != 0) names.insert(base_name(text));
}

std::set<std::string> find_all() {
  std::set<std::string> names;
  Disassembler disassembler;
  std::mt19937 random(1);
  constexpr int tries = 100;  // operand fields: not all values are valid for an opcode, and most are for some
  for (const Encoded& encoding : encodings) {
    for (uint32_t op = 0; op < 1u << encoding.bits; ++op) {
      const uint32_t opcode_mask = ((1u << encoding.bits) - 1) << encoding.shift;
      // Bits below the opcode's that are not the encoding's are operands; register numbers are kept even.
      const uint32_t below = encoding.shift >= 16 ? 0xffffu & ~encoding.fixed & 0x3eff : 0xfeu;
      for (int i = 0; i < tries; ++i) {
        const auto fill = static_cast<uint32_t>(random());
        const bool zero = i == 0;
        const uint32_t first = encoding.fixed | op << encoding.shift | (zero ? 0 : fill & below & ~opcode_mask);
        const uint32_t even = i % 2 == 0 ? ~0x01010101u : ~0x00040201u;  // fields of 8 bits, or of 9
        const std::array<uint32_t, 4> words{first, zero ? 0 : static_cast<uint32_t>(random()) & even, 0, 0};
        collect(names, disassembler, words);
      }
    }
  }
  // The f8f6f4 forms are valid for few of the operand fields; scaled, a first half holds the scales' registers.
  for (const uint32_t op : {0x2du, 0x2eu}) {
    const uint32_t first = 0xd3800000 | op << 16, operands = op == 0x2d ? 0x04823110 : 0x04f23110;
    collect(names, disassembler, {first | 0x28, operands, 0, 0});
    collect(names, disassembler, {0xd3ac0000, 0x00020902, first | 0x0828, operands});
  }
  return names;
}

}  // namespace

const std::set<std::string>& every_mnemonic() {
  static const std::set<std::string> names = find_all();
  return names;
}

}  // namespace mlaforge::simulator::test
