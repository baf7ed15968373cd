// The case that runs exactly one kernel of a config.
#pragma once

#include <vector>

#include "cli/run/run_case.h"

namespace mlaforge::run {

/// A request for each of `contexts` (tokens of all ranks together), the rest as the kernel's key has it; a wide kernel
/// gets a sparse pool that 32-bit offsets do not reach.
RunCase case_of(const PlannedKernel& kernel, const DeploymentConfig& config, std::vector<int> contexts);

}  // namespace mlaforge::run
