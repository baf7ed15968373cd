// From a config to the text of every file of its kernel set; nothing is written here (see write_tree.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/config/deployment_config.h"
#include "generator/emit/templates.h"
#include "generator/plan/kernel_plan.h"
#include "generator/result.h"
#include "generator/variants/variant.h"
#include "mlaforge/kernel_contract.h"

namespace mlaforge {

struct PlannedKernel {
  Variant variant;
  KernelPlan plan;
  std::optional<CombinePlan> combine = {};  ///< none with one split
};

/// Every kernel of a config, planned; kernels are sorted by key, combines by name and each only once.
struct DeploymentPlan {
  DeploymentConfig config;
  std::vector<PlannedKernel> kernels = {};
  std::vector<CombinePlan> combines = {};
};

/// Plans one variant, which no config need ask for; the refusal names the kernel, the field and the nearest that works.
Expected<PlannedKernel> plan_kernel(const Variant& variant);

/// Plans all variants; every reason of a refusal is one error that names the first kernel, the field and the nearest
/// that works.
Expected<DeploymentPlan> plan_deployment(const DeploymentConfig& config);

/// By partial dtype, then splits: the order of every set.
void sort_combines(std::vector<CombinePlan>& combines);

/// A config's plan and where the config stands, for messages.
struct PlacedPlan {
  std::string place;
  DeploymentPlan plan;
};

/// One set of several configs' kernels, named `name`; the configs' order changes nothing. Errors: a kernel that two of
/// them ask for (both places are named), configs for different targets.
Expected<DeploymentPlan> merge_plans(const std::vector<PlacedPlan>& plans, const std::string& name);

/// The dispatch table's row; its strings point into `kernel`, which must outlive it.
mlaforge_kernel_row make_row(const PlannedKernel& kernel);

/// HIP source of one kernel.
Expected<std::string> emit_attention(const KernelPlan& plan, const TemplateSet& templates = embedded_templates());
Expected<std::string> emit_combine(const CombinePlan& plan, const TemplateSet& templates = embedded_templates());

/// One file of the kernel set.
struct EmittedFile {
  std::string path;  ///< a plain name, relative to the output folder
  std::string text;
};

/// "mlaforge_kernels_<set's name>": the function that hands the set to the runtime, its header's stem, its CMake
/// target.
std::string set_symbol(const std::string& set_name);

/// <name>.hip of every kernel, dispatch_table.cpp, its header, CMakeLists.txt, and manifest.json as the last.
/// The same config and generator give the same bytes.
Expected<std::vector<EmittedFile>> emit_deployment(const DeploymentPlan& plan,
                                                   const TemplateSet& templates = embedded_templates());

}  // namespace mlaforge
