// How long matrix instructions take: what hazards and the timing mode go by.
#pragma once

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

/// Passes of 4 clocks (ISA, table of MFMA passes), by name and by the formats of its operands.
int matrix_passes(const Instruction& instruction);

}  // namespace mlaforge::simulator
