#include "catch.h"
#include "generator/emit/write_tree.h"

using namespace mlaforge;

TEST_CASE("generated/ is what the default config gives") {
  const auto config = parse_config(default_config_text());
  REQUIRE(config.has_value());
  const auto plan = plan_deployment(*config);
  REQUIRE(plan.has_value());
  const auto files = emit_deployment(*plan);
  REQUIRE(files.has_value());
  CHECK(to_string(compare_tree(MLAFORGE_GENERATED_FOLDER, *files)).empty());
}
