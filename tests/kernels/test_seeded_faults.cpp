// A wrong kernel fails: each edit of the emitted source is one plausible mistake, and the run that has to notice it.
#include "tests/kernels/bench.h"

using namespace mlaforge::test;
using mlaforge::run::RunCase;

namespace {

struct Fault {
  const char* name;
  const char* right;  ///< stands once or more in the emitted source; the first is edited
  const char* wrong;
  RunCase noticed_by;
};

std::string emitted_source(const RunCase& wanted, mlaforge::run::Kernels& kernels) {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = wanted.inputs.heads;
  problem.qlen = wanted.inputs.qlen;
  problem.page_size = wanted.inputs.page_size;
  problem.splits = wanted.splits;
  problem.pool_bytes = 1 << 20;
  const auto kernel = kernels.select(problem);
  REQUIRE(kernel.has_value());
  return *kernels.source(**kernel);
}

/// Kernels of the uniform pipeline, whose source the faults edit.
mlaforge::run::Kernels& uniform_kernels() { return kernels_of(config_text(12, {1, 4}, {1, 2, 8})); }

/// The run is right as the kernel is emitted, and not with the edit.
mlaforge::run::RunReport expect_noticed(const Fault& fault, mlaforge::run::Kernels& kernels = uniform_kernels()) {
  RunCase wanted = fault.noticed_by;
  expect_right(kernels, wanted);
  std::string source = emitted_source(wanted, kernels);
  const size_t at = source.find(fault.right);
  if (at == std::string::npos) {
    FAIL(fault.name << ": the text to edit is no longer in the emitted source; follow the template: " << fault.right);
  }
  wanted.kernel_source = source.replace(at, std::string(fault.right).size(), fault.wrong);
  const mlaforge::run::RunReport report = report_of(kernels, wanted);
  INFO(fault.name << ": " << (report.passed ? "went unnoticed" : report.failure));
  CHECK_FALSE(report.passed);
  // It has to compile: a compiler's error would notice anything.
  CHECK(report.loaded);
  return report;
}

const Shape plain = {.qlen = 4, .contexts = {300, 129}, .splits = 1};

}  // namespace

TEST_CASE("a swapped swizzle bit") {
  expect_noticed({"swizzle", "((lane.index & 7) ^ (lane.index >> 4)) << 4",
                  "((lane.index & 7) ^ (lane.index >> 4) ^ 1) << 4", case_of(plain)});
}

TEST_CASE("a dropped lo part of the query") {
  expect_noticed({"query lo", "lo[half] = pack_fp8(x - unpack_fp8(hi[half]));", "lo[half] = 0;", case_of(plain)});
}

TEST_CASE("a dropped lo part of P") {
  expect_noticed({"P lo", "const int lo = pack_fp8(p - unpack_fp8(hi));", "const int lo = 0;", case_of(plain)});
}

TEST_CASE("a mask off by one, to either side") {
  expect_noticed({"mask short", "token + i <= row.last_visible", "token + i < row.last_visible", case_of(plain)});
  expect_noticed({"mask long", "token + i <= row.last_visible", "token + i <= row.last_visible + 1", case_of(plain)});
}

TEST_CASE("a missing wait") {
  expect_noticed({"wait for the tail", "wait_vector_memory<kYounger + 0>();", "", case_of(plain)});
  expect_noticed(
      {"wait for page ids", "wait_vector_memory<9>();", "", case_of({.qlen = 4, .contexts = {700}, .splits = 1})});
}

TEST_CASE("a missing wait for a line of K, which late LDS reads would hide") {
  RunCase wanted = case_of(plain);
  wanted.checks = "lds_races";
  expect_noticed({"wait for a line", "wait_vector_memory<kYounger + 5>();", "", wanted});
}

TEST_CASE("a wait that counts one too many") {
  expect_noticed(
      {"count", "wait_vector_memory<kYounger + 0>();", "wait_vector_memory<kYounger + 1>();", case_of(plain)});
}

TEST_CASE("a stale rescale") {
  expect_noticed({"rescale", "row.o[t] * rescale.old", "row.o[t]",
                  case_of({.qlen = 4, .contexts = {600}, .splits = 1, .input = "rising"})});
}

TEST_CASE("a missing barrier before P is read") {
  RunCase wanted = case_of(plain);
  wanted.checks = "all";
  expect_noticed({"barrier", "workgroup_barrier();  // P is there", "compiler_fence();  // P is there", wanted});
}

TEST_CASE("a table read past the request's last page") {
  expect_noticed(
      {"clamp", "min_int(token, work.last_token)", "token", case_of({.qlen = 4, .contexts = {5}, .splits = 1})});
}

TEST_CASE("a scale that is forgotten") {
  RunCase wanted = case_of(plain);
  wanted.inputs.k_scale = 3.7F;
  wanted.inputs.v_scale = 0.5F;
  expect_noticed({"v_scale", "v_scale * __builtin_amdgcn_rcpf(state.sum)", "__builtin_amdgcn_rcpf(state.sum)", wanted});
  expect_noticed({"k_scale", "args.softmax_scale * kLog2E * k_scale", "args.softmax_scale * kLog2E", wanted});
}

TEST_CASE("a head mask that is too wide") {
  // 9 heads in two groups of 5: the second group has room for a head that is not there.
  mlaforge::run::Kernels& kernels = kernels_of(config_text(9, {3}, {1}));
  const RunCase wanted = case_of({.qlen = 3, .contexts = {40}, .splits = 1, .heads = 9});
  expect_noticed(
      {"head mask",
       "{.head = min_int(head, kHeads - 1), .position = row % kQueryLength, .live = row < kRows && head < kHeads}",
       "{.head = head, .position = row % kQueryLength, .live = true}", wanted},
      kernels);
}

TEST_CASE("a store beside its row, which only the canaries can tell") {
  const mlaforge::run::RunReport report =
      expect_noticed({"store", "row.head * args.o_head_stride", "row.head * (args.o_head_stride + 8)", case_of(plain)});
  CHECK(report.failure.find("o was written outside its rows") == 0);
}
