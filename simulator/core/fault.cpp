#include "simulator/core/fault.h"

#include <fmt/format.h>

#include "simulator/core/wave.h"
#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::unknown_instruction:
      return "unknown instruction";
    case FaultKind::unsupported:
      return "unsupported instruction form";
    case FaultKind::memory_bounds:
      return "memory access out of bounds";
    case FaultKind::misaligned:
      return "misaligned memory access";
    case FaultKind::use_after_free:
      return "use after free";
    case FaultKind::kernarg_bounds:
      return "read past the kernel arguments";
    case FaultKind::register_pending:
      return "register used before its wait";
    case FaultKind::register_bounds:
      return "register beyond the kernel's allocation";
    case FaultKind::lds_race:
      return "LDS race";
    case FaultKind::global_race:
      return "race between workgroups";
    case FaultKind::uninitialized:
      return "uninitialized data read";
    case FaultKind::wait_states:
      return "too few wait states";
    case FaultKind::exec_not_full:
      return "EXEC not full";
    case FaultKind::barrier_divergence:
      return "barrier not reached by all waves";
    case FaultKind::endless_loop:
      return "endless loop";
    case FaultKind::trap:
      return "trap";
    case FaultKind::bad_launch:
      return "impossible launch";
  }
  return "fault";
}

std::string format_fault(const Fault& fault) {
  std::string text = fmt::format("{}: {}\n  kernel {}", to_string(fault.kind), fault.message, fault.kernel);
  if (!fault.disassembly.empty()) text += fmt::format("\n  at 0x{:x}: {}", fault.pc, fault.disassembly);
  if (fault.wave >= 0) {
    text += fmt::format("\n  workgroup ({}, {}, {}), wave {}", fault.workgroup[0], fault.workgroup[1],
                        fault.workgroup[2], fault.wave);
    if (fault.lane >= 0) text += fmt::format(", lane {}", fault.lane);
  }
  return text;
}

void raise_fault(const Wave& wave, FaultKind kind, std::string message, int lane) {
  Fault fault;
  fault.kind = kind;
  fault.pc = wave.pc;
  fault.wave = wave.index;
  fault.lane = lane;
  fault.message = std::move(message);
  if (wave.current != nullptr) fault.disassembly = wave.current->text;
  if (wave.group != nullptr) {
    fault.workgroup = wave.group->id;
    fault.kernel = wave.group->launch->kernel.name;
  }
  throw FaultError(std::move(fault));
}

}  // namespace mlaforge::simulator
