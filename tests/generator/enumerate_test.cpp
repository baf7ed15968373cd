#include "generator/variants/enumerate.h"

#include <algorithm>
#include <map>

#include "catch.h"
#include "generator/emit/emit.h"

using namespace mlaforge;

TEST_CASE("the default config asks for the kernels of Kimi-K3 on eight ranks") {
  const auto config = parse_config(default_config_text());
  REQUIRE(config.has_value());
  const std::vector<Variant> variants = enumerate(*config);
  CHECK(variants.size() == 9 + 8 + 2 * 9 + 2 * 3 + 8);
  CHECK(std::is_sorted(variants.begin(), variants.end()));

  // ceil(12 / groups) heads x qlen rows fit one tile of 16, or two with the warp-specialized pipeline: by hand.
  const std::map<int, int> groups = {{1, 1}, {2, 2}, {3, 3}, {4, 3}, {8, 6}};
  std::map<int, int> most_workgroups;
  for (const Variant& v : variants) {
    CHECK(v.heads == 12);
    CHECK(v.head_groups == (v.pipeline == MLAFORGE_UNIFORM ? groups.at(v.qlen) : 2));
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
