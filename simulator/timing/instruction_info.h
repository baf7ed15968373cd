// A decoded instruction as the timing model sees it.
#pragma once

#include "simulator/core/instruction.h"
#include "simulator/exec/matrix_passes.h"
#include "simulator/timing/stream.h"

namespace mlaforge::simulator::timing {

/// Never fails: an instruction that it has no rule for is a plain one of its unit.
InstructionInfo describe(const Instruction& instruction);

}  // namespace mlaforge::simulator::timing
