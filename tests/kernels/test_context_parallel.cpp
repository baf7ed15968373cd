// Context parallelism: every rank against its own tokens, and the ranks' outputs, merged by LSE, against one rank that
// has all tokens.
#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

/// Rank r has no token of a request of r positions or fewer; early positions of a longer one see none of some ranks.
const std::vector<int> lengths = {333, 0, 1, 2, 3, 5, 9, 17};

void merge_equals_one_rank(int world) {
  for (int qlen = 1; qlen <= 8; ++qlen) {
    const mlaforge::Variant variant{.heads = 12,
                                    .qlen = qlen,
                                    .page_size = 1 << (qlen % 4),
                                    .context_parallel = world,
                                    .splits = qlen % 2 == 0 ? 3 : 1,
                                    .head_groups = mlaforge::auto_head_groups(12, qlen)};
    mlaforge::run::Kernels kernels = kernels_of(variant);
    const mlaforge::run::RunReport report = report_of(kernels, case_of(variant, lengths));
    INFO(report.kernel << ": " << report.failure);
    CHECK(report.passed);
    CHECK(report.ranks.size() == static_cast<size_t>(world));
  }
}

}  // namespace

TEST_CASE("2 ranks merged equal one, qlen 1 to 8, some ranks empty") { merge_equals_one_rank(2); }
TEST_CASE("4 ranks merged equal one, qlen 1 to 8, some ranks empty") { merge_equals_one_rank(4); }
TEST_CASE("8 ranks merged equal one, qlen 1 to 8, some ranks empty") { merge_equals_one_rank(8); }

TEST_CASE("one rank alone, the gathered query's 96 heads, and 8 ranks of a long request") {
  const mlaforge::Variant variant{
      .heads = 96, .qlen = 2, .context_parallel = 8, .splits = 8, .head_groups = mlaforge::auto_head_groups(96, 2)};
  mlaforge::run::Kernels kernels = kernels_of(variant);
  mlaforge::run::RunCase wanted = case_of(variant, {3000, 6});
  wanted.all_ranks = false;
  for (const int rank : {0, 5, 7}) {
    wanted.inputs.rank = rank;
    expect_right(kernels, wanted);
  }
}

TEST_CASE("a rank that counts from another place is noticed") {
  const mlaforge::Variant variant{.heads = 12, .qlen = 3, .context_parallel = 4, .splits = 1, .head_groups = 3};
  mlaforge::run::Kernels kernels = kernels_of(variant);
  mlaforge::run::RunCase wanted = case_of(variant, {130, 5});
  std::string source;
  {
    const auto made = mlaforge::emit_attention(std::get<mlaforge::KernelPlan>(mlaforge::make_plan(variant)));
    REQUIRE(made.has_value());
    source = *made;
  }
  const std::string right = "+ position - rank)";
  const size_t at = source.find(right);
  REQUIRE(at != std::string::npos);
  wanted.kernel_source = source.replace(at, right.size(), "+ position)");
  const mlaforge::run::RunReport report = report_of(kernels, wanted);
  CHECK(report.loaded);
  CHECK_FALSE(report.passed);
}
