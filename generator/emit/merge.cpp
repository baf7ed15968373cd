// Several deployments' kernels as one set.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "generator/emit/emit.h"
#include "generator/variants/enumerate.h"

namespace mlaforge {
namespace {

/// Every pair of places that ask for one kernel, once a pair.
Diagnostics find_shared(const std::vector<PlacedPlan>& plans) {
  std::map<Variant, const PlacedPlan*> owners;
  std::set<std::pair<std::string, std::string>> reported;
  Diagnostics errors;
  for (const PlacedPlan& plan : plans) {
    for (const PlannedKernel& kernel : plan.plan.kernels) {
      const auto [owner, is_new] = owners.emplace(kernel.variant, &plan);
      if (is_new) continue;
      const PlacedPlan& other = *owner->second;
      const std::string first = other.place + "#" + place_of(other.plan.config, kernel.variant);
      const std::string second = plan.place + "#" + place_of(plan.plan.config, kernel.variant);
      if (!reported.emplace(first, second).second) continue;
      errors.push_back({.where = second,
                        .problem = fmt::format("asks again for a kernel of {}", first),
                        .value = kernel.plan.name,
                        .allowed = "each kernel once in a set",
                        .nearest = fmt::format("remove one of {} and {}", first, second)});
    }
  }
  return errors;
}

}  // namespace

Expected<DeploymentPlan> merge_plans(const std::vector<PlacedPlan>& plans, const std::string& name) {
  DeploymentPlan merged{.config = {.name = name, .target = plans.front().plan.config.target, .kernels = {}}};
  for (const PlacedPlan& plan : plans) {
    if (plan.plan.config.target == merged.config.target) continue;
    return Diagnostic{.where = plan.place + "#/target",
                      .problem = fmt::format("is not the target of {}", plans.front().place),
                      .value = plan.plan.config.target,
                      .allowed = "one target a kernel set",
                      .nearest = merged.config.target};
  }
  if (Diagnostics shared = find_shared(plans); !shared.empty()) return shared;
  std::set<std::string> combine_names;
  for (const PlacedPlan& plan : plans) {
    merged.kernels.insert(merged.kernels.end(), plan.plan.kernels.begin(), plan.plan.kernels.end());
    for (const CombinePlan& combine : plan.plan.combines) {
      if (combine_names.insert(combine.name).second) merged.combines.push_back(combine);
    }
  }
  std::sort(merged.kernels.begin(), merged.kernels.end(),
            [](const PlannedKernel& a, const PlannedKernel& b) { return a.variant < b.variant; });
  sort_combines(merged.combines);
  return merged;
}

}  // namespace mlaforge
