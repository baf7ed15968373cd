// `mlaforge trace`: what the waves of one CU do, predicted, as a trace for Perfetto or a picture of one block.
#include <fmt/format.h>

#include <memory>
#include <tuple>

#include "cli/bench/bench_case.h"
#include "cli/bench/svg.h"
#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/device_option.h"
#include "cli/tuning_option.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  bench::BenchCase wanted;
  std::string output = "trace.json";
  std::string svg;
  std::string tuning;
  std::string compiler, cache;
};

int trace_command(Options options) {
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return report_errors(plan.errors(), false, exit_bad_input);
  const Expected<HipApi> opened = open_simulator();
  if (!opened) return report_errors(opened.errors(), false, exit_bad_input);
  const HipApi& hip = *opened;
  const KernelRequest& first = plan->config.kernels.front();
  if (options.wanted.qlen == 0) options.wanted.qlen = first.query_length.front();
  if (options.wanted.page_size == 0) options.wanted.page_size = first.page_size.front();
  run::Kernels kernels(*plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  if (const Status used = use_tuning(kernels, options.tuning, options.config); !used)
    return report_errors(used.errors(), false, exit_bad_input);
  const Expected<bench::BenchReport> report =
      bench::bench(hip, kernels, options.wanted, {.trace = true, .full = false});
  if (!report) return report_errors(report.errors(), false, exit_bad_input);
  const std::tuple<const char*, std::string, std::string> files[] = {
      {"--output", options.output, report->trace},
      {"--svg", options.svg, options.svg.empty() ? "" : bench::timeline_svg(*report)}};
  for (const auto& [option, path, text] : files) {
    if (path.empty()) continue;
    if (const Status written = write_output(option, path, text); !written)
      return report_errors(written.errors(), false, exit_bad_input);
    fmt::print("{}: {} bytes, predicted, {}, chosen by {}\n", path, text.size(), report->kernel, report->chosen_by);
  }
  return exit_done;
}

}  // namespace

void add_trace(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->wanted.qlen = options->wanted.page_size = 0;
  CLI::App* command = app.add_subcommand("trace", "Write what the waves of a CU do, predicted, for Perfetto");
  add_config_option(*command, options->config);
  command->add_option("--batch", options->wanted.batch, "Requests; default 1")->check(CLI::Range(1, 65536));
  command->add_option("--context", options->wanted.context, "KV tokens of every request; default 4096")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--qlen", options->wanted.qlen, "Query positions a request; default: the config's first")
      ->check(CLI::Range(1, 8));
  command->add_option("--splits", options->wanted.splits, "A split count; default: the runtime's choice")
      ->check(CLI::Range(1, 256));
  command->add_option("--page-size", options->wanted.page_size, "Tokens a page; default: the config's first")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64, 128, 256}));
  add_tuning_option(*command, options->tuning);
  command->add_option("-o,--output", options->output, "The trace; default trace.json");
  command->add_option("--svg", options->svg, "A picture of one pass of the main loop, too");
  add_compile_options(*command, options->compiler, options->cache);
  command->callback([options, &exit_code] { exit_code = trace_command(*options); });
}

}  // namespace mlaforge::cli
