// Where the lanes of a global, flat, scratch or buffer instruction point.
#pragma once

#include "simulator/exec/lanes_memory.h"

namespace mlaforge::simulator {

enum class Space : uint8_t { global, flat, scratch };

/// The address operands of a global, flat or scratch instruction: a vector (or off) and a scalar (or off).
struct AddressOperands {
  Space space;
  const Operand* vector;
  const Operand* scalar;  ///< null: none (flat)
};

Space space_of(const Instruction& instruction);

/// Fills op.address with host bytes for every lane of op.exec. `bytes` a lane, `alignment` 1: the plain rule.
void resolve_lanes(Wave& wave, PendingOp& op, const AddressOperands& operands, uint32_t bytes, bool write,
                   uint32_t alignment = 1);

/// The same for a buffer instruction, whose operands from `address_operand` on are vector address, resource, soffset.
/// Lanes out of range get null. True: the range check or the swizzle cuts some lane's access apart; then op.pieces
/// holds the addresses of every lane's dwords, and op.address nothing.
bool resolve_buffer(Wave& wave, PendingOp& op, size_t address_operand, uint32_t bytes, bool write,
                    uint32_t alignment = 1);

}  // namespace mlaforge::simulator
