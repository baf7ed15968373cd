// `mlaforge tune`: the best kernel for each problem of a deployment, predicted or measured, as data for the runtime.
#include "cli/tune/tune.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/device_option.h"
#include "cli/kernels_folder.h"
#include "cli/option_values.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/tune/tuning_file.h"
#include "generator/compile/compiler.h"
#include "generator/config/nearest.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config, kernels;
  tune::Grid grid;
  tune::TuneOptions tune;
  std::string out = "tuning.json";
  std::string compiler, cache;
  std::string device = "auto";
  bool json = false;
};

nlohmann::json problem_json(const tune::Point& point) {
  return {{"qlen", point.key.qlen},       {"page_size", point.key.page_size},
          {"wide_kv", point.key.wide_kv}, {"batch", point.batch},
          {"context", point.context},     {"context_parallel", point.key.context_parallel},
          {"heads", point.key.heads},     {"q_dtype", dtype_name(point.key.q_dtype)}};
}

nlohmann::json point_json(const tune::TunedPoint& tuned) {
  nlohmann::json tried = nlohmann::json::array();
  for (const tune::Tried& one : tuned.tried) tried.push_back({{"kernel", one.kernel->plan.name}, {"us", one.us}});
  nlohmann::json json = {{"problem", problem_json(tuned.point)},
                         {"kernel", tuned.kernel->plan.name},
                         {"us", {{"low", tuned.us.low}, {"nominal", tuned.us.nominal}, {"high", tuned.us.high}}},
                         {"tried", tried},
                         {"ruled_out_by_cost_model", tuned.left_out},
                         {"ruled_out_by_twins", tuned.left_out_by_twins}};
  if (tuned.proposal) json["faster"] = {{"kernel", format(tuned.proposal->variant)}, {"us", tuned.proposal->us}};
  return json;
}

void print_points(const std::vector<tune::TunedPoint>& points, bool predicted) {
  fmt::print("{} microseconds of the best of the config's kernels.\n",
             predicted ? "Predicted, nominal and range," : "Measured, median,");
  fmt::print("{:>4} {:>5} {:>5} {:>6} {:>8} {:>28} {:>6}  {}\n", "qlen", "page", "wide", "batch", "context", "total",
             "tried", "kernel");
  for (const tune::TunedPoint& p : points) {
    const tune::Key& key = p.point.key;
    fmt::print(
        "{:>4} {:>5} {:>5} {:>6} {:>8} {:>28} {:>6}  {}\n", key.qlen, key.page_size, key.wide_kv ? "yes" : "no",
        p.point.batch, p.point.context, fmt::format("{:.2f} ({:.2f} .. {:.2f})", p.us.nominal, p.us.low, p.us.high),
        fmt::format("{}/{}", p.tried.size(), p.tried.size() + p.left_out + p.left_out_by_twins), p.kernel->plan.name);
  }
}

void print_summary(const std::vector<tune::TunedPoint>& points, const Options& options) {
  size_t tried = 0, left_out = 0, by_twins = 0;
  for (const tune::TunedPoint& point : points) {
    tried += point.tried.size();
    left_out += point.left_out;
    by_twins += point.left_out_by_twins;
  }
  fmt::print("tried: {} at {}; not tried: {} by the runtime's cost model{}\n", counted(tried, "kernel"),
             counted(points.size(), "point"), left_out,
             by_twins == 0 ? "" : fmt::format(", {} that were slow with other pages or offsets", by_twins));
  if (!options.tune.explore) return;
  const std::vector<tune::ConfigRow> rows = tune::rows_to_add(points);
  fmt::print("{}\n", rows.empty() ? "no kernel outside the config was faster by more than the model can tell"
                                  : "faster with these entries added to the config's kernels:");
  for (const tune::ConfigRow& row : rows) {
    fmt::print("  {}  at {}, by up to {:.0f} %\n", row.entry.dump(), counted(row.points, "point"),
               100 * (1 - row.best_share));
  }
}

