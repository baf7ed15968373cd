// Workspace and launch: sizes by hand, arguments as the contract says, and every refusal before a launch.
#include <cstring>
#include <functional>
#include <limits>

#include "catch.h"
#include "runtime/src/workspace.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

template <typename Args>
Args arguments(const RecordedLaunch& launch) {
  REQUIRE(launch.arguments.size() == sizeof(Args));
  Args args;
  std::memcpy(&args, launch.arguments.data(), sizeof(Args));
  return args;
}

/// 12 heads, qlen 4, 8 splits and one split; a choice for each at batch capacity 4.
struct Launcher {
  FakeHip hip;
  TestSet set;
  mlaforge_library* library = nullptr;
  mlaforge_choice split = MLAFORGE_CHOICE_INIT, direct = MLAFORGE_CHOICE_INIT;
  uint64_t bytes = 0;
  void* workspace = address(0x80000);

  Launcher() {
    set.add(12, 4, 1, 8);
    set.add(12, 4, 1, 1);
    mlaforge_status status{};
    library = open_fake(hip, set, status);
    REQUIRE(status == MLAFORGE_SUCCESS);
    const mlaforge_problem eight = problem(12, 4, 1, 8);
    const mlaforge_problem one = problem(12, 4, 1, 1);
    REQUIRE(mlaforge_select(library, &eight, &split) == MLAFORGE_SUCCESS);
    REQUIRE(mlaforge_select(library, &one, &direct) == MLAFORGE_SUCCESS);
    REQUIRE(mlaforge_workspace_size(library, &split, &bytes) == MLAFORGE_SUCCESS);
    hip.calls.clear();
    current_device = 0;
  }
  ~Launcher() { mlaforge_close(library); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  mlaforge_status launch(const mlaforge_tensors& t) const {
    return mlaforge_launch(library, &split, &t, workspace, bytes, nullptr);
  }
};

}  // namespace

TEST_CASE("grids by hand") {
  CHECK(mlaforge_attention_grid(1, 1, 3) == 24);    // one split: 8 XCDs' worth, 3 groups
  CHECK(mlaforge_attention_grid(1, 85, 3) == 264);  // 85 -> 88
  CHECK(mlaforge_attention_grid(4, 8, 3) == 96);    // 32 x 3
  CHECK(mlaforge_attention_grid(3, 3, 1) == 16);    // 9 -> 16
  CHECK(mlaforge_attention_grid(0, 8, 3) == 0);
  CHECK(mlaforge_combine_grid(4, 12, 1) == 48);
  CHECK(mlaforge_combine_grid(4, 12, 4) == 192);
}

TEST_CASE("workspace sizes by hand, and their overflow") {
  mlaforge_kernel_row row{};
  row.splits = 8;
  row.qlen = 4;
  row.heads = 12;
  row.partial_dtype = MLAFORGE_BF16;
  WorkspaceLayout layout;
  REQUIRE(workspace_layout(row, 4, layout));
  CHECK(layout.lse_offset == 4ull * 8 * 4 * 12 * 512 * 2);
  CHECK(layout.bytes == 4ull * 8 * 4 * 12 * (1024 + 4));
  row.partial_dtype = MLAFORGE_F32;
  REQUIRE(workspace_layout(row, 4, layout));
  CHECK(layout.lse_offset == 4ull * 8 * 4 * 12 * 512 * 4);
  // Batch 512, 256 splits, 128 heads, qlen 4: 67,108,864 rows, beyond 32 bits of bytes.
  row.heads = 128;
  row.splits = 256;
  row.partial_dtype = MLAFORGE_BF16;
  REQUIRE(workspace_layout(row, 512, layout));
  CHECK(layout.bytes == 68987912192ull);  // 67,108,864 x 1,028
  row.splits = 1;
  REQUIRE(workspace_layout(row, 512, layout));
  CHECK(layout.bytes == 0);
  row.heads = std::numeric_limits<int32_t>::max();
  row.qlen = std::numeric_limits<int32_t>::max();
  row.splits = 2;
  CHECK_FALSE(workspace_layout(row, 4, layout));
}

