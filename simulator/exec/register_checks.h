// Checks::uninitialized for registers; passes instructions on to Checks::wait_states.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "simulator/core/wave.h"
#include "simulator/exec/wait_state_checks.h"

namespace mlaforge::simulator {

struct Checks;

class RegisterChecks {
 public:
  /// At the wave's start: what is written then is what the descriptor asks for.
  void start(const Wave& wave, const Checks& checks, unsigned first_sgprs);
  /// Before an instruction is executed; raises uninitialized or wait_states.
  void check(const Wave& wave, const Instruction& instruction);

 private:
  void check_uninitialized(const Wave& wave, const Instruction& instruction);
  void check_written(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number) const;
  void carry(const Wave& wave, const Instruction& instruction);
  void note_written(const Wave& wave, const Instruction& instruction, const Operand& op);

  bool uninitialized_ = false;
  bool wait_states_ = false;
  std::array<uint64_t, vgpr_rows> written_lanes_{};
  std::bitset<128> written_sgprs_;
  WaitStateChecks times_;
};

}  // namespace mlaforge::simulator
