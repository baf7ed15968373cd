// A whole launch: which workgroups are recorded and replayed, and what the replay says of all of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/timing/machine.h"
#include "simulator/timing/parameters.h"

namespace mlaforge::simulator::timing {

/// The workgroups of XCD 0 that stand for the launch. XCD 0 has the most of all; the others do the same at the same
/// time.
struct Cohort {
  uint64_t grid = 0;
  uint32_t workgroups_per_cu = 1;
  uint32_t xcds = 8;        ///< that have workgroups
  uint32_t active_cus = 1;  ///< of XCD 0, in its first round
  uint32_t cus = 1;         ///< replayed
  uint64_t rounds = 1;      ///< whole rounds of workgroups over XCD 0's CUs
  uint64_t replayed_rounds = 1;
  std::vector<uint64_t> ids;       ///< ascending, as they are dispatched
  std::vector<size_t> round_ends;  ///< ids before the end of each replayed round; the tail follows
  bool whole() const { return cus == active_cus && replayed_rounds == rounds; }
};

/// `steps` is what a workgroup executes, in wave instructions; `budget` how many the replay may have in all.
Cohort choose_cohort(const Parameters& parameters, uint64_t grid, uint32_t workgroups_per_cu, uint64_t steps,
                     uint64_t budget);

/// Workgroups that fit a CU by LDS, registers and wave slots; at least 1.
uint32_t workgroups_per_cu(const Parameters& parameters, const KernelStream& stream);

/// Times in microseconds by what would bind alone.
struct Bounds {
  double hbm = 0;
  double l2 = 0;
  double cu_path = 0;  ///< the CU's way to L2
  double lds = 0;
  double mfma = 0;
  double valu = 0;
  double issue = 0;  ///< the longest wave, an instruction a pass
};

/// Means over one pass of the main loop of the watched wave's CU, in clocks.
struct SteadyLoop {
  double passes = 0;  ///< that the means are over
  double clocks = 0;
  double hbm_clk = 0;  ///< the CU's bytes from HBM at its share of the bandwidth
  double path_clk = 0;
  double lds_clk = 0;
  double lds_conflict_clk = 0;
  double mfma_clk = 0;  ///< of the busiest SIMD
  double valu_clk = 0;
  double issue_clk = 0;  ///< instructions of a wave x 4
  double dma_bytes = 0;
  CauseTimes causes{};  ///< clocks of a wave
};

/// An LDS instruction whose lanes meet in banks.
struct Conflict {
  std::string instruction;
  double lost = 0;    ///< its part of all clocks lost to conflicts
  double degree = 0;  ///< clocks over those without conflicts, at worst
};

struct LaunchTiming {
  std::string kernel;
  Cohort cohort;
  uint64_t instructions = 0;   ///< recorded
  std::array<double, 3> us{};  ///< at fast, nominal, slow
  double nominal_clocks = 0;
  Bounds bounds;         ///< nominal
  double hbm_bytes = 0;  ///< of the launch
  double lds_conflict_share = 0;
  std::vector<Conflict> conflicts;  ///< the worst
  CauseTimes causes{};              ///< shares of all wave time, nominal
  std::optional<SteadyLoop> loop;
  std::vector<AddressRange> written;
  std::vector<TraceEvent> trace;    ///< of the first CU, nominal
  std::vector<double> pass_clocks;  ///< when the watched wave came by the head of its main loop
  std::vector<std::string> instructions_text;
  std::vector<uint64_t> instructions_pc;
};

struct GridOptions {
  uint64_t budget = 6'000'000;  ///< wave instructions a replay
  bool trace = false;
  bool ranges = true;                ///< false: the nominal evaluation only, which stands for all three
  std::vector<AddressRange> recent;  ///< written by the launch before
};

struct TimingResult {
  std::optional<Fault> fault;
  LaunchTiming timing;
};

TimingResult time_launch(const DeviceFile& device, const KernelCode& kernel, const LaunchConfig& config,
                         GlobalMemory& memory, const GridOptions& options);

}  // namespace mlaforge::simulator::timing
