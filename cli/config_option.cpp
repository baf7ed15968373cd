#include "cli/config_option.h"

#include <algorithm>


namespace mlaforge::cli {
namespace {

/// Puts the file's name before each place.
Diagnostics in_file(Diagnostics errors, const std::string& path) {
  const std::string file = path.empty() ? "built-in config" : path;
  for (Diagnostic& error : errors) {
    if (error.where != path)
      error.where = error.where.empty()            ? file
                    : error.where.starts_with("/") ? file + "#" + error.where
                                                   : file + ": " + error.where;
  }
  return errors;
}

constexpr const char* kConfigHelp = "Deployment config (JSON); default: the built-in kimi_k3_tp8";

bool is_set_name(const std::string& name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

CLI::Option* add_config_option(CLI::App& command, std::string& path) {
  return command.add_option("--config", path, kConfigHelp);
}

CLI::Option* add_config_option(CLI::App& command, std::vector<std::string>& paths) {
  return command.add_option("--config", paths, std::string(kConfigHelp) + ". Several make one set, under --name");
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

Expected<DeploymentPlan> read_set_plan(const std::vector<std::string>& paths, const std::string& name) {
  if (!name.empty() && !is_set_name(name)) {
    return Diagnostic{.where = "--name",
                      .problem = "cannot be part of a C symbol",
                      .value = name,
                      .allowed = "lower case, digits and underscores, a letter first"};
  }
  if (paths.size() <= 1) {
    Expected<DeploymentPlan> plan = read_plan(paths.empty() ? "" : paths.front());
    if (plan && !name.empty()) plan->config.name = name;
    return plan;
  }
  if (name.empty()) {
    return Diagnostic{.where = "--name", .problem = "is missing", .allowed = "a name for the set of several configs"};
  }
  std::vector<PlacedPlan> plans;
  Diagnostics errors;
  for (const std::string& path : paths) {
    Expected<DeploymentPlan> plan = read_plan(path);
    if (plan) {
      plans.push_back({.place = path, .plan = std::move(*plan)});
    } else {
      errors.insert(errors.end(), plan.errors().begin(), plan.errors().end());
    }
  }
  if (!errors.empty()) return errors;
  return merge_plans(plans, name);
}

}  // namespace mlaforge::cli
