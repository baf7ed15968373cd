// A NaN in a slot that is seen reaches the rows that see it, and no others (rocm-libraries#10650, vllm#33179).
#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

/// The last positions are seen by the last query positions only; the first request has no such positions.
void expect_nans_where_seen(mlaforge::Variant variant) {
  variant.heads = 12;
  variant.qlen = 4;
  variant.head_groups = 3;
  mlaforge::run::Kernels kernels = kernels_of(variant);
  for (const std::vector<int>& positions :
       {std::vector<int>{299}, std::vector<int>{298}, std::vector<int>{297, 299}, std::vector<int>{130, 298}}) {
    mlaforge::run::RunCase wanted = case_of(variant, {100, 300, 299});
    wanted.inputs.nan_positions = positions;
    const mlaforge::run::RunReport report = report_of(kernels, wanted);
    INFO(report.kernel << ", NaN at " << positions.front() << ": " << report.failure);
    CHECK(report.passed);
    CHECK(report.comparison.rel_l2 > 0);
  }
}

}  // namespace

TEST_CASE("a NaN reaches only the rows that see it, uniform pipeline") {
  expect_nans_where_seen({.splits = 1});
  expect_nans_where_seen({.splits = 3});
}
TEST_CASE("a NaN reaches only the rows that see it, blocks of 64 tokens") {
  expect_nans_where_seen({.splits = 1, .block_tokens = 64});
  expect_nans_where_seen({.splits = 5, .block_tokens = 64, .probability_parts = 1});
}
TEST_CASE("a NaN reaches only the rows that see it, warp-specialized pipeline") {
  expect_nans_where_seen({.splits = 1, .pipeline = MLAFORGE_WARP_SPECIALIZED});
  expect_nans_where_seen({.splits = 3, .pipeline = MLAFORGE_WARP_SPECIALIZED, .probability_parts = 1});
}
TEST_CASE("a NaN reaches only the rows that see it, over 2 ranks") {
  expect_nans_where_seen({.context_parallel = 2, .splits = 2});
}

TEST_CASE("odd split counts up to 256 (FlashMLA#199)") {
  for (const int splits : {31, 32, 33, 160, 161, 255, 256}) {
    const mlaforge::Variant variant{.heads = 12, .qlen = 4, .splits = splits, .head_groups = 3};
    mlaforge::run::Kernels kernels = kernels_of(variant);
    expect_right(kernels, case_of(variant, {4095, 130}));
  }
}
