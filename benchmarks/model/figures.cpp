// The tables of docs/timing.md, as the cycle model predicts them: the figures that the kernels are to reach, public
// measurements of others' kernels, and what extrapolation adds to the error. Usage: model_figures [FOLDER of the
// compile cache].
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
    {"steady loop, 12 heads, qlen 4: 24 rows a CTA (48 cannot be planned)", kimi,
     "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s4_p1__gfx950_ws", 64, 4, 68400, Figure::loop_over_bound, 1.20, true, ""},
    {"DeepSeek-V3 TP1, batch 64, 8,192, two parts", deepseek, nullptr, 64, 1, 8192, Figure::mfma_share, 0.60, false,
     ""},
    {"DeepSeek-V3 TP1, batch 64, 23,333, fp8 query, one part", deepseek,
     "mla_decode_fp8q_fp8kv_h128_g4_q1_b128_s1_p1__gfx950_ws_pp1", 64, 1, 23333, Figure::pflops, 1.3, false,
     "1.27 PFLOPS"},
};

/// A measurement of whole kernels on an MI355X or MI350X that its owner has published, and the config of ours that does
/// the same work: one of configs/, or a text.
struct Measurement {
  const char* what;
  const char* source;
  const char* config;
  int batch, qlen, context;
  double us;
};

constexpr const char* heads_32 = R"({"name": "heads_32", "model": {"num_heads": 32}, "query_dtype": "fp8_e4m3",
  "pipeline": "auto", "kernels": [{"query_length": 1, "splits": [1, 2, 4, 8, 16, 32, 64]}]})";
constexpr const char* heads_128 = R"({"name": "heads_128", "model": {"num_heads": 128}, "query_dtype": "fp8_e4m3",
  "pipeline": "auto", "probability_parts": 1, "kernels": [{"query_length": 1, "head_groups": 4,
  "splits": [1, 2, 4, 8, 16, 32, 64]}]})";
const std::vector<Measurement> measurements = {
    {"12 heads, batch 64, qlen 1, 68,400", "ROCm/aiter#4644", kimi, 64, 1, 68400, 420},
    {"12 heads, batch 1, qlen 1, 68,400", "ROCm/aiter#4644", kimi, 1, 1, 68400, 33.2},
    {"12 heads, batch 1, qlen 3, 68,400", "ROCm/aiter#4644", kimi, 1, 3, 68400, 35.8},
    {"12 heads, batch 64, qlen 3, 68,400", "ROCm/aiter#4644", kimi, 64, 3, 68400, 1186},
    {"32 heads, fp8 query, batch 128, 4,096", "ROCm/aiter#5456", heads_32, 128, 1, 4096, 78.2},
    {"32 heads, fp8 query, batch 64, 4,096", "ROCm/aiter#5456", heads_32, 64, 1, 4096, 48.9},
    {"32 heads, fp8 query, batch 16, 16,384", "ROCm/aiter#5456", heads_32, 16, 1, 16384, 49.0},
    {"128 heads, fp8 query, batch 64, 23,333", "ROCm/aiter#3072", heads_128, 64, 1, 23333, 350.7},
    {"128 heads, fp8 query, batch 1, 8,192", "ROCm/aiter#3072", heads_128, 1, 1, 8192, 26.9},
    {"128 heads, batch 1, 21 tokens", "ROCm/aiter#2039", deepseek, 1, 1, 21, 10.4},
};

/// Shapes whose replays are cut short, to be held against whole ones.
struct Shape {
  int batch, qlen, context;
};
const std::vector<Shape> cut_short = {{64, 1, 68400}, {64, 3, 68400}, {32, 1, 32768}, {8, 8, 65536}};

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

/// The config's name, or its text.
struct Wanted {
  std::string config;
  const char* kernel = nullptr;
  bench::BenchCase shape;
};

Expected<bench::BenchReport> predict(const HipApi& hip, const Wanted& wanted, const std::string& cache,
                                     const bench::BenchOptions& options = {}) {
  const bool is_text = wanted.config.starts_with("{");
  const Expected<DeploymentConfig> config =
      is_text ? parse_config(wanted.config) : parse_config(embedded_text("configs/" + wanted.config + ".json"));
  if (!config) return config.errors();
  Expected<DeploymentPlan> plan = plan_deployment(*config);
  if (!plan) return plan.errors();
  run::Kernels kernels(std::move(*plan), {.compiler = {}, .cache = cache}, hip);
  if (wanted.kernel != nullptr) {
    const Expected<Variant> variant = parse(wanted.kernel);
    if (!variant) return variant.errors();
    const Expected<PlannedKernel> kernel = plan_kernel(*variant);
    if (!kernel) return kernel.errors();
    return bench::bench_kernel(hip, kernels, *kernel, wanted.shape, options);
  }
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path != "configs/tuning/" + wanted.config + ".json") continue;
    if (Status used = kernels.use_tuning(std::string(file.path), std::string(file.text)); !used) return used.errors();
  }
  return bench::bench(hip, kernels, wanted.shape, options);
}

void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

void print_figures(const HipApi& hip, const std::string& cache) {
  print("| what | predicted | range | target | step | measured peer | kernel |\n|---|---|---|---|---|---|---|\n");
  for (const Line& line : lines) {
    const Wanted wanted{line.config, line.kernel, {.batch = line.batch, .context = line.context, .qlen = line.qlen}};
    print(row_of(line, predict(hip, wanted, cache)));
  }
}

void print_measurements(const HipApi& hip, const std::string& cache) {
  print("\n| work | measured, us | source | predicted for ours, us | ratio | kernel |\n|---|---|---|---|---|---|\n");
  for (const Measurement& m : measurements) {
    const Expected<bench::BenchReport> report =
        predict(hip, {m.config, nullptr, {.batch = m.batch, .context = m.context, .qlen = m.qlen}}, cache);
    if (!report) {
      print(
          fmt::format("| {} | {} | {} | none: {} | | |\n", m.what, m.us, m.source, to_string(report.errors().front())));
      continue;
    }
    const bench::Range& us = report->total_us;
    print(fmt::format("| {} | {} | {} | {:.1f} ({:.1f} .. {:.1f}) | {:.2f} | `{}` |\n", m.what, m.us, m.source,
                      us.nominal, us.low, us.high, us.nominal / m.us, report->kernel));
  }
}

void print_extrapolations(const HipApi& hip, const std::string& cache) {
  print("\n| batch, qlen, context | extrapolated | full | error |\n|---|---|---|---|\n");
  for (const Shape& shape : cut_short) {
    const Wanted wanted{kimi, nullptr, {.batch = shape.batch, .context = shape.context, .qlen = shape.qlen}};
    const Expected<bench::BenchReport> part =
        predict(hip, wanted, cache, {.trace = false, .full = false, .ranges = false});
    const Expected<bench::BenchReport> whole =
        predict(hip, wanted, cache, {.trace = false, .full = true, .ranges = false});
    if (!part || !whole) continue;
    const double cut = part->total_us.nominal, full = whole->total_us.nominal;
    print(fmt::format("| {}, {}, {} | {:.1f} | {:.1f} | {:+.1f} % |\n", shape.batch, shape.qlen, shape.context, cut,
                      full, 100 * (cut / full - 1)));
  }
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
  print("Predicted by the cycle model, not measured; page size 1.\n\n");
  print_figures(hip, cache);
  print_measurements(hip, cache);
  print_extrapolations(hip, cache);
  return 0;
}
