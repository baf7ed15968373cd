// One decode step of a given shape, launched through the runtime and timed: by the simulator's cycle model, or by
// events on a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/run/kernels.h"
#include "generator/result.h"

namespace mlaforge::bench {

struct BenchCase {
  int batch = 1;
  int context = 4096;  ///< KV tokens of every request
  int qlen = 1;
  int splits = 0;  ///< 0: the runtime chooses
  int page_size = 1;
  uint64_t seed = 1;  ///< of the page table's shuffle
};

/// In microseconds, low where the chip is at the fast end of everything that is not known about it.
struct Range {
  double low = 0, nominal = 0, high = 0;
  Range operator+(const Range& other) const { return {low + other.low, nominal + other.nominal, high + other.high}; }
};

struct BenchReport {
  BenchCase wanted;
  std::string kernel, combine, device;
  std::string chosen_by = "name";  ///< what chose the kernel: name, splits, cost_model, predicted or measured tuning
  int heads = 1;
  int splits = 1;
  int head_groups = 1;
  int block_tokens = 128;
  bool predicted = true;
  Range total_us, attention_us, combine_us, launch_us, gap_us;
  double kv_bytes = 0;
  double kv_tb_s = 0;           ///< of the whole step, nominal
  double attainable_share = 0;  ///< least time that the cache's bytes take at the attainable bandwidth / total
  std::map<std::string, double> bounds_us;  ///< of the attention kernel, nominal
  std::string binding;       ///< the largest bound; "latency" where it is less than half of the attention kernel's time
  int replayed_context = 0;  ///< the longest that was replayed; the rest is extrapolated
  nlohmann::json attention, combine_detail;  ///< the simulator's own reports
  std::string trace;                         ///< for Perfetto; when asked for
};

struct BenchOptions {
  bool trace = false;
  bool full = false;   ///< replay every block of every workgroup of an XCD, whatever it takes
  bool ranges = true;  ///< false: predict the nominal time only, which then stands for low and high too
  bool measure = false;  ///< by events on the simulator too, where they time the host
  int warmups = 20;      ///< launches before those that are measured
  int repeats = 50;
};

/// The kernel that the runtime chooses for a shape. Predicts on the simulator, measures on a GPU (total only). Errors:
/// no kernel for the shape, a compiler, a fault.
Expected<BenchReport> bench(const HipApi& hip, run::Kernels& kernels, const BenchCase& wanted,
                            const BenchOptions& options);

/// A given kernel, of the config or not; wanted.splits and wanted.page_size are the kernel's.
Expected<BenchReport> bench_kernel(const HipApi& hip, run::Kernels& kernels, const PlannedKernel& kernel,
                                   const BenchCase& wanted, const BenchOptions& options);

nlohmann::json to_json(const BenchReport& report);

}  // namespace mlaforge::bench
