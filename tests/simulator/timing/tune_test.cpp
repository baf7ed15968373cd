// `mlaforge tune` below the command line: which points and kernels are tried, what is chosen, what is written; and that
// the data that ships with the configs is of their kernels.
#include "cli/tune/tune.h"

#include <cstdlib>
#include <set>

#include "catch.h"
#include "cli/tune/tuning_file.h"
#include "generator/config/deployment_config.h"
#include "generator/embedded.h"
#include "runtime/src/split_choice.h"
#include "runtime/src/tuning.h"

using namespace mlaforge;

namespace {

DeploymentPlan plan_of(std::string_view text) {
  const Expected<DeploymentConfig> config = parse_config(text);
  REQUIRE(config.has_value());
  Expected<DeploymentPlan> plan = plan_deployment(*config);
  REQUIRE(plan.has_value());
  return std::move(*plan);
}

DeploymentPlan small_plan(const std::string& more = "") {
  return plan_of(R"({"name": "small", "model": {"num_heads": 12}, )" + more +
                 R"("kernels": [{"query_length": 1, "splits": [1, 4, 8, 32]},
                                {"query_length": 4, "splits": [1, 8]},
                                {"query_length": 4, "splits": [1, 8], "head_groups": 2, "pipeline": "warp_specialized"}]})");
}

HipApi simulator() {
  setenv("MLAFORGE_SIMULATOR_LIBRARY", MLAFORGE_TEST_SIMULATOR, 1);
  HipApi hip;
  REQUIRE(load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) == MLAFORGE_SUCCESS);
  return hip;
}

std::set<std::string> names(const std::vector<const PlannedKernel*>& kernels) {
  std::set<std::string> all;
  for (const PlannedKernel* kernel : kernels) all.insert(kernel->plan.name);
  return all;
}

tune::Point point_of(const DeploymentPlan& plan, int qlen, int batch, int context) {
  const std::vector<tune::Point> points =
      tune::points_of(plan.kernels, {.batches = {batch}, .contexts = {context}, .qlens = {qlen}});
  REQUIRE(points.size() == 1);
  return points.front();
}

}  // namespace

TEST_CASE("Points: each key over the grid, in order and once, as far as its offsets reach") {
  const DeploymentPlan plan = small_plan(R"("wide_kv": [false, true], )");
  const tune::Grid grid{.batches = {64, 1, 64}, .contexts = {131072}, .qlens = {}};
  std::vector<std::string> seen;
  for (const tune::Point& p : tune::points_of(plan.kernels, grid)) {
    seen.push_back(std::to_string(p.key.qlen) + (p.key.wide_kv ? "w" : "n") + std::to_string(p.batch));
  }
  // 64 x 131,072 x 576 bytes are 4.8e9, beyond 32 bits.
  CHECK(seen == std::vector<std::string>{"1n1", "1w1", "1w64", "4n1", "4w1", "4w64"});
}

TEST_CASE("The cost model prunes split counts within kernels that are alike, and never a whole kind") {
  const DeploymentPlan plan = small_plan();
  const tune::Point point = point_of(plan, 4, 64, 8192);
  const std::vector<const PlannedKernel*> all = tune::kernels_of(plan.kernels, point.key);
  REQUIRE(all.size() == 4);
  const std::vector<const PlannedKernel*> kept = tune::prune(all, point, 1);
  REQUIRE(kept.size() == 2);
  const SplitProblem problem = split_problem(64, 8192);
  const auto clocks = [&](const PlannedKernel* kernel) {
    return predicted_clocks(problem, candidate_of(make_row(*kernel), 256));
  };
  for (const PlannedKernel* one : kept) {
    for (const PlannedKernel* other : all) {
      if (other->variant.pipeline != one->variant.pipeline) continue;
      CHECK(clocks(one) <= clocks(other));
    }
  }
  CHECK(kept.front()->variant.pipeline != kept.back()->variant.pipeline);
  CHECK(tune::prune(all, point, 0).size() == 4);
}

