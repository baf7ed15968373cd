// Control flow, waits, barriers, hardware registers, VGPR indexing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "simulator/exec/salu.h"
#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

uint64_t branch_target(const Wave& wave, const Operand& distance) {
  return wave.next_pc + distance.value64 * 4;  // dwords from the next instruction, signed
}

template <auto Taken>
void branch(Wave& wave, const Instruction& i) {
  if (Taken(wave)) wave.next_pc = branch_target(wave, i.operands[0]);
}

void getpc(Wave& wave, const Instruction& i) { set_scalar64(wave, i.operands[0], wave.next_pc); }
void setpc(Wave& wave, const Instruction& i) { wave.next_pc = scalar64(wave, i.operands[0]) & ~uint64_t{3}; }
void swappc(Wave& wave, const Instruction& i) {
  const uint64_t target = scalar64(wave, i.operands[1]) & ~uint64_t{3};
  set_scalar64(wave, i.operands[0], wave.next_pc);
  wave.next_pc = target;
}
void call(Wave& wave, const Instruction& i) {
  const uint64_t target = branch_target(wave, i.operands[1]);
  set_scalar64(wave, i.operands[0], wave.next_pc);
  wave.next_pc = target;
}

// --- the fork stack: MODE.CSP counts entries in SGPRs 4 * CSP .. 4 * CSP + 3, a mask and where its lanes go on ---

uint32_t fork_depth(const Wave& wave) { return wave.mode >> mode_bits::fork_stack_shift; }
void set_fork_depth(Wave& wave, uint32_t depth) {
  wave.mode = (wave.mode & ((1u << mode_bits::fork_stack_shift) - 1)) | depth << mode_bits::fork_stack_shift;
}

/// The smaller part of the lanes goes first; the other part is put on the stack.
void fork(Wave& wave, uint64_t condition, uint64_t target) {
  const uint64_t pass = condition & wave.exec(), fail = ~condition & wave.exec();
  if (fail == 0) {
    wave.next_pc = target;
    return;
  }
  if (pass == 0) return;
  const bool fail_first = std::popcount(fail) < std::popcount(pass);
  const uint32_t depth = fork_depth(wave);
  wave.set_sgpr_pair(4 * depth, fail_first ? pass : fail);
  wave.set_sgpr_pair(4 * depth + 2, fail_first ? target : wave.next_pc);
  wave.set_exec(fail_first ? fail : pass);
  set_fork_depth(wave, depth + 1);
  if (!fail_first) wave.next_pc = target;
}
void fork_to_register(Wave& wave, const Instruction& i) {
  fork(wave, scalar64(wave, i.operands[0]), scalar64(wave, i.operands[1]) & ~uint64_t{3});
}
void fork_by_distance(Wave& wave, const Instruction& i) {
  fork(wave, scalar64(wave, i.operands[0]), branch_target(wave, i.operands[1]));
}
/// Operand: the depth at the fork. The first part of the lanes that comes here sends the other one off.
void join(Wave& wave, const Instruction& i) {
  if (fork_depth(wave) == scalar32(wave, i.operands[0])) return;
  const uint32_t depth = (fork_depth(wave) - 1) & 7;
  set_fork_depth(wave, depth);
  wave.set_exec(wave.sgpr_pair(4 * depth));
  wave.next_pc = wave.sgpr_pair(4 * depth + 2) & ~uint64_t{3};
}

void waitcnt(Wave& wave, const Instruction& i) { wave.queue->wait(wave, i.modifiers.vmcnt, i.modifiers.lgkmcnt); }

void barrier(Wave& wave, const Instruction&) {
  wave.at_barrier = true;
  wave.stop = true;
}

void endpgm(Wave& wave, const Instruction&) {
  wave.queue->drain(wave);
  wave.ended = true;
  wave.stop = true;
}

/// Lets the other waves run: what it waits for may be theirs to do.
void sleep(Wave& wave, const Instruction&) { wave.stop = true; }

void trap(Wave& wave, const Instruction& i) {
  raise_fault(wave, FaultKind::trap, fmt::format("the kernel executed s_trap {}", i.operands[0].value16));
}

// --- hardware registers ---

/// Workgroups go round-robin to the compute dies.
constexpr uint64_t xcds = 8;

uint32_t read_hardware_register(const Wave& wave, uint8_t id) {
  const Workgroup& group = *wave.group;
  switch (id) {
    case hw_mode:
      return wave.mode;
    case hw_status:
      return static_cast<uint32_t>(wave.scc) | static_cast<uint32_t>(wave.exec() == 0) << 9 |
             static_cast<uint32_t>(wave.vcc() == 0) << 10;
    case hw_trapsts:
      return 0;
    case hw_id: {  // wave 3:0, SIMD 5:4, CU 11:8, SE 14:13
      const auto wave_index = static_cast<uint32_t>(wave.index);
      const auto compute_unit = static_cast<uint32_t>(group.linear_id / xcds % 32);
      return (wave_index / 4) | (wave_index % 4) << 4 | (compute_unit % 16) << 8 | (compute_unit / 16) << 13;
    }
    case hw_gpr_alloc:
      return 0;
    case hw_lds_alloc:
      return static_cast<uint32_t>(group.lds.size() / 4) << 12;
    case hw_ib_sts:
      return 0;
    case hw_xcc_id:
      return static_cast<uint32_t>(group.linear_id % xcds);
    default:
      raise_fault(wave, FaultKind::unsupported, fmt::format("hardware register {} is not simulated", id));
  }
}

uint32_t field_mask(const Modifiers& m) { return m.hwreg_bits >= 32 ? ~0u : ((1u << m.hwreg_bits) - 1); }

