// A kernel's plan in the terms that people weigh it by: rows and heads, LDS map, wave roles, traffic against budgets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "generator/compile/code_object.h"
#include "generator/emit/emit.h"

namespace mlaforge::explain {

/// The heads [first, last] that a workgroup of a group has, and its rows without a head, which are never stored.
struct HeadGroup {
  int group = 0, first_head = 0, last_head = 0;  ///< last < first: a group without heads
  int masked_rows = 0;                           ///< of the row tiles' 16 x row_tiles
};

/// Waves first .. last and what they do.
struct WaveRole {
  int first = 0, last = 0;
  std::string role;
};

/// Bytes that a block moves through LDS, all waves together.
struct LdsTraffic {
  int dma_writes = 0, key_reads = 0, value_reads = 0, probability_writes = 0, probability_reads = 0;
};

std::vector<HeadGroup> head_groups(const KernelPlan& plan);
std::vector<WaveRole> wave_roles(const KernelPlan& plan);
LdsTraffic lds_traffic(const KernelPlan& plan);

/// Text for people; resources are absent when the kernel was not compiled.
std::string explain(const PlannedKernel& kernel, const std::optional<KernelResources>& resources);
nlohmann::json explain_json(const PlannedKernel& kernel, const std::optional<KernelResources>& resources);

/// The kernel nearest to a refused one, by the refusal's own nearest value; nothing when that cannot be planned either.
std::optional<Variant> nearest_that_fits(const Variant& variant, const PlanRefusal& refusal);

}  // namespace mlaforge::explain
