#include "generator/variants/enumerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "generator/plan/kernel_plan.h"

namespace mlaforge {
namespace {

/// Where a variant was asked for: the entry, and the index that each of its lists contributed.
struct Origin {
  size_t entry = 0;
  std::vector<std::pair<const char*, size_t>> indices;
};

/// The plan's choice; where every pipeline refuses, the one that takes the fewest head groups, so that the refusal
/// names the least that works.
mlaforge_pipeline auto_pipeline(const Variant& variant) {
  const auto groups_needed = [&variant](mlaforge_pipeline pipeline) {
    Variant v = variant;
    v.pipeline = pipeline;
    const PlanResult plan = make_plan(v);
    const auto* refusal = std::get_if<PlanRefusal>(&plan);
    if (refusal == nullptr) return 0;
    return refusal->field == "head_groups" ? std::stoi(refusal->nearest) : v.heads + 1;
  };
  const mlaforge_pipeline chosen = choose_pipeline(variant);
  if (groups_needed(chosen) == 0) return chosen;
  return groups_needed(MLAFORGE_WARP_SPECIALIZED) < groups_needed(MLAFORGE_UNIFORM) ? MLAFORGE_WARP_SPECIALIZED
                                                                                    : MLAFORGE_UNIFORM;
}

/// Calls `visit(variant, origin)` for every combination of one entry's lists.
template <typename F>
void for_each_variant(const DeploymentConfig& config, size_t entry, F&& visit) {
  const KernelRequest& request = config.kernels[entry];
  std::vector<std::pair<Variant, Origin>> partial(1);
  partial[0].first.heads = config.heads;
  partial[0].first.target = config.target;
  partial[0].second.entry = entry;

  const auto expand = [&partial](const char* field, const auto& values, auto&& assign) {
    std::vector<std::pair<Variant, Origin>> expanded;
    for (const auto& [variant, origin] : partial) {
      for (size_t i = 0; i < values.size(); ++i) {
        auto& [next, next_origin] = expanded.emplace_back(variant, origin);
        assign(next, values[i]);
        next_origin.indices.emplace_back(field, i);
      }
    }
    partial = std::move(expanded);
  };
  expand("query_length", request.query_length, [](Variant& v, int value) { v.qlen = value; });
  expand("splits", request.splits, [](Variant& v, int value) { v.splits = value; });
  expand("head_groups", request.head_groups,
         [](Variant& v, int value) { v.head_groups = value != 0 ? value : auto_head_groups(v.heads, v.qlen); });
  expand("context_parallel", request.context_parallel, [](Variant& v, int value) { v.context_parallel = value; });
  expand("page_size", request.page_size, [](Variant& v, int value) { v.page_size = value; });
  expand("kv_dtype", request.kv_dtype, [](Variant& v, mlaforge_dtype value) { v.kv_dtype = value; });
  expand("query_dtype", request.query_dtype, [](Variant& v, mlaforge_dtype value) { v.q_dtype = value; });
  expand("partial_dtype", request.partial_dtype, [](Variant& v, mlaforge_dtype value) { v.partial_dtype = value; });
  expand("probability_parts", request.probability_parts, [](Variant& v, int value) { v.probability_parts = value; });
  expand("wide_kv", request.wide_kv, [](Variant& v, int value) { v.wide_kv = value != 0; });
  expand("block_tokens", request.block_tokens, [](Variant& v, int value) { v.block_tokens = value; });
  expand("pipeline", request.pipeline, [](Variant& v, const std::optional<mlaforge_pipeline>& value) {
    v.pipeline = value ? *value : auto_pipeline(v);
  });
  for (const auto& [variant, origin] : partial) visit(variant, origin);
}

/// The places of two requests for one kernel: the entries, or within one entry the list members that differ.
std::pair<std::string, std::string> places(const Origin& first, const Origin& second) {
  std::string a = fmt::format("/kernels/{}", first.entry);
  std::string b = fmt::format("/kernels/{}", second.entry);
  if (first.entry != second.entry) return {a, b};
  for (size_t i = 0; i < first.indices.size(); ++i) {
    if (first.indices[i] == second.indices[i]) continue;
    a += fmt::format("/{}/{}", first.indices[i].first, first.indices[i].second);
    b += fmt::format("/{}/{}", second.indices[i].first, second.indices[i].second);
    break;
  }
  return {a, b};
}

}  // namespace

std::vector<Variant> enumerate(const DeploymentConfig& config) {
  std::vector<Variant> variants;
  for (size_t entry = 0; entry < config.kernels.size(); ++entry) {
    for_each_variant(config, entry, [&](const Variant& variant, const Origin&) { variants.push_back(variant); });
  }
  std::sort(variants.begin(), variants.end());
  return variants;
}

std::string place_of(const DeploymentConfig& config, const Variant& variant) {
  std::string place;
  for (size_t entry = 0; entry < config.kernels.size() && place.empty(); ++entry) {
    for_each_variant(config, entry, [&](const Variant& asked, const Origin&) {
      if (asked == variant) place = fmt::format("/kernels/{}", entry);
    });
  }
  return place;
}

Diagnostics find_duplicates(const DeploymentConfig& config) {
  std::map<Variant, Origin> seen;
  std::set<std::pair<std::string, std::string>> reported;
  Diagnostics errors;
  for (size_t entry = 0; entry < config.kernels.size(); ++entry) {
    for_each_variant(config, entry, [&](const Variant& variant, const Origin& origin) {
      const auto [earlier, inserted] = seen.emplace(variant, origin);
      if (inserted) return;
      const auto [first, second] = places(earlier->second, origin);
      if (!reported.emplace(first, second).second) return;
      errors.push_back({.where = second,
                        .problem = fmt::format("asks again for a kernel of {}", first),
                        .value = format(variant),
                        .allowed = "each kernel once",
                        .nearest = fmt::format("remove one of {} and {}", first, second)});
    });
  }
  return errors;
}

}  // namespace mlaforge
