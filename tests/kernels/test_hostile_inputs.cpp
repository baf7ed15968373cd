// The accuracy of every kind of input, at one split and several, several seeds; and the simulator's further checks.
#include "tests/kernels/bench.h"

using namespace mlaforge::test;

TEST_CASE("every kind of input at one split and at several") {
  for (const std::string& input : mlaforge::reference::input_names()) {
    for (const int splits : {1, 8}) {
      expect_right(default_kernels(), {.qlen = 4, .contexts = {2048, 129, 7}, .splits = splits, .input = input});
      expect_right(default_kernels(), {.qlen = 1, .contexts = {2048, 129, 7}, .splits = splits, .input = input});
    }
  }
}

TEST_CASE("seeds") {
  for (const uint64_t seed : {2, 3, 4, 5}) {
    mlaforge::run::RunCase wanted = case_of({.qlen = 3, .contexts = {513, 1025}, .splits = 4});
    wanted.inputs.seed = seed;
    expect_right(default_kernels(), wanted);
  }
}

TEST_CASE("no race in LDS and no use of what was never written") {
  for (const int qlen : {1, 4, 8}) {
    for (const int splits : {1, 8}) {
      mlaforge::run::RunCase wanted = case_of({.qlen = qlen, .contexts = {700, 1, 128}, .splits = splits});
      wanted.checks = "all";
      expect_right(default_kernels(), wanted);
    }
  }
}
