// Which operands of an instruction are results and which are read, and the registers that it uses without naming them.
#pragma once

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

Roles roles_of(const Instruction& instruction);

}  // namespace mlaforge::simulator
