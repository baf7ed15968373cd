#include "simulator/decode/disassembler.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace mlaforge::simulator {

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
  // The longest instruction is 16 bytes (a scaled MFMA). The C interface takes bytes that are not const.
  std::array<uint8_t, 20> buffer{};
  const size_t available = std::min(bytes.size(), buffer.size());
  std::memcpy(buffer.data(), bytes.data(), available);
  std::array<char, 512> text{};
  const size_t size = LLVMDisasmInstruction(context_, buffer.data(), available, pc, text.data(), text.size());
  std::string_view trimmed(text.data());
  while (!trimmed.empty() && (trimmed.front() == '\t' || trimmed.front() == ' ')) trimmed.remove_prefix(1);
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == ' ')) trimmed.remove_suffix(1);
  std::string clean(trimmed);
  for (char& c : clean) c = c == '\t' ? ' ' : c;
  return {static_cast<uint32_t>(size), std::move(clean)};
}

}  // namespace mlaforge::simulator
