// Context lengths around tiles, blocks and splits, as one batch of unequal requests, in every memory mode.
#include "tests/kernels/bench.h"

using namespace mlaforge::test;

namespace {

const std::vector<int> lengths = {1, 15, 16, 127, 128, 129, 1000, 4096};

void try_lengths(int qlen, const std::vector<int>& splits) {
  for (const int count : splits) {
    for (const char* memory : {"lazy", "eager", "random:7"}) {
      expect_right(default_kernels(), {.qlen = qlen, .contexts = lengths, .splits = count, .memory = memory});
    }
  }
}

}  // namespace

TEST_CASE("lengths 1 to 4096 at qlen 1") { try_lengths(1, {1, 8, 256}); }
TEST_CASE("lengths 1 to 4096 at qlen 2") { try_lengths(2, {1, 4, 128}); }
TEST_CASE("lengths 1 to 4096 at qlen 3") { try_lengths(3, {1, 2, 64}); }
TEST_CASE("lengths 1 to 4096 at qlen 4") { try_lengths(4, {1, 8, 85}); }
TEST_CASE("lengths 1 to 4096 at qlen 8") { try_lengths(8, {1, 16, 42}); }

TEST_CASE("the runtime's own choice of splits") {
  for (const int qlen : {1, 2, 3, 4, 8}) {
    expect_right(default_kernels(), {.qlen = qlen, .contexts = {4096}, .splits = 0});
  }
}

TEST_CASE("an empty batch: success, nothing stored") {
  mlaforge::run::RunCase wanted = case_of({.qlen = 4, .contexts = {128}, .splits = 8});
  wanted.inputs.requests = 0;
  expect_right(default_kernels(), wanted);
}
