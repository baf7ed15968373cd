#include "generator/config/json_text.h"

#include <string>

#include "catch.h"

using namespace mlaforge;

namespace {

Diagnostic only_error(std::string_view text) {
  const auto result = parse_json(text);
  REQUIRE_FALSE(result.has_value());
  REQUIRE(result.errors().size() == 1);
  return result.errors().front();
}

}  // namespace

TEST_CASE("JSON that is JSON is read") {
  const auto result = parse_json(R"({"a": [1, {"b": null}], "c": {"b": true}})");
  REQUIRE(result.has_value());
  CHECK(result->at("a").at(1).at("b").is_null());
  CHECK(result->at("c").at("b") == true);
}

TEST_CASE("syntax errors name line and column") {
  CHECK(only_error("{\n  \"a\": 1,\n  \"b\" 2\n}").where == "line 3, column 7");
  CHECK(only_error("{\"a\": tru}").where == "line 1, column 10");
  CHECK(only_error("").where == "line 1, column 1");
  CHECK(only_error("{\"a\": 1").where == "line 1, column 8");
  CHECK(only_error("{} x").where == "line 1, column 4");
  CHECK(only_error("[1,]").where == "line 1, column 4");
  CHECK_THAT(only_error("{\"a\": tru}").problem, Catch::Matchers::Contains("not JSON"));
}

TEST_CASE("a key that stands twice in one object is an error at its pointer") {
  CHECK(only_error(R"({"a": 1, "a": 1})").where == "/a");
  CHECK(only_error(R"({"x": [0, [], {"y/z": {"k": 1, "j": 2, "k": 3}}]})").where == "/x/2/y~1z/k");
  CHECK(parse_json(R"([{"a": 1}, {"a": 2}, {"b": {"a": 1}, "a": 3}])").has_value());
}

TEST_CASE("documents beyond the limits are errors, not crashes") {
  const std::string deep(100000, '[');
  CHECK(only_error(deep).problem == "nested too deeply");
  CHECK(only_error("{\"a\": " + deep + std::string(100000, ']') + "}").problem == "nested too deeply");
  CHECK(parse_json(std::string(60, '[') + std::string(60, ']')).has_value());
  CHECK(only_error("{\"a\": \"" + std::string(100000, 'x') + "\"}").where == "/a");
  CHECK(only_error("{\"" + std::string(100000, 'x') + "\": 1}").problem == "the string is too long");
  CHECK(only_error("{\"a\": 1e999}").where == "line 1, column 7");
  CHECK(only_error("{\"a\": 1e999}").value == "1e999");
  CHECK(only_error(std::string_view("{}\0{", 4)).where == "line 1, column 3");
}
