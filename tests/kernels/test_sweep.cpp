// The full product: every length alone and every split count of the config, in every memory mode.
#include "tests/kernels/bench.h"

using namespace mlaforge::test;

namespace {

void sweep(int qlen, const std::vector<int>& splits) {
  for (const int count : splits) {
    for (const char* memory : {"lazy", "clobber", "eager", "random:1", "random:2"}) {
      for (const int length : {1, 15, 16, 127, 128, 129, 1000, 4096}) {
        expect_right(default_kernels(), {.qlen = qlen, .contexts = {length}, .splits = count, .memory = memory});
      }
    }
  }
}

}  // namespace

TEST_CASE("sweep of qlen 1") { sweep(1, {1, 2, 4, 8, 16, 32, 64, 128, 256}); }
TEST_CASE("sweep of qlen 2") { sweep(2, {1, 2, 4, 8, 16, 32, 64, 128}); }
TEST_CASE("sweep of qlen 3") { sweep(3, {1, 2, 4, 8, 16, 32, 64, 85}); }
TEST_CASE("sweep of qlen 4") { sweep(4, {1, 2, 4, 8, 16, 32, 64, 85}); }
TEST_CASE("sweep of qlen 8") { sweep(8, {1, 2, 4, 8, 16, 32, 42}); }

TEST_CASE("sweep of hostile inputs over split counts") {
  for (const std::string& input : mlaforge::reference::input_names()) {
    for (const int splits : {1, 2, 4, 8, 16, 32, 64, 85}) {
      expect_right(default_kernels(), {.qlen = 4, .contexts = {65, 2048, 300}, .splits = splits, .input = input});
    }
  }
}

TEST_CASE("65,536 tokens, one logit at 0 and the rest at -7 and -11 nats") {
  for (const char* input : {"spike7", "spike11", "rising", "normal"}) {
    for (const int splits : {1, 85}) {
      expect_right(default_kernels(), {.qlen = 4, .contexts = {65536}, .splits = splits, .input = input});
    }
  }
}

TEST_CASE("odd split counts up to 256") {
  const std::vector<int> counts = {31, 32, 33, 160, 161, 255, 256};
  mlaforge::run::Kernels& kernels = kernels_of(config_text(12, {4}, counts));
  for (const int splits : counts) {
    expect_right(kernels, {.qlen = 4, .contexts = {4095, 0, 130}, .splits = splits});
  }
}
