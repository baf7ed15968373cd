// `mlaforge bench`: how long a decode step takes, predicted by the simulator's cycle model.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/bench/bench_case.h"
#include "cli/commands.h"
#include "cli/config_option.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::vector<int> batches = {1};
  std::vector<int> contexts = {4096};
  std::vector<int> qlens;
  std::string splits = "auto";
  int page_size = 0;
  std::string compiler, cache;
  bench::BenchOptions bench;
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
  fmt::print("\n  of a wave   ");
  for (const auto& [name, clocks] : loop.at("wave_clocks").items()) {
    if (clocks.get<double>() >= 1) fmt::print(" {} {:.0f}", name, clocks.get<double>());
  }
  fmt::print("\n");
}

void print_report(const bench::BenchReport& r) {
  fmt::print("kernel         {}\n", r.kernel);
  fmt::print("problem        batch {}, context {}, qlen {}, {} splits\n", r.wanted.batch, r.wanted.context,
             r.wanted.qlen, r.splits);
  fmt::print("predicted us   total {}\n", text_of(r.total_us));
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
}

int bench_command(const Options& options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  const Expected<int> splits = parse_splits(options.splits);
  if (!splits) return report_errors(splits.errors(), options.json, exit_bad_input);
  HipApi hip;
  if (load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) != MLAFORGE_SUCCESS) {
    return report_errors({Diagnostic{"device", mlaforge_last_error(), {}, {}, {}}}, options.json, exit_bad_input);
  }
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  const KernelRequest& first = plan->config.kernels.front();
  const std::vector<int> qlens = options.qlens.empty() ? std::vector<int>{first.query_length.front()} : options.qlens;
  nlohmann::json lines = nlohmann::json::array();
  for (const int batch : options.batches) {
    for (const int context : options.contexts) {
      for (const int qlen : qlens) {
        const bench::BenchCase wanted{
            .batch = batch,
            .context = context,
            .qlen = qlen,
            .splits = *splits,
            .page_size = options.page_size != 0 ? options.page_size : first.page_size.front()};
        const Expected<bench::BenchReport> report = bench::bench(hip, kernels, wanted, options.bench);
        if (!report) return report_errors(report.errors(), options.json, exit_bad_input);
        if (!options.json) print_report(*report);
        lines.push_back(bench::to_json(*report));
      }
    }
  }
  if (options.json) print_json(lines.size() == 1 ? lines.front() : lines);
  return exit_done;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Predict how long a decode step takes on an MI355X");
  add_config_option(*command, options->config);
  command->add_option("--batch", options->batches, "Requests, a list; default 1")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536));
  command->add_option("--context", options->contexts, "KV tokens of every request, a list; default 4096")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--qlen", options->qlens, "Query positions a request, a list; default: the config's first")
      ->delimiter(',')
      ->check(CLI::Range(1, 8));
  command->add_option("--splits", options->splits, "A split count, or auto (default)");
  command->add_option("--page-size", options->page_size, "Tokens a page; default: the config's first")
      ->check(CLI::Range(1, 256));
  command->add_flag("--full", options->bench.full, "Replay every block of an XCD's workgroups, extrapolate nothing");
  command->add_option("--compiler", options->compiler,
                      "hipcc or clang++; default: MLAFORGE_COMPILER, hipcc, clang++-22");
  command->add_option("--cache", options->cache, "Folder of the compile cache; default: $XDG_CACHE_HOME/mlaforge");
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = bench_command(*options); });
}

}  // namespace mlaforge::cli
