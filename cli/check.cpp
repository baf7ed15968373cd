// `mlaforge check`: whether a config holds and can be planned, and whether a kernel set is what it gives.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/config_option.h"
#include "generator/emit/write_tree.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::string kernels;
  bool json = false;
};

int check(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  if (!options.kernels.empty()) {
    if (!std::filesystem::is_directory(options.kernels)) {
      return report_errors({{.where = "--kernels", .problem = "no such folder", .value = options.kernels}},
                           options.json, exit_bad_input);
    }
    const Expected<std::vector<EmittedFile>> files = emit_deployment(*plan);
    if (!files) return report_errors(files.errors(), options.json, exit_failed);
    const Diagnostics differences = compare_tree(options.kernels, *files);
    if (!differences.empty()) return report_errors(differences, options.json, exit_failed);
  }
  if (options.json) {
    print_json({{"config", plan->config.name},
                {"kernels", plan->kernels.size()},
                {"combine_kernels", plan->combines.size()},
                {"errors", nlohmann::json::array()}});
  } else {
    fmt::print("{}: {} kernels and {} combine kernels can be built{}\n", plan->config.name, plan->kernels.size(),
               plan->combines.size(), options.kernels.empty() ? "" : fmt::format("; {} is current", options.kernels));
  }
  return exit_done;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Validate a config and its plans, and a kernel set against them");
  add_config_option(*command, options->config);
  command->add_option("--kernels", options->kernels, "A folder that must hold exactly what the config gives");
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace mlaforge::cli
