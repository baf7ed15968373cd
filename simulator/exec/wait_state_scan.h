// The wait-state check without execution: instructions in the order of the code, branches not taken.
#pragma once

#include <span>
#include <string>

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

/// The message of the first use of a register in too few wait states, or "".
std::string scan_wait_states(std::span<const Instruction* const> code);

}  // namespace mlaforge::simulator
