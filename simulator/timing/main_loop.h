// The loop in which a wave spends most of its instructions, and means over its steady passes.
#pragma once

#include <optional>

#include "simulator/timing/grid.h"

namespace mlaforge::simulator::timing {

/// The instruction at the head of that loop, as the wave ran it; ~0u: it has none of at least four passes.
uint32_t find_main_loop(const KernelStream& stream, const WaveStream& wave);

/// Means over the middle of the passes; nothing with fewer than five.
std::optional<SteadyLoop> steady_loop(const Parameters& parameters, const MachineResult& result,
                                      const MachineInput& input);

}  // namespace mlaforge::simulator::timing
