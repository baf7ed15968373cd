// Runs chosen workgroups functionally and writes down what their waves did.
#pragma once

#include <optional>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/timing/stream.h"

namespace mlaforge::simulator::timing {

struct Recording {
  std::optional<Fault> fault;
  KernelStream stream;
};

/// Runs the workgroups of `ids` (ascending, of the launch's grid) with `config`'s modes. The streams are the same
/// whatever the number of host threads.
Recording record(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory, std::vector<uint64_t> ids);

}  // namespace mlaforge::simulator::timing
