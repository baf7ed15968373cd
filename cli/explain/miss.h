// What a miss says to people: why, what is near, and a config that makes the kernel, or why none can.
#pragma once

#include <span>
#include <string>

#include "mlaforge/mlaforge.h"

namespace mlaforge::explain {

/// The runtime's words; the config in them has been planned, and where it is refused the refusal stands in its place.
/// `more_fields` as explain_miss has them.
std::string miss_text(std::span<const mlaforge_kernel_row> rows, const mlaforge_problem& problem,
                      const std::string& more_fields = {});

}  // namespace mlaforge::explain
