// `mlaforge mutate`: weakens each wait, barrier and s_nop of compiled kernels, one at a time, and says what the
// simulator's checks make of each mutant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/device_option.h"
#include "cli/mutate/campaign.h"
#include "cli/option_values.h"
#include "cli/run/named_case.h"
#include "generator/config/nearest.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::vector<int> splits = {1, 2};
  std::vector<int> qlens;
  std::vector<int> contexts;
  std::vector<std::string> kernels;
  std::string compiler;
  std::string cache;
  bool verbose = false;
  bool json = false;
};

constexpr std::array rules{mutate::Rule::nothing_outstanding, mutate::Rule::later_wait,
                           mutate::Rule::full_counter,        mutate::Rule::ends_with_the_wave,
                           mutate::Rule::orders_nothing,      mutate::Rule::enough_states};

/// Requests of no token, one, two blocks and a bit, and as many as take each split through its steady loop.
std::vector<int> default_contexts(int splits, int ranks) { return {0, 1, 300 * ranks, (512 * splits + 488) * ranks}; }

/// Of a combine kernel alone: no token, one, and one block a split, so that each split has a partial to merge.
std::vector<int> combine_contexts(int splits, int ranks) { return {0, 1, 128 * splits * ranks}; }

/// A launch, and of its two kernels the one whose mutants are wanted; empty: both.
struct Target {
  run::RunCase run;
  std::string only;
};

/// How many mutants ended how: "caught by LDS race" and the rules' names.
struct Tally {
  std::map<std::string, size_t> caught, explained;
  size_t unexplained = 0;
  size_t total(const std::map<std::string, size_t>& counts) const {
    size_t sum = 0;
    for (const auto& [name, count] : counts) sum += count;
    return sum;
  }
};

Tally tally(const mutate::KernelReport& report) {
  Tally counts;
  for (const mutate::MutantReport& mutant : report.mutants) {
    if (mutant.verdict == mutate::Verdict::caught) ++counts.caught[mutant.caught_by];
    if (mutant.verdict == mutate::Verdict::explained) ++counts.explained[mutate::rule_name(mutant.rule)];
    counts.unexplained += mutant.verdict == mutate::Verdict::unexplained;
  }
  return counts;
}

nlohmann::json to_json(const mutate::MutantReport& mutant) {
  constexpr std::array verdicts{"caught", "explained", "unexplained"};
  nlohmann::json json = {{"offset", mutant.mutant.point.offset},
                         {"instruction", mutant.mutant.point.text},
                         {"change", mutant.mutant.change},
                         {"verdict", verdicts[static_cast<size_t>(mutant.verdict)]},
                         {"evidence", mutant.evidence}};
  if (mutant.verdict == mutate::Verdict::caught) {
    json["caught_by"] = mutant.caught_by;
    json["memory"] = mutant.memory;
  } else {
    json["rule"] = mutant.rule == mutate::Rule::none ? nlohmann::json() : nlohmann::json(rule_name(mutant.rule));
    json["executions"] = mutant.executions;
  }
  return json;
}

nlohmann::json to_json(const mutate::KernelReport& report) {
  const Tally counts = tally(report);
  nlohmann::json mutants = nlohmann::json::array();
  for (const mutate::MutantReport& mutant : report.mutants) mutants.push_back(to_json(mutant));
  return {{"kernel", report.kernel},
          {"waits", report.waits},
          {"barriers", report.barriers},
          {"nops", report.nops},
          {"caught", counts.total(counts.caught)},
          {"caught_by", counts.caught},
          {"explained", counts.total(counts.explained)},
          {"explained_by", counts.explained},
          {"unexplained", counts.unexplained},
          {"mutants", mutants}};
}

void print_mutant(const mutate::MutantReport& mutant) {
  const mutate::WaitPoint& point = mutant.mutant.point;
  const std::string outcome = mutant.verdict == mutate::Verdict::caught
                                  ? fmt::format("caught by {} ({})", mutant.caught_by, mutant.memory)
                              : mutant.verdict == mutate::Verdict::explained ? rule_name(mutant.rule)
                                                                             : std::string("UNEXPLAINED");
  fmt::print("  +0x{:04x}  {:32} {:24} {}\n", point.offset, point.text, mutant.mutant.change, outcome);
  if (mutant.verdict != mutate::Verdict::caught) fmt::print("           {}\n", mutant.evidence);
}

void print_report(const mutate::KernelReport& report, bool verbose) {
  const Tally counts = tally(report);
  fmt::print("{}\n  {} of {}, {} and {} s_nop: {} caught, {} explained, {} unexplained\n", report.kernel,
             counted(report.mutants.size(), "mutant"), counted(report.waits, "wait"),
             counted(report.barriers, "barrier"), report.nops, counts.total(counts.caught),
             counts.total(counts.explained), counts.unexplained);
  for (const auto& [name, count] : counts.caught) fmt::print("  {:4} caught by {}\n", count, name);
  for (const mutate::Rule rule : rules) {
    const auto found = counts.explained.find(rule_name(rule));
    if (found != counts.explained.end()) {
      fmt::print("  {:4} {}: {}\n", found->second, rule_name(rule), rule_text(rule));
    }
  }
  for (const mutate::MutantReport& mutant : report.mutants) {
    if (verbose || mutant.verdict == mutate::Verdict::unexplained) print_mutant(mutant);
  }
}

