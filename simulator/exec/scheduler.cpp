// Runs the waves of one workgroup on one host thread: each until it waits, ends or has used its quantum.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/alu/lanes.h"
#include "simulator/decode/program.h"
#include "simulator/exec/observer.h"
#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

constexpr uint64_t long_quantum = 100'000;
constexpr uint64_t longest_random_quantum = 64;
/// Passes over the waves of a workgroup that only sleep, before another workgroup runs.
constexpr unsigned longest_sleep = 64;

bool writes_in_order(const Instruction& instruction, size_t operand, const PendingOp& owner) {
  // A store's data, a write's address and an atomic's operand stand first too.
  if (operand != 0 || (instruction.roles.written & ~instruction.roles.read & 1) == 0) return false;
  // Loads of one in-order kind may follow each other into a register: the later one lands last.
  if (owner.kind == QueueKind::vector) {
    return instruction.unit == Unit::vmem ||
           (instruction.unit == Unit::flat && !instruction.mnemonic.starts_with("flat_"));
  }
  return owner.kind == QueueKind::lds && instruction.unit == Unit::ds;
}

void raise_pending(const Wave& wave, const PendingOp& owner, const std::string& shown) {
  const char* counter = owner.kind == QueueKind::vector ? "vmcnt"
                        : owner.kind == QueueKind::flat ? "vmcnt and lgkmcnt"
                                                        : "lgkmcnt";
  raise_fault(wave, FaultKind::register_pending,
              fmt::format("{} is used while '{}' at 0x{:x} may not have written it: no s_waitcnt {} between", shown,
                          owner.instruction->text, owner.instruction->pc, counter));
}

void check_pending(Wave& wave, const Instruction& instruction) {
  if (instruction.roles.reads_vcc && (wave.pending_sgpr.test(vcc_lo) || wave.pending_sgpr.test(vcc_lo + 1))) {
    if (const PendingOp* owner = wave.queue->owner(vcc_lo, 2, true)) raise_pending(wave, *owner, "vcc");
  }
  for (size_t i = 0; i < instruction.operand_count; ++i) {
    const Operand& op = instruction.operands[i];
    const bool scalar = op.kind == OperandKind::sgpr;
    if (!scalar && !op.is_vector()) continue;
    for (unsigned r = op.index; r < op.index + unsigned{op.dwords}; ++r) {
      if (!(scalar ? wave.pending_sgpr.test(r) : wave.pending_vgpr.test(r))) continue;
      const PendingOp* owner = wave.queue->owner(static_cast<uint16_t>(r), 1, scalar);
      if (owner == nullptr || writes_in_order(instruction, i, *owner)) continue;
      const unsigned shown = r >= first_agpr_row ? r - first_agpr_row : r;
      const char* file = scalar ? "s" : r >= first_agpr_row ? "a" : "v";
      raise_pending(wave, *owner, fmt::format("{}{}", file, shown));
    }
  }
}

void check_registers(Wave& wave, const Instruction& instruction) {
  const LaunchState& launch = *wave.group->launch;
  for (const Operand& op : instruction.operands) {
    const int end = op.index + op.dwords;
    if (op.kind == OperandKind::vgpr && end > launch.arch_vgprs) {
      raise_fault(
          wave, FaultKind::register_bounds,
          fmt::format("v{} is used, but the kernel's descriptor allocates {} VGPRs", end - 1, launch.arch_vgprs));
    }
    if (op.kind == OperandKind::agpr && end - first_agpr_row > launch.agprs) {
      raise_fault(wave, FaultKind::register_bounds,
                  fmt::format("a{} is used, but the kernel's descriptor allocates {} AGPRs", end - 1 - first_agpr_row,
                              launch.agprs));
    }
  }
}

bool is_vector(const Instruction& instruction) {
  const Unit unit = instruction.unit;
  return unit == Unit::valu || unit == Unit::mfma || unit == Unit::vmem || unit == Unit::flat || unit == Unit::ds;
}

void check_plain(Wave& wave, const Instruction& instruction, RegisterChecks* checks) {
  if (wave.any_pending) check_pending(wave, instruction);
  if (checks != nullptr) checks->check(wave, instruction);
}

/// MODE has VSKIP or GPR_IDX_EN.
void execute_by_mode(Wave& wave, const Instruction& instruction, RegisterChecks* checks) {
  if ((wave.mode & mode_bits::vskip) && is_vector(instruction)) return;
  if ((wave.mode & mode_bits::gpr_idx_en) && instruction.unit == Unit::valu) {
    // The handler moves the VGPR numbers by M0 itself; here the moved ones are checked.
    const Instruction moved = with_relative_indices(wave, instruction);
    check_registers(wave, moved);
    check_plain(wave, moved, checks);
  } else {
    check_plain(wave, instruction, checks);
  }
  instruction.handler(wave, instruction);
}