TEST_CASE("Explored kernels: other blocks, row tiles and splits that a plan allows, none of the config's") {
  const DeploymentPlan plan = small_plan();
  const tune::Point point = point_of(plan, 4, 1, 8192);
  const std::vector<const PlannedKernel*> known = tune::kernels_of(plan.kernels, point.key);
  tune::Explored explored;
  const std::vector<const PlannedKernel*> found = explored.kernels(point, known.front()->variant, known);
  const std::set<std::string> all = names(found);
  CHECK(all.size() == found.size());
  for (const std::string& name : names(known)) CHECK(all.count(name) == 0);
  // 12 heads x 4 positions in tiles of 16 rows: 3 groups; 85 splits of 3 groups fill 256 compute units.
  CHECK(all.count("mla_decode_bf16q_fp8kv_h12_g3_q4_b64_s64_p1__gfx950") == 1);
  CHECK(all.count("mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950") == 1);
  CHECK(names(explored.kernels(point, known.front()->variant, known)) == all);
}

TEST_CASE("A point's kernel is the fastest of those that were tried, each timed as bench times it") {
  const HipApi hip = simulator();
  const DeploymentPlan plan = small_plan();
  run::Kernels loader(plan, {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  tune::Explored explored;
  const tune::Point point = point_of(plan, 1, 2, 4096);
  const Expected<tune::TunedPoint> tuned =
      tune::tune_point(hip, loader, plan.kernels, explored, point, {}, {.keep = 0});
  REQUIRE(tuned.has_value());
  CHECK(tuned->tried.size() == 4);
  CHECK(tuned->left_out == 0);
  for (const tune::Tried& tried : tuned->tried) {
    const Expected<bench::BenchReport> report =
        bench::bench_kernel(hip, loader, *tried.kernel, {.batch = 2, .context = 4096}, {});
    REQUIRE(report.has_value());
    CHECK(report->total_us.nominal == tried.us);
    CHECK(tuned->us.nominal <= tried.us);
    if (tried.kernel == tuned->kernel) {
      CHECK(tuned->us.low == report->total_us.low);
      CHECK(tuned->us.high == report->total_us.high);
    }
  }
  // 32 blocks of each request over 32 workgroups are faster than one after another.
  CHECK(tuned->kernel->variant.splits > 1);
}

TEST_CASE("Where a point of the same shape is known, only its best kernels' twins are tried") {
  const HipApi hip = simulator();
  const DeploymentPlan plan = small_plan(R"("wide_kv": [false, true], )");
  run::Kernels loader(plan, {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  tune::Explored explored;
  const std::vector<tune::Point> points =
      tune::points_of(plan.kernels, {.batches = {2}, .contexts = {4096}, .qlens = {1}});
  REQUIRE(points.size() == 2);
  REQUIRE(points[1].key.wide_kv);
  // 32 blocks of a request one after another take more than twice as long as over 32 workgroups.
  tune::TunedPoint known{.point = points[0], .us = {8, 10, 15}};
  for (const PlannedKernel* kernel : tune::kernels_of(plan.kernels, points[0].key))
    known.tried.push_back({kernel, kernel->variant.splits == 8 ? 10.0 : kernel->variant.splits == 32 ? 10.05 : 20.0});
  const auto tried = [&](std::span<const tune::TunedPoint> knowing) {
    const Expected<tune::TunedPoint> tuned =
        tune::tune_point(hip, loader, plan.kernels, explored, points[1], knowing, {});
    REQUIRE(tuned.has_value());
    CHECK(tuned->tried.size() + tuned->left_out + tuned->left_out_by_twins == 4);
    if (tuned->left_out_by_twins != 0) {
      CHECK(tuned->us.low == Approx(0.8 * tuned->us.nominal));
      CHECK(tuned->us.high == Approx(1.5 * tuned->us.nominal));
    }
    std::set<int> splits;
    for (const tune::Tried& one : tuned->tried) {
      CHECK(one.kernel->variant.wide_kv);
      splits.insert(one.kernel->variant.splits);
    }
    return splits;
  };
  const std::set<int> unknowing = tried({});
  CHECK(unknowing.contains(32));
  CHECK(tried(std::span(&known, 1)) == std::set{8, 32});
  known.point.batch = 3;
  CHECK(tried(std::span(&known, 1)) == unknowing);
}

TEST_CASE("Tuning data is what the runtime reads, with every value") {
  const DeploymentPlan plan = small_plan();
  const tune::TunedPoint tuned{
      .point = point_of(plan, 4, 64, 8192), .kernel = &plan.kernels.back(), .us = {1.234, 2.5, 3.999}};
  const std::string text = tune::tuning_text(
      {.predicted = true, .target = "gfx950", .device = "MI355X", .toolchain = "clang 22.1.8"}, std::span(&tuned, 1));
  TuningData data;
  CHECK(parse_tuning(text, data) == "");
  CHECK(data.target == "gfx950");
  CHECK(data.compute_units == 256);
  CHECK(data.toolchain == "clang 22.1.8");
  CHECK_FALSE(data.measured);
  REQUIRE(data.rows.size() == 1);
  CHECK(data.rows[0].key.heads == 12);
  CHECK(data.rows[0].key.qlen == 4);
  CHECK(data.rows[0].batch == 64);
  CHECK(data.rows[0].context == 8192);
  CHECK(data.rows[0].kernel == tuned.kernel->plan.name);
  CHECK(data.rows[0].time_us.low == 1.23);
  CHECK(data.rows[0].time_us.nominal == 2.5);
  CHECK(data.rows[0].time_us.high == 4.0);
}

TEST_CASE("A compiler is named by its clang") {
  CHECK(tune::toolchain_of("Debian clang version 22.1.8 (++20260101)") == "clang 22.1.8");
  CHECK(tune::toolchain_of("AMD clang version 20.0.0git (https)") == "clang 20.0.0");
  CHECK(tune::toolchain_of("another compiler 3") == "another compiler 3");
}

TEST_CASE("Proposals become entries of a config: one a kind of kernel, with its splits and what they gain") {
  const auto gain = [](int splits, double from, double to) {
    Variant variant{.heads = 12, .qlen = 1, .splits = splits, .block_tokens = 64};
    return tune::TunedPoint{.us = {from, from, from}, .proposal = {{variant, to}}};
  };
  const std::vector<tune::TunedPoint> points{gain(64, 10, 8), gain(32, 10, 9), gain(64, 10, 9.5)};
  const std::vector<tune::ConfigRow> rows = tune::rows_to_add(points);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].points == 3);
  CHECK(rows[0].best_share == Approx(0.8));
  const std::string text = R"({"name": "more", "model": {"num_heads": 12}, "kernels": [)" + rows[0].entry.dump() + "]}";
  const DeploymentPlan plan = plan_of(text);
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[0].plan.name == "mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s32_p1__gfx950");
  CHECK(plan.kernels[1].plan.name == "mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s64_p1__gfx950");
}

TEST_CASE("Tuning data ships with each config: of its kernels, predicted, and for each of its query lengths") {
  constexpr std::string_view folder = "configs/";
  size_t configs = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string_view name = file.path.substr(std::min(folder.size(), file.path.size()));
    if (!file.path.starts_with(folder) || name == "schema.json" || name.starts_with("tuning/")) continue;
    CAPTURE(file.path);
    ++configs;
    const DeploymentPlan plan = plan_of(file.text);
    const std::string tuning = "configs/tuning/" + std::string(name);
    const std::string_view text = embedded_text(tuning);
    const HipApi hip = simulator();
    run::Kernels kernels(plan, {}, hip);
    const Status used = kernels.use_tuning(tuning, std::string(text));
    INFO((used ? std::string() : to_string(used.errors())));
    CHECK(used.has_value());
    TuningData data;
    REQUIRE(parse_tuning(text, data) == "");
    CHECK_FALSE(data.measured);
    std::set<int> asked, tuned;
    for (const PlannedKernel& kernel : plan.kernels) asked.insert(kernel.variant.qlen);
    for (const TuningRow& row : data.rows) tuned.insert(row.key.qlen);
    CHECK(tuned == asked);
  }
  CHECK(configs == 8);
}
