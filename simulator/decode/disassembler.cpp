#include "simulator/decode/disassembler.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace mlaforge::simulator {
namespace {

/// SDWA forms whose selectors have no meaning (7, or 3 for what happens to unused bits). LLVM 22 crashes in printing
/// them, so they must not reach it.
bool has_reserved_sdwa(uint32_t first, uint32_t second) {
  constexpr uint32_t sdwa_source = 0xf9;
  const bool vector = (first >> 31) == 0;
  if (!vector || (first & 0x1ff) != sdwa_source) return false;
  const bool compare = first >> 25 == 0x3e;  // there the destination's bits name an SGPR pair
  if (!compare && ((second >> 8 & 7) == 7 || (second >> 11 & 3) == 3)) return true;
  return (second >> 16 & 7) == 7 || (second >> 24 & 7) == 7;
}

constexpr uint32_t literal_source = 0xff;

/// v_mfma_*_f8f6f4 with an operand format above 4 (FP4) in cbsz or blgp, with an operand A or B that is no vector
/// register, or with a literal as C. LLVM 22 crashes in decoding them (the literal: where scales stand before it).
bool has_reserved_matrix_form(uint32_t first, uint32_t second) {
  const uint32_t opcode = first >> 16;
  if (opcode != 0xd3ad && opcode != 0xd3ae) return false;
  constexpr uint32_t highest_format = 4;
  const bool vectors = (second & 1u << 8) != 0 && (second & 1u << 17) != 0;
  return !vectors || (first >> 8 & 7) > highest_format || second >> 29 > highest_format ||
         (second >> 18 & 0x1ff) == literal_source;
}

bool is_scale_prefix(uint32_t first) { return first >> 16 == 0xd3ac; }

/// Of a scale prefix: a scale that is a literal, for which the instruction has no room. LLVM 22 crashes.
bool has_literal_scale(uint32_t second) {
  return (second & 0x1ff) == literal_source || (second >> 9 & 0x1ff) == literal_source;
}

/// v_madmk_f16 and v_madak_f16 of the constant 0x00ff, which are as good as of any other, but LLVM 22 takes the
/// constant for the code of a literal behind the end and crashes.
bool has_constant_of_literal_code(uint32_t first, uint32_t second) {
  const uint32_t opcode = first >> 25;  // VOP2: bit 31 is 0
  return (opcode == 36 || opcode == 37) && second == literal_source;
}

}  // namespace

Disassembler::Disassembler() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  context_ = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", "gfx950", nullptr, 0, nullptr, nullptr);
  if (context_ == nullptr)
    throw std::runtime_error("LLVM has no gfx950 disassembler: libLLVM was built without AMDGPU");
}

Disassembler::~Disassembler() { LLVMDisasmDispose(context_); }

Disassembler::Result Disassembler::decode(std::span<const std::byte> bytes, uint64_t pc) {
  // The longest instruction is 16 bytes (a scaled MFMA). The C interface takes bytes that are not const. It always gets
  // as many, because LLVM 22 crashes on an instruction whose literal is cut off; one that goes past the end is none.
  std::array<uint8_t, 20> buffer{};
  const size_t available = std::min(bytes.size(), buffer.size());
  std::memcpy(buffer.data(), bytes.data(), available);
  std::array<uint32_t, 4> words{};
  std::memcpy(words.data(), buffer.data(), sizeof words);
  if (has_reserved_sdwa(words[0], words[1]) || has_reserved_matrix_form(words[0], words[1])) return {};
  if (is_scale_prefix(words[0]) && (has_literal_scale(words[1]) || has_reserved_matrix_form(words[2], words[3]))) {
    return {};
  }
  const bool constant_swapped = has_constant_of_literal_code(words[0], words[1]);
  if (constant_swapped) buffer[4] = 0xfe;
  std::array<char, 512> text{};
  const size_t size = LLVMDisasmInstruction(context_, buffer.data(), buffer.size(), pc, text.data(), text.size());
  if (size > available) return {};
  std::string_view trimmed(text.data());
  while (!trimmed.empty() && (trimmed.front() == '\t' || trimmed.front() == ' ')) trimmed.remove_prefix(1);
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == ' ')) trimmed.remove_suffix(1);
  std::string clean(trimmed);
  for (char& c : clean) c = c == '\t' ? ' ' : c;
  for (size_t at = 0; constant_swapped && (at = clean.find("0xfe", at)) != std::string::npos;) clean[at + 3] = 'f';
  return {static_cast<uint32_t>(size), std::move(clean)};
}

}  // namespace mlaforge::simulator
