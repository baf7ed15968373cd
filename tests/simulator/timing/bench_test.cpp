// `mlaforge bench` below the command line: a step of the default config, and measuring by events.
#include <cstdlib>

#include "catch.h"
#include "cli/bench/measure.h"
#include "cli/bench/svg.h"
#include "generator/config/deployment_config.h"
#include "generator/emit/emit.h"

using namespace mlaforge;

namespace {

HipApi simulator() {
  setenv("MLAFORGE_SIMULATOR_LIBRARY", MLAFORGE_TEST_SIMULATOR, 1);
  HipApi hip;
  REQUIRE(load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) == MLAFORGE_SUCCESS);
  return hip;
}

DeploymentPlan default_plan() {
  const Expected<DeploymentConfig> config = parse_config(default_config_text());
  REQUIRE(config.has_value());
  Expected<DeploymentPlan> plan = plan_deployment(*config);
  REQUIRE(plan.has_value());
  return std::move(*plan);
}

bool ordered(const bench::Range& range) { return range.low <= range.nominal && range.nominal <= range.high; }

}  // namespace

TEST_CASE("Measuring launches warm-ups and repeats, and gives quantiles in order") {
  const HipApi hip = simulator();
  int launches = 0;
  const auto launch = [&]() -> Status {
    ++launches;
    return std::monostate{};
  };
  const Expected<bench::Range> us = bench::measure(hip, launch, 1, 3);
  REQUIRE(us.has_value());
  CHECK(launches == 4);
  CHECK(ordered(*us));
  CHECK(us->low >= 0);
}

TEST_CASE("Measuring stops at a launch that fails, and says why") {
  const HipApi hip = simulator();
  const Expected<bench::Range> us =
      bench::measure(hip, []() -> Status { return Diagnostic{"device", "the launch failed", {}, {}, {}}; }, 1, 3);
  REQUIRE_FALSE(us.has_value());
  CHECK(us.errors().front().problem == "the launch failed");
}

TEST_CASE("A measured step: the whole kernels run between events, and nothing is predicted") {
  const HipApi hip = simulator();
  run::Kernels kernels(default_plan(), {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  const bench::BenchCase wanted{.batch = 2, .context = 300, .qlen = 1, .splits = 8, .page_size = 1, .seed = 1};
  bench::BenchOptions options;
  options.measure = true;
  options.warmups = 1;
  options.repeats = 3;
  const Expected<bench::BenchReport> report = bench::bench(hip, kernels, wanted, options);
  REQUIRE(report.has_value());
  CHECK_FALSE(report->predicted);
  CHECK(ordered(report->total_us));
  CHECK(report->total_us.low > 0);
  CHECK(report->kv_bytes == 2 * 300 * 576);
  CHECK(report->kv_tb_s == Approx(report->kv_bytes / report->total_us.nominal * 1e-6));
  const nlohmann::json json = bench::to_json(*report);
  CHECK(json.at("predicted") == false);
  for (const char* field : {"attention_us", "combine_us", "bounds_us", "binding", "waits"})
    CHECK(json.count(field) == 0);
}

TEST_CASE("A predicted step: parts add up, ranges are in order, bounds lie below the time, twice the same") {
  const HipApi hip = simulator();
  run::Kernels kernels(default_plan(), {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  const bench::BenchCase wanted{.batch = 1, .context = 2048, .qlen = 1, .splits = 8, .page_size = 1, .seed = 1};
  const Expected<bench::BenchReport> report = bench::bench(hip, kernels, wanted, {});
  REQUIRE(report.has_value());
  CHECK(report->predicted);
  CHECK(report->splits == 8);
  for (const bench::Range& range :
       {report->total_us, report->attention_us, report->combine_us, report->launch_us, report->gap_us}) {
    CHECK(ordered(range));
    CHECK(range.low > 0);
  }
  CHECK(report->total_us.nominal == Approx(report->launch_us.nominal + report->attention_us.nominal +
                                           report->gap_us.nominal + report->combine_us.nominal));
  for (const auto& [name, us] : report->bounds_us) {
    CAPTURE(name);
    CHECK(us > 0);
    CHECK(us <= report->attention_us.nominal);
  }
  // The cache's own bytes, and page ids, queries and arguments beside them.
  const double bytes = report->attention.at("hbm_bytes");
  CHECK(bytes >= 2048.0 * 576);
  CHECK(bytes <= 1.2 * 2048 * 576);
  const Expected<bench::BenchReport> again = bench::bench(hip, kernels, wanted, {});
  REQUIRE(again.has_value());
  CHECK(bench::to_json(*again) == bench::to_json(*report));
}

TEST_CASE("Shortened contexts predict what the whole one does, within 2 %") {
  const HipApi hip = simulator();
  run::Kernels kernels(default_plan(), {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  const bench::BenchCase wanted{.batch = 8, .context = 131072, .qlen = 1, .splits = 4, .page_size = 1, .seed = 1};
  const Expected<bench::BenchReport> short_way = bench::bench(hip, kernels, wanted, {});
  const Expected<bench::BenchReport> whole = bench::bench(hip, kernels, wanted, {.trace = false, .full = true});
  REQUIRE(short_way.has_value());
  REQUIRE(whole.has_value());
  CHECK(short_way->replayed_context < wanted.context);
  CHECK(whole->replayed_context == wanted.context);
  CHECK(short_way->attention_us.nominal == Approx(whole->attention_us.nominal).epsilon(0.02));
}

TEST_CASE("The picture of a block has a row for each wave") {
  const HipApi hip = simulator();
  run::Kernels kernels(default_plan(), {.compiler = {}, .cache = MLAFORGE_TEST_CACHE}, hip);
  const bench::BenchCase wanted{.batch = 1, .context = 2048, .qlen = 1, .splits = 4, .page_size = 1, .seed = 1};
  const Expected<bench::BenchReport> report = bench::bench(hip, kernels, wanted, {.trace = true, .full = false});
  REQUIRE(report.has_value());
  const std::string svg = bench::timeline_svg(*report);
  CHECK(svg.find(">wave 7<") != std::string::npos);
  CHECK(svg.find(">wave 8<") == std::string::npos);
  CHECK(svg.find("predicted") != std::string::npos);
}
