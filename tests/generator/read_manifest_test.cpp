// Damaged manifests: the field, its value and what is allowed, never the JSON library's words.
#include "generator/emit/read_manifest.h"

#include <functional>

#include "catch.h"
#include "generator/emit/emit.h"

using namespace mlaforge;
using Json = nlohmann::json;

namespace {

Json good_manifest() {
  const auto config = parse_config(
      R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 1, "splits": [1, 2]}]})");
  REQUIRE(config.has_value());
  const auto plan = plan_deployment(*config);
  REQUIRE(plan.has_value());
  const auto files = emit_deployment(*plan);
  REQUIRE(files.has_value());
  return Json::parse(files->back().text);
}

Diagnostics errors_of(const Json& manifest) {
  const Expected<Manifest> read = read_manifest(manifest.dump());
  return read ? Diagnostics{} : read.errors();
}

struct Damage {
  const char* where;
  std::function<void(Json&)> change;
  const char* value;
  const char* allowed;
};

}  // namespace

TEST_CASE("each damaged field of a manifest is named with its value and what is allowed") {
  const Json good = good_manifest();
  CHECK(errors_of(good).empty());
  const auto compiled = [](Json& m) -> Json& { return m["kernels"][0]["code_object"]; };
  const std::vector<Damage> cases = {
      {"/kernels", [](Json& m) { m["kernels"] = 5; }, "5", "a list of at least one"},
      {"/kernels", [](Json& m) { m["kernels"] = Json::array(); }, "[]", "a list of at least one"},
      {"/kernels", [](Json& m) { m.erase("kernels"); }, "", "a list of at least one"},
      {"/combine_kernels", [](Json& m) { m["combine_kernels"] = "none"; }, R"("none")", "a list"},
      {"/kernels/1", [](Json& m) { m["kernels"][1] = 7; }, "7", "an object"},
      {"/kernels/0/name", [](Json& m) { m["kernels"][0]["name"] = Json::array({1}); }, "[1]", "a plain file name"},
      {"/kernels/0/name", [](Json& m) { m["kernels"][0]["name"] = "../k"; }, R"("../k")", "a plain file name"},
      {"/combine_kernels/0/file", [](Json& m) { m["combine_kernels"][0].erase("file"); }, "", "a plain file name"},
      {"/kernels/0/source_sha256", [](Json& m) { m["kernels"][0]["source_sha256"] = "xyz"; }, R"("xyz")",
       "a SHA-256 of 64 hexadecimal digits"},
      {"/kernels/0/code_object", [&](Json& m) { compiled(m) = 5; }, "5", "an object"},
      {"/kernels/0/code_object/sha256", [&](Json& m) { compiled(m) = {{"file", "k.co"}}; }, "",
       "a SHA-256 of 64 hexadecimal digits"},
      {"/target", [](Json& m) { m["target"] = "gfx942"; }, "gfx942", R"(["gfx950"])"},
      {"/config/name", [](Json& m) { m["config"]["name"] = nullptr; }, "null", "a string"},
  };
  for (const Damage& damage : cases) {
    Json manifest = good;
    damage.change(manifest);
    INFO(manifest.dump());
    const Diagnostics errors = errors_of(manifest);
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().where == std::string("manifest.json#") + damage.where);
    CHECK(errors.front().value == damage.value);
    CHECK(errors.front().allowed == damage.allowed);
    CHECK(to_string(errors).find("json.exception") == std::string::npos);
  }
}

TEST_CASE("a manifest that lists a kernel or a source twice is refused, in one list or over both") {
  const Json good = good_manifest();
  Json manifest = good;
  manifest["kernels"].push_back(manifest["kernels"][0]);
  CHECK(to_string(errors_of(manifest)).starts_with("manifest.json#/kernels/2/name: stands in /kernels/0 already"));
  manifest = good;
  manifest["combine_kernels"][0]["file"] = manifest["kernels"][1]["file"];
  CHECK(to_string(errors_of(manifest))
            .starts_with("manifest.json#/combine_kernels/0/file: stands in /kernels/1 already"));
}

TEST_CASE("a text that is no JSON is named with its place") {
  const Expected<Manifest> read = read_manifest("{\"generator\":");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.errors().front().where == "manifest.json: line 1, column 14");
}
