// `mlaforge check`: whether a config holds and can be planned, and whether a kernel set is what it gives.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/config_option.h"
#include "generator/compile/kernel_set.h"
#include "generator/config/nearest.h"
#include "generator/emit/manifest.h"
#include "generator/emit/write_tree.h"
#ifdef MLAFORGE_HAS_RUN
#include "cli/check_simulate.h"
#endif

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::string kernels;
  bool simulate = false;
  bool json = false;
};

/// Compares the folder, of sources or of code objects, with what the config gives. The code to exit with when it
/// differs.
std::optional<int> check_folder(const Options& options, const DeploymentPlan& plan) {
  if (!std::filesystem::is_directory(options.kernels)) {
    return report_errors({{.where = "--kernels", .problem = "no such folder", .value = options.kernels}}, options.json,
                         exit_bad_input);
  }
  const Expected<std::vector<EmittedFile>> files = emit_deployment(plan);
  if (!files) return report_errors(files.errors(), options.json, exit_failed);
  // A damaged manifest is a difference from the sources like any other.
  const Expected<Manifest> manifest = read_manifest_in(options.kernels);
  const bool compiled = manifest && holds_code_objects(*manifest);
  if (compiled && options.simulate) {
    return report_errors({{.where = "--simulate",
                           .problem = "compiles sources, and --kernels holds the code objects of `mlaforge compile`",
                           .value = options.kernels,
                           .allowed = "a folder that `mlaforge generate` wrote, or no --kernels"}},
                         options.json, exit_bad_input);
  }
  if (manifest && manifest->config != plan.config.name) {
    return report_errors(
        {{.where = fmt::format("{}#/config/name", (std::filesystem::path(options.kernels) / kManifestName).string()),
          .problem = "is a kernel set of another config",
          .value = manifest->config,
          .allowed = plan.config.name,
          .nearest = "--config with the one that the set was made from"}},
        options.json, exit_failed);
  }
  const Diagnostics differences =
      compiled ? compare_code_objects(options.kernels, *manifest, *files) : compare_tree(options.kernels, *files);
  if (!differences.empty()) return report_errors(differences, options.json, exit_failed);
  return std::nullopt;
}

/// Adds {"kernel", "passed", "failure"} a kernel to `document`; false when one failed.
Expected<bool> add_simulation(const Options& options, const DeploymentPlan& plan, nlohmann::json& document) {
#ifdef MLAFORGE_HAS_RUN
  const Expected<std::vector<SimulatedKernel>> simulated = simulate_kernels(plan, options.kernels);
  if (!simulated) return simulated.errors();
  bool passed = true;
  document["simulated"] = nlohmann::json::array();
  for (const SimulatedKernel& kernel : *simulated) {
    const run::RunReport& report = kernel.report;
    passed = passed && report.passed;
    document["simulated"].push_back({{"kernel", kernel.kernel},
                                     {"passed", report.passed},
                                     {"failure", report.passed ? nlohmann::json() : nlohmann::json(report.failure)}});
    if (!report.passed) fmt::print(stderr, "mlaforge: {}: {}\n", kernel.kernel, report.failure);
  }
  return passed;
#else
  (void)options, (void)plan, (void)document;
  return Diagnostic{.where = "--simulate", .problem = "this build has no runtime and no simulator"};
#endif
}

int check(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  if (!options.kernels.empty()) {
    if (const std::optional<int> code = check_folder(options, *plan)) return *code;
  }
  nlohmann::json document = {{"config", plan->config.name},
                             {"kernels", plan->kernels.size()},
                             {"combine_kernels", plan->combines.size()},
                             {"errors", nlohmann::json::array()}};
  bool passed = true;
  if (options.simulate) {
    const Expected<bool> simulated = add_simulation(options, *plan, document);
    if (!simulated) return report_errors(simulated.errors(), options.json, exit_bad_input);
    passed = *simulated;
  }
  if (options.json) {
    print_json(document);
  } else {
    fmt::print("{}: {} and {} can be built{}\n", plan->config.name, counted(plan->kernels.size(), "kernel"),
               counted(plan->combines.size(), "combine kernel"),
               options.kernels.empty() ? "" : fmt::format("; {} is current", options.kernels));
    if (options.simulate) fmt::print("simulated under all checks: {}\n", passed ? "all pass" : "some FAIL, see above");
  }
  return passed ? exit_done : exit_failed;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Validate a config and its plans, and a kernel set against them");
  add_config_option(*command, options->config);
  command->add_option("--kernels", options->kernels,
                      "A folder of `generate` or `compile` that must hold what the config gives");
  command->add_flag("--simulate", options->simulate,
                    "Run every kernel on the simulator under all checks, on a small problem");
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace mlaforge::cli
