#include "cli/config_option.h"

namespace mlaforge::cli {
namespace {

/// Puts the file's name before each place.
Diagnostics in_file(Diagnostics errors, const std::string& path) {
  const std::string file = path.empty() ? "built-in config" : path;
  for (Diagnostic& error : errors) {
    if (error.where != path)
      error.where = error.where.starts_with("/") ? file + "#" + error.where : file + ": " + error.where;
  }
  return errors;
}

}  // namespace

CLI::Option* add_config_option(CLI::App& command, std::string& path) {
  return command.add_option("--config", path, "Deployment config (JSON); default: the built-in kimi_k3_tp8");
}

Expected<DeploymentConfig> read_config(const std::string& path) {
  Expected<DeploymentConfig> config = path.empty() ? parse_config(default_config_text()) : load_config(path);
  if (!config) return in_file(config.errors(), path);
  return config;
}

Expected<DeploymentPlan> read_plan(const std::string& path) {
  const Expected<DeploymentConfig> config = read_config(path);
  if (!config) return config.errors();
  Expected<DeploymentPlan> plan = plan_deployment(*config);
  if (!plan) return in_file(plan.errors(), path);
  return plan;
}

}  // namespace mlaforge::cli
