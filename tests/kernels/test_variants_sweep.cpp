// Every head count, query length and head grouping in both pipelines and blocks; about a thousand kernels.
#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

constexpr int64_t most_workgroups = 1200;
constexpr size_t parts = 8;

void run_part(size_t part) {
  static const std::vector<Combination> sweep = make_sweep(most_workgroups);
  REQUIRE(sweep.size() > 900);
  expect_part_right(sweep, part, parts);
}

}  // namespace

TEST_CASE("sweep of variants, part 1 of 8") { run_part(0); }
TEST_CASE("sweep of variants, part 2 of 8") { run_part(1); }
TEST_CASE("sweep of variants, part 3 of 8") { run_part(2); }
TEST_CASE("sweep of variants, part 4 of 8") { run_part(3); }
TEST_CASE("sweep of variants, part 5 of 8") { run_part(4); }
TEST_CASE("sweep of variants, part 6 of 8") { run_part(5); }
TEST_CASE("sweep of variants, part 7 of 8") { run_part(6); }
TEST_CASE("sweep of variants, part 8 of 8") { run_part(7); }
