// Public reports against systems that do this job, as far as the runtime's host side answers them.
#include "mlaforge/dlpack.h"
#include "tests/runtime/opened.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

}  // namespace

TEST_CASE("what was planned for one query token does not serve four (vllm#45227)") {
  TestSet set;
  set.add(12, 1, 1, 1);
  Opened opened(std::move(set));
  current_device = 0;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  const mlaforge_problem four = problem(12, 4, 1);
  CHECK(mlaforge_select(opened.library, &four, &choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("qlen 4 is in no kernel with heads 12; available: 1"));
  CHECK(choice.row == nullptr);
  // Tensors that carry their shape are held against the choice's: 4 tokens of each of 2 requests, a kernel of one.
  const mlaforge_problem one = problem(12, 1, 1);
  REQUIRE(mlaforge_select(opened.library, &one, &choice) == MLAFORGE_SUCCESS);
  int64_t lengths_shape[] = {2};
  int64_t q_shape[] = {8, 12, 576};
  const mlaforge_dl_tensor seq_len{address(0x1000), {MLAFORGE_DL_ROCM, 0}, 1, {0, 32, 1}, lengths_shape, nullptr, 0};
  const mlaforge_dl_tensor q{address(0x2000), {MLAFORGE_DL_ROCM, 0}, 3, {4, 16, 1}, q_shape, nullptr, 0};
  mlaforge_dl_tensors from = MLAFORGE_DL_TENSORS_INIT;
  from.seq_len = &seq_len;
  from.q = &q;
  mlaforge_tensors t = MLAFORGE_TENSORS_INIT;
  CHECK(mlaforge_tensors_from_dlpack(opened.library, &choice, &from, &t) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("dlpack.q has size 8 in dimension 0; allowed: 2"));
}

TEST_CASE("a server asks a thousand times for shapes that no kernel has, and lives (ROCm/aiter#4872, vllm#57642)") {
  TestSet set;
  for (const int splits : {1, 8, 64}) {
    set.add(12, 4, 1, splits);
  }
  Opened opened(std::move(set));
  current_device = 0;
  const mlaforge_problem served = problem(12, 4, 1);
  for (int i = 0; i < 1000; ++i) {
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    mlaforge_problem missing = problem(1 + i % 128, 1 + i % 8, 1 + i % 256);
    missing.pool_bytes = uint64_t{1} << (10 + i % 50);
    if (missing.heads == 12 && missing.qlen == 4 && missing.page_size == 1) {
      continue;
    }
    REQUIRE(mlaforge_select(opened.library, &missing, &choice) == MLAFORGE_NO_KERNEL);
    REQUIRE(says("nearest: h12_g3_q4_"));
    REQUIRE(choice.row == nullptr);
    REQUIRE(mlaforge_select(opened.library, &served, &choice) == MLAFORGE_SUCCESS);
  }
}

TEST_CASE(
    "rows of one key in two sets are refused with both names; the order of sets changes no choice (ROCm/aiter's CSV)") {
  TestSet first;
  first.add(12, 4, 1, 8);
  first.add(12, 1, 1, 8);
  TestSet second;
  second.add(12, 4, 1, 64);
  second.add(12, 1, 1, 1);
  TestSet again;
  again.add(12, 1, 1, 8).name = again.keep("the_same_again");
  again.add_object("the_same_again");
  FakeHip hip;
  const HipApi api = fake_api(hip);
  const auto open = [&](std::vector<const mlaforge_kernel_set*> sets, mlaforge_library** library) {
    mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
    options.kernel_sets = sets.data();
    options.kernel_set_count = sets.size();
    return open_device(api, options, library);
  };
  mlaforge_library* one = nullptr;
  mlaforge_library* other = nullptr;
  REQUIRE(open({first.get(), second.get()}, &one) == MLAFORGE_SUCCESS);
  REQUIRE(open({second.get(), first.get()}, &other) == MLAFORGE_SUCCESS);
  for (const int qlen : {1, 4}) {
    for (const int batch : {1, 8, 512}) {
      mlaforge_problem wanted = problem(12, qlen, 1);
      wanted.batch_capacity = batch;
      mlaforge_choice a = MLAFORGE_CHOICE_INIT;
      mlaforge_choice b = MLAFORGE_CHOICE_INIT;
      REQUIRE(mlaforge_select(one, &wanted, &a) == MLAFORGE_SUCCESS);
      REQUIRE(mlaforge_select(other, &wanted, &b) == MLAFORGE_SUCCESS);
      CHECK(std::string(a.row->name) == b.row->name);
      CHECK(a.row_index == b.row_index);
    }
  }
  mlaforge_close(one);
  mlaforge_close(other);
  CHECK(open({first.get(), again.get()}, &one) == MLAFORGE_BAD_KERNEL_SET);
  CHECK(one == nullptr);
  CHECK(says("kernels h12_g3_q1_s8_p1 and the_same_again have one key: heads 12, qlen 1"));
}

TEST_CASE("a workspace beyond 32 bits is exact, one byte less is refused (ROCm/aiter#3855, #1606)") {
  TestSet set;
  set.add(128, 4, 1, 256, 32);
  Opened opened(std::move(set));
  current_device = 0;
  mlaforge_problem wanted = problem(128, 4, 1);
  wanted.batch_capacity = 512;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  REQUIRE(mlaforge_select(opened.library, &wanted, &choice) == MLAFORGE_SUCCESS);
  uint64_t bytes = 0;
  REQUIRE(mlaforge_workspace_size(opened.library, &choice, &bytes) == MLAFORGE_SUCCESS);
  CHECK(bytes == 512ull * 256 * 4 * 128 * (512 * 2 + 4));  // 68,987,912,192
  const mlaforge_tensors t = tensors(128, 1);
  CHECK(mlaforge_launch(opened.library, &choice, &t, address(0x80000), bytes - 1, nullptr) ==
        MLAFORGE_WORKSPACE_TOO_SMALL);
  CHECK(says("workspace_bytes is 68987912191; 68987912192 are needed"));
  CHECK(opened.hip.launches.empty());
  CHECK(mlaforge_launch(opened.library, &choice, &t, address(0x80000), bytes, nullptr) == MLAFORGE_SUCCESS);
}
