// `mlaforge run`: makes inputs, runs the config's kernel on a GPU or the simulator, and compares with float64.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/config_option.h"
#include "cli/run/run_case.h"
#include "generator/emit/files.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  int batch = 1;
  std::vector<int> contexts = {4096};
  int qlen = 0;
  std::string splits = "auto";
  int page_size = 0;
  uint64_t seed = 1;
  std::string input = "normal";
  std::string device = "auto";
  std::string page_table = "csr";
  std::string kernel_source;
  std::string compiler;
  std::string cache;
  std::optional<float> k_scale, v_scale;
  run::RunCase wanted;
  bool json = false;
};

Diagnostic option_error(std::string option, std::string problem, std::string value, std::string allowed) {
  return {.where = std::move(option),
          .problem = std::move(problem),
          .value = std::move(value),
          .allowed = std::move(allowed),
          .nearest = {}};
}

/// "auto" is 0.
Expected<int> parse_splits(const std::string& text) {
  if (text == "auto") return 0;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 256) {
    return option_error("--splits", "not a split count", text, "auto, or 1 .. 256");
  }
  return value;
}

/// The case of the options; what is left out comes from the config's first kernel.
Expected<run::RunCase> make_case(const Options& options, const DeploymentConfig& config) {
  const Expected<int> splits = parse_splits(options.splits);
  if (!splits) return splits.errors();
  run::RunCase wanted = options.wanted;
  wanted.splits = *splits;
  wanted.inputs.kind = *reference::parse_input(options.input);
  wanted.inputs.seed = options.seed;
  wanted.inputs.requests = options.batch;
  wanted.inputs.heads = config.heads;
  wanted.inputs.qlen = options.qlen != 0 ? options.qlen : config.kernels.front().query_length.front();
  wanted.inputs.page_size = options.page_size != 0 ? options.page_size : config.kernels.front().page_size.front();
  wanted.inputs.contexts = options.contexts;
  wanted.inputs.dense_table = options.page_table == "dense";
  wanted.inputs.softmax_scale = static_cast<float>(config.softmax_scale);
  wanted.inputs.k_scale = options.k_scale;
  wanted.inputs.v_scale = options.v_scale;
  if (!options.kernel_source.empty()) {
    wanted.kernel_source = read_file(options.kernel_source);
    if (!wanted.kernel_source.has_value()) {
      return option_error("--kernel-source", "the file cannot be read", options.kernel_source,
                          "a HIP source of the selected kernel");
    }
  }
  return wanted;
}

mlaforge_backend backend_of(const std::string& device) {
  return device == "hip"         ? MLAFORGE_BACKEND_HIP
         : device == "simulator" ? MLAFORGE_BACKEND_SIMULATOR
                                 : MLAFORGE_BACKEND_AUTO;
}

nlohmann::json to_json(const run::RunReport& report, const run::RunCase& wanted) {
  const reference::InputSpec& inputs = wanted.inputs;
  nlohmann::json problem = {{"batch", inputs.requests},
                            {"context", inputs.contexts},
                            {"heads", inputs.heads},
                            {"qlen", inputs.qlen},
                            {"splits", report.splits},
                            {"page_size", inputs.page_size},
                            {"input", reference::input_names()[static_cast<size_t>(inputs.kind)]},
                            {"seed", inputs.seed},
                            {"page_table", inputs.dense_table ? "dense" : "csr"}};
  if (report.simulated) problem["memory"] = wanted.memory;
  return {{"kernel", report.kernel},
          {"combine", report.combine.empty() ? nlohmann::json() : nlohmann::json(report.combine)},
          {"device", report.device},
          {"simulated", report.simulated},
          {"problem", problem},
          {"rel_l2", report.comparison.rel_l2},
          {"max_row_error", report.comparison.max_row_error},
          {"lse_max_abs", report.comparison.lse_max_abs},
          {"passed", report.passed},
          {"failure", report.failure.empty() ? nlohmann::json() : nlohmann::json(report.failure)},
          {"seconds",
           {{"setup", report.setup_seconds},
            {"compile", report.compile_seconds},
            {"run", report.run_seconds},
            {"reference", report.reference_seconds}}}};
}

