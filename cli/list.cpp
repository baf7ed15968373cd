// `mlaforge list`: the kernels that a config asks for, and what their plans need.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/config_option.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  bool json = false;
};

int list(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  if (options.json) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const PlannedKernel& kernel : plan->kernels) {
      kernels.push_back({{"name", kernel.plan.name},
                         {"key", to_json(kernel.variant)},
                         {"row_tiles", kernel.plan.row_tiles},
                         {"threads", kernel.plan.threads},
                         {"lds_bytes", kernel.plan.lds_bytes},
                         {"combine", kernel.combine ? nlohmann::json(kernel.combine->name) : nlohmann::json()}});
    }
    print_json({{"config", plan->config.name}, {"kernels", kernels}});
    return exit_done;
  }
  for (const PlannedKernel& kernel : plan->kernels) {
    fmt::print("{:<64} {} row tile{}, {} threads, {} B of LDS\n", kernel.plan.name, kernel.plan.row_tiles,
               kernel.plan.row_tiles == 1 ? "" : "s", kernel.plan.threads, kernel.plan.lds_bytes);
  }
  return exit_done;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("list", "List the kernels of a config");
  add_config_option(*command, options->config);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = list(*options); });
}

}  // namespace mlaforge::cli
