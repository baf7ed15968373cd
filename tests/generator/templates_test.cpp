#include "generator/emit/templates.h"

#include "catch.h"

using namespace mlaforge;

namespace {

std::string rendered(const std::string& text, const nlohmann::json& context, const std::string& partial = "") {
  const TemplateSet set =
      make_templates({{"t/main.mustache", "{{=<% %>=}}\n" + text}, {"t/part.mustache", "{{=<% %>=}}\n" + partial}});
  const auto result = render(set, "t/main.mustache", context);
  if (!result) return "error: " + to_string(result.errors());
  return *result;
}

}  // namespace

TEST_CASE("holes take numbers, texts and members, nothing is escaped") {
  CHECK(rendered("int x[<% n %>] = {{1}};\n", {{"n", 42}}) == "int x[42] = {{1}};\n");
  CHECK(rendered("<% a.b %> <% s %>\n", {{"a", {{"b", -7}}}, {"s", "<&\"'>"}}) == "-7 <&\"'>\n");
  CHECK(rendered("f<<% n %>>(x)\n", {{"n", 0}}) == "f<0>(x)\n");
}

TEST_CASE("sections repeat over lists and hide on false") {
  const nlohmann::json context = {{"steps", {{{"k", 3}}, {{"k", 5}}}}, {"on", true}, {"off", false}, {"none", nullptr}};
  CHECK(rendered("<%# steps %>\n  <% index %>:<% k %><%^ last %>,<%/ last %>\n<%/ steps %>\nend\n", context) ==
        "  0:3,\n  1:5\nend\n");
  CHECK(rendered("<%# on %>a<%/ on %><%# off %>b<%/ off %><%^ none %>c<%/ none %>\n", context) == "ac\n");
  CHECK(rendered("<%# list %>[<% . %>]<%/ list %>\n", {{"list", {1, 2}}}) == "[1][2]\n");
}

TEST_CASE("delimiter, comment and partial lines leave no blank line") {
  CHECK(rendered("a\n<%! one %>\n  <%! two\n  lines %>\nb\n", {}) == "a\nb\n");
  CHECK(rendered("a\n<%> part %>\nb\n", {{"n", 1}}, "x <% n %>\n") == "a\nx 1\nb\n");
}

TEST_CASE("what the context does not name is an error, never an empty hole") {
  CHECK_THAT(rendered("<% rowz %>\n", {{"rows", 1}}), Catch::Matchers::Contains("rowz"));
  CHECK_THAT(rendered("<%# lits %>x<%/ lits %>\n", {{"list", {1}}}), Catch::Matchers::Contains("lits"));
  CHECK_THAT(rendered("<%> absent %>\n", {}), Catch::Matchers::Contains("> absent"));
  CHECK_THAT(rendered("<% a.c %>\n", {{"a", {{"b", 1}}}}), Catch::Matchers::Contains("a.c"));
  CHECK_THAT(rendered("<%# a %>\n", {{"a", true}}), Catch::Matchers::Contains("not a template"));
  CHECK_FALSE(render({}, "t/none.mustache", {}).has_value());
}
