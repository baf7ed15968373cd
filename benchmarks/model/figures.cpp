// The figures that the kernels are to reach, as the cycle model predicts them, beside their targets and the measured
// peers: one Markdown table. Usage: model_figures [FOLDER of the compile cache].
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "generator/config/deployment_config.h"
#include "generator/embedded.h"

using namespace mlaforge;

namespace {

enum class Figure {
  time_us,          ///< of the step, combine included
  stream_share,     ///< of the attainable stream, the whole step
  loop_over_bound,  ///< clocks of the main loop's pass over those of its binding bound
  mfma_share,       ///< of the MFMA bound, attention kernel
  pflops,           ///< useful FLOP of the step over its time
  loop_conflicts,   ///< LDS clocks lost to conflicts in the main loop
};

/// A line: the config's choice at a shape, or a kernel by name.
struct Line {
  const char* what;
  const char* config;
  const char* kernel;  ///< null: what the config's tuning data or the cost model chooses
  int batch, qlen, context;
  Figure figure;
  double target;
  bool at_most;
  const char* peer;
};

constexpr const char* kimi = "kimi_k3_tp8";
constexpr const char* deepseek = "deepseek_v3_tp1";
const std::vector<Line> lines = {
    {"batch 1, qlen 1, 68,400", kimi, nullptr, 1, 1, 68400, Figure::time_us, 15, true, "33.2 us"},
    {"batch 1, qlen 4, 68,400", kimi, nullptr, 1, 4, 68400, Figure::time_us, 17, true, "35.8 us at qlen 3"},
    {"batch 64, qlen 1, 68,400", kimi, nullptr, 64, 1, 68400, Figure::stream_share, 0.96, false, "420 us"},
    {"batch 64, qlen 3, 68,400", kimi, nullptr, 64, 3, 68400, Figure::stream_share, 0.92, false, "1,186 us"},
    {"batch 1, qlen 1, 8,192", kimi, nullptr, 1, 1, 8192, Figure::time_us, 8, true, "21.8 us (fp8 query)"},
    {"steady loop, 16 rows a CTA, every CU streams", kimi, nullptr, 64, 1, 68400, Figure::loop_over_bound, 1.10, true,
     ""},
    {"the same: bank conflicts", kimi, nullptr, 64, 1, 68400, Figure::loop_conflicts, 0.05, true, ""},
    {"steady loop, 48 rows a CTA (12 heads, qlen 4)", kimi, "mla_decode_bf16q_fp8kv_h12_g1_q4_b128_s4_p1__gfx950_ws",
     64, 4, 68400, Figure::loop_over_bound, 1.20, true, ""},
    {"DeepSeek-V3 TP1, batch 64, 8,192, two parts", deepseek, nullptr, 64, 1, 8192, Figure::mfma_share, 0.60, false,
     ""},
    {"DeepSeek-V3 TP1, batch 64, 23,333, fp8 query, one part", deepseek,
     "mla_decode_fp8q_fp8kv_h128_g4_q1_b128_s1_p1__gfx950_ws_pp1", 64, 1, 23333, Figure::pflops, 1.3, false,
     "1.27 PFLOPS"},
};

struct Value {
  double low = 0, nominal = 0, high = 0;
};

double flop_of(const bench::BenchReport& r) {
  return 2.0 * r.wanted.batch * r.wanted.qlen * r.heads * r.wanted.context * (MLAFORGE_KEY_DIM + MLAFORGE_LATENT_DIM);
}

/// Low and high are those of the time, so that the range of a rate runs from its worst to its best.
std::optional<Value> value_of(const bench::BenchReport& r, Figure figure) {
  const auto rate = [&](double work) {
    return Value{work / r.total_us.high, work / r.total_us.nominal, work / r.total_us.low};
  };
  const nlohmann::json& loop = r.attention.at("steady_loop");
  const auto of_loop = [&](const char* field) -> std::optional<Value> {
    if (loop.is_null()) return std::nullopt;
    const double value = loop.at(field);
    return Value{value, value, value};
  };
  switch (figure) {
    case Figure::time_us:
      return Value{r.total_us.low, r.total_us.nominal, r.total_us.high};
    case Figure::stream_share:
      return rate(r.attainable_share * r.total_us.nominal);
    case Figure::loop_over_bound:
      return of_loop("over_binding");
    case Figure::loop_conflicts:
      return of_loop("lds_conflict_share");
    case Figure::mfma_share: {
      const double bound = r.bounds_us.at("mfma");
      return Value{bound / r.attention_us.high, bound / r.attention_us.nominal, bound / r.attention_us.low};
    }
    case Figure::pflops:
      return rate(flop_of(r) * 1e-9);
  }
  return std::nullopt;
}

std::string text_of(Figure figure, double value) {
  switch (figure) {
    case Figure::time_us:
      return fmt::format("{:.1f} us", value);
    case Figure::loop_over_bound:
      return fmt::format("{:.2f} x", value);
    case Figure::pflops:
      return fmt::format("{:.2f} PFLOPS", value);
    default:
      return fmt::format("{:.1f} %", 100 * value);
  }
}

std::string row_of(const Line& line, const Expected<bench::BenchReport>& report) {
  const std::string target = (line.at_most ? "at most " : "at least ") + text_of(line.figure, line.target);
  const auto row = [&](const std::string& predicted, const std::string& range, const std::string& time,
                       const std::string& kernel) {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", line.what, predicted, range, target, time, line.peer,
                       kernel);
  };
  if (!report) return row("none", "", "", to_string(report.errors().front()));
  const std::optional<Value> value = value_of(*report, line.figure);
  if (!value) return row("no loop", "", "", report->kernel);
  const bool met = line.at_most ? value->nominal <= line.target : value->nominal >= line.target;
  const bool ranged = value->low != value->high;
  return row(text_of(line.figure, value->nominal) + (met ? "" : " (missed)"),
             ranged ? text_of(line.figure, value->low) + " .. " + text_of(line.figure, value->high) : "",
             fmt::format("{:.1f} us", report->total_us.nominal), "`" + report->kernel + "`");
}

