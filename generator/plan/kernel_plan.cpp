#include "generator/plan/kernel_plan.h"

#include <limits>

#include "generator/plan/gfx950/attention_plan.h"
#include "generator/variants/variant.h"

namespace mlaforge {

int auto_head_groups(int heads, int qlen) {
  constexpr int kTileRows = 16;
  for (int groups = 1; groups < heads; ++groups)
    if ((heads + groups - 1) / groups * qlen <= kTileRows) return groups;
  return heads;
}

mlaforge_pipeline choose_pipeline(const Variant& variant) {
  const auto clocks = [&](mlaforge_pipeline pipeline) {
    Variant v = variant;
    v.pipeline = pipeline;
    const PlanResult plan = make_plan(v);
    const auto* planned = std::get_if<KernelPlan>(&plan);
    return planned != nullptr ? planned->predicted_block_clocks : std::numeric_limits<int>::max();
  };
  return clocks(MLAFORGE_WARP_SPECIALIZED) < clocks(MLAFORGE_UNIFORM) ? MLAFORGE_WARP_SPECIALIZED : MLAFORGE_UNIFORM;
}

PlanResult make_plan(const Variant& variant) {
  if (variant.target == "gfx950") return gfx950::make_attention_plan(variant);
  return PlanRefusal{.field = "target",
                     .value = variant.target,
                     .allowed = "gfx950",
                     .reason = "there is no plan for this target",
                     .nearest = "gfx950"};
}

}  // namespace mlaforge
