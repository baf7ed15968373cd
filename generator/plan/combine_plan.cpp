#include <fmt/format.h>

#include "generator/plan/kernel_plan.h"

namespace mlaforge {
namespace {

// Waves of a row's workgroup: so many that a wave asks for at most 16 partials at once, and powers of two so that a
// split's place in its lane's registers is a constant.
int combine_waves(int splits) {
  int waves = 1;
  while (waves < 16 && splits > 4 * waves) waves *= 2;
  return waves;
}

}  // namespace

CombinePlan make_combine_plan(int splits, const std::string& partial_dtype, const std::string& target) {
  constexpr int kLanes = 64, kLatentsPerLane = 8;
  CombinePlan plan;
  plan.name = fmt::format("mla_combine_{}p_s{}__{}", partial_dtype, splits, target);
  plan.target = target;
  plan.partial_dtype = partial_dtype;
  plan.splits = splits;
  plan.waves = combine_waves(splits);
  plan.threads = plan.waves * kLanes;
  plan.splits_per_wave = (splits + plan.waves - 1) / plan.waves;
  plan.lds_bytes = (plan.waves - 1) * kLanes * kLatentsPerLane * 4;
  return plan;
}

}  // namespace mlaforge
