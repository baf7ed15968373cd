// `mlaforge check --simulate`: every kernel of a config, or of a folder of its sources, on the simulator under all
// checks.
#pragma once

#include <string>
#include <vector>

#include "cli/run/run_case.h"

namespace mlaforge::cli {

struct SimulatedKernel {
  std::string kernel;
  run::RunReport report;
};

/// One small launch a kernel, its requests of no token, one, and some blocks a split. `sources`: a folder with a source
/// a kernel, or empty for those that the config gives. Errors: no simulator, a kernel that cannot be launched at all.
Expected<std::vector<SimulatedKernel>> simulate_kernels(const DeploymentPlan& plan, const std::string& sources);

}  // namespace mlaforge::cli
