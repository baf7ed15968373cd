// What a library says of itself, and structs of older and newer headers.
#include <cstring>
#include <span>

#include "tests/runtime/opened.h"

using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

std::vector<int32_t> list(const mlaforge_values& values) { return {values.values, values.values + values.count}; }

TestSet three_kinds() {
  TestSet set;
  set.add(16, 1, 64, 8);
  set.add(12, 4, 1, 1);
  set.add(12, 2, 1, 8, 3, true).probability_parts = 1;
  return set;
}

}  // namespace

TEST_CASE("the capabilities are the values of the rows, sorted, each once") {
  const Opened opened(three_kinds());
  mlaforge_capability_info info = MLAFORGE_CAPABILITY_INFO_INIT;
  REQUIRE(mlaforge_capabilities(opened.library, &info) == MLAFORGE_SUCCESS);
  CHECK(info.row_count == 3);
  CHECK(list(info.heads) == std::vector{12, 16});
  CHECK(list(info.qlens) == std::vector{1, 2, 4});
  CHECK(list(info.page_sizes) == std::vector{1, 64});
  CHECK(list(info.q_dtypes) == std::vector<int32_t>{MLAFORGE_BF16});
  CHECK(list(info.kv_dtypes) == std::vector<int32_t>{MLAFORGE_FP8_E4M3});
  CHECK(list(info.context_parallel) == std::vector{1});
  CHECK(list(info.wide_kv) == std::vector{0, 1});
  CHECK(list(info.splits) == std::vector{1, 8});
  CHECK(list(info.probability_parts) == std::vector{1, 2});
  const mlaforge_kernel_row* row = nullptr;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < info.row_count; ++i) {
    REQUIRE(mlaforge_row(opened.library, i, &row) == MLAFORGE_SUCCESS);
    names.emplace_back(row->name);
  }
  CHECK(names == std::vector<std::string>{"h12_g3_q2_s8_p1_wide", "h12_g3_q4_s1_p1", "h16_g3_q1_s8_p64"});
  CHECK(mlaforge_row(opened.library, 3, &row) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("index is 3; allowed: below the row count, 3"));
}

TEST_CASE("queries refuse nulls and structs that they do not know") {
  const Opened opened(three_kinds());
  mlaforge_capability_info capabilities = MLAFORGE_CAPABILITY_INFO_INIT;
  mlaforge_tuning_info tuning = MLAFORGE_TUNING_INFO_INIT;
  const mlaforge_kernel_row* row = nullptr;
  CHECK(mlaforge_capabilities(nullptr, &capabilities) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_capabilities(opened.library, nullptr) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_tuning(nullptr, &tuning) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_tuning(opened.library, nullptr) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_row(nullptr, 0, &row) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_row(opened.library, 0, nullptr) == MLAFORGE_INVALID_ARGUMENT);
  capabilities.struct_size += 8;
  CHECK(mlaforge_capabilities(opened.library, &capabilities) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("info.struct_size"));
  CHECK(capabilities.row_count == 0);
  tuning.struct_size -= 8;
  CHECK(mlaforge_tuning(opened.library, &tuning) == MLAFORGE_INVALID_ARGUMENT);
}

TEST_CASE("structs of an older header are taken and not written beyond their end") {
  const Opened opened(three_kinds());
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.struct_size = offsetof(mlaforge_problem, policy);
  wanted.policy = 77;  // behind the older struct's end
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  choice.struct_size = offsetof(mlaforge_choice, basis);
  choice.basis = 77;
  REQUIRE(mlaforge_select(opened.library, &wanted, &choice) == MLAFORGE_SUCCESS);
  CHECK(choice.row != nullptr);
  CHECK(choice.basis == 77);
  CHECK(choice.struct_size == offsetof(mlaforge_choice, basis));
  uint64_t bytes = 1;
  CHECK(mlaforge_workspace_size(opened.library, &choice, &bytes) == MLAFORGE_SUCCESS);
  mlaforge_device_info device = MLAFORGE_DEVICE_INFO_INIT;
  device.struct_size = offsetof(mlaforge_device_info, device);
  device.device = 77;
  CHECK(mlaforge_device(opened.library, &device) == MLAFORGE_SUCCESS);
  CHECK(device.compute_units == 256);
  CHECK(device.device == 77);
  for (const uint64_t bad : {uint64_t{0}, uint64_t{8}, uint64_t{offsetof(mlaforge_problem, policy) + 4},
                             uint64_t{sizeof(mlaforge_problem) + 8}, UINT64_MAX}) {
    wanted.struct_size = bad;
    CHECK(mlaforge_select(opened.library, &wanted, &choice) == MLAFORGE_INVALID_ARGUMENT);
    CHECK(says("problem.struct_size is " + std::to_string(bad)));
  }
}
