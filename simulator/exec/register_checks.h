// Checks::uninitialized for registers, and Checks::wait_states.
//
// Wait states are counted as LLVM's hazard recognizer counts them: every instruction is one, s_nop N is N + 1. What an
// instruction needs behind another is in wait_states.h.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "simulator/core/wave.h"

namespace mlaforge::simulator {

struct Checks;

/// Who wrote a register last, of each kind that has a rule, and when: the count of wait states behind it.
struct WriteTimes {
  uint64_t valu = 0;
  uint64_t transcendental = 0;
  uint64_t part = 0;  ///< by a result that keeps a part of the register
  uint64_t matrix = 0;
  uint64_t matrix_addend = 0;  ///< read as SrcC
  uint8_t matrix_passes = 0;
  uint8_t addend_passes = 0;
  bool xdl = false;           ///< the matrix instruction was no f32 one
  uint16_t matrix_first = 0;  ///< its first result register
  const Instruction* writer = nullptr;
  const Instruction* matrix_writer = nullptr;
};

class RegisterChecks {
 public:
  /// At the wave's start: what is written then is what the descriptor asks for.
  void start(const Wave& wave, const Checks& checks, unsigned first_sgprs);
  /// Before an instruction is executed; raises uninitialized or wait_states.
  void check(const Wave& wave, const Instruction& instruction);

 private:
  void check_written(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number) const;
  void carry(const Wave& wave, const Instruction& instruction);
  void note_written(const Wave& wave, const Instruction& instruction, const Operand& op);
  void check_vector_read(const Wave& wave, const Instruction& instruction, const Operand& op, bool addend) const;
  void check_vector_write(const Wave& wave, const Instruction& instruction, const Operand& op) const;
  void check_scalar_read(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number) const;
  void check_implicit(const Wave& wave, const Instruction& instruction) const;
  void note_times(const Instruction& instruction);
  void need(const Wave& wave, const Instruction* writer, uint64_t since, unsigned states, std::string_view what) const;

  bool uninitialized_ = false;
  bool wait_states_ = false;
  std::array<uint64_t, vgpr_rows> written_lanes_{};
  std::bitset<128> written_sgprs_;
  uint64_t now_ = 0;
  std::array<WriteTimes, vgpr_rows> vector_{};
  struct ScalarTimes {
    uint64_t valu = 0;
    uint64_t salu = 0;
    const Instruction* writer = nullptr;
  };
  std::array<ScalarTimes, 128> scalar_{};
  uint64_t wide_store_ = 0;
  uint16_t wide_store_first_ = 0;
  uint16_t wide_store_count_ = 0;
  const Instruction* wide_store_by_ = nullptr;
};

}  // namespace mlaforge::simulator
