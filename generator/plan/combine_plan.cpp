#include <fmt/format.h>

#include "generator/plan/kernel_plan.h"

namespace mlaforge {
namespace {

// A row with many splits is spread over four workgroups, so that even one token's rows fill many CUs.
int combine_parts(int splits) { return splits > 32 ? 8 : splits > 8 ? 4 : 1; }

// Enough waves that a lane asks for at most eight partials: fewer a lane, and more waves to merge, are slower by the
// cycle model. A thread of the last step has one latent, so there are threads for all.
int combine_waves(int splits, int parts) {
  if (parts == 1) return 1;
  int waves = 2;
  while (waves < 16 && splits > 4 * waves * parts) waves *= 2;
  return waves;
}

}  // namespace

CombinePlan make_combine_plan(int splits, const std::string& partial_dtype, const std::string& target) {
  constexpr int kLanes = 64, kLatents = 512;
  CombinePlan plan;
  plan.name = fmt::format("mla_combine_{}p_s{}__{}", partial_dtype, splits, target);
  plan.target = target;
  plan.partial_dtype = partial_dtype;
  plan.splits = splits;
  plan.parts = combine_parts(splits);
  plan.waves = combine_waves(splits, plan.parts);
  plan.threads = plan.waves * kLanes;
  const int splits_a_step = plan.waves * plan.parts;
  plan.steps = (splits + splits_a_step - 1) / splits_a_step;
  plan.lds_bytes = plan.waves == 1 ? 0 : plan.waves * kLatents / plan.parts * 4;
  return plan;
}

}  // namespace mlaforge
