// The options of the simulated device (see mlaforge_simulator.h) as data, and how their texts are read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "simulator/core/launch.h"
#include "simulator/exec/wait_watch.h"

namespace mlaforge::simulator {

struct SimulatorOptions {
  MemoryMode memory = MemoryMode::lazy;
  uint64_t seed = 0;
  Checks checks{};
  unsigned threads = 0;
  int devices = 1;
  uint64_t instruction_limit = LaunchConfig{}.max_wave_instructions;
  bool poison = false;
  bool reports = false;
  int hip_abi = 6;
  bool timing = false;
  bool timing_trace = false;
  bool timing_ranges = true;
  uint64_t timing_budget = 6'000'000;
  std::shared_ptr<WaitWatch> watch = {};  // null: nothing is watched
};

// Empty if the option is set, else what is wrong and what is allowed.
std::string set_option(SimulatorOptions& options, std::string_view key, std::string_view value);

// Applies MLAFORGE_SIM_*. Empty, or the first problem, which names the variable.
std::string apply_environment(SimulatorOptions& options);

}  // namespace mlaforge::simulator