Expected<bench::BenchReport> predict(const HipApi& hip, const Line& line, const std::string& cache) {
  const std::string name = line.config;
  const Expected<DeploymentConfig> config = parse_config(embedded_text("configs/" + name + ".json"));
  if (!config) return config.errors();
  Expected<DeploymentPlan> plan = plan_deployment(*config);
  if (!plan) return plan.errors();
  run::Kernels kernels(std::move(*plan), {.compiler = {}, .cache = cache}, hip);
  bench::BenchCase wanted{.batch = line.batch, .context = line.context, .qlen = line.qlen};
  if (line.kernel != nullptr) {
    const Expected<Variant> variant = parse(line.kernel);
    if (!variant) return variant.errors();
    const Expected<PlannedKernel> kernel = plan_kernel(*variant);
    if (!kernel) return kernel.errors();
    return bench::bench_kernel(hip, kernels, *kernel, wanted, {});
  }
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path != "configs/tuning/" + name + ".json") continue;
    if (Status used = kernels.use_tuning(std::string(file.path), std::string(file.text)); !used) return used.errors();
  }
  return bench::bench(hip, kernels, wanted, {});
}

}  // namespace

int main(int argc, char** argv) {
  setenv("MLAFORGE_SIMULATOR_LIBRARY", MLAFORGE_BUILT_SIMULATOR, 0);
  HipApi hip;
  if (load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) != MLAFORGE_SUCCESS) {
    fmt::print(stderr, "model_figures: {}\n", mlaforge_last_error());
    return 2;
  }
  const std::string cache = argc > 1 ? argv[1] : "";
  fmt::print("Predicted by the cycle model, not measured; page size 1.\n\n");
  fmt::print("| what | predicted | range | target | step | measured peer | kernel |\n|---|---|---|---|---|---|---|\n");
  for (const Line& line : lines) {
    fmt::print("{}", row_of(line, predict(hip, line, cache)));
    std::fflush(stdout);
  }
  return 0;
}