void print_report(const run::RunReport& report) {
  fmt::print("kernel         {}\n", report.kernel);
  if (!report.combine.empty()) fmt::print("combine        {}\n", report.combine);
  fmt::print("device         {}{}\n", report.device, report.simulated ? " (simulated)" : "");
  fmt::print("rel_l2         {:.3g}\n", report.comparison.rel_l2);
  fmt::print("max_row_error  {:.3g}\n", report.comparison.max_row_error);
  fmt::print("lse_max_abs    {:.3g}\n", report.comparison.lse_max_abs);
  fmt::print("seconds        setup {:.2f}, compile {:.2f}, run {:.2f}, reference {:.2f}\n", report.setup_seconds,
             report.compile_seconds, report.run_seconds, report.reference_seconds);
  fmt::print("{}\n", report.passed ? "passed" : "FAILED: " + report.failure);
}

int run_command(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<run::RunCase> wanted = make_case(options, plan->config);
  if (!wanted) return report_errors(wanted.errors(), options.json, exit_bad_input);
  HipApi hip;
  if (load_hip(backend_of(options.device), hip) != MLAFORGE_SUCCESS) {
    return report_errors({option_error("--device", mlaforge_last_error(), options.device, "auto, simulator, hip")},
                         options.json, exit_bad_input);
  }
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  const Expected<run::RunReport> report = run::run_case(hip, kernels, *wanted);
  if (!report) return report_errors(report.errors(), options.json, exit_bad_input);
  if (options.json) {
    print_json(to_json(*report, *wanted));
  } else {
    print_report(*report);
  }
  return report->passed ? exit_done : exit_failed;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "Run a kernel on generated inputs and compare it with float64 attention");
  add_config_option(*command, options->config);
  command->add_option("--batch", options->batch, "Requests; default 1")->check(CLI::Range(0, 65536));
  command->add_option("--context", options->contexts, "KV tokens; requests take a list's lengths in turn; default 4096")
      ->delimiter(',')
      ->check(CLI::Range(0, 1 << 24));
  command->add_option("--qlen", options->qlen, "Query positions a request; default: the config's first")
      ->check(CLI::Range(1, 8));
  command->add_option("--splits", options->splits, "A split count, or auto (default)");
  command->add_option("--page-size", options->page_size, "Tokens a page; default: the config's first")
      ->check(CLI::Range(1, 256));
  command->add_option("--seed", options->seed, "Seed of the inputs; default 1");
  command->add_option("--input", options->input, "Kind of inputs; default normal")
      ->check(CLI::IsMember(reference::input_names()));
  command->add_option("--page-table", options->page_table, "Layout of the page table: csr (default) or dense")
      ->check(CLI::IsMember({"csr", "dense"}));
  command->add_option("--device", options->device, "auto (default): a gfx950 GPU, else the simulator")
      ->check(CLI::IsMember({"auto", "simulator", "hip"}));
  command->add_option("--memory", options->wanted.memory,
                      "When the simulator's loads land: lazy (default), eager, random:N");
  command->add_option("--checks", options->wanted.checks,
                      "The simulator's further checks: none (default), all, or a list");
  command->add_option("--repeat", options->wanted.repeats, "Launches, whose outputs must be the same bits; default 1")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--k-scale", options->k_scale, "Factor of the keys; default: a null pointer, 1.0");
  command->add_option("--v-scale", options->v_scale, "Factor of the values; default: a null pointer, 1.0");
  command->add_option("--kernel-source", options->kernel_source,
                      "A source to compile in the place of the emitted attention kernel");
  command->add_option("--compiler", options->compiler,
                      "hipcc or clang++; default: MLAFORGE_COMPILER, hipcc, clang++-22");
  command->add_option("--cache", options->cache, "Folder of the compile cache; default: $XDG_CACHE_HOME/mlaforge");
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace mlaforge::cli
