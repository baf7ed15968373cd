// `mlaforge bench`: how long a decode step takes, predicted by the simulator's cycle model or measured on a GPU.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <memory>

#include "cli/bench/bench_case.h"
#include "cli/bench/svg.h"
#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/device_option.h"
#include "cli/kernels_folder.h"
#include "cli/option_values.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/tuning_option.h"
#include "generator/config/nearest.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::vector<int> batches = {1};
  std::vector<int> contexts = {4096};
  std::vector<int> qlens;
  std::string splits = "auto";
  std::string kernel;
  std::string tuning;
  int page_size = 0;
  std::string compiler, cache;
  std::string device = "auto";
  std::string svg;
  bench::BenchOptions bench;
  bool sweep = false;
  bool json = false;
};

Expected<int> parse_splits(const std::string& text) {
  if (text == "auto") return 0;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 256) {
    return Diagnostic{"--splits", "not a split count", text, "auto, or 1 .. 256", {}};
  }
  return value;
}

std::string text_of(const bench::Range& range) {
  return fmt::format("{:.2f} ({:.2f} .. {:.2f})", range.nominal, range.low, range.high);
}

void print_loop(const nlohmann::json& loop) {
  if (loop.is_null()) return;
  fmt::print("main loop      {:.0f} clocks a pass, over {:.0f} passes; bounds:", loop.at("clocks").get<double>(),
             loop.at("passes").get<double>());
  for (const auto& [name, clocks] : loop.at("bounds_clk").items()) fmt::print(" {} {:.0f}", name, clocks.get<double>());
  fmt::print("\n               {:.2f} x its binding bound, {}; LDS conflicts {:.1f} % of its LDS clocks",
             loop.at("over_binding").get<double>(), loop.at("binding").get<std::string>(),
             100 * loop.at("lds_conflict_share").get<double>());
  fmt::print("\n  of a wave   ");
  for (const auto& [name, clocks] : loop.at("wave_clocks").items()) {
    if (clocks.get<double>() >= 1) fmt::print(" {} {:.0f}", name, clocks.get<double>());
  }
  fmt::print("\n");
}

void print_conflicts(const nlohmann::json& attention) {
  fmt::print("LDS conflicts  {:.1f} % of its clocks", 100 * attention.at("lds_conflict_share").get<double>());
  for (const auto& conflict : attention.at("lds_conflicts")) {
    fmt::print("\n  {:3.0f} % of them {:.1f} x: {}", 100 * conflict.at("lost_share").get<double>(),
               conflict.at("degree").get<double>(), conflict.at("instruction").get<std::string>());
  }
  fmt::print("\n");
}

void print_report(const bench::BenchReport& r) {
  fmt::print("kernel         {}, chosen by {}\n", r.kernel, r.chosen_by);
  fmt::print("problem        batch {}, context {}, qlen {}, {}\n", r.wanted.batch, r.wanted.context, r.wanted.qlen,
             counted(static_cast<size_t>(r.splits), "split"));
  fmt::print("{} us   total {}\n", r.predicted ? "predicted" : "measured ", text_of(r.total_us));
  if (!r.predicted) {
    fmt::print("KV             {:.2f} TB/s, {:.1f} % of the attainable\n", r.kv_tb_s, 100 * r.attainable_share);
    return;
  }
  fmt::print("               launch {}, attention {}, gap {}, combine {}\n", text_of(r.launch_us),
             text_of(r.attention_us), text_of(r.gap_us), text_of(r.combine_us));
  fmt::print("KV             {:.2f} TB/s, {:.1f} % of the attainable\n", r.kv_tb_s, 100 * r.attainable_share);
  fmt::print("bounds us     ");
  for (const auto& [name, us] : r.bounds_us) fmt::print(" {} {:.2f}", name, us);
  fmt::print("; binding: {}\n", r.binding);
  fmt::print("wave time     ");
  for (const auto& [name, share] : r.attention.at("wave_time").items()) {
    if (share.get<double>() >= 0.01) fmt::print(" {} {:.0f} %", name, 100 * share.get<double>());
  }
  fmt::print("\n");
  print_loop(r.attention.at("steady_loop"));
  print_conflicts(r.attention);
}

