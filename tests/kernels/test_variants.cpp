// Every two values of any two parameters meet in one of these kernels, each under lazy memory and the race check.
#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

/// What keeps a launch short: 128 heads at 128 splits are 1,024 workgroups a request.
constexpr int64_t most_workgroups = 1200;
constexpr size_t parts = 8;

const Covering& covering() {
  static const Covering made = make_covering(150, most_workgroups);
  return made;
}

void run_part(size_t part) { expect_part_right(covering().combinations, part, parts); }

}  // namespace

TEST_CASE("the covering selection leaves out only what the plan refuses or what is too large") {
  CHECK(covering().combinations.size() >= 150);
  for (const std::string& pair : covering().impossible) {
    const bool refused = pair == "block_tokens 1, pipeline 1";
    const bool too_large = pair.find("splits") != std::string::npos;
    INFO(pair);
    CHECK((refused || too_large));
  }
}

TEST_CASE("covering selection, part 1 of 8") { run_part(0); }
TEST_CASE("covering selection, part 2 of 8") { run_part(1); }
TEST_CASE("covering selection, part 3 of 8") { run_part(2); }
TEST_CASE("covering selection, part 4 of 8") { run_part(3); }
TEST_CASE("covering selection, part 5 of 8") { run_part(4); }
TEST_CASE("covering selection, part 6 of 8") { run_part(5); }
TEST_CASE("covering selection, part 7 of 8") { run_part(6); }
TEST_CASE("covering selection, part 8 of 8") { run_part(7); }
