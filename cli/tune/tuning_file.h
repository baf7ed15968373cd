// The tuning data that the runtime reads: the best kernel of each point, with its time.
#pragma once

#include <span>
#include <string>

#include "cli/tune/tune.h"

namespace mlaforge::tune {

/// What the times stand on.
struct Origin {
  bool predicted = true;
  std::string target;  ///< "gfx950"
  std::string device;  ///< "MI355X"
  int compute_units = 256;
  std::string toolchain;  ///< "clang 22.1.8"
};

/// "clang 22.1.8" of the first line of a compiler's `--version`; the whole line where it names no version of clang.
std::string toolchain_of(const std::string& version_line);

/// Version 1 of the format (docs/runtime.md), a row a line, in the order of the points; times in steps of 10 ns. The
/// same points give the same bytes.
std::string tuning_text(const Origin& origin, std::span<const TunedPoint> points);

}  // namespace mlaforge::tune