void execute(Wave& wave, const Instruction& instruction, RegisterChecks* checks) {
  if (wave.mode & (mode_bits::vskip | mode_bits::gpr_idx_en)) [[unlikely]] {
    execute_by_mode(wave, instruction, checks);
    return;
  }
  check_plain(wave, instruction, checks);
  instruction.handler(wave, instruction);
}

const Instruction& fetch(Wave& wave, const Program& program) {
  const Instruction* instruction = program.at(wave.next_pc);
  if (instruction == nullptr) {
    wave.pc = wave.next_pc;
    raise_fault(wave, FaultKind::memory_bounds,
                fmt::format("instruction fetch at 0x{:x}, outside the code at 0x{:x} .. 0x{:x}", wave.next_pc,
                            program.begin(), program.end()));
  }
  return *instruction;
}

void run_wave(Wave& wave, const Program& program, uint64_t quantum) {
  const LaunchState& launch = *wave.group->launch;
  const auto& registers = wave.group->registers;
  RegisterChecks* checks = registers.empty() ? nullptr : registers[static_cast<size_t>(wave.index)].get();
  wave.stop = false;
  uint64_t executed = 0;
  while (!wave.stop && executed < quantum) {
    const Instruction& instruction = fetch(wave, program);
    wave.current = &instruction;
    wave.pc = wave.next_pc;
    wave.next_pc = wave.pc + instruction.size;
    if (instruction.vgpr_end > launch.arch_vgprs || instruction.agpr_end > launch.agprs) [[unlikely]] {
      check_registers(wave, instruction);
    }
    if (wave.group->observer != nullptr) [[unlikely]]
      wave.group->observer->instruction(wave, instruction);
    execute(wave, instruction, checks);
    ++executed;
  }
  wave.instructions += executed;
  const uint64_t bound = launch.config.max_wave_instructions;
  if (!wave.ended && wave.instructions > bound) {
    raise_fault(
        wave, FaultKind::endless_loop,
        fmt::format("the wave has executed {} instructions, more than the bound of {}", wave.instructions, bound));
  }
}

/// True when the live waves all wait at a barrier, which then opens.
bool open_barrier(Workgroup& group) {
  int waiting = 0;
  int ended = 0;
  for (int i = 0; i < group.wave_count; ++i) {
    waiting += group.waves[static_cast<size_t>(i)]->at_barrier;
    ended += group.waves[static_cast<size_t>(i)]->ended;
  }
  if (waiting == 0 || waiting + ended != group.wave_count) return false;
  const Instruction* passed = nullptr;
  for (int i = 0; i < group.wave_count; ++i) {
    Wave& wave = *group.waves[static_cast<size_t>(i)];
    if (wave.at_barrier) passed = wave.current;
    if (wave.at_barrier && ended != 0 && group.launch->config.checks.barrier_exit) {
      raise_fault(wave, FaultKind::barrier_divergence,
                  fmt::format("{} of the {} waves ended before this barrier", ended, group.wave_count));
    }
    wave.at_barrier = false;
  }
  if (group.races) {
    group.races->barrier(*passed);
    for (int i = 0; i < group.wave_count; ++i) {
      const auto index = static_cast<size_t>(i);
      for (const auto& op : group.queues[index]->outstanding()) group.races->carry(*group.waves[index], *op);
    }
  }
  return true;
}

}  // namespace

bool run_workgroup(Workgroup& group, uint64_t instructions) {
  const Program& program = *group.launch->kernel.program;
  const bool random = group.launch->config.memory == MemoryMode::random;
  const uint64_t bound = group.launch->config.max_wave_instructions + 1;
  int live = 0;
  for (int i = 0; i < group.wave_count; ++i) live += !group.waves[static_cast<size_t>(i)]->ended;
  uint64_t executed = 0;
  unsigned asleep = 0;  // passes in which waves did nothing but come to their s_sleep
  while (live != 0) {
    bool ran = false, all_sleep = true;
    for (int i = 0; i < group.wave_count; ++i) {
      Wave& wave = *group.waves[static_cast<size_t>(i)];
      if (wave.ended || wave.at_barrier) continue;
      ran = true;
      if (random && group.random() % 2 == 0) continue;
      if (random) wave.queue->draw_delays(wave);
      const uint64_t quantum = random ? 1 + group.random() % longest_random_quantum : long_quantum;
      const uint64_t before = wave.instructions;
      run_wave(wave, program, std::min(quantum, bound));
      executed += wave.instructions - before;
      live -= wave.ended;
      all_sleep = all_sleep && wave.stop && !wave.ended && !wave.at_barrier;
    }
    if (!ran) open_barrier(group);
    asleep = ran && all_sleep ? asleep + 1 : 0;
    if (live != 0 && (executed >= instructions || asleep == longest_sleep)) return false;
  }
  return true;
}

}  // namespace mlaforge::simulator
