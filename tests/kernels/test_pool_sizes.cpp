// Pools at and around the sizes where 32-bit offsets end, sparse: only the pages in use are filled, among them the last
// one and those on both sides of each power of two (flashinfer#3136, ROCm/aiter#4452, #4575, #4488).
#include "tests/kernels/variants.h"

using namespace mlaforge::test;
using mlaforge::run::RunCase;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

std::string both_widths(int page_size) {
  return nlohmann::json{{"name", "test"},
                        {"model", {{"num_heads", 12}}},
                        {"page_size", page_size},
                        {"kernels", {{{"query_length", 4}, {"splits", {1, 5}}, {"wide_kv", {false, true}}}}}}
      .dump();
}

RunCase case_of_pool(uint64_t bytes, int page_size, int splits) {
  RunCase wanted = case_of({.qlen = 4, .contexts = {700, 0, 131, 3}, .splits = splits, .page_size = page_size});
  wanted.inputs.pool_bytes = bytes;
  return wanted;
}

void expect_width(uint64_t bytes, int page_size, bool wide) {
  for (const int splits : {1, 5}) {
    const RunCase wanted = case_of_pool(bytes, page_size, splits);
    const mlaforge::run::RunReport report = report_of(kernels_of(both_widths(page_size)), wanted);
    INFO(bytes << " bytes, page size " << page_size << ", " << report.kernel << ": " << report.failure);
    CHECK(report.passed);
    CHECK(report.kernel.ends_with("_wide") == wide);
  }
}

}  // namespace

TEST_CASE("pools of 2^31 bytes up to 4 GiB take 32-bit offsets, one row more takes 64-bit ones") {
  for (const int page_size : {1, 64}) {
    expect_width(2 * gib, page_size, false);
    expect_width(4 * gib - 576, page_size, false);
    expect_width(4 * gib, page_size, false);
    expect_width(4 * gib + 576, page_size, true);
  }
}

TEST_CASE("pools above 8 GiB: pages at 2^30, 2^31, 2^32, 2^33 bytes, slots above 2^24") {
  for (const int page_size : {1, 16, 64, 256}) {
    expect_width(11 * gib, page_size, true);
  }
}

TEST_CASE("a row stride above 576 in a wide pool") {
  RunCase wanted = case_of_pool(9 * gib + 123, 16, 5);
  wanted.inputs.kv_row_stride = 1024;
  expect_right(kernels_of(both_widths(16)), wanted);
}

TEST_CASE("a pool beyond 4 GiB is refused where only 32-bit kernels were generated") {
  const auto missing =
      mlaforge::run::run_case(simulator(), kernels_of(config_text(12, {4}, {1})), case_of_pool(4 * gib + 1, 1, 1));
  REQUIRE_FALSE(missing.has_value());
  CHECK(mlaforge::to_string(missing.errors()).find("wide_kv") != std::string::npos);
}

TEST_CASE("a wide kernel with 32-bit offsets is noticed") {
  const mlaforge::Variant variant{.heads = 12, .qlen = 4, .wide_kv = true, .splits = 1, .head_groups = 3};
  const auto made = mlaforge::emit_attention(std::get<mlaforge::KernelPlan>(mlaforge::make_plan(variant)));
  REQUIRE(made.has_value());
  std::string source = *made;
  const std::string right = "using PoolOffset = unsigned long;";
  const size_t at = source.find(right);
  REQUIRE(at != std::string::npos);
  RunCase wanted = case_of_pool(11 * gib, 1, 1);
  mlaforge::run::Kernels kernels = kernels_of(variant);
  expect_right(kernels, wanted);
  wanted.kernel_source = source.replace(at, right.size(), "using PoolOffset = unsigned;");
  const mlaforge::run::RunReport report = report_of(kernels, wanted);
  CHECK(report.loaded);
  CHECK_FALSE(report.passed);
}
