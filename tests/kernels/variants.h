// One combination of the covering selection, emitted, compiled, launched under the simulator's checks and judged.
#pragma once

#include <algorithm>
#include <cstdio>

#include "reference/random.h"
#include "tests/kernels/bench.h"
#include "tests/kernels/covering.h"

namespace mlaforge::test {

/// The kernels of one variant.
inline run::Kernels kernels_of(const Variant& variant, CompileOptions options = {.cache = MLAFORGE_TEST_CACHE}) {
  const PlanResult planned = make_plan(variant);
  REQUIRE(std::holds_alternative<KernelPlan>(planned));
  PlannedKernel kernel{.variant = variant, .plan = std::get<KernelPlan>(planned)};
  if (variant.splits > 1) {
    kernel.combine = make_combine_plan(variant.splits, std::string(dtype_name(variant.partial_dtype)), variant.target);
  }
  DeploymentPlan plan;
  plan.config.name = "variants";
  plan.config.target = variant.target;
  plan.config.heads = variant.heads;
  plan.kernels.push_back(std::move(kernel));
  return run::Kernels(std::move(plan), std::move(options), simulator());
}

/// A launch of the variant's key; the contexts are positions over all ranks.
inline run::RunCase case_of(const Variant& variant, const std::vector<int>& contexts) {
  run::RunCase wanted;
  wanted.inputs.heads = variant.heads;
  wanted.inputs.qlen = variant.qlen;
  wanted.inputs.page_size = variant.page_size;
  wanted.inputs.query_dtype = variant.q_dtype;
  wanted.inputs.context_parallel = variant.context_parallel;
  wanted.inputs.contexts = contexts;
  wanted.inputs.requests = static_cast<int>(contexts.size());
  wanted.splits = variant.splits;
  return wanted;
}

/// The largest errors of several combinations.
struct Worst {
  double rel_l2[2] = {};  ///< by probability_parts - 1
  size_t combinations = 0;
};

/// The `index`-th combination on contexts of its own: one of up to 700 positions, and one that leaves splits, ranks and
/// early positions empty.
inline void expect_right(const Combination& combination, size_t index, Worst& worst) {
  reference::Random random(7, index);
  const int longest = 50 + static_cast<int>(random.below(650));
  const int shortest = static_cast<int>(random.below(10));
  run::RunCase wanted = case_of(combination.variant, {longest, shortest});
  wanted.inputs.kind = reference::parse_input(combination.input).value();
  wanted.inputs.seed = index + 1;
  wanted.inputs.dense_table = combination.dense_table;
  if (combination.scales) {
    wanted.inputs.k_scale = 0.7F;
    wanted.inputs.v_scale = 1.9F;
    if (combination.variant.q_dtype == MLAFORGE_FP8_E4M3) {
      wanted.inputs.q_scale = 1.3F;
    }
  }
  wanted.checks = "lds_races";
  run::Kernels kernels = kernels_of(combination.variant);
  INFO(describe(combination) << ", contexts " << longest << " and " << shortest << ", combination " << index);
  const run::RunReport report = report_of(kernels, wanted);
  INFO(report.failure);
  CHECK(report.kernel == format(combination.variant));
  CHECK(report.passed);
  const size_t parts = static_cast<size_t>(combination.variant.probability_parts);
  worst.rel_l2[parts - 1] = std::max(worst.rel_l2[parts - 1], report.comparison.rel_l2);
  ++worst.combinations;
}

/// Every `parts`-th combination from `part` on; ends with a line of figures.
inline void expect_part_right(const std::vector<Combination>& combinations, size_t part, size_t parts) {
  Worst worst;
  for (size_t i = part; i < combinations.size(); i += parts) {
    expect_right(combinations[i], i, worst);
  }
  std::printf("%zu combinations, worst rel_l2 %.3g with two parts of P, %.3g with one\n", worst.combinations,
              worst.rel_l2[1], worst.rel_l2[0]);
}

}  // namespace mlaforge::test
