// `mlaforge explain`: a kernel's plan with its numbers, against the budgets and against what the compiler made of it;
// or which kernel serves a problem, and why the others do not.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/explain/explanation.h"
#include "cli/explain/problem.h"
#include "cli/kernels_folder.h"
#include "generator/compile/compile.h"
#include "generator/emit/files.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string name;
  std::string config;
  std::string kernels;
  std::vector<std::string> problem;
  std::vector<std::string> tuning;
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
  if (!options.kernels.empty()) {
    Expected<DeploymentPlan> folder = read_kernels_folder(options.kernels);
    if (!folder) return folder.errors();
    return std::move(folder->kernels);
  }
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

int problem_command(const Options& options, const std::vector<PlannedKernel>& kernels) {
  mlaforge_problem defaults = MLAFORGE_PROBLEM_INIT;
  if (!kernels.empty()) defaults.heads = kernels.front().variant.heads;
  const Expected<mlaforge_problem> problem = explain::parse_problem(options.problem, defaults);
  if (!problem) return report_errors(problem.errors(), options.json, exit_bad_input);
  std::vector<explain::TuningFile> tuning;
  for (const std::string& path : options.tuning) {
    std::optional<std::string> text = read_file(path);
    if (!text) {
      return report_errors({{.where = "--tuning", .problem = "cannot be read", .value = path}}, options.json,
                           exit_bad_input);
    }
    tuning.push_back({.name = path, .text = std::move(*text)});
  }
  const Expected<explain::Answer> answer = explain::explain_problem(kernels, *problem, tuning);
  if (!answer) return report_errors(answer.errors(), options.json, exit_bad_input);
  if (options.json) {
    print_json(explain::to_json(*answer));
  } else {
    fmt::print("{}", explain::to_text(*answer));
  }
  return answer->miss.empty() ? exit_done : exit_failed;
}

int explain_command(const Options& options) {
  const Expected<std::vector<PlannedKernel>> kernels = kernels_of(options);
  if (!kernels) return report_errors(kernels.errors(), options.json, exit_bad_input);
  if (!options.problem.empty()) return problem_command(options, *kernels);
  std::vector<std::optional<KernelResources>> resources(kernels->size());
  if (!options.no_compile) {
    const Expected<std::vector<CompiledKernel>> compiled = compile(options, *kernels);
    if (!compiled) return report_errors(compiled.errors(), options.json, compile_exit_code(compiled.errors()));
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
      "explain", "Explain kernels (rows, LDS map, wave roles, DMA schedule, budgets, registers), or the choice of one");
  CLI::Option* name = command->add_option("NAME", options->name, "A kernel's name; default: all kernels of the config");
  CLI::Option* config = add_config_option(*command, options->config)->excludes(name);
  command->add_option("--kernels", options->kernels, "A folder that `generate` or `compile` wrote, for its config")
      ->excludes(name)
      ->excludes(config);
  command
      ->add_option(
          "--problem", options->problem,
          "KEY=VALUE,...: which kernel serves this shape, and why the others do not. Keys: heads (default: the "
          "config's), qlen, page_size, q_dtype, kv_dtype, context_parallel, splits, batch, context, pool_bytes "
          "(default: batch x context x 576), policy, probability_parts")
      ->delimiter(',')
      ->excludes(name);
  command->add_option("--tuning", options->tuning, "Tuning data that the server loads, for --problem");
  command->add_flag("--no-compile", options->no_compile, "Do not compile: registers as planned only");
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = explain_command(*options); });
}

}  // namespace mlaforge::cli