run::RunCase case_of(const Options& options, const DeploymentConfig& config, int qlen, int splits) {
  run::RunCase wanted;
  wanted.splits = splits;
  wanted.inputs.contexts = options.contexts.empty() ? default_contexts(splits, 1) : options.contexts;
  wanted.inputs.requests = static_cast<int>(wanted.inputs.contexts.size());
  wanted.inputs.heads = config.heads;
  wanted.inputs.qlen = qlen;
  wanted.inputs.page_size = config.kernels.front().page_size.front();
  wanted.inputs.softmax_scale = static_cast<float>(config.softmax_scale);
  return wanted;
}

run::RunCase case_of(const Options& options, const DeploymentConfig& config, const PlannedKernel& kernel,
                     std::vector<int> contexts) {
  run::RunCase wanted = run::case_of(kernel, config, options.contexts.empty() ? std::move(contexts) : options.contexts);
  wanted.all_ranks = false;
  return wanted;
}

std::vector<std::string> names_of(const DeploymentPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedKernel& kernel : plan.kernels) {
    names.push_back(kernel.plan.name);
    if (kernel.combine) names.push_back(kernel.combine->name);
  }
  return names;
}

/// An attention kernel of the config whose splits the named combine kernel merges, or null.
const PlannedKernel* merged_by(const std::string& name, const DeploymentPlan& plan) {
  const auto found = std::find_if(plan.kernels.begin(), plan.kernels.end(), [&](const PlannedKernel& kernel) {
    return kernel.combine && kernel.combine->name == name;
  });
  return found == plan.kernels.end() ? nullptr : &*found;
}

/// The cases of the command line: the named kernels, or those that the runtime selects for split counts and lengths.
Expected<std::vector<Target>> cases_of(const Options& options, const DeploymentPlan& plan,
                                       const run::Kernels& kernels) {
  std::vector<Target> cases;
  for (const std::string& name : options.kernels) {
    const PlannedKernel* kernel = kernels.find(name);
    const PlannedKernel* merged = kernel == nullptr ? merged_by(name, plan) : nullptr;
    if (merged != nullptr) {
      const Variant& variant = merged->variant;
      cases.push_back(
          {case_of(options, plan.config, *merged, combine_contexts(variant.splits, variant.context_parallel)), name});
      continue;
    }
    if (kernel == nullptr) {
      return Diagnostic{.where = "--kernel",
                        .problem = "the config has no such kernel; mlaforge list names those that it has",
                        .value = name,
                        .allowed = {},
                        .nearest = nearest_name(name, names_of(plan)).value_or("")};
    }
    const Variant& variant = kernel->variant;
    cases.push_back(
        {case_of(options, plan.config, *kernel, default_contexts(variant.splits, variant.context_parallel)), {}});
  }
  if (!cases.empty()) return cases;
  std::vector<int> qlens = options.qlens;
  if (qlens.empty()) qlens = {plan.config.kernels.front().query_length.front()};
  for (const int qlen : qlens) {
    for (const int splits : options.splits) cases.push_back({case_of(options, plan.config, qlen, splits), {}});
  }
  return cases;
}

int mutate_command(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<HipApi> opened = open_simulator();
  if (!opened) return report_errors(opened.errors(), options.json, exit_bad_input);
  const HipApi& hip = *opened;
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  const Expected<std::vector<Target>> cases = cases_of(options, *plan, kernels);
  if (!cases) return report_errors(cases.errors(), options.json, exit_bad_input);
  nlohmann::json documents = nlohmann::json::array();
  size_t unexplained = 0;
  for (const Target& target : *cases) {
    const Expected<std::vector<mutate::KernelReport>> reports =
        mutate::run_campaign(hip, kernels, target.run, target.only);
    if (!reports) return report_errors(reports.errors(), options.json, exit_bad_input);
    for (const mutate::KernelReport& report : *reports) {
      unexplained += tally(report).unexplained;
      documents.push_back(to_json(report));
      if (!options.json) print_report(report, options.verbose);
    }
  }
  if (options.json) {
    nlohmann::json texts;
    for (const mutate::Rule rule : rules) {
      texts[rule_name(rule)] = rule_text(rule);
    }
    print_json({{"rules", texts}, {"kernels", documents}, {"unexplained", unexplained}});
  }
  return unexplained == 0 ? exit_done : exit_failed;
}

}  // namespace

void add_mutate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "mutate", "Weaken each wait, barrier and s_nop of compiled kernels and run the mutants under all checks");
  add_config_option(*command, options->config);
  command
      ->add_option("--kernel", options->kernels,
                   "Kernels by name: attention kernels, each with its combine kernel, or a combine kernel alone; in "
                   "the place of --splits and --qlen")
      ->delimiter(',');
  add_list_option(*command, "--splits", options->splits, 1, 256, "Split counts whose kernels are taken; default 1,2");
  add_list_option(*command, "--qlen", options->qlens, 1, 8, "Query positions a request; default: the config's first");
  add_list_option(
      *command, "--context", options->contexts, 0, 1 << 20,
      "KV tokens of the launch's requests; default 0,1,300 and 512 a split + 488; of a combine kernel alone 0,1 "
      "and 128 a split");
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--verbose", options->verbose, "Print every mutant, not only the unexplained ones");
  command->add_flag("--json", options->json, "Report as JSON, every mutant with its evidence");
  command->callback([options, &exit_code] { exit_code = mutate_command(*options); });
}

}  // namespace mlaforge::cli
