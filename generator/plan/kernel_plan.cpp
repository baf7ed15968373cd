#include "generator/plan/kernel_plan.h"

#include "generator/plan/gfx950/attention_plan.h"
#include "generator/variants/variant.h"

namespace mlaforge {

int auto_head_groups(int heads, int qlen) {
  constexpr int kTileRows = 16;
  for (int groups = 1; groups < heads; ++groups)
    if ((heads + groups - 1) / groups * qlen <= kTileRows) return groups;
  return heads;
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
