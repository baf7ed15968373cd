// A selection of kernels and launches in which every two values of any two parameters meet at least once.
#pragma once

#include <string>
#include <vector>

#include "generator/variants/variant.h"

namespace mlaforge::test {

/// One member of the selection: a kernel that can be planned, and the launch that it is tried with.
struct Combination {
  Variant variant;
  std::string input;
  bool dense_table = false;
  bool scales = false;  ///< q_scale, k_scale and v_scale are given
};

struct Covering {
  std::vector<Combination> combinations;
  /// Pairs that no kernel has, "pipeline 1, block_tokens 0" by index: what the plan refuses, and too large launches.
  std::vector<std::string> impossible;
};

/// At least `least` combinations, always the same ones. A launch has at most `most_workgroups` a request, ranks
/// together.
Covering make_covering(size_t least, int64_t most_workgroups);

/// Every head count x query length x head grouping x (pipeline, block) that the plan takes, the other parameters drawn.
std::vector<Combination> make_sweep(int64_t most_workgroups);

std::string describe(const Combination& combination);

}  // namespace mlaforge::test
