// The configs of the repository: each can be planned, and kernels of each run right.
#include <filesystem>

#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

struct ConfigOfRank {
  const char* name;
  int heads;
  int context_parallel;
};

mlaforge::DeploymentPlan plan_of(const std::string& name) {
  const auto config = mlaforge::load_config(std::filesystem::path(MLAFORGE_CONFIGS) / (name + ".json"));
  INFO((config.has_value() ? std::string() : to_string(config.errors())));
  REQUIRE(config.has_value());
  CHECK(config->name == name);
  auto plan = mlaforge::plan_deployment(*config);
  INFO((plan.has_value() ? std::string() : to_string(plan.errors())));
  REQUIRE(plan.has_value());
  return std::move(*plan);
}

/// The first kernel and one from the middle of the table.
void expect_runs(const ConfigOfRank& expected) {
  const mlaforge::DeploymentPlan plan = plan_of(expected.name);
  for (const size_t index : {size_t{0}, plan.kernels.size() / 2}) {
    const mlaforge::Variant variant = plan.kernels[index].variant;
    CHECK(variant.heads == expected.heads);
    CHECK(variant.context_parallel == expected.context_parallel);
    mlaforge::run::Kernels kernels(plan, {.cache = MLAFORGE_TEST_CACHE}, simulator());
    mlaforge::run::RunCase wanted = case_of(variant, {300, 7});
    wanted.filter.name = format(variant);
    const mlaforge::run::RunReport report = report_of(kernels, wanted);
    INFO(report.kernel << ": " << report.failure);
    CHECK(report.kernel == format(variant));
    CHECK(report.passed);
  }
}

}  // namespace

TEST_CASE("kimi_k3_tp8: 96 heads over 8 ranks") { expect_runs({"kimi_k3_tp8", 12, 1}); }
TEST_CASE("kimi_k3_tp4: 96 heads over 4 ranks") { expect_runs({"kimi_k3_tp4", 24, 1}); }
TEST_CASE("kimi_k3_tp8_cp8: the query gathered, the cache over 8 ranks") { expect_runs({"kimi_k3_tp8_cp8", 96, 8}); }
TEST_CASE("kimi_k2_tp8: 64 heads over 8 ranks") { expect_runs({"kimi_k2_tp8", 8, 1}); }
TEST_CASE("deepseek_v3_tp8: 128 heads over 8 ranks") { expect_runs({"deepseek_v3_tp8", 16, 1}); }
TEST_CASE("deepseek_v3_tp4: 128 heads over 4 ranks") { expect_runs({"deepseek_v3_tp4", 32, 1}); }
TEST_CASE("deepseek_v3_tp2: 128 heads over 2 ranks") { expect_runs({"deepseek_v3_tp2", 64, 1}); }
TEST_CASE("deepseek_v3_tp1: 128 heads on one rank") { expect_runs({"deepseek_v3_tp1", 128, 1}); }