/// The grids that serving engineers look at.
constexpr std::array sweep_batches{1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array sweep_contexts{1024, 4096, 8192, 16384, 32768, 65536, 131072};

void print_table(const std::vector<bench::BenchReport>& reports) {
  fmt::print("{} microseconds.\n",
             reports.front().predicted ? "Predicted, nominal and range," : "Measured, median and range,");
  fmt::print("{:>6} {:>8} {:>5} {:>7} {:>28} {:>10} {:>8} {:>7} {:>6}  {:<7}  {}\n", "batch", "context", "qlen",
             "splits", "total", "attention", "combine", "TB/s", "share", "binding", "kernel");
  for (const bench::BenchReport& r : reports) {
    fmt::print("{:>6} {:>8} {:>5} {:>7} {:>28} {:>10.2f} {:>8.2f} {:>7.2f} {:>5.0f}%  {:<7}  {}\n", r.wanted.batch,
               r.wanted.context, r.wanted.qlen, r.splits, text_of(r.total_us), r.attention_us.nominal,
               r.combine_us.nominal, r.kv_tb_s, 100 * r.attainable_share, r.binding, r.kernel);
  }
}

std::vector<bench::BenchCase> cases_of(const Options& options, const KernelRequest& first, int splits) {
  std::vector<int> batches = options.batches;
  std::vector<int> contexts = options.contexts;
  if (options.sweep) {
    batches.assign(sweep_batches.begin(), sweep_batches.end());
    contexts.assign(sweep_contexts.begin(), sweep_contexts.end());
  }
  const std::vector<int> qlens = options.qlens.empty() ? std::vector<int>{first.query_length.front()} : options.qlens;
  std::vector<bench::BenchCase> cases;
  for (const int qlen : qlens) {
    for (const int batch : batches) {
      for (const int context : contexts) {
        cases.push_back({.batch = batch,
                         .context = context,
                         .qlen = qlen,
                         .splits = splits,
                         .page_size = options.page_size != 0 ? options.page_size : first.page_size.front(),
                         .seed = 1});
      }
    }
  }
  return cases;
}

struct Skipped {
  bench::BenchCase wanted;
  std::string reason;
};

/// A sweep goes on past the shapes that the config has no kernel for.
struct Results {
  std::vector<bench::BenchReport> reports;
  std::vector<Skipped> skipped;
};

void print_results(const Options& options, const Results& results) {
  const std::vector<bench::BenchReport>& reports = results.reports;
  if (options.json) {
    nlohmann::json lines = nlohmann::json::array();
    for (const bench::BenchReport& report : reports) lines.push_back(bench::to_json(report));
    for (const auto& [wanted, reason] : results.skipped) {
      lines.push_back(
          {{"batch", wanted.batch}, {"context", wanted.context}, {"qlen", wanted.qlen}, {"skipped", reason}});
    }
    print_json(lines.size() == 1 ? lines.front() : lines);
    return;
  }
  if (reports.size() == 1) {
    print_report(reports.front());
  } else if (!reports.empty()) {
    print_table(reports);
  }
  for (const auto& [wanted, reason] : results.skipped) {
    fmt::print("skipped: batch {}, context {}, qlen {}: {}\n", wanted.batch, wanted.context, wanted.qlen,
               reason.substr(0, reason.find('\n')));
  }
}

int bench_command(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<int> splits = parse_splits(options.splits);
  if (!splits) return report_errors(splits.errors(), options.json, exit_bad_input);
  std::optional<PlannedKernel> named;
  if (!options.kernel.empty()) {
    Expected<PlannedKernel> kernel = kernel_of_name(options.kernel);
    if (!kernel) return report_errors(kernel.errors(), options.json, exit_bad_input);
    named = std::move(*kernel);
  }
  if (!options.svg.empty()) {
    if (const Status writable = check_output("--svg", options.svg); !writable)
      return report_errors(writable.errors(), options.json, exit_bad_input);
  }
  const Expected<HipApi> opened = open_hip(options.device);
  if (!opened) return report_errors(opened.errors(), options.json, exit_bad_input);
  const HipApi& hip = *opened;
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  if (!named) {
    if (const Status used = use_tuning(kernels, options.tuning, options.config); !used)
      return report_errors(used.errors(), options.json, exit_bad_input);
  }
  const std::vector<bench::BenchCase> cases = cases_of(options, plan->config.kernels.front(), *splits);
  Results results;
  for (const bench::BenchCase& wanted : cases) {
    show_progress(results.reports.size() + results.skipped.size(), cases.size());
    Expected<bench::BenchReport> report = named ? bench::bench_kernel(hip, kernels, *named, wanted, options.bench)
                                                : bench::bench(hip, kernels, wanted, options.bench);
    if (report) {
      results.reports.push_back(std::move(*report));
    } else if (options.sweep) {
      results.skipped.push_back({wanted, to_string(report.errors())});
    } else {
      return report_errors(report.errors(), options.json, exit_bad_input);
    }
  }
  show_progress(cases.size(), cases.size());
  print_results(options, results);
  if (results.reports.empty()) return exit_failed;
  if (!options.svg.empty()) {
    const Status written = write_output("--svg", options.svg, bench::roofline_svg(results.reports));
    if (!written) return report_errors(written.errors(), options.json, exit_bad_input);
  }
  return exit_done;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("bench", "How long a decode step takes: predicted for an MI355X, or measured on one");
  add_config_option(*command, options->config);
  add_list_option(*command, "--batch", options->batches, 1, 65536, "Requests, a list; default 1");
  add_list_option(*command, "--context", options->contexts, 1, 1 << 24,
                  "KV tokens of every request, a list; default 4096");
  add_list_option(*command, "--qlen", options->qlens, 1, 8,
                  "Query positions a request, a list; default: the config's first");
  command->add_option("--splits", options->splits, "A split count, or auto (default)");
  command->add_option("--kernel", options->kernel, "Any kernel by its name, of the config or not")
      ->excludes("--qlen")
      ->excludes("--splits");
  command->add_option("--page-size", options->page_size, "Tokens a page; default: the config's first")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64, 128, 256}));
  add_tuning_option(*command, options->tuning);
  add_device_option(*command, options->device);
  command->add_flag("--sweep", options->sweep, "The usual grid of batches and contexts, in the place of both options")
      ->excludes("--batch")
      ->excludes("--context");
  command->add_option("--svg", options->svg, "A roofline of the lines, too");
  command->add_flag("--full", options->bench.full, "Replay every block of an XCD's workgroups, extrapolate nothing");
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = bench_command(*options); });
}

}  // namespace mlaforge::cli
