#include "cli/check_simulate.h"

#include <algorithm>
#include <filesystem>

#include "generator/emit/files.h"

namespace mlaforge::cli {
namespace {

/// A wide kernel's pool: beyond what 32-bit offsets reach. It is sparse.
constexpr uint64_t wide_pool_bytes = (uint64_t{1} << 32) + (uint64_t{1} << 20);

run::RunCase case_of(const PlannedKernel& kernel, const DeploymentConfig& config) {
  const Variant& variant = kernel.variant;
  run::RunCase wanted;
  wanted.filter.name = kernel.plan.name;
  wanted.splits = variant.splits;
  wanted.checks = "all";
  wanted.inputs.heads = variant.heads;
  wanted.inputs.qlen = variant.qlen;
  wanted.inputs.page_size = variant.page_size;
  wanted.inputs.query_dtype = variant.q_dtype;
  wanted.inputs.context_parallel = variant.context_parallel;
  wanted.inputs.pool_bytes = variant.wide_kv ? wide_pool_bytes : 0;
  wanted.inputs.softmax_scale = static_cast<float>(config.softmax_scale);
  // Three blocks a split and a part of one, but no more than some thousand tokens.
  const int steady = std::min(3 * variant.splits, 24) * variant.block_tokens * variant.context_parallel + 88;
  wanted.inputs.contexts = {0, 1, steady};
  wanted.inputs.requests = static_cast<int>(wanted.inputs.contexts.size());
  return wanted;
}

}  // namespace

Expected<std::vector<SimulatedKernel>> simulate_kernels(const DeploymentPlan& plan, const std::string& sources) {
  HipApi hip;
  if (load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) != MLAFORGE_SUCCESS) {
    return Diagnostic{
        .where = "--simulate", .problem = mlaforge_last_error(), .value = {}, .allowed = {}, .nearest = {}};
  }
  run::Kernels kernels(plan, {}, hip);
  std::vector<SimulatedKernel> simulated;
  for (const PlannedKernel& kernel : plan.kernels) {
    run::RunCase wanted = case_of(kernel, plan.config);
    if (!sources.empty()) {
      const std::string path = (std::filesystem::path(sources) / (kernel.plan.name + ".hip")).string();
      wanted.kernel_source = read_file(path);
      if (!wanted.kernel_source) {
        return Diagnostic{
            .where = "--kernels", .problem = "the file cannot be read", .value = path, .allowed = {}, .nearest = {}};
      }
    }
    Expected<run::RunReport> report = run::run_case(hip, kernels, wanted);
    if (!report) return report.errors();
    simulated.push_back({kernel.plan.name, std::move(*report)});
  }
  return simulated;
}

}  // namespace mlaforge::cli