TEST_CASE("a split launch: attention, then combine, on the caller's stream, with the contract's arguments") {
  Launcher launcher;
  mlaforge_tensors t = tensors(12, 3);
  t.k_scale = static_cast<const float*>(address(0x90000));
  t.v_scale = static_cast<const float*>(address(0x90004));
  t.page_table_stride = 77;
  REQUIRE(mlaforge_launch(launcher.library, &launcher.split, &t, launcher.workspace, launcher.bytes, address(0x77)) ==
          MLAFORGE_SUCCESS);
  REQUIRE(launcher.hip.launches.size() == 2);
  CHECK(launcher.hip.calls == std::vector<std::string>{"hipGetDevice", "hipStreamGetDevice", "hipModuleLaunchKernel",
                                                       "hipModuleLaunchKernel"});

  const RecordedLaunch& attention = launcher.hip.launches[0];
  CHECK(symbol(attention.function) == "h12_g3_q4_s8_p1");
  CHECK(attention.grid == 72);
  CHECK(attention.grid_y == 1);
  CHECK(attention.threads == 512);
  CHECK(attention.stream == address(0x77));
  const auto a = arguments<mlaforge_attention_args>(attention);
  CHECK(a.q == t.q);
  CHECK(a.kv == t.kv);
  CHECK(a.page_table == t.page_table);
  CHECK(a.page_indptr == t.page_indptr);
  CHECK(a.seq_len == t.seq_len);
  CHECK(a.q_scale == nullptr);
  CHECK(a.k_scale == t.k_scale);
  CHECK(a.v_scale == t.v_scale);
  CHECK(a.o == t.o);
  CHECK(a.lse == t.lse);
  CHECK(a.o_partial == launcher.workspace);
  // Laid out for the capacity of 4 requests, whatever the launch's batch.
  CHECK(a.lse_partial == address(0x80000 + 4 * 8 * 4 * 12 * 1024));
  CHECK(a.q_token_stride == 12 * 576);
  CHECK(a.q_head_stride == 576);
  CHECK(a.kv_row_stride == 576);
  CHECK(a.page_table_stride == 77);
  CHECK(a.o_token_stride == 12 * 512);
  CHECK(a.o_head_stride == 512);
  CHECK(a.lse_token_stride == 12);
  CHECK(a.lse_head_stride == 1);
  CHECK(a.requests == 3);
  CHECK(a.softmax_scale == t.softmax_scale);
  CHECK(a.context_parallel_rank == 0);

  const RecordedLaunch& combine = launcher.hip.launches[1];
  CHECK(symbol(combine.function) == "combine_s8");
  CHECK(combine.grid == 3);
  CHECK(combine.grid_y == 4 * 12);
  CHECK(combine.threads == 64);
  CHECK(combine.stream == address(0x77));
  const auto c = arguments<mlaforge_combine_args>(combine);
  CHECK(c.o_partial == a.o_partial);
  CHECK(c.lse_partial == a.lse_partial);
  CHECK(c.o == t.o);
  CHECK(c.lse == t.lse);
  CHECK(c.o_token_stride == 12 * 512);
  CHECK(c.o_head_stride == 512);
  CHECK(c.lse_token_stride == 12);
  CHECK(c.lse_head_stride == 1);
  CHECK(c.requests == 3);
  CHECK(c.qlen == 4);
  CHECK(c.heads == 12);
}

TEST_CASE("one split: one launch, no workspace") {
  Launcher launcher;
  uint64_t bytes = 1;
  REQUIRE(mlaforge_workspace_size(launcher.library, &launcher.direct, &bytes) == MLAFORGE_SUCCESS);
  CHECK(bytes == 0);
  const mlaforge_tensors t = tensors(12, 4);
  REQUIRE(mlaforge_launch(launcher.library, &launcher.direct, &t, nullptr, 0, nullptr) == MLAFORGE_SUCCESS);
  REQUIRE(launcher.hip.launches.size() == 1);
  CHECK(launcher.hip.launches[0].grid == 24);
  CHECK(arguments<mlaforge_attention_args>(launcher.hip.launches[0]).o_partial == nullptr);
}

