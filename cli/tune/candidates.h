// Which kernels are tried at a point: those of the config, and others that a plan allows, as far as the runtime's cost
// model leaves them in question.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "cli/tune/points.h"

namespace mlaforge::tune {

/// Of the kernels that are alike but for their split count, the `keep` best by the runtime's cost model, best first, as
/// far as it gives them about the best's time; 0 keeps all.
std::vector<const PlannedKernel*> prune(std::span<const PlannedKernel* const> kernels, const Point& point, size_t keep);

/// Kernels that no config asked for, planned when they are first needed. Pointers stay valid.
class Explored {
 public:
  /// Of the point's key: every count of row tiles that a plan allows with the fewest head groups for it, blocks of 64
  /// and 128 tokens, both pipelines, powers of two of splits and those counts that fill the chip's compute units; the
  /// other fields are `like`'s. Kernels of `known` are left out.
  std::vector<const PlannedKernel*> kernels(const Point& point, const Variant& like,
                                            std::span<const PlannedKernel* const> known);

 private:
  std::map<Variant, std::optional<PlannedKernel>> planned_;  ///< nothing where the plan refuses
};

}  // namespace mlaforge::tune
