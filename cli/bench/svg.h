// Pictures of predictions: one pass of a kernel's main loop, wave by wave, and a sweep's roofline.
#pragma once

#include <span>
#include <string>

#include "cli/bench/bench_case.h"

namespace mlaforge::bench {

/// The waves of the first workgroup from one pass of the main loop to the next, in the middle of the run; a kernel
/// without such a loop is shown whole. `trace` is BenchReport::trace.
std::string timeline_svg(const BenchReport& report);

/// Two panels: useful FLOP a second over useful FLOP a byte of cache, below the roofs of the HBM and of the matrix
/// units; and the cache's TB/s over its bytes, a line each batch. At least one report.
std::string roofline_svg(std::span<const BenchReport> reports);

}  // namespace mlaforge::bench
