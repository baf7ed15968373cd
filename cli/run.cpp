// `mlaforge run`: makes inputs, runs the config's kernel on a GPU or the simulator, and compares with float64.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/device_option.h"
#include "cli/option_values.h"
#include "cli/run/run_case.h"
#include "generator/compile/compiler.h"
#include "generator/emit/files.h"
#include "generator/variants/enumerate.h"

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
  std::string query_dtype;
  int context_parallel = 0;
  std::string rank = "all";
  std::string kernel;
  std::string pipeline;
  std::optional<int> block_tokens;
  std::optional<float> q_scale, k_scale, v_scale;
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

/// The options that are numbers, or one word instead of a number.
struct NumberOr {
  const char* option;
  const char* word;
  int word_value;
  int low, high;
};

Expected<int> parse_number_or(const NumberOr& kind, const std::string& text) {
  if (text == kind.word) return kind.word_value;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < kind.low || value > kind.high) {
    return option_error(kind.option, "not a number in range", text,
                        fmt::format("{}, or {} .. {}", kind.word, kind.low, kind.high));
  }
  return value;
}

/// The key that options leave to the config: the named kernel's, else the first one's that the config asks for.
Expected<Variant> default_key(const Options& options, const DeploymentConfig& config) {
  if (options.kernel.empty()) {
    const KernelRequest& first = config.kernels.front();
    Variant key;
    key.qlen = first.query_length.front();
    key.page_size = first.page_size.front();
    key.q_dtype = first.query_dtype.front();
    key.context_parallel = first.context_parallel.front();
    key.splits = 0;
    return key;
  }
  const std::vector<Variant> variants = enumerate(config);
  const auto named = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& variant) { return format(variant) == options.kernel; });
  if (named == variants.end()) {
    return option_error("--kernel", "not a kernel of the config", options.kernel,
                        fmt::format("a name of `mlaforge list`, such as {}", format(variants.front())));
  }
  return *named;
}

/// Query, context parallelism and which kernels may be selected.
Status add_variant_options(const Options& options, const Variant& key, run::RunCase& wanted) {
  wanted.inputs.query_dtype = options.query_dtype.empty()     ? key.q_dtype
                              : options.query_dtype == "bf16" ? MLAFORGE_BF16
                                                              : MLAFORGE_FP8_E4M3;
  wanted.inputs.q_scale = options.q_scale;
  if (options.q_scale.has_value() && wanted.inputs.query_dtype == MLAFORGE_BF16) {
    return option_error("--q-scale", "a bf16 query has no factor", fmt::format("{}", *options.q_scale),
                        "nothing with a bf16 query, else a number");
  }
  wanted.inputs.context_parallel = options.context_parallel != 0 ? options.context_parallel : key.context_parallel;
  const Expected<int> rank = parse_number_or(
      {.option = "--rank", .word = "all", .word_value = -1, .low = 0, .high = wanted.inputs.context_parallel - 1},
      options.rank);
  if (!rank) return rank.errors();
  wanted.all_ranks = *rank == -1;
  wanted.inputs.rank = std::max(0, *rank);
  if (!options.kernel.empty()) wanted.filter.name = options.kernel;
  if (!options.pipeline.empty()) {
    wanted.filter.pipeline = options.pipeline == "uniform" ? MLAFORGE_UNIFORM : MLAFORGE_WARP_SPECIALIZED;
  }
  wanted.filter.block_tokens = options.block_tokens;
  return std::monostate{};
}

