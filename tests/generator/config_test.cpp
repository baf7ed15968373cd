// Every way in which a config can be wrong: where the error points, what was there, what is allowed, what is nearest.
#include "catch.h"
#include "generator/config/deployment_config.h"
#include "generator/config/json_text.h"
#include "generator/config/schema.h"

using namespace mlaforge;
using Json = nlohmann::json;

namespace {

const char* const kGood = R"({
  "name": "small",
  "model": {"num_heads": 96},
  "tensor_parallel": 8,
  "kernels": [{"query_length": 4, "splits": [1, 8]}, {"query_length": 1, "splits": 2, "page_size": [16, 64]}]
})";

/// The good config with one JSON patch applied.
std::string patched(const char* pointer, const Json& value) {
  Json config = Json::parse(kGood);
  config[Json::json_pointer(pointer)] = value;
  return config.dump();
}

std::string without(const char* parent, const char* key) {
  Json config = Json::parse(kGood);
  config.at(Json::json_pointer(parent)).erase(key);
  return config.dump();
}

Diagnostic only_error(const std::string& text) {
  const auto result = parse_config(text);
  REQUIRE_FALSE(result.has_value());
  INFO(to_string(result.errors()));
  REQUIRE(result.errors().size() == 1);
  return result.errors().front();
}

}  // namespace

TEST_CASE("a good config is read, its defaults filled in and lists spelled out") {
  const auto config = parse_config(kGood);
  REQUIRE(config.has_value());
  CHECK(config->name == "small");
  CHECK(config->target == "gfx950");
  CHECK(config->heads == 12);
  CHECK(config->softmax_scale == 0.07216878364870322);  // 192^-0.5
  REQUIRE(config->kernels.size() == 2);
  const KernelRequest& first = config->kernels[0];
  CHECK(first.splits == std::vector<int>{1, 8});
  CHECK(first.head_groups == std::vector<int>{0});
  CHECK(first.page_size == std::vector<int>{1});
  CHECK(first.query_dtype == std::vector{MLAFORGE_BF16});
  CHECK(first.kv_dtype == std::vector{MLAFORGE_FP8_E4M3});
  CHECK(first.pipeline == std::vector<std::optional<mlaforge_pipeline>>{MLAFORGE_UNIFORM});
  CHECK(first.block_tokens == std::vector<int>{128});
  CHECK(first.probability_parts == std::vector<int>{2});
  CHECK(first.wide_kv == std::vector<int>{0});
  CHECK(config->kernels[1].page_size == std::vector<int>{16, 64});
}

TEST_CASE("an entry's field stands before the deployment's, that before the default") {
  Json document = Json::parse(kGood);
  document["page_size"] = 32;
  document["pipeline"] = "warp_specialized";
  const auto config = parse_config(document.dump());
  REQUIRE(config.has_value());
  CHECK(config->kernels[0].page_size == std::vector<int>{32});
  CHECK(config->kernels[1].page_size == std::vector<int>{16, 64});
  CHECK(config->kernels[1].pipeline == std::vector<std::optional<mlaforge_pipeline>>{MLAFORGE_WARP_SPECIALIZED});
}

TEST_CASE("unknown fields are named with the nearest known one") {
  auto error = only_error(patched("/page_sizes", 1));
  CHECK(error.where == "/page_sizes");
  CHECK(error.problem == "unknown field");
  CHECK(error.nearest == "page_size");
  CHECK_THAT(error.allowed, Catch::Matchers::Contains("tensor_parallel"));
  error = only_error(patched("/kernels/1/spilts", 1));
  CHECK(error.where == "/kernels/1/spilts");
  CHECK(error.nearest == "splits");
  CHECK(only_error(patched("/model/heads", 1)).where == "/model/heads");
  CHECK(only_error(patched("/a~1b", 1)).where == "/a~1b");
}

TEST_CASE("missing fields are named with what they take") {
  CHECK(only_error(without("", "name")).where == "/name");
  CHECK(only_error(without("/model", "num_heads")).where == "/model/num_heads");
  CHECK(only_error(without("", "kernels")).where == "/kernels");
  const auto error = only_error(without("/kernels/0", "splits"));
  CHECK(error.where == "/kernels/0/splits");
  CHECK(error.problem == "missing field");
  CHECK_THAT(error.allowed, Catch::Matchers::Contains("1 .. 256"));
}

TEST_CASE("wrong types name the value and what it could have been") {
  auto error = only_error(patched("/tensor_parallel", "8"));
  CHECK(error.where == "/tensor_parallel");
  CHECK(error.problem == "wrong type");
  CHECK(error.value == "\"8\"");
  CHECK(error.nearest == "8");
  CHECK(only_error(patched("/kernels/0/splits/1", "8")).where == "/kernels/0/splits/1");
  CHECK(only_error(patched("/kernels/0/query_length", 1.5)).nearest == "2");
  CHECK(only_error(patched("/kernels/0/query_length", nullptr)).where == "/kernels/0/query_length");
  CHECK(only_error(patched("/model", 3)).where == "/model");
  CHECK(only_error(patched("/kernels", Json::object())).where == "/kernels");
  CHECK(only_error(patched("/kernels/1", 7)).where == "/kernels/1");
  CHECK(only_error(patched("/wide_kv", 1)).nearest == "true");
  CHECK(only_error(patched("/name", 3)).where == "/name");
  CHECK(only_error("[]").where.empty());
}

