// A code object's text, decoded instruction by instruction when first reached.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/core/instruction.h"
#include "simulator/core/launch.h"
#include "simulator/decode/disassembler.h"

namespace mlaforge::simulator {

class Program {
 public:
  Program(std::span<const std::byte> text, uint64_t address);
  ~Program();

  uint64_t begin() const { return address_; }
  uint64_t end() const { return address_ + text_.size(); }

  /// The instruction at `pc`, or null when pc is misaligned or outside the text. Thread-safe. An instruction that
  /// cannot be executed has a handler that raises the fault, so that it stops a launch only when reached.
  const Instruction* at(uint64_t pc) const {
    const uint64_t offset = pc - address_;
    if (offset >= text_.size() || offset % 4 != 0) return nullptr;
    const Instruction* known = slots_[offset / 4].load(std::memory_order_acquire);
    return known != nullptr ? known : decode(offset);
  }

 private:
  const Instruction* decode(uint64_t offset) const;

  std::vector<std::byte> text_;
  uint64_t address_;
  mutable std::mutex mutex_;
  mutable Disassembler disassembler_;
  mutable std::vector<std::atomic<Instruction*>> slots_;
};

/// Decodes one instruction out of `bytes`; never fails (see Program::at).
Instruction decode_instruction(Disassembler& disassembler, std::span<const std::byte> bytes, uint64_t pc);

}  // namespace mlaforge::simulator
