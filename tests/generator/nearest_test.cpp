#include "generator/config/nearest.h"

#include "catch.h"

using namespace mlaforge;

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("splits", "splits") == 0);
  CHECK(edit_distance("split", "splits") == 1);
  CHECK(edit_distance("spilts", "splits") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is near or is none") {
  const std::vector<std::string> names = {"page_size", "pipeline", "splits"};
  CHECK(nearest_name("pagesize", names) == "page_size");
  CHECK(nearest_name("pipe", names) == "pipeline");
  CHECK_FALSE(nearest_name("zzzzzzzz", names).has_value());
}

TEST_CASE("divisors ascend and are complete") {
  CHECK(divisors(96) == std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96});
  CHECK(divisors(7) == std::vector<int>{1, 7});
}