/// The case of the options; what is left out comes from the config's first kernel.
Expected<run::RunCase> make_case(const Options& options, const DeploymentConfig& config) {
  const Expected<int> splits =
      parse_number_or({.option = "--splits", .word = "auto", .word_value = 0, .low = 1, .high = 256}, options.splits);
  if (!splits) return splits.errors();
  const Expected<Variant> key = default_key(options, config);
  if (!key) return key.errors();
  run::RunCase wanted = options.wanted;
  if (Status added = add_variant_options(options, *key, wanted); !added) return added.errors();
  wanted.splits = *splits != 0 ? *splits : key->splits;
  wanted.inputs.kind = *reference::parse_input(options.input);
  wanted.inputs.seed = options.seed;
  wanted.inputs.requests = options.batch;
  wanted.inputs.heads = config.heads;
  wanted.inputs.qlen = options.qlen != 0 ? options.qlen : key->qlen;
  wanted.inputs.page_size = options.page_size != 0 ? options.page_size : key->page_size;
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

nlohmann::json to_json(const run::RunReport& report, const run::RunCase& wanted) {
  const reference::InputSpec& inputs = wanted.inputs;
  nlohmann::json problem = {{"batch", inputs.requests},
                            {"context", inputs.contexts},
                            {"heads", inputs.heads},
                            {"qlen", inputs.qlen},
                            {"splits", report.splits},
                            {"page_size", inputs.page_size},
                            {"query_dtype", dtype_name(inputs.query_dtype)},
                            {"input", reference::input_names()[static_cast<size_t>(inputs.kind)]},
                            {"seed", inputs.seed},
                            {"page_table", inputs.dense_table ? "dense" : "csr"}};
  if (report.simulated) problem["memory"] = wanted.memory;
  if (inputs.pool_bytes != 0) problem["pool_bytes"] = inputs.pool_bytes;
  if (inputs.context_parallel > 1) {
    problem["context_parallel"] = inputs.context_parallel;
    problem["rank"] = wanted.all_ranks ? nlohmann::json("all") : nlohmann::json(inputs.rank);
  }
  nlohmann::json ranks = nlohmann::json::array();
  for (const reference::Comparison& rank : report.ranks) {
    ranks.push_back(
        {{"rel_l2", rank.rel_l2}, {"max_row_error", rank.max_row_error}, {"lse_max_abs", rank.lse_max_abs}});
  }
  return {{"kernel", report.kernel},
          {"combine", report.combine.empty() ? nlohmann::json() : nlohmann::json(report.combine)},
          {"device", report.device},
          {"simulated", report.simulated},
          {"problem", problem},
          {"rel_l2", report.comparison.rel_l2},
          {"max_row_error", report.comparison.max_row_error},
          {"lse_max_abs", report.comparison.lse_max_abs},
          {"ranks", ranks},
          {"passed", report.passed},
          {"failure", report.failure.empty() ? nlohmann::json() : nlohmann::json(report.failure)},
          {"seconds",
           {{"setup", report.setup_seconds},
            {"compile", report.compile_seconds},
            {"run", report.run_seconds},
            {"reference", report.reference_seconds}}}};
}

/// `empty`: of a batch of no request.
void print_report(const run::RunReport& report, bool empty) {
  fmt::print("kernel         {}\n", report.kernel);
  if (!report.combine.empty()) fmt::print("combine        {}\n", report.combine);
  fmt::print("device         {}{}\n", report.device, report.simulated ? " (simulated)" : "");
  for (size_t rank = 0; rank < report.ranks.size(); ++rank) {
    fmt::print("rank {:<9} rel_l2 {:.3g}, max_row_error {:.3g}, lse_max_abs {:.3g}\n", rank, report.ranks[rank].rel_l2,
               report.ranks[rank].max_row_error, report.ranks[rank].lse_max_abs);
  }
  if (report.compared) {
    fmt::print("rel_l2         {:.3g}\n", report.comparison.rel_l2);
    fmt::print("max_row_error  {:.3g}\n", report.comparison.max_row_error);
    fmt::print("lse_max_abs    {:.3g}\n", report.comparison.lse_max_abs);
  }
  fmt::print("seconds        setup {:.2f}, compile {:.2f}, run {:.2f}, reference {:.2f}\n", report.setup_seconds,
             report.compile_seconds, report.run_seconds, report.reference_seconds);
  fmt::print("{}\n", !report.passed ? "FAILED: " + report.failure
                     : empty        ? "passed: no request, so nothing was launched"
                                    : "passed");
}

int run_command(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<run::RunCase> wanted = make_case(options, plan->config);
  if (!wanted) return report_errors(wanted.errors(), options.json, exit_bad_input);
  // A compiler that cannot serve is bad input; what it makes of a kernel is the kernel's failure.
  if (const Expected<Compiler> compiler = find_compiler(options.compiler); !compiler) {
    return report_errors(compiler.errors(), options.json, exit_bad_input);
  }
  const Expected<HipApi> hip = open_hip(options.device);
  if (!hip) return report_errors(hip.errors(), options.json, exit_bad_input);
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, *hip);
  const Expected<run::RunReport> report = run::run_case(*hip, kernels, *wanted);
  if (!report) return report_errors(report.errors(), options.json, exit_bad_input);
  if (options.json) {
    print_json(to_json(*report, *wanted));
  } else {
    print_report(*report, wanted->inputs.requests == 0);
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
  add_list_option(*command, "--context", options->contexts, 0, 1 << 24,
                  "KV tokens; requests take a list's lengths in turn; default 4096");
  command->add_option("--qlen", options->qlen, "Query positions a request; default: the config's first")
      ->check(CLI::Range(1, 8));
  command->add_option("--splits", options->splits, "A split count, or auto (default)");
  command->add_option("--page-size", options->page_size, "Tokens a page; default: the config's first")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64, 128, 256}));
  command->add_option("--seed", options->seed, "Seed of the inputs; default 1")->check(whole_number());
  command->add_option("--input", options->input, "Kind of inputs; default normal")
      ->check(CLI::IsMember(reference::input_names()));
  command->add_option("--page-table", options->page_table, "Layout of the page table: csr (default) or dense")
      ->check(CLI::IsMember({"csr", "dense"}));
  add_device_option(*command, options->device)->description("auto (default): a gfx950 GPU, else the simulator");
  command->add_option(
      "--memory", options->wanted.memory,
      "When the simulator's memory operations move their bytes: lazy (default), clobber, eager, random:N");
  command->add_option("--checks", options->wanted.checks,
                      "The simulator's further checks: none (default), all, or a list");
  command->add_option("--repeat", options->wanted.repeats, "Launches, whose outputs must be the same bits; default 1")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--query-dtype", options->query_dtype, "Elements of the query; default: the config's first")
      ->check(CLI::IsMember({"bf16", "fp8_e4m3"}));
  command
      ->add_option("--context-parallel", options->context_parallel,
                   "Ranks that share each request's tokens; default: the config's first")
      ->check(CLI::IsMember({1, 2, 4, 8}));
  command->add_option(
      "--rank", options->rank,
      "Under context parallelism: one rank, or all (default), merged and compared with one rank's result");
  command
      ->add_option("--pool-bytes", options->wanted.inputs.pool_bytes,
                   "Size of a sparse cache pool; above 4 GiB a wide_kv kernel serves; default: what the pages need")
      ->check(whole_number());
  command->add_option("--kernel", options->kernel,
                      "Exactly this kernel of the config; its key is the other options' default");
  command->add_option("--pipeline", options->pipeline, "Only kernels of this pipeline")
      ->check(CLI::IsMember({"uniform", "warp_specialized"}));
  command->add_option("--block-tokens", options->block_tokens, "Only kernels of this block")
      ->check(CLI::IsMember({64, 128}));
  command->add_option("--q-scale", options->q_scale, "Factor of an fp8 query; default: a null pointer, 1.0")
      ->check(finite_number());
  command->add_option("--k-scale", options->k_scale, "Factor of the keys; default: a null pointer, 1.0")
      ->check(finite_number());
  command->add_option("--v-scale", options->v_scale, "Factor of the values; default: a null pointer, 1.0")
      ->check(value_scale());
  command->add_option("--kernel-source", options->kernel_source,
                      "A source to compile in the place of the emitted attention kernel");
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace mlaforge::cli
