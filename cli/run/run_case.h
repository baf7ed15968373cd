// One verified launch: inputs by seed, the config's kernel through the runtime, outputs against float64 and canaries.
#pragma once

#include <optional>
#include <string>

#include "cli/run/kernels.h"
#include "generator/result.h"
#include "reference/attention.h"
#include "reference/inputs.h"

namespace mlaforge::run {

struct RunCase {
  reference::InputSpec inputs = {};
  int splits = 0;               ///< 0: the runtime chooses
  int repeats = 1;              ///< launches, whose outputs must be the same bits
  std::string memory = "lazy";  ///< the simulator's: lazy, clobber, eager or random:SEED
  std::string checks = "none";  ///< the simulator's: none, all or a list
  bool store_lse = true;        ///< false: a null lse pointer
  KernelFilter filter = {};
  /// Under context parallelism: every rank, merged by LSE and compared with one rank's result too; else inputs.rank.
  bool all_ranks = true;
  std::optional<std::string> kernel_source = {};  ///< in the place of the emitted attention kernel
};

struct RunReport {
  std::string kernel, combine, device;
  bool simulated = false;
  bool loaded = false;    ///< the kernel compiled and is on the device
  bool compared = false;  ///< a launch came through, so that `comparison` says something
  int splits = 1;
  reference::Comparison comparison = {};          ///< of the ranks' merged outputs where all have run
  uint64_t fingerprint = 0;                       ///< of all bits that the first launches stored
  std::vector<reference::Comparison> ranks = {};  ///< then, of each rank's own
  /// comparison.passed, and no fault, no touched canary, no difference between repeats.
  bool passed = false;
  std::string failure = {};  ///< why not; empty when passed
  double setup_seconds = 0, compile_seconds = 0, run_seconds = 0, reference_seconds = 0;
};

/// Errors are bad input: no kernel for the case, an option that this device does not have, a pool that is too small.
/// What fails after that (a compiler, a fault, the comparison) is the report's failure.
Expected<RunReport> run_case(const HipApi& hip, Kernels& kernels, const RunCase& wanted);

}  // namespace mlaforge::run
