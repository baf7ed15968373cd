#include "generator/emit/emit.h"

#include <set>

#include "catch.h"
#include "generator/emit/manifest.h"
#include "generator/emit/sha256.h"

using namespace mlaforge;

namespace {

DeploymentPlan default_plan() {
  const auto config = parse_config(default_config_text());
  REQUIRE(config.has_value());
  auto plan = plan_deployment(*config);
  REQUIRE(plan.has_value());
  return *plan;
}

}  // namespace

TEST_CASE("a kernel set has every kernel, each combine once, and the manifest last") {
  const DeploymentPlan plan = default_plan();
  const auto files = emit_deployment(plan);
  REQUIRE(files.has_value());
  std::set<std::string> names;
  for (const EmittedFile& file : *files) names.insert(file.path);
  CHECK(names.size() == files->size());
  CHECK(files->size() == 67 + 12 + 4);  // split counts above 1: 2 4 8 16 32 40 42 64 80 85 128 256
  CHECK(names.contains("mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950.hip"));
  CHECK(names.contains("mla_combine_bf16p_s85__gfx950.hip"));
  CHECK(files->back().path == "manifest.json");
}

TEST_CASE("the manifest's hashes, keys and files are those of the set") {
  const DeploymentPlan plan = default_plan();
  const auto files = emit_deployment(plan);
  REQUIRE(files.has_value());
  const auto manifest = nlohmann::json::parse(files->back().text);
  std::map<std::string, std::string> texts;
  for (const EmittedFile& file : *files) texts[file.path] = file.text;
  for (const auto& kernel : manifest.at("kernels")) {
    CHECK(kernel.at("source_sha256") == sha256(texts.at(kernel.at("file"))));
    const auto variant = parse(kernel.at("name").get<std::string>());
    REQUIRE(variant.has_value());
    CHECK(kernel.at("key") == to_json(*variant));
  }
  const auto listed = manifest_files(files->back().text);
  REQUIRE(listed.has_value());
  CHECK(listed->size() == files->size());
  CHECK(manifest.at("config").at("name") == "kimi_k3_tp8");
}

TEST_CASE("table rows are sorted by key and point at their kernels' names") {
  const DeploymentPlan plan = default_plan();
  for (const PlannedKernel& kernel : plan.kernels) {
    const mlaforge_kernel_row row = make_row(kernel);
    CHECK(row.name == format(kernel.variant));
    CHECK((row.combine_name == nullptr) == (row.splits == 1));
    CHECK((row.combine_threads == 0) == (row.splits == 1));
    if (row.combine_name != nullptr) {
      CHECK(std::string(row.combine_name) == "mla_combine_bf16p_s" + std::to_string(row.splits) + "__gfx950");
    }
  }
  const auto key = [](const PlannedKernel& k) {
    const mlaforge_kernel_row r = make_row(k);
    return std::vector<int32_t>{
        r.heads,  r.qlen,        r.page_size,    r.q_dtype,  r.kv_dtype,      r.context_parallel, r.wide_kv,
        r.splits, r.head_groups, r.block_tokens, r.pipeline, r.partial_dtype, r.probability_parts};
  };
  for (size_t i = 1; i < plan.kernels.size(); ++i) CHECK(key(plan.kernels[i - 1]) < key(plan.kernels[i]));
}

TEST_CASE("outputs hold no absolute path and no date") {
  const auto files = emit_deployment(default_plan());
  REQUIRE(files.has_value());
  for (const EmittedFile& file : *files) {
    INFO(file.path);
    for (const char* word : {"/home/", "/work/", "/tmp/", "/root/", __DATE__})
      CHECK(file.text.find(word) == std::string::npos);
  }
}

TEST_CASE("a refused plan is an error that names the kernel, and there is no plan at all") {
  // 128 heads in one group at 8 positions are 64 row tiles: no register file holds their queries.
  const auto config = parse_config(
      R"({"name": "x", "model": {"num_heads": 128}, "kernels": [{"query_length": 1, "splits": 1},
          {"query_length": 8, "splits": 1, "head_groups": 1}]})");
  REQUIRE(config.has_value());
  const auto plan = plan_deployment(*config);
  REQUIRE_FALSE(plan.has_value());
  REQUIRE(plan.errors().size() == 1);
  CHECK(plan.errors().front().where == "mla_decode_bf16q_fp8kv_h128_g1_q8_b128_s1_p1__gfx950");
  CHECK_FALSE(plan.errors().front().problem.empty());
}

TEST_CASE(
    "the order of configs changes nothing in their common set, and a kernel of both is refused with both places") {
  const auto placed = [](const std::string& place, const std::string& splits) {
    const auto config = parse_config(R"({"name": "x", "model": {"num_heads": 12}, "kernels": [
        {"query_length": 2, "splits": 1}, {"query_length": 4, "splits": )" +
                                     splits + "}]}");
    REQUIRE(config.has_value());
    auto plan = plan_deployment(*config);
    REQUIRE(plan.has_value());
    plan->kernels.erase(plan->kernels.begin());  // the query length that both have
    return PlacedPlan{.place = place, .plan = *plan};
  };
  const PlacedPlan a = placed("a.json", "[1, 8]");
  const PlacedPlan b = placed("b.json", "[2, 16]");
  const auto ab = merge_plans({a, b}, "both");
  const auto ba = merge_plans({b, a}, "both");
  REQUIRE((ab.has_value() && ba.has_value()));
  const auto files = emit_deployment(*ab);
  const auto other = emit_deployment(*ba);
  REQUIRE((files.has_value() && other.has_value()));
  CHECK(files->size() == 4 + 3 + 4);  // kernels, combines of 2, 8 and 16, the set's own files
  CHECK(files->size() == other->size());
  for (size_t i = 0; i < files->size(); ++i) CHECK((*files)[i].text == (*other)[i].text);

  const auto shared = merge_plans({a, b, placed("c.json", "[4, 16]")}, "three");
  REQUIRE_FALSE(shared.has_value());
  REQUIRE(shared.errors().size() == 1);
  CHECK(shared.errors().front().where == "c.json#/kernels/1");
  CHECK_THAT(shared.errors().front().problem, Catch::Matchers::Contains("b.json#/kernels/1"));
  CHECK_THAT(shared.errors().front().value, Catch::Matchers::Contains("_q4_b128_s16_"));
}