TEST_CASE("8.0 is no whole number, wherever it stands") {
  for (const char* field : {R"("tensor_parallel": 8.0)", R"("page_size": 8.0)", R"("page_size": [1, 8.0])",
                            R"("context_parallel": 8.0)", R"("block_tokens": 128.0)"}) {
    INFO(field);
    const auto config =
        parse_config(R"({"name": "x", "model": {"num_heads": 96}, "kernels": [{"query_length": 1, "splits": 1}], )" +
                     std::string(field) + "}");
    REQUIRE_FALSE(config.has_value());
    CHECK(config.errors().size() == 1);
    CHECK(config.errors().front().problem == "wrong type");
    CHECK((config.errors().front().nearest == "8" || config.errors().front().nearest == "128"));
  }
}

TEST_CASE("values out of range name the range and the nearest") {
  struct Case {
    const char* pointer;
    Json value;
    const char* nearest;
  };
  const Case cases[] = {{"/kernels/0/query_length", 9, "8"},
                        {"/kernels/0/query_length", 0, "1"},
                        {"/kernels/0/splits/0", 257, "256"},
                        {"/kernels/0/splits/0", -3, "1"},
                        {"/page_size", 48, "32"},
                        {"/page_size", 512, "256"},
                        {"/context_parallel", 3, "2"},
                        {"/block_tokens", 96, "64"},
                        {"/probability_parts", 3, "2"},
                        {"/query_dtype", "fp8", "\"fp8_e4m3\""},
                        {"/partial_dtype", "fp32", "\"f32\""},
                        {"/pipeline", "warp-specialized", "\"warp_specialized\""},
                        {"/target", "gfx942", "\"gfx950\""},
                        {"/model/latent_dim", 511, "512"},
                        {"/model/latent_dim", 96, "512"},
                        {"/model/rope_dim", 63, "64"},
                        {"/model/rope_dim", 0, "64"},
                        {"/kernels/0/head_groups", "fewest", "\"auto\""},
                        {"/kernels/0/head_groups", 0, "1"}};
  for (const Case& c : cases) {
    INFO(c.pointer << " = " << c.value);
    const auto error = only_error(patched(c.pointer, c.value));
    CHECK(error.where == c.pointer);
    CHECK(error.value == c.value.dump());
    CHECK(error.nearest == c.nearest);
    CHECK_FALSE(error.allowed.empty());
  }
}

TEST_CASE("empty lists are refused") {
  CHECK(only_error(patched("/kernels", Json::array())).problem == "an empty list asks for no kernel");
  const auto error = only_error(patched("/kernels/0/splits", Json::array()));
  CHECK(error.where == "/kernels/0/splits");
  CHECK(error.problem == "an empty list asks for no kernel");
  CHECK(error.nearest == "1");
  CHECK(only_error(patched("/page_size", Json::array())).nearest == "1");
  CHECK(only_error(patched("/kernels/0/head_groups", Json::array())).nearest == "\"auto\"");
}

TEST_CASE("where nothing is near, something that works is named") {
  struct Case {
    const char* pointer;
    Json value;
    const char* nearest;
  };
  const Case cases[] = {{"/kernels/0/splits", true, "1"},
                        {"/kernels/0/splits", nullptr, "1"},
                        {"/kernels/0/splits", {{"a", 1}}, "1"},
                        {"/kernels", {{"query_length", 1}}, "[{\"query_length\":1}]"},
                        {"/name", "A b", "\"a_b\""},
                        {"/name", "7", "\"config_7\""},
                        {"/model/softmax_scale", "0.1", "0.1"},
                        {"/kernels/0/pipeline", "ws", "\"warp_specialized\""},
                        {"/wide_kv", "yes", "false"}};
  for (const Case& c : cases) {
    INFO(c.pointer << " = " << c.value);
    CHECK(only_error(patched(c.pointer, c.value)).nearest == c.nearest);
  }
  CHECK(only_error(patched("/kernels/0/qlen", 4)).nearest == "query_length");
  CHECK(only_error(patched("/variants", Json::array())).nearest == "kernels");
}

TEST_CASE("fnuz and bf16 caches are refused with the reason") {
  for (const char* name : {"fp8_e4m3fnuz", "e4m3fnuz"}) {
    const auto error = only_error(patched("/kv_dtype", name));
    CHECK(error.where == "/kv_dtype");
    CHECK_THAT(error.problem, Catch::Matchers::Contains("OCP E4M3"));
    CHECK(error.nearest == "\"fp8_e4m3\"");
  }
  CHECK_THAT(only_error(patched("/kv_dtype", "bf16")).problem,
             Catch::Matchers::Contains("no kernel reads a bf16 cache"));
}

