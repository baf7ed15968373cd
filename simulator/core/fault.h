// What stops a launch: one structured report, carried by one exception type from the handlers to run_kernel.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace mlaforge::simulator {

enum class FaultKind {
  unknown_instruction,  ///< no handler for the mnemonic, or bytes that are no instruction
  unsupported,          ///< known, but a form of it that is refused
  memory_bounds,        ///< bytes outside any live allocation, or outside the LDS or scratch of the wave
  misaligned,           ///< an address that the instruction's alignment rule forbids
  use_after_free,       ///< bytes of an allocation that was freed
  kernarg_bounds,       ///< a read past the kernel arguments that the host gave
  register_pending,     ///< a register used before the wait that its load needs
  register_bounds,      ///< a register beyond what the kernel's descriptor allocates
  lds_race,             ///< two waves touch an LDS byte, one writes, no barrier between
  global_race,          ///< two workgroups touch a byte of memory, one writes
  uninitialized,        ///< a byte or register never written is read
  wait_states,          ///< a register used in too few wait states behind its writer
  exec_not_full,        ///< a transpose read or LDS DMA with lanes off
  barrier_divergence,   ///< waves wait at a barrier that others can never reach
  endless_loop,         ///< the bound on instructions of a wave was exceeded
  trap,                 ///< s_trap
  bad_launch,           ///< the launch itself is impossible (grid of 0, LDS over the limit)
};

std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind{};
  std::string kernel;
  uint64_t pc = 0;  ///< device address of the instruction
  std::string disassembly;
  std::array<uint32_t, 3> workgroup{};
  int wave = -1;  ///< index in the workgroup; -1: not a wave's
  int lane = -1;  ///< -1: not one lane's
  std::string message;
};

/// One paragraph for people: kind, kernel, address, disassembly, workgroup, wave, lane, message.
std::string format_fault(const Fault& fault);

class FaultError : public std::exception {
 public:
  explicit FaultError(Fault fault) : fault_(std::move(fault)) {}
  const Fault& fault() const { return fault_; }
  const char* what() const noexcept override { return fault_.message.c_str(); }

 private:
  Fault fault_;
};

}  // namespace mlaforge::simulator
