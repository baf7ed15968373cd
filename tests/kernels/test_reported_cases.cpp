// What broke other systems, each with the right value from the float64 reference. The workspace is full of NaN before
// every launch, tables are as long as what may be read, unused slots are NaN, outputs lie between canaries.
#include "tests/kernels/bench.h"

using namespace mlaforge::test;
using mlaforge::run::RunCase;

TEST_CASE("empty splits weigh exactly 0 (ROCm/aiter#3641)") {
  for (const int splits : {1, 2, 8, 16, 32, 64}) {
    expect_right(default_kernels(), {.qlen = 1, .contexts = {0, 1, 63, 64, 65, 127, 128, 129}, .splits = splits});
  }
}

TEST_CASE("a split that early rows do not see adds nothing to them (ROCm/aiter#4711)") {
  const std::vector<int> contexts = {256, 260, 264, 388, 452};
  mlaforge::run::Kernels& kernels = kernels_of(config_text(12, {1, 2, 3, 4, 5, 6, 7, 8}, {4}));
  for (int qlen = 1; qlen <= 8; ++qlen) {
    for (const int context : contexts) {
      expect_right(kernels, {.qlen = qlen, .contexts = {context}, .splits = 4});
    }
    for (const int batch : {2, 4, 8}) {
      expect_right(kernels, {.qlen = qlen, .contexts = contexts, .splits = 4, .batch = batch});
    }
  }
}

TEST_CASE("20 identical calls on a poisoned workspace give the same bits (ROCm/aiter#4420, #4350)") {
  for (const int heads : {16, 128}) {
    RunCase wanted = case_of({.qlen = 1, .contexts = {700, 3}, .splits = 32, .memory = "random:3", .heads = heads});
    wanted.repeats = 20;
    expect_right(kernels_of(config_text(heads, {1}, {32})), wanted);
  }
}

TEST_CASE("no table entry past a request's last page is read, dense and CSR (vllm#35969)") {
  for (const bool dense : {false, true}) {
    for (const int splits : {1, 8}) {
      for (const char* memory : {"lazy", "eager"}) {
        RunCase wanted = case_of({.qlen = 4, .contexts = {0, 5, 129, 0, 640, 1}, .splits = splits, .memory = memory});
        wanted.inputs.dense_table = dense;
        expect_right(default_kernels(), wanted);
      }
    }
  }
}

TEST_CASE("one logit at 0 and 2,047 at -7 nats over values of 1 give 1 (ROCm/aiter#5535)") {
  for (const char* input : {"spike7", "spike11"}) {
    for (const int splits : {1, 8, 64}) {
      expect_right(default_kernels(), {.qlen = 1, .contexts = {2048}, .splits = splits, .input = input});
    }
  }
}

TEST_CASE("k_scale and v_scale are applied exactly once (vllm#37054, tokenspeed#1525)") {
  for (const float k_scale : {0.5F, 3.7F}) {
    for (const float v_scale : {0.5F, 3.7F}) {
      for (const int splits : {1, 8}) {
        RunCase wanted = case_of({.qlen = 2, .contexts = {300}, .splits = splits});
        wanted.inputs.k_scale = k_scale;
        wanted.inputs.v_scale = v_scale;
        expect_right(default_kernels(), wanted);
      }
    }
  }
}

TEST_CASE("a null scale pointer is 1.0 (TensorRT-LLM#16916)") {
  for (const int splits : {1, 8}) {
    RunCase wanted = case_of({.qlen = 2, .contexts = {300}, .splits = splits});
    expect_right(default_kernels(), wanted);
    wanted.inputs.k_scale = 2.0F;
    expect_right(default_kernels(), wanted);
    wanted.inputs.k_scale.reset();
    wanted.inputs.v_scale = 2.0F;
    expect_right(default_kernels(), wanted);
  }
}

TEST_CASE("merging none but empty partials gives 0 and -inf (flashinfer#4051)") {
  for (const int splits : {2, 8, 64}) {
    expect_right(default_kernels(), {.qlen = 4, .contexts = {0, 0, 0}, .splits = splits});
    // Positions 0 .. 2 of the second see nothing in any split, position 3 one token in one.
    expect_right(default_kernels(), {.qlen = 4, .contexts = {0, 1, 3}, .splits = splits});
  }
}

TEST_CASE("page sizes 1, 16 and 64 with shuffled tables (ROCm/aiter#3095, #4365)") {
  mlaforge::run::Kernels& kernels = kernels_of(config_text(12, {4}, {1, 8}, {1, 16, 64}));
  for (const int page_size : {1, 16, 64}) {
    for (const int splits : {1, 8}) {
      for (const bool dense : {false, true}) {
        RunCase wanted =
            case_of({.qlen = 4, .contexts = {1500, 63, 64, 65, 0}, .splits = splits, .page_size = page_size});
        wanted.inputs.dense_table = dense;
        expect_right(kernels, wanted);
      }
    }
  }
  const auto missing = mlaforge::run::run_case(simulator(), kernels,
                                               case_of({.qlen = 4, .contexts = {64}, .splits = 1, .page_size = 32}));
  REQUIRE_FALSE(missing.has_value());
  CHECK(mlaforge::to_string(missing.errors()).find("page_size 32 is in no kernel") != std::string::npos);
}

TEST_CASE("the config that a miss proposes is one, and has the kernel (ROCm/aiter#4872, vllm#57642)") {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = 20;
  problem.qlen = 5;
  problem.page_size = 64;
  problem.splits = 33;
  problem.pool_bytes = uint64_t{1} << 33;
  const auto miss = default_kernels().select(problem);
  REQUIRE_FALSE(miss.has_value());
  const std::string message = mlaforge::to_string(miss.errors());
  INFO(message);
  const std::string marker = "to generate it: ";
  REQUIRE(message.find(marker) != std::string::npos);
  const size_t start = message.find(marker) + marker.size();
  const auto found = kernels_of(message.substr(start, message.rfind('}') + 1 - start)).select(problem);
  REQUIRE(found.has_value());
  const mlaforge::Variant& variant = (*found)->variant;
  CHECK(variant.heads == 20);
  CHECK(variant.qlen == 5);
  CHECK(variant.page_size == 64);
  CHECK(variant.splits == 33);
  CHECK(variant.wide_kv);
}

TEST_CASE("head counts that fill no tile: masked rows are never stored (ROCm/aiter#1468, vllm#35641, #50578)") {
  for (const int heads : {1, 3, 6, 9, 20, 24}) {
    mlaforge::run::Kernels& kernels = kernels_of(config_text(heads, {1, 3}, {1, 4}));
    for (const int qlen : {1, 3}) {
      for (const int splits : {1, 4}) {
        expect_right(kernels, {.qlen = qlen, .contexts = {200, 2}, .splits = splits, .heads = heads});
      }
    }
  }
}

TEST_CASE("a cache row stride above 576 and a null lse pointer") {
  for (const int splits : {1, 8}) {
    RunCase wanted = case_of({.qlen = 3, .contexts = {300, 40}, .splits = splits});
    wanted.inputs.kv_row_stride = 656;
    wanted.store_lse = false;
    expect_right(default_kernels(), wanted);
  }
}
