// The best kernel of each point: the candidates timed as `mlaforge bench` times them, and what was left out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/tune/candidates.h"

namespace mlaforge::tune {

struct Tried {
  const PlannedKernel* kernel = nullptr;
  double us = 0;  ///< nominal prediction, or median
};

/// A kernel that the config does not ask for, faster at a point than all that it does.
struct Proposal {
  Variant variant;
  double us = 0;  ///< nominal prediction, or median
};

struct TunedPoint {
  Point point = {};
  const PlannedKernel* kernel = nullptr;  ///< the fastest of the config's
  bench::Range us = {};                   ///< its whole step, combine included; measured: the median three times
  std::vector<Tried> tried = {};
  size_t left_out = 0;           ///< kernels of the config that the cost model ruled out
  size_t left_out_by_twins = 0;  ///< those that were slow with other pages or offsets
  std::optional<Proposal> proposal = {};
};

struct TuneOptions {
  size_t keep = 3;       ///< split counts tried of kernels that are alike otherwise; 0: all
  bool explore = false;  ///< try kernels that the config does not ask for
  /// What a kernel's predicted time may be at most, of the best's, for its twins to be tried, too.
  double twin_worth = 1.01;
  /// What a proposal's time must be at most, of the best of the config's: less is within the model's error.
  double worth = 0.98;
};

/// `kernels` are those of the config. `known` are points that have been tuned: where one of the same shape differs in
/// the key's page size and offsets alone, predictions are of its best kernels' twins only, and their range is that
/// point's, scaled. Errors: a compiler, a launch.
Expected<TunedPoint> tune_point(const HipApi& hip, run::Kernels& loader, std::span<const PlannedKernel> kernels,
                                Explored& explored, const Point& point, std::span<const TunedPoint> known,
                                const TuneOptions& options);

/// What to add to a config's `kernels` so that it has the proposals of all points.
struct ConfigRow {
  nlohmann::json entry;
  size_t points = 0;      ///< that gain
  double best_share = 1;  ///< its time over the config's, at the point that gains most
};

std::vector<ConfigRow> rows_to_add(std::span<const TunedPoint> points);

}  // namespace mlaforge::tune
