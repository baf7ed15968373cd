// Timing on a GPU: events around a launch, caches flushed before each.
#pragma once

#include <functional>

#include "cli/bench/bench_case.h"

namespace mlaforge::bench {

/// Median of `repeats` launches after `warmups`, with the 10th and the 90th percentile as low and high. `launch` puts
/// one step on the null stream. Before each a buffer larger than the Infinity Cache is overwritten.
Expected<Range> measure(const HipApi& hip, const std::function<Status()>& launch, int warmups = 20, int repeats = 50);

}  // namespace mlaforge::bench
