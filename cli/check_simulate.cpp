#include "cli/check_simulate.h"

#include <algorithm>
#include <filesystem>

#include "cli/device_option.h"
#include "cli/run/named_case.h"
#include "generator/emit/files.h"

namespace mlaforge::cli {
namespace {

run::RunCase checked_case(const PlannedKernel& kernel, const DeploymentConfig& config) {
  const Variant& variant = kernel.variant;
  // Three blocks a split and a part of one, but no more than some thousand tokens.
  const int steady = std::min(3 * variant.splits, 24) * variant.block_tokens * variant.context_parallel + 88;
  run::RunCase wanted = run::case_of(kernel, config, {0, 1, steady});
  wanted.checks = "all";
  return wanted;
}

}  // namespace

Expected<std::vector<SimulatedKernel>> simulate_kernels(const DeploymentPlan& plan, const std::string& sources) {
  const Expected<HipApi> opened = open_simulator();
  if (!opened) return opened.errors();
  const HipApi& hip = *opened;
  run::Kernels kernels(plan, {}, hip);
  std::vector<SimulatedKernel> simulated;
  for (const PlannedKernel& kernel : plan.kernels) {
    run::RunCase wanted = checked_case(kernel, plan.config);
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
