#include "generator/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "generator/compile/compiler.h"
#include "generator/emit/manifest.h"
#include "generator/variants/enumerate.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;

Diagnostic to_diagnostic(const PlanRefusal& refusal, const Variant& variant) {
  return {.where = format(variant),
          .problem = fmt::format("cannot be planned, {}: {}", refusal.field, refusal.reason),
          .value = refusal.value,
          .allowed = refusal.allowed,
          .nearest = refusal.nearest};
}

Json table_row(const PlannedKernel& kernel) {
  const mlaforge_kernel_row row = make_row(kernel);
  const auto enumerator = [](int32_t dtype) {
    return dtype == MLAFORGE_BF16 ? "MLAFORGE_BF16" : dtype == MLAFORGE_F32 ? "MLAFORGE_F32" : "MLAFORGE_FP8_E4M3";
  };
  return {{"heads", row.heads},
          {"qlen", row.qlen},
          {"page_size", row.page_size},
          {"q_dtype", enumerator(row.q_dtype)},
          {"kv_dtype", enumerator(row.kv_dtype)},
          {"context_parallel", row.context_parallel},
          {"wide_kv", row.wide_kv},
          {"splits", row.splits},
          {"head_groups", row.head_groups},
          {"block_tokens", row.block_tokens},
          {"pipeline", row.pipeline == MLAFORGE_UNIFORM ? "MLAFORGE_UNIFORM" : "MLAFORGE_WARP_SPECIALIZED"},
          {"partial_dtype", enumerator(row.partial_dtype)},
          {"probability_parts", row.probability_parts},
          {"threads", row.threads},
          {"combine_threads", row.combine_threads},
          {"combine_parts", row.combine_parts},
          {"target", row.target},
          {"name", row.name},
          {"combine_name", row.combine_name != nullptr ? fmt::format("\"{}\"", row.combine_name) : "nullptr"}};
}

/// What the dispatch table and the build file name.
Json set_context(const DeploymentPlan& plan) {
  Json rows = Json::array();
  Json kernels = Json::array();
  for (const PlannedKernel& kernel : plan.kernels) {
    rows.push_back(table_row(kernel));
    kernels.push_back({{"name", kernel.plan.name}});
  }
  for (const CombinePlan& combine : plan.combines) kernels.push_back({{"name", combine.name}});
  const std::string& target = plan.config.target;
  std::string guard = plan.config.name;
  std::transform(guard.begin(), guard.end(), guard.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return {{"config_name", plan.config.name},
          {"guard", guard},
          {"config_sha256", config_hash(plan)},
          {"generator_version", MLAFORGE_VERSION},
          {"target", target},
          {"rows", rows},
          {"row_count", rows.size()},
          {"kernels", kernels},
          {"kernel_count", kernels.size()},
          {"hipcc_flags", compile_flags({.is_hipcc = true}, target)},
          {"clang_flags", compile_flags({.is_hipcc = false}, target)}};
}

}  // namespace

Expected<PlannedKernel> plan_kernel(const Variant& variant) {
  PlanResult planned = make_plan(variant);
  if (const auto* refusal = std::get_if<PlanRefusal>(&planned)) return to_diagnostic(*refusal, variant);
  PlannedKernel kernel{.variant = variant, .plan = std::get<KernelPlan>(std::move(planned))};
  if (variant.splits > 1) {
    kernel.combine = make_combine_plan(variant.splits, std::string(dtype_name(variant.partial_dtype)), variant.target);
  }
  return kernel;
}

Expected<DeploymentPlan> plan_deployment(const DeploymentConfig& config) {
  DeploymentPlan result{.config = config};
  Diagnostics errors;
  std::set<std::string> combine_names;
  for (const Variant& variant : enumerate(config)) {
    Expected<PlannedKernel> kernel = plan_kernel(variant);
    if (!kernel) {
      // One reason may refuse many kernels (of all splits, say): the first is named, once.
      for (const Diagnostic& error : kernel.errors()) {
        const bool is_known = std::any_of(errors.begin(), errors.end(), [&error](const Diagnostic& known) {
          return known.problem == error.problem && known.value == error.value && known.nearest == error.nearest;
        });
        if (!is_known) errors.push_back(error);
      }
      continue;
    }
    if (kernel->combine && combine_names.insert(kernel->combine->name).second)
      result.combines.push_back(*kernel->combine);
    result.kernels.push_back(std::move(*kernel));
  }
  if (!errors.empty()) return errors;
  sort_combines(result.combines);
  return result;
}

void sort_combines(std::vector<CombinePlan>& combines) {
  std::sort(combines.begin(), combines.end(), [](const CombinePlan& a, const CombinePlan& b) {
    return std::tie(a.partial_dtype, a.splits) < std::tie(b.partial_dtype, b.splits);
  });
}

std::string set_symbol(const std::string& set_name) { return "mlaforge_kernels_" + set_name; }

mlaforge_kernel_row make_row(const PlannedKernel& kernel) {
  const Variant& v = kernel.variant;
  return {.heads = v.heads,
          .qlen = v.qlen,
          .page_size = v.page_size,
          .q_dtype = v.q_dtype,
          .kv_dtype = v.kv_dtype,
          .context_parallel = v.context_parallel,
          .wide_kv = v.wide_kv ? 1 : 0,
          .splits = v.splits,
          .head_groups = v.head_groups,
          .block_tokens = v.block_tokens,
          .pipeline = v.pipeline,
          .partial_dtype = v.partial_dtype,
          .probability_parts = v.probability_parts,
          .threads = kernel.plan.threads,
          .combine_threads = kernel.combine ? kernel.combine->threads : 0,
          .combine_parts = kernel.combine ? kernel.combine->parts : 0,
          .target = kernel.plan.target.c_str(),
          .name = kernel.plan.name.c_str(),
          .combine_name = kernel.combine ? kernel.combine->name.c_str() : nullptr};
}

Expected<std::string> emit_attention(const KernelPlan& plan, const TemplateSet& templates) {
  return render(templates, plan.target + "/attention.hip.mustache", to_json(plan));
}

Expected<std::string> emit_combine(const CombinePlan& plan, const TemplateSet& templates) {
  return render(templates, plan.target + "/combine.hip.mustache", to_json(plan));
}

Expected<std::vector<EmittedFile>> emit_deployment(const DeploymentPlan& plan, const TemplateSet& templates) {
  std::vector<EmittedFile> files;
  Diagnostics errors;
  const auto add = [&files, &errors](std::string path, Expected<std::string> text) {
    if (text) {
      files.push_back({.path = std::move(path), .text = std::move(*text)});
    } else {
      errors.insert(errors.end(), text.errors().begin(), text.errors().end());
    }
  };
  for (const PlannedKernel& kernel : plan.kernels)
    add(kernel.plan.name + ".hip", emit_attention(kernel.plan, templates));
  for (const CombinePlan& combine : plan.combines) add(combine.name + ".hip", emit_combine(combine, templates));
  const Json context = set_context(plan);
  add("dispatch_table.cpp", render(templates, "dispatch_table.cpp.mustache", context));
  add(set_symbol(plan.config.name) + ".h", render(templates, "kernel_set.h.mustache", context));
  add("CMakeLists.txt", render(templates, "kernels_cmake.mustache", context));
  if (!errors.empty()) return errors;
  std::string manifest = manifest_text(make_manifest(plan, files));
  files.push_back({.path = std::string(kManifestName), .text = std::move(manifest)});
  return files;
}

}  // namespace mlaforge
