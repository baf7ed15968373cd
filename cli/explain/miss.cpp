#include "cli/explain/miss.h"

#include "generator/emit/emit.h"
#include "runtime/src/explain.h"

namespace mlaforge::explain {
namespace {

Diagnostics refusal_of(const std::string& config_text) {
  const Expected<DeploymentConfig> config = parse_config(config_text);
  if (!config) return config.errors();
  const Expected<DeploymentPlan> plan = plan_deployment(*config);
  return plan ? Diagnostics{} : plan.errors();
}

}  // namespace

std::string miss_text(std::span<const mlaforge_kernel_row> rows, const mlaforge_problem& problem,
                      const std::string& more_fields) {
  const std::string text = explain_miss(rows, problem, more_fields);
  const size_t remedy = text.rfind(miss_remedy);
  const Diagnostics refusal = refusal_of(text.substr(remedy + std::string(miss_remedy).size()));
  return refusal.empty() ? text : text.substr(0, remedy) + "\nit cannot be generated: " + to_string(refusal.front());
}

}  // namespace mlaforge::explain