TEST_CASE("an empty batch succeeds and launches nothing") {
  Launcher launcher;
  mlaforge_tensors t = MLAFORGE_TENSORS_INIT;
  CHECK(mlaforge_launch(launcher.library, &launcher.split, &t, nullptr, 0, nullptr) == MLAFORGE_SUCCESS);
  CHECK(launcher.hip.calls.empty());
}

TEST_CASE("what is wrong with a launch is named before anything is launched") {
  Launcher launcher;
  struct Fault {
    const char* message;
    std::function<void(mlaforge_tensors&)> make;
  };
  const auto offset = [](const void* pointer, int bytes) {
    return address(reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
  };
  const std::vector<Fault> faults = {
      {"tensors.q is null", [](auto& t) { t.q = nullptr; }},
      {"tensors.kv is null", [](auto& t) { t.kv = nullptr; }},
      {"tensors.page_table is null", [](auto& t) { t.page_table = nullptr; }},
      {"tensors.seq_len is null", [](auto& t) { t.seq_len = nullptr; }},
      {"tensors.o is null", [](auto& t) { t.o = nullptr; }},
      {"tensors.q is 0x10008; allowed: a multiple of 16", [&](auto& t) { t.q = offset(t.q, 8); }},
      {"tensors.kv is 0x20004", [&](auto& t) { t.kv = offset(t.kv, 4); }},
      {"tensors.o is 0x60002", [&](auto& t) { t.o = offset(t.o, 2); }},
      {"tensors.lse is 0x70002", [&](auto& t) { t.lse = static_cast<float*>(offset(t.lse, 2)); }},
      {"tensors.seq_len is 0x50001", [&](auto& t) { t.seq_len = static_cast<const int32_t*>(offset(t.seq_len, 1)); }},
      {"tensors.k_scale is 0x90002", [](auto& t) { t.k_scale = static_cast<const float*>(address(0x90002)); }},
      {"tensors.q_scale is set", [](auto& t) { t.q_scale = static_cast<const float*>(address(0x90000)); }},
      {"tensors.kv_row_stride is 575", [](auto& t) { t.kv_row_stride = 575; }},
      {"tensors.kv_row_stride is 584", [](auto& t) { t.kv_row_stride = 584; }},
      {"tensors.kv_row_stride is 560", [](auto& t) { t.kv_row_stride = 560; }},
      {"tensors.q_head_stride is 580", [](auto& t) { t.q_head_stride = 580; }},
      {"tensors.q_token_stride is -6912", [](auto& t) { t.q_token_stride = -6912; }},
      {"tensors.o_head_stride is 516", [](auto& t) { t.o_head_stride = 516; }},
      {"make rows of 512 elements overlap", [](auto& t) { t.o_head_stride = 504; }},
      {"make rows of 512 elements overlap", [](auto& t) { t.o_token_stride = 11 * 512; }},
      {"make rows of 1 elements overlap", [](auto& t) { t.lse_token_stride = 11; }},
      {"do not fit 64 bits", [](auto& t) { t.q_token_stride = int64_t{1} << 62; }},
      {"tensors.page_table_stride is 0", [](auto& t) { t.page_indptr = nullptr; }},
      {"tensors.requests is 5; allowed: 0 .. 4", [](auto& t) { t.requests = 5; }},
      {"tensors.requests is -1", [](auto& t) { t.requests = -1; }},
      {"tensors.softmax_scale is 0", [](auto& t) { t.softmax_scale = 0; }},
      {"tensors.softmax_scale is nan", [](auto& t) { t.softmax_scale = std::numeric_limits<float>::quiet_NaN(); }},
      {"tensors.context_parallel_rank is 1; allowed: 0 .. 0", [](auto& t) { t.context_parallel_rank = 1; }},
      {"tensors.struct_size", [](auto& t) { t.struct_size = 8; }},
  };
  for (const Fault& fault : faults) {
    mlaforge_tensors t = tensors(12, 3);
    fault.make(t);
    INFO(fault.message);
    CHECK(launcher.launch(t) == MLAFORGE_INVALID_ARGUMENT);
    INFO(mlaforge_last_error());
    CHECK(says(fault.message));
  }
  CHECK(launcher.hip.calls.empty());
}

TEST_CASE("layouts that are unusual and right are taken") {
  Launcher launcher;
  mlaforge_tensors t = tensors(12, 3);
  t.o_head_stride = 12 * 512;  // heads outside, tokens inside
  t.o_token_stride = 512;
  CHECK(launcher.launch(t) == MLAFORGE_SUCCESS);  // 12 tokens x 512 reach exactly to the next head: no overlap
  t.lse = nullptr;
  t.lse_token_stride = 0;
  CHECK(launcher.launch(t) == MLAFORGE_SUCCESS);
  t.page_indptr = nullptr;
  t.page_table_stride = 1;
  t.kv_row_stride = 640;
  CHECK(launcher.launch(t) == MLAFORGE_SUCCESS);
}

TEST_CASE("a workspace one byte short, misaligned or null is refused") {
  Launcher launcher;
  const mlaforge_tensors t = tensors(12, 4);
  CHECK(mlaforge_launch(launcher.library, &launcher.split, &t, launcher.workspace, launcher.bytes - 1, nullptr) ==
        MLAFORGE_WORKSPACE_TOO_SMALL);
  CHECK(says("workspace_bytes is 1579007; 1579008 are needed"));
  CHECK(mlaforge_launch(launcher.library, &launcher.split, &t, address(0x80080), launcher.bytes, nullptr) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_launch(launcher.library, &launcher.split, &t, nullptr, launcher.bytes, nullptr) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(launcher.hip.calls.empty());
}

TEST_CASE("a choice of another library, and a HIP launch that fails") {
  Launcher launcher;
  mlaforge_tensors t = tensors(12, 4);
  mlaforge_choice stray = launcher.split;
  const mlaforge_kernel_row copy = *stray.row;
  stray.row = &copy;
  CHECK(mlaforge_launch(launcher.library, &stray, &t, launcher.workspace, launcher.bytes, nullptr) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("choice.row"));
  launcher.hip.failing_call = "hipModuleLaunchKernel";
  CHECK(launcher.launch(t) == MLAFORGE_HIP_ERROR);
  CHECK(says("hipModuleLaunchKernel of h12_g3_q4_s8_p1: fake failure (999)"));
  launcher.hip.failing_call.clear();
  CHECK(launcher.launch(t) == MLAFORGE_SUCCESS);
  CHECK(std::string(mlaforge_last_error()).empty());
}

TEST_CASE("a grid of more threads than HIP counts is refused") {
  FakeHip hip;
  TestSet set;
  set.add(12, 4, 1, 256);
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  REQUIRE(status == MLAFORGE_SUCCESS);
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.batch_capacity = 20000;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  REQUIRE(mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS);
  const mlaforge_tensors t = tensors(12, 20000);  // 20,000 x 256 x 3 x 512 = 7.9e9 threads
  CHECK(mlaforge_launch(library, &choice, &t, address(0x80000), UINT64_MAX, nullptr) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("2^32 - 1 threads"));
  mlaforge_close(library);
}

TEST_CASE("a launch with another device current, or on another device's stream, is refused") {
  Launcher launcher;
  const mlaforge_tensors t = tensors(12, 4);
  void* const stream = address(0x77);
  const auto launch_on = [&](void* on) {
    return mlaforge_launch(launcher.library, &launcher.split, &t, launcher.workspace, launcher.bytes, on);
  };
  launcher.hip.streams[stream] = 1;
  CHECK(launch_on(stream) == MLAFORGE_WRONG_DEVICE);
  CHECK(says("is of device 1; allowed: a stream of the library's device 0"));
  launcher.hip.streams[stream] = 0;
  CHECK(launch_on(stream) == MLAFORGE_SUCCESS);
  // Null, hipStreamLegacy and hipStreamPerThread are the current device's.
  for (const uintptr_t named : {0, 1, 2}) {
    launcher.hip.streams[address(named)] = 1;
    CHECK(launch_on(address(named)) == MLAFORGE_SUCCESS);
  }
  CHECK(launcher.hip.launches.size() == 8);
  current_device = 1;
  CHECK(launch_on(nullptr) == MLAFORGE_WRONG_DEVICE);
  CHECK(says("device 1 is current; the library's is 0: call hipSetDevice(0) first"));
  CHECK(launch_on(stream) == MLAFORGE_WRONG_DEVICE);
  CHECK(launcher.hip.launches.size() == 8);
}
