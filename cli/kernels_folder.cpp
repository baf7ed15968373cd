#include "cli/kernels_folder.h"

#include <fmt/format.h>

#include "generator/emit/manifest.h"
#include "generator/emit/read_manifest.h"

namespace mlaforge::cli {

Expected<PlannedKernel> kernel_of_name(const std::string& name) {
  const Expected<Variant> variant = parse(name);
  if (!variant) return variant.errors();
  return plan_kernel(*variant);
}

Expected<DeploymentPlan> read_kernels_folder(const std::filesystem::path& folder) {
  const Expected<Manifest> manifest = read_manifest_in(folder);
  if (!manifest) return manifest.errors();
  DeploymentPlan plan;
  plan.config.name = manifest->config;
  plan.config.target = manifest->target;
  plan.config.softmax_scale = 1;  // a manifest has none: it is an argument of the launch
  for (const ManifestKernel& entry : manifest->kernels) {
    Expected<PlannedKernel> kernel = kernel_of_name(entry.name);
    if (!kernel) {
      Diagnostics errors = kernel.errors();
      for (Diagnostic& error : errors)
        error.where = fmt::format("{}#{}/name: {}", (folder / kManifestName).string(), entry.place, error.where);
      return errors;
    }
    plan.config.heads = kernel->variant.heads;
    plan.kernels.push_back(std::move(*kernel));
  }
  return plan;
}

}  // namespace mlaforge::cli