TEST_CASE("heads that do not divide name the divisors nearby") {
  auto error = only_error(patched("/tensor_parallel", 7));
  CHECK(error.where == "/tensor_parallel");
  CHECK(error.value == "7");
  CHECK(error.nearest == "6 or 8");
  CHECK_THAT(error.problem, Catch::Matchers::Contains("96 heads do not divide by 7"));
  CHECK(only_error(patched("/tensor_parallel", 97)).nearest == "96");
  error = only_error(
      R"({"name": "x", "model": {"num_heads": 512}, "tensor_parallel": 2, "kernels": [{"query_length": 1, "splits": 1}]})");
  CHECK(error.where == "/tensor_parallel");
  CHECK(error.nearest == "4");  // 128 heads a rank
}

TEST_CASE("more head groups than heads are refused") {
  auto error = only_error(patched("/kernels/0/head_groups", 13));
  CHECK(error.where == "/kernels/0/head_groups");
  CHECK(error.nearest == "12");
  CHECK(only_error(patched("/kernels/1/head_groups", {"auto", 100})).where == "/kernels/1/head_groups/1");
}

TEST_CASE("lists whose combinations no memory holds are refused at once") {
  std::string numbers = "1";
  for (int i = 2; i <= 128; ++i) numbers += ", " + std::to_string(i);
  const auto many = parse_config(R"({"name": "x", "model": {"num_heads": 128}, "kernels": [{"query_length":
      [1, 2, 3, 4, 5, 6, 7, 8], "splits": [)" +
                                 numbers + R"(], "head_groups": [)" + numbers +
                                 R"(], "page_size": [1, 2, 4, 8, 16, 32, 64, 128, 256]}]})");
  REQUIRE_FALSE(many.has_value());
  REQUIRE(many.errors().size() == 1);
  CHECK(to_string(many.errors()) ==
        "/kernels/0: the lists' combinations are too many kernels (value: more than 10000; allowed: at most 10000 "
        "kernels a config; nearest: "
        "shorter lists)");
}

TEST_CASE("a softmax scale that no float holds is refused") {
  for (const char* scale : {"1e300", "1e-300"}) {
    const auto config = parse_config(std::string(R"({"name": "x", "model": {"num_heads": 12, "softmax_scale": )") +
                                     scale + R"(}, "kernels": [{"query_length": 1, "splits": 1}]})");
    REQUIRE_FALSE(config.has_value());
    CHECK(config.errors().front().where == "/model/softmax_scale");
  }
}

TEST_CASE("two requests for one kernel name both places") {
  auto error = only_error(patched("/kernels/2", {{"query_length", {3, 4}}, {"splits", 8}}));
  CHECK(error.where == "/kernels/2");
  CHECK_THAT(error.problem, Catch::Matchers::EndsWith("/kernels/0"));
  CHECK(error.value == "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950");
  error = only_error(patched("/kernels/0/splits", {1, 8, 1}));
  CHECK(error.where == "/kernels/0/splits/2");
  CHECK_THAT(error.problem, Catch::Matchers::EndsWith("/kernels/0/splits/0"));
  // "auto" for 12 heads and 4 positions is 3 groups.
  error = only_error(patched("/kernels/0/head_groups", {"auto", 3}));
  CHECK(error.where == "/kernels/0/head_groups/1");
}

TEST_CASE("several errors are all reported") {
  Json config = Json::parse(kGood);
  config["tensor_paralel"] = 8;
  config["kernels"][0]["splits"][1] = 0;
  config["model"]["rope_dim"] = 63;
  const auto result = parse_config(config.dump());
  REQUIRE_FALSE(result.has_value());
  std::vector<std::string> places;
  for (const Diagnostic& error : result.errors()) places.push_back(error.where);
  std::sort(places.begin(), places.end());
  CHECK(places == std::vector<std::string>{"/kernels/0/splits/1", "/model/rope_dim", "/tensor_paralel"});
}

TEST_CASE("a config that is no file or no JSON is an error with its place") {
  const auto missing = load_config("/nowhere/config.json");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.errors().front().where == "/nowhere/config.json");
  CHECK(only_error("{\"name\": }").where == "line 1, column 10");
  CHECK(only_error(R"({"name": "a", "name": "b"})").where == "/name");
}

TEST_CASE("every default that the schema names is allowed by it") {
  Json config = Json::parse(kGood);
  for (const auto& [name, schema] : config_schema().at("properties").items()) {
    const Json& node = schema.contains("$ref")
                           ? config_schema().at(Json::json_pointer(schema.at("$ref").get<std::string>().substr(1)))
                           : schema;
    if (node.contains("default")) config[name] = node.at("default");
  }
  config["tensor_parallel"] = 1;
  CHECK(to_string(validate(config)).empty());
  CHECK(config.size() >= 12);
}