void getreg(Wave& wave, const Instruction& i) {
  const Modifiers& m = i.modifiers;
  set_scalar32(wave, i.operands[0], read_hardware_register(wave, m.hwreg_id) >> m.hwreg_offset & field_mask(m));
}

void set_hardware_register(Wave& wave, const Modifiers& m, uint32_t value) {
  if (m.hwreg_id == hw_mode) {
    const uint32_t mask = field_mask(m) << m.hwreg_offset;
    wave.mode = (wave.mode & ~mask) | (value << m.hwreg_offset & mask);
  } else if (m.hwreg_id != hw_trapsts) {
    raise_fault(wave, FaultKind::unsupported,
                fmt::format("writing hardware register {} is not simulated; MODE (1) is", m.hwreg_id));
  }
}

void setreg(Wave& wave, const Instruction& i) {
  set_hardware_register(wave, i.modifiers, scalar32(wave, i.operands[0]));
}
void setreg_imm(Wave& wave, const Instruction& i) { set_hardware_register(wave, i.modifiers, i.operands[1].value32); }

// --- VGPR indexing: M0[7:0] index, M0[15:12] which operands ---

void set_m0(Wave& wave, uint32_t mask, uint32_t value) { wave.sgpr[m0_index] = (wave.m0() & ~mask) | (value & mask); }
void gpr_idx_on(Wave& wave, const Instruction& i) {
  set_m0(wave, 0xf0ff, (scalar32(wave, i.operands[0]) & 0xff) | (i.operands[1].value32 & 15) << 12);
  wave.mode |= mode_bits::gpr_idx_en;
}
void gpr_idx_off(Wave& wave, const Instruction&) { wave.mode &= ~mode_bits::gpr_idx_en; }
void gpr_idx_idx(Wave& wave, const Instruction& i) { set_m0(wave, 0xff, scalar32(wave, i.operands[0])); }
void gpr_idx_mode(Wave& wave, const Instruction& i) { set_m0(wave, 0xf000, i.operands[0].value32 << 12); }

void setvskip(Wave& wave, const Instruction& i) {
  const bool skip = scalar32(wave, i.operands[0]) >> (scalar32(wave, i.operands[1]) & 31) & 1;
  wave.mode = (wave.mode & ~mode_bits::vskip) | (skip ? mode_bits::vskip : 0);
}

constexpr std::array rows{
    OpEntry{"s_cbranch_g_fork", fork_to_register},
    OpEntry{"s_cbranch_i_fork", fork_by_distance},
    OpEntry{"s_cbranch_join", join},
    OpEntry{"s_setvskip", setvskip},
    OpEntry{"s_branch", branch<[](const Wave&) { return true; }>},
    OpEntry{"s_cbranch_scc0", branch<[](const Wave& w) { return !w.scc; }>},
    OpEntry{"s_cbranch_scc1", branch<[](const Wave& w) { return w.scc; }>},
    OpEntry{"s_cbranch_vccz", branch<[](const Wave& w) { return w.vcc() == 0; }>},
    OpEntry{"s_cbranch_vccnz", branch<[](const Wave& w) { return w.vcc() != 0; }>},
    OpEntry{"s_cbranch_execz", branch<[](const Wave& w) { return w.exec() == 0; }>},
    OpEntry{"s_cbranch_execnz", branch<[](const Wave& w) { return w.exec() != 0; }>},
    OpEntry{"s_cbranch_cdbgsys", nothing},  // no debugger is attached
    OpEntry{"s_cbranch_cdbguser", nothing},
    OpEntry{"s_cbranch_cdbgsys_or_user", nothing},
    OpEntry{"s_cbranch_cdbgsys_and_user", nothing},
    OpEntry{"s_getpc_b64", getpc},
    OpEntry{"s_setpc_b64", setpc},
    OpEntry{"s_swappc_b64", swappc},
    OpEntry{"s_call_b64", call},
    OpEntry{"s_waitcnt", waitcnt},
    OpEntry{"s_barrier", barrier},
    OpEntry{"s_endpgm", endpgm},
    OpEntry{"s_endpgm_saved", endpgm},
    OpEntry{"s_sleep", sleep},
    OpEntry{"s_trap", trap},
    OpEntry{"s_nop", nothing},
    OpEntry{"s_setprio", nothing},
    OpEntry{"s_wakeup", nothing},
    OpEntry{"s_sethalt", nothing},
    OpEntry{"s_setkill", nothing},
    OpEntry{"s_icache_inv", nothing},
    OpEntry{"s_incperflevel", nothing},
    OpEntry{"s_decperflevel", nothing},
    OpEntry{"s_ttracedata", nothing},
    OpEntry{"s_sendmsg", nothing},
    OpEntry{"s_getreg_b32", getreg},
    OpEntry{"s_setreg_b32", setreg},
    OpEntry{"s_setreg_imm32_b32", setreg_imm},
    OpEntry{"s_set_gpr_idx_on", gpr_idx_on},
    OpEntry{"s_set_gpr_idx_off", gpr_idx_off},
    OpEntry{"s_set_gpr_idx_idx", gpr_idx_idx},
    OpEntry{"s_set_gpr_idx_mode", gpr_idx_mode},
};

}  // namespace

std::span<const OpEntry> control_ops() { return rows; }

std::span<const OpEntry> salu_ops() {
  static const std::vector<OpEntry> joined = [] {
    std::vector<OpEntry> all;
    for (const auto part : {scalar_arithmetic_ops(), scalar_unary_ops(), scalar_compare_ops(), control_ops()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return joined;
}

}  // namespace mlaforge::simulator
