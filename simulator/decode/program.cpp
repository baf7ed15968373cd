#include "simulator/decode/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/core/ops.h"
#include "simulator/core/wave.h"
#include "simulator/decode/parse.h"
#include "simulator/decode/roles.h"

namespace mlaforge::simulator {
namespace {

void raise_no_instruction(Wave& wave, const Instruction& instruction) {
  raise_fault(wave, FaultKind::unknown_instruction,
              fmt::format("bytes 0x{:08x} are no gfx950 instruction", instruction.words[0]));
}

void raise_unknown(Wave& wave, const Instruction& instruction) {
  raise_fault(wave, FaultKind::unknown_instruction,
              fmt::format("the simulator does not know {}; nothing is skipped", instruction.mnemonic));
}

void raise_form(Wave& wave, const Instruction& instruction) {
  raise_fault(wave, FaultKind::unsupported,
              fmt::format("this form of {} is not executed by the simulator", instruction.mnemonic));
}

void raise_text(Wave& wave, const Instruction& instruction) {
  raise_fault(wave, FaultKind::unsupported, fmt::format("the decoder does not understand '{}'", instruction.text));
}

}  // namespace

Instruction decode_instruction(Disassembler& disassembler, std::span<const std::byte> bytes, uint64_t pc) {
  Instruction instruction;
  instruction.pc = pc;
  std::memcpy(instruction.words.data(), bytes.data(), std::min(bytes.size(), sizeof(instruction.words)));
  auto [size, text] = disassembler.decode(bytes, pc);
  if (size == 0) {
    instruction.size = 4;
    instruction.text = fmt::format("<0x{:08x}>", instruction.words[0]);
    instruction.handler = raise_no_instruction;
    return instruction;
  }
  instruction.size = size;
  instruction.text = std::move(text);
  std::string problem;
  if (!parse_instruction(instruction, problem)) {
    instruction.handler = raise_text;
    return instruction;
  }
  for (const Operand& op : instruction.operands) {
    const auto end = static_cast<uint16_t>(op.index + op.dwords);
    if (op.kind == OperandKind::vgpr) instruction.vgpr_end = std::max(instruction.vgpr_end, end);
    if (op.kind == OperandKind::agpr) {
      instruction.agpr_end = std::max(instruction.agpr_end, static_cast<uint16_t>(end - first_agpr_row));
    }
  }
  instruction.roles = roles_of(instruction);
  const OpEntry* entry = find_op(instruction.mnemonic);
  if (entry == nullptr) {
    instruction.handler = raise_unknown;
    return instruction;
  }
  instruction.detail = entry->detail;
  instruction.handler = entry->select != nullptr ? entry->select(instruction) : entry->handler;
  if (instruction.handler == nullptr) instruction.handler = raise_form;
  return instruction;
}

Program::Program(std::span<const std::byte> text, uint64_t address)
    : text_(text.begin(), text.end()), address_(address), slots_((text.size() + 3) / 4) {}

Program::~Program() {
  for (auto& slot : slots_) delete slot.load();
}

const Instruction* Program::decode(uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  auto& slot = slots_[offset / 4];
  if (Instruction* known = slot.load(std::memory_order_acquire)) return known;
  auto made = std::make_unique<Instruction>(
      decode_instruction(disassembler_, std::span(text_).subspan(offset), address_ + offset));
  slot.store(made.get(), std::memory_order_release);
  return made.release();
}

std::shared_ptr<const Program> make_program(std::span<const std::byte> text, uint64_t address) {
  return std::make_shared<const Program>(text, address);
}

}  // namespace mlaforge::simulator
