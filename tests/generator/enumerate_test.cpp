#include "generator/variants/enumerate.h"

#include <algorithm>
#include <map>

#include "catch.h"
#include "generator/emit/emit.h"
#include "generator/plan/kernel_plan.h"

using namespace mlaforge;

TEST_CASE("the default config asks for the kernels of Kimi-K3 on eight ranks") {
  const auto config = parse_config(default_config_text());
  REQUIRE(config.has_value());
  const std::vector<Variant> variants = enumerate(*config);
  CHECK(variants.size() == 9 + 2 + 8 + 2 * 9 + 2 * 5 + 2 * 3 + 8 + 6);
  CHECK(std::is_sorted(variants.begin(), variants.end()));

  // ceil(12 / groups) heads x qlen rows fit one tile of 16, or two with the warp-specialized pipeline: by hand.
  const std::map<int, int> groups = {{1, 1}, {2, 2}, {3, 3}, {4, 3}, {8, 6}};
  std::map<int, int> most_workgroups;
  for (const Variant& v : variants) {
    CHECK(v.heads == 12);
    CHECK((v.head_groups == groups.at(v.qlen) ||
           (v.pipeline == MLAFORGE_WARP_SPECIALIZED && v.head_groups == (v.qlen == 8 ? 3 : 2))));
    most_workgroups[v.qlen] = std::max(most_workgroups[v.qlen], v.splits * v.head_groups);
  }
  // One request fills the 256 CUs as far as whole splits go.
  CHECK(most_workgroups == std::map<int, int>{{1, 256}, {2, 256}, {3, 255}, {4, 255}, {8, 252}});
}

TEST_CASE("the order of entries and of lists changes nothing") {
  const char* const head = R"({"name": "x", "model": {"num_heads": 16}, "kernels": [)";
  const auto a = parse_config(std::string(head) +
                              R"({"query_length": [1, 2], "splits": [1, 4]}, {"query_length": 4, "splits": 2}]})");
  const auto b = parse_config(std::string(head) +
                              R"({"query_length": 4, "splits": 2}, {"query_length": [2, 1], "splits": [4, 1]}]})");
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  CHECK(enumerate(*a) == enumerate(*b));
  const auto plan_a = plan_deployment(*a);
  const auto plan_b = plan_deployment(*b);
  REQUIRE(plan_a.has_value());
  REQUIRE(plan_b.has_value());
  const auto files_a = emit_deployment(*plan_a);
  const auto files_b = emit_deployment(*plan_b);
  REQUIRE(files_a.has_value());
  REQUIRE(files_b.has_value());
  REQUIRE(files_a->size() == files_b->size());
  for (size_t i = 0; i < files_a->size(); ++i) {
    CHECK((*files_a)[i].path == (*files_b)[i].path);
    CHECK((*files_a)[i].text == (*files_b)[i].text);
  }
}

TEST_CASE("auto takes the pipeline whose block is predicted shorter, where it can be planned") {
  const auto config = parse_config(R"({"name": "x", "model": {"num_heads": 16}, "pipeline": "auto", "kernels": [
    {"query_length": 1, "splits": 1}, {"query_length": 1, "splits": 1, "block_tokens": 64}]})");
  REQUIRE(config.has_value());
  const std::vector<Variant> variants = enumerate(*config);
  REQUIRE(variants.size() == 2);
  // Of 128 tokens the cycle model has 2,160 clocks warp-specialized and 2,706 uniform; 64 tokens are uniform only.
  for (const Variant& v : variants)
    CHECK(v.pipeline == (v.block_tokens == 128 ? MLAFORGE_WARP_SPECIALIZED : MLAFORGE_UNIFORM));
}

TEST_CASE("the plan's clocks of a block are near the cycle model's") {
  // `mlaforge bench`, main loop, 128 heads, batch 64: row tiles 1 and 2.
  struct Point {
    int groups, parts;
    mlaforge_dtype query;
    mlaforge_pipeline pipeline;
    int clocks;
  };
  const Point points[] = {{8, 2, MLAFORGE_BF16, MLAFORGE_UNIFORM, 2706},
                          {8, 1, MLAFORGE_FP8_E4M3, MLAFORGE_UNIFORM, 2478},
                          {4, 1, MLAFORGE_FP8_E4M3, MLAFORGE_UNIFORM, 3352},
                          {4, 2, MLAFORGE_FP8_E4M3, MLAFORGE_UNIFORM, 4035},
                          {8, 2, MLAFORGE_BF16, MLAFORGE_WARP_SPECIALIZED, 2160},
                          {8, 1, MLAFORGE_FP8_E4M3, MLAFORGE_WARP_SPECIALIZED, 2001},
                          {4, 1, MLAFORGE_FP8_E4M3, MLAFORGE_WARP_SPECIALIZED, 2272},
                          {4, 2, MLAFORGE_BF16, MLAFORGE_WARP_SPECIALIZED, 3103}};
  for (const Point& point : points) {
    Variant v;
    v.heads = 128;
    v.head_groups = point.groups;
    v.probability_parts = point.parts;
    v.q_dtype = point.query;
    v.pipeline = point.pipeline;
    v.target = "gfx950";
    const PlanResult plan = make_plan(v);
    REQUIRE(std::holds_alternative<KernelPlan>(plan));
    CHECK(std::get<KernelPlan>(plan).predicted_block_clocks == Approx(point.clocks).epsilon(0.09));
  }
}

TEST_CASE("where no pipeline takes so few head groups, auto names the fewest that one takes") {
  const auto nearest_of = [](const char* pipeline, int block_tokens) {
    const auto config = parse_config(
        std::string(R"({"name": "a", "model": {"num_heads": 128}, "kernels": [{"query_length": 4, "splits": 1,)") +
        R"("head_groups": 2, "pipeline": ")" + pipeline + R"(", "block_tokens": )" + std::to_string(block_tokens) +
        "}]}");
    REQUIRE(config.has_value());
    const auto plan = plan_deployment(*config);
    REQUIRE_FALSE(plan.has_value());
    return plan.errors().front().nearest;
  };
  // Four positions a head: one tile of 16 rows is 4 heads of 128, the warp-specialized pipeline's two tiles are 8.
  CHECK(nearest_of("uniform", 128) == "32");
  CHECK(nearest_of("warp_specialized", 128) == "16");
  CHECK(nearest_of("auto", 128) == "16");
  CHECK(nearest_of("auto", 64) == "32");  // the other pipeline has no blocks of 64
}
