// Data-parallel primitives: where each lane of source 0 comes from (ISA 'DPP', gfx9 forms).
#pragma once

#include <cstdint>

#include "simulator/core/instruction.h"
#include "simulator/core/wave.h"

namespace mlaforge::simulator {

// Lane that lane `lane` reads, or -1 where the pattern has none.
int dpp_source_lane(const Modifiers& modifiers, int lane);

// out[lane] = in[source lane]; 0 where there is none or it is inactive. `out` may not alias `in`, except when equal
// to it it is copied first.
void dpp_move(const Wave& wave, const Modifiers& modifiers, const uint32_t* in, Row& out);

// Lanes that row_mask, bank_mask and bound_ctrl leave to be written (EXEC not applied).
uint64_t dpp_write_mask(const Wave& wave, const Modifiers& modifiers);

}  // namespace mlaforge::simulator
