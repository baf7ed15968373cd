// LDS DMA: global_load_lds_*, buffer_load_* ... lds.
#pragma once

#include "simulator/exec/lanes_memory.h"

namespace mlaforge::simulator {

/// A DMA of an element a lane, which below a dword is extended to one, with its LDS side filled in:
/// LDS address = M0[17:0] + instruction offset + lane * step, step 16 for 12 and 16 bytes, else 4 (gfx950 ISA 9.1.9).
/// The instruction's offset moves the memory address too; that is the caller's side.
PendingOp& prepare_dma(Wave& wave, const Instruction& instruction, Transfer transfer);

}  // namespace mlaforge::simulator
