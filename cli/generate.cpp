// `mlaforge generate`: writes the kernel set of a config into a folder.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/config_option.h"
#include "generator/config/nearest.h"
#include "generator/emit/write_tree.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::vector<std::string> configs;
  std::string name;
  std::string out;
  bool json = false;
};

int generate(const Options& options) {
  const Expected<DeploymentPlan> plan = read_set_plan(options.configs, options.name);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<std::vector<EmittedFile>> files = emit_deployment(*plan);
  if (!files) return report_errors(files.errors(), options.json, exit_failed);
  const Expected<WriteReport> report = write_tree(options.out, *files);
  if (!report) return report_errors(report.errors(), options.json, exit_bad_input);

  if (options.json) {
    print_json({{"config", plan->config.name},
                {"out", options.out},
                {"kernels", plan->kernels.size()},
                {"combine_kernels", plan->combines.size()},
                {"written", report->written},
                {"unchanged", report->unchanged},
                {"removed", report->removed}});
  } else {
    fmt::print("{}: {} and {} in {} ({} written, {} unchanged, {} removed)\n", plan->config.name,
               counted(plan->kernels.size(), "kernel"), counted(plan->combines.size(), "combine kernel"), options.out,
               counted(report->written.size(), "file"), report->unchanged.size(), report->removed.size());
  }
  return exit_done;
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "Write the kernels, table, build file and manifest of configs");
  add_config_option(*command, options->configs);
  command->add_option("--name", options->name, "Name of the kernel set; default: the config's");
  command->add_option("--out", options->out, "Folder of the kernel set; made where it does not exist")->required();
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = generate(*options); });
}

}  // namespace mlaforge::cli