Expected<std::vector<tune::TunedPoint>> tune_all(const HipApi& hip, const DeploymentPlan& plan,
                                                 const std::vector<tune::Point>& points, const Options& options) {
  run::Kernels loader(plan, {.compiler = options.compiler, .cache = options.cache}, hip);
  tune::Explored explored;
  std::vector<tune::TunedPoint> tuned;
  for (const tune::Point& point : points) {
    show_progress(tuned.size(), points.size(),
                  fmt::format("qlen {}, batch {}, context {}", point.key.qlen, point.batch, point.context));
    Expected<tune::TunedPoint> best = tune::tune_point(hip, loader, plan.kernels, explored, point, tuned, options.tune);
    if (!best) return best.errors();
    tuned.push_back(std::move(*best));
  }
  show_progress(points.size(), points.size());
  return tuned;
}

int tune_command(const Options& options) {
  const Expected<DeploymentPlan> plan =
      options.kernels.empty() ? read_plan(options.config) : read_kernels_folder(options.kernels);
  if (!plan) return report_errors(plan.errors(), options.json, exit_bad_input);
  if (const Status writable = check_output("--out", options.out); !writable)
    return report_errors(writable.errors(), options.json, exit_bad_input);
  const std::vector<tune::Point> points = tune::points_of(plan->kernels, options.grid);
  if (points.empty()) {
    return report_errors({Diagnostic{"--qlen",
                                     "the config has no kernel for these problems",
                                     fmt::format("{}", fmt::join(options.grid.qlens, ",")),
                                     "query lengths that `mlaforge list` shows; pools that their offsets reach",
                                     {}}},
                         options.json, exit_bad_input);
  }
  const Expected<HipApi> hip = open_hip(options.device);
  if (!hip) return report_errors(hip.errors(), options.json, exit_bad_input);
  const Expected<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) return report_errors(compiler.errors(), options.json, exit_bad_input);
  const Expected<std::vector<tune::TunedPoint>> tuned = tune_all(*hip, *plan, points, options);
  if (!tuned) return report_errors(tuned.errors(), options.json, compile_exit_code(tuned.errors()));

  const bool predicted = hip->is_simulator();
  const tune::Origin origin{.predicted = predicted,
                            .target = plan->config.target,
                            .device = "MI355X",
                            .compute_units = run::mi355x_compute_units,
                            .toolchain = tune::toolchain_of(version_line(*compiler))};
  if (const Status written = write_output("--out", options.out, tune::tuning_text(origin, *tuned)); !written)
    return report_errors(written.errors(), options.json, exit_bad_input);
  if (options.json) {
    nlohmann::json document = {{"config", plan->config.name},
                               {"predicted", predicted},
                               {"out", options.out},
                               {"points", nlohmann::json::array()},
                               {"faster_config_rows", nlohmann::json::array()}};
    for (const tune::TunedPoint& point : *tuned) document["points"].push_back(point_json(point));
    for (const tune::ConfigRow& row : tune::rows_to_add(*tuned)) document["faster_config_rows"].push_back(row.entry);
    print_json(document);
    return exit_done;
  }
  print_points(*tuned, predicted);
  print_summary(*tuned, options);
  fmt::print("{}: {}, {}\n", options.out, counted(tuned->size(), "row"), predicted ? "predicted" : "measured");
  return exit_done;
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("tune", "The best kernel for each problem of a config, as tuning data for the runtime");
  CLI::Option* config = add_config_option(*command, options->config);
  command->add_option("--kernels", options->kernels, "A folder that `generate` or `compile` wrote, for its config")
      ->excludes(config);
  add_list_option(*command, "--batch", options->grid.batches, 1, 65536,
                  "Requests, a list; default 1,2,4,8,16,32,64,128");
  add_list_option(*command, "--context", options->grid.contexts, 1, 1 << 24,
                  "KV tokens of every request, a list; default 4096,16384,65536");
  add_list_option(*command, "--qlen", options->grid.qlens, 1, 8,
                  "Query positions a request, a list; default: all of the config");
  command
      ->add_option("--keep", options->tune.keep,
                   "Split counts tried of kernels alike otherwise, the best by the runtime's cost model; 0: all; "
                   "default 3")
      ->check(CLI::Range(0, 256));
  command->add_flag("--explore", options->tune.explore,
                    "Try kernels that the config does not ask for, and print the entries that would be faster");
  command->add_option("--out", options->out, "The tuning data; default tuning.json");
  add_device_option(*command, options->device);
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = tune_command(*options); });
}

}  // namespace mlaforge::cli
