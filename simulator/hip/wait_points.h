// What `mlaforge mutate` asks of the simulator: where a code object's waits and barriers are, and what a weakened one
// let through (see simulator/exec/wait_watch.h).
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "simulator/exec/wait_watch.h"

namespace mlaforge::simulator {

/// "KERNEL:OFFSET:VMCNT:LGKMCNT" in decimal; nullopt: not of that form.
std::optional<WatchedWait> parse_watched_wait(std::string_view text);

}  // namespace mlaforge::simulator
