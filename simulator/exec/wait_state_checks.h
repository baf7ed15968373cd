// Checks::wait_states: registers used in fewer wait states than the chip needs and does not insert itself.
//
// Wait states are counted as LLVM's hazard recognizer counts them: every instruction is one, s_nop N is N + 1. What an
// instruction needs behind another is in wait_states.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "simulator/core/wave.h"
#include "simulator/exec/wait_states.h"

namespace mlaforge::simulator {

class WaitStateChecks {
 public:
  /// At the wave's start.
  void start();
  /// Before an instruction is executed; raises wait_states.
  void check(const Wave& wave, const Instruction& instruction);

 private:
  /// When a register was written last, and by whom: 0 is long ago.
  struct VectorTimes {
    uint64_t any = 0;
    uint64_t valu = 0;  ///< but for dot products
    uint64_t transcendental = 0;
    uint64_t part = 0;
    uint64_t dot = 0;
    uint64_t matrix = 0;
    uint64_t addend = 0;  ///< read as one by `addend_reader`
    wait_states::MatrixWriter matrix_writer{};
    wait_states::MatrixWriter addend_reader{};
    const Instruction* writer = nullptr;
    const Instruction* reader = nullptr;
  };
  struct ScalarTimes {
    uint64_t valu = 0;
    uint64_t salu = 0;
    const Instruction* writer = nullptr;
  };
  struct WideStore {
    uint64_t time = 0;
    uint16_t first = 0;
    uint16_t count = 0;
    const Instruction* store = nullptr;
  };

  void check_vector_read(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number) const;
  void check_matrix_result(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number,
                           unsigned row) const;
  void check_vector_write(const Wave& wave, const Instruction& instruction, const Operand& op) const;
  void check_scalar_read(const Wave& wave, const Instruction& instruction, const Operand& op, size_t number) const;
  void check_implicit(const Wave& wave, const Instruction& instruction) const;
  void note_vector_write(const Instruction& instruction, const Operand& op);
  void note(const Instruction& instruction);
  void need(const Wave& wave, const Instruction* first, uint64_t since, unsigned states, unsigned row,
            std::string_view what) const;
  void need(const Wave& wave, const Instruction* first, uint64_t since, unsigned states, std::string_view what) const;

  uint64_t now_ = 0;
  std::array<VectorTimes, vgpr_rows> vector_{};
  std::array<ScalarTimes, 128> scalar_{};
  std::array<ScalarTimes, 64> hardware_{};  ///< s_setreg, by register
  std::array<WideStore, 2> stores_{};       ///< the newest last: older ones are long ago
  uint64_t f64_matrix_ = 0;
  const Instruction* f64_matrix_by_ = nullptr;
};

}  // namespace mlaforge::simulator
