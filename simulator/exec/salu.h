// Shapes of scalar instructions: a plain function of the sources becomes a handler.
#pragma once

#include "simulator/core/ops.h"
#include "simulator/core/wave.h"

namespace mlaforge::simulator {

std::span<const OpEntry> scalar_arithmetic_ops();  // SOP2, SOPK
std::span<const OpEntry> scalar_unary_ops();       // SOP1
std::span<const OpEntry> scalar_compare_ops();     // SOPC, SOPK compares
std::span<const OpEntry> control_ops();            // SOPP, branches, hardware registers

/// Reads a scalar source, or writes a scalar destination, of the width of T.
template <typename T>
T read_scalar(const Wave& wave, const Operand& op) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(scalar64(wave, op));
  } else {
    return static_cast<T>(scalar32(wave, op));
  }
}

template <typename T>
void write_scalar(Wave& wave, const Operand& op, T value) {
  if constexpr (sizeof(T) == 8) {
    set_scalar64(wave, op, static_cast<uint64_t>(value));
  } else {
    set_scalar32(wave, op, static_cast<uint32_t>(value));
  }
}

/// d = F(a, b, scc); F writes scc where the instruction does.
template <typename D, typename A, typename B, auto F>
void scalar_binary(Wave& wave, const Instruction& i) {
  bool scc = wave.scc;
  const D result = F(read_scalar<A>(wave, i.operands[1]), read_scalar<B>(wave, i.operands[2]), scc);
  write_scalar<D>(wave, i.operands[0], result);
  wave.scc = scc;
}

template <typename D, typename A, auto F>
void scalar_unary(Wave& wave, const Instruction& i) {
  bool scc = wave.scc;
  const D result = F(read_scalar<A>(wave, i.operands[1]), scc);
  write_scalar<D>(wave, i.operands[0], result);
  wave.scc = scc;
}

template <typename T, auto F>
void scalar_compare(Wave& wave, const Instruction& i) {
  wave.scc = F(read_scalar<T>(wave, i.operands[0]), read_scalar<T>(wave, i.operands[1]));
}

}  // namespace mlaforge::simulator
