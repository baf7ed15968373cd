// `mlaforge explain`: a kernel's plan with its numbers, against the budgets and against what the compiler made of it.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/config_option.h"
#include "cli/explain/explanation.h"
#include "generator/compile/compile.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string name;
  std::string config;
  std::string compiler;
  std::string cache;
  bool no_compile = false;
  bool json = false;
};

/// The refusal in a diagnostic's words, and the kernel that could be had.
Diagnostic to_diagnostic(const Variant& variant, const PlanRefusal& refusal) {
  const std::optional<Variant> near = explain::nearest_that_fits(variant, refusal);
  return {.where = fmt::format("{}: {}", format(variant), refusal.field),
          .problem = refusal.reason,
          .value = refusal.value,
          .allowed = refusal.allowed,
          .nearest = near ? fmt::format("{}: {}", refusal.nearest, format(*near)) : refusal.nearest};
}

Expected<std::vector<PlannedKernel>> named_kernel(const std::string& name) {
  const Expected<Variant> variant = parse(name);
  if (!variant) return variant.errors();
  PlanResult planned = make_plan(*variant);
  if (const auto* refusal = std::get_if<PlanRefusal>(&planned)) return to_diagnostic(*variant, *refusal);
  PlannedKernel kernel{.variant = *variant, .plan = std::move(std::get<KernelPlan>(planned))};
  if (variant->splits > 1) {
    kernel.combine =
        make_combine_plan(variant->splits, std::string(dtype_name(variant->partial_dtype)), variant->target);
  }
  return std::vector<PlannedKernel>{std::move(kernel)};
}

Expected<std::vector<PlannedKernel>> kernels_of(const Options& options) {
  if (!options.name.empty()) return named_kernel(options.name);
  Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return plan.errors();
  return std::move(plan->kernels);
}

Expected<std::vector<CompiledKernel>> compile(const Options& options, const std::vector<PlannedKernel>& kernels) {
  std::vector<KernelSource> sources;
  for (const PlannedKernel& kernel : kernels) {
    const Expected<std::string> source = emit_attention(kernel.plan);
    if (!source) return source.errors();
    sources.push_back({kernel.plan.name, kernel.plan.target, *source});
  }
  return compile_kernels(sources, {.compiler = options.compiler, .cache = options.cache});
}

int explain_command(const Options& options) {
  const Expected<std::vector<PlannedKernel>> kernels = kernels_of(options);
  if (!kernels) return report_errors(kernels.errors(), options.json, exit_bad_input);
  std::vector<std::optional<KernelResources>> resources(kernels->size());
  if (!options.no_compile) {
    const Expected<std::vector<CompiledKernel>> compiled = compile(options, *kernels);
    if (!compiled) return report_errors(compiled.errors(), options.json, exit_failed);
    for (size_t i = 0; i < resources.size(); ++i) resources[i] = (*compiled)[i].resources;
  }
  nlohmann::json document = nlohmann::json::array();
  for (size_t i = 0; i < kernels->size(); ++i) {
    if (options.json) {
      document.push_back(explain::explain_json((*kernels)[i], resources[i]));
    } else {
      fmt::print("{}{}", i == 0 ? "" : "\n", explain::explain((*kernels)[i], resources[i]));
    }
  }
  if (options.json) print_json({{"kernels", document}});
  return exit_done;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain", "Explain kernels: rows, LDS map, wave roles, DMA schedule, budgets, registers planned and compiled");
  CLI::Option* name = command->add_option("NAME", options->name, "A kernel's name; default: all kernels of the config");
  add_config_option(*command, options->config)->excludes(name);
  command->add_flag("--no-compile", options->no_compile, "Do not compile: registers as planned only");
  command->add_option("--compiler", options->compiler,
                      "hipcc or clang++; default: MLAFORGE_COMPILER, hipcc, clang++-22");
  command->add_option("--cache", options->cache, "Folder of the compile cache; default: $XDG_CACHE_HOME/mlaforge");
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = explain_command(*options); });
}

}  // namespace mlaforge::cli
