// DLPack: what is taken over, by hand, and everything about a tensor that can be wrong.
#include <array>
#include <cstddef>
#include <functional>

#include "catch.h"
#include "mlaforge/dlpack.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

constexpr mlaforge_dl_dtype bf16{4, 16, 1}, f32{2, 32, 1}, i32{0, 32, 1}, e4m3fn{10, 8, 1}, uint8{1, 8, 1};

/// A tensor that owns its shape and strides.
struct Tensor {
  std::array<int64_t, 5> shape{}, strides{};
  mlaforge_dl_tensor dl{};

  Tensor(uintptr_t data, mlaforge_dl_dtype dtype, std::initializer_list<int64_t> sizes) {
    std::copy(sizes.begin(), sizes.end(), shape.begin());
    dl = {address(data), {MLAFORGE_DL_ROCM, 0}, static_cast<int32_t>(sizes.size()), dtype, shape.data(), nullptr, 0};
  }
  Tensor(const Tensor&) = delete;
  /// The pointers are those of this object's arrays, whatever was assigned.
  Tensor& operator=(const Tensor& other) {
    shape = other.shape;
    strides = other.strides;
    dl = other.dl;
    dl.shape = shape.data();
    dl.strides = other.dl.strides != nullptr ? strides.data() : nullptr;
    return *this;
  }
  void set_strides(std::initializer_list<int64_t> steps) {
    std::copy(steps.begin(), steps.end(), strides.begin());
    dl.strides = strides.data();
  }
};

/// 3 requests of 4 tokens, 12 heads, a pool of 1,000 slots; CSR.
struct Adapter {
  FakeHip hip;
  TestSet set;
  mlaforge_library* library = nullptr;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  Tensor q{0x10000, bf16, {12, 12, 576}}, kv{0x20000, e4m3fn, {1000, 576}}, page_table{0x30000, i32, {500}},
      page_indptr{0x40000, i32, {4}}, seq_len{0x50000, i32, {3}}, k_scale{0x90000, f32, {}}, v_scale{0x90004, f32, {1}},
      q_scale{0x90008, f32, {1, 1}}, o{0x60000, bf16, {12, 12, 512}}, lse{0x70000, f32, {12, 12}};
  mlaforge_dl_tensors from = MLAFORGE_DL_TENSORS_INIT;
  mlaforge_tensors tensors = MLAFORGE_TENSORS_INIT;

  explicit Adapter(int page_size = 1, int qlen = 4) {
    set.add(12, qlen, page_size, 1);
    mlaforge_status status{};
    library = open_fake(hip, set, status);
    REQUIRE(status == MLAFORGE_SUCCESS);
    const mlaforge_problem wanted = problem(12, qlen, page_size);  // batch capacity 4, a pool of 1 MiB
    REQUIRE(mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS);
    from.q = &q.dl;
    from.kv = &kv.dl;
    from.page_table = &page_table.dl;
    from.page_indptr = &page_indptr.dl;
    from.seq_len = &seq_len.dl;
    from.k_scale = &k_scale.dl;
    from.v_scale = &v_scale.dl;
    from.o = &o.dl;
    from.lse = &lse.dl;
    tensors.softmax_scale = 0.5F;
  }
  ~Adapter() { mlaforge_close(library); }
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  mlaforge_status fill() { return mlaforge_tensors_from_dlpack(library, &choice, &from, &tensors); }
  void expect_filled() {
    const mlaforge_status status = fill();
    INFO(mlaforge_last_error());
    REQUIRE(status == MLAFORGE_SUCCESS);
  }
};

}  // namespace

TEST_CASE("the structs have DLPack's layout") {
  // DLTensor on 64-bit machines: data 0, device 8, ndim 16, dtype 20, shape 24, strides 32, byte_offset 40, 48 in all.
  CHECK(offsetof(mlaforge_dl_tensor, device) == 8);
  CHECK(offsetof(mlaforge_dl_tensor, ndim) == 16);
  CHECK(offsetof(mlaforge_dl_tensor, dtype) == 20);
  CHECK(offsetof(mlaforge_dl_tensor, shape) == 24);
  CHECK(offsetof(mlaforge_dl_tensor, strides) == 32);
  CHECK(offsetof(mlaforge_dl_tensor, byte_offset) == 40);
  CHECK(sizeof(mlaforge_dl_tensor) == 48);
}

TEST_CASE("compact tensors: pointers, strides and requests, and a launch takes them") {
  Adapter adapter;
  adapter.expect_filled();
  const mlaforge_tensors& t = adapter.tensors;
  CHECK(t.q == address(0x10000));
  CHECK(t.kv == address(0x20000));
  CHECK(t.page_table == address(0x30000));
  CHECK(t.page_indptr == address(0x40000));
  CHECK(t.seq_len == address(0x50000));
  CHECK(t.q_scale == nullptr);
  CHECK(t.k_scale == address(0x90000));
  CHECK(t.v_scale == address(0x90004));
  CHECK(t.o == address(0x60000));
  CHECK(t.lse == address(0x70000));
  CHECK(t.q_token_stride == 12 * 576);
  CHECK(t.q_head_stride == 576);
  CHECK(t.kv_row_stride == 576);
  CHECK(t.page_table_stride == 0);
  CHECK(t.o_token_stride == 12 * 512);
  CHECK(t.o_head_stride == 512);
  CHECK(t.lse_token_stride == 12);
  CHECK(t.lse_head_stride == 1);
  CHECK(t.requests == 3);
  CHECK(t.softmax_scale == 0.5F);
  current_device = 0;
  CHECK(mlaforge_launch(adapter.library, &adapter.choice, &t, nullptr, 0, nullptr) == MLAFORGE_SUCCESS);
}

TEST_CASE("byte_offset and strides are honoured") {
  Adapter adapter;
  adapter.q.dl.byte_offset = 4096;
  adapter.q.set_strides({8000, 640, 1});
  adapter.kv.dl.byte_offset = 5760;
  adapter.kv.set_strides({640, 1});
  adapter.o.set_strides({512, 12 * 512, 1});  // heads outside
  adapter.lse.set_strides({1, 12});
  adapter.seq_len.dl.byte_offset = 4;
  adapter.expect_filled();
  CHECK(adapter.tensors.q == address(0x10000 + 4096));
  CHECK(adapter.tensors.q_token_stride == 8000);
  CHECK(adapter.tensors.q_head_stride == 640);
  CHECK(adapter.tensors.kv == address(0x20000 + 5760));
  CHECK(adapter.tensors.kv_row_stride == 640);
  CHECK(adapter.tensors.o_token_stride == 512);
  CHECK(adapter.tensors.o_head_stride == 12 * 512);
  CHECK(adapter.tensors.lse_token_stride == 1);
  CHECK(adapter.tensors.lse_head_stride == 12);
  CHECK(adapter.tensors.seq_len == address(0x50004));
}

TEST_CASE("tokens as [requests, qlen], pages as [pages, page_size], a dense table, uint8 for fp8, no lse") {
  Adapter adapter(16);
  adapter.q = Tensor(0x10000, bf16, {3, 4, 12, 576});
  adapter.o = Tensor(0x60000, bf16, {3, 4, 12, 512});
  adapter.kv = Tensor(0x20000, uint8, {60, 16, 576});
  adapter.page_table = Tensor(0x30000, i32, {3, 40});
  adapter.page_table.set_strides({64, 1});
  adapter.from.page_indptr = nullptr;
  adapter.from.lse = nullptr;
  adapter.expect_filled();
  CHECK(adapter.tensors.q_token_stride == 12 * 576);
  CHECK(adapter.tensors.kv_row_stride == 576);
  CHECK(adapter.tensors.page_indptr == nullptr);
  CHECK(adapter.tensors.page_table_stride == 64);
  CHECK(adapter.tensors.lse == nullptr);
  CHECK(adapter.tensors.requests == 3);
}

TEST_CASE("strides of dimensions of one element do not matter") {
  Adapter adapter(1, 1);
  adapter.q = Tensor(0x10000, bf16, {3, 1, 12, 576});
  adapter.q.set_strides({9000, 77, 576, 1});
  adapter.o = Tensor(0x60000, bf16, {3, 12, 512});
  adapter.lse = Tensor(0x70000, f32, {3, 12});
  adapter.expect_filled();
  CHECK(adapter.tensors.q_token_stride == 9000);
}

TEST_CASE("each wrong thing about a tensor is refused by name, and nothing is filled in") {
  struct Fault {
    const char* message;
    std::function<void(Adapter&)> make;
  };
  const std::vector<Fault> faults = {
      {"dlpack.q is null", [](auto& a) { a.from.q = nullptr; }},
      {"dlpack.kv is null", [](auto& a) { a.from.kv = nullptr; }},
      {"dlpack.seq_len is null", [](auto& a) { a.from.seq_len = nullptr; }},
      {"dlpack.q is on device (1, 0); allowed: kDLROCM (10), the library's 0",
       [](auto& a) { a.q.dl.device.device_type = 1; }},
      {"dlpack.kv is on device (10, 1)", [](auto& a) { a.kv.dl.device.device_id = 1; }},
      {"dlpack.q has dtype (code 2, 16 bits, 1 lanes); allowed: (code 4, 16 bits, 1 lane)",
       [](auto& a) { a.q.dl.dtype = {2, 16, 1}; }},
      {"dlpack.kv has dtype (code 11, 8 bits, 1 lanes)", [](auto& a) { a.kv.dl.dtype.code = 11; }},  // e4m3fnuz
      {"dlpack.kv has dtype (code 12, 8 bits, 1 lanes)", [](auto& a) { a.kv.dl.dtype.code = 12; }},  // e5m2
      {"dlpack.q has dtype (code 4, 16 bits, 2 lanes)", [](auto& a) { a.q.dl.dtype.lanes = 2; }},
      {"dlpack.page_table has dtype (code 0, 64 bits", [](auto& a) { a.page_table.dl.dtype.bits = 64; }},
      {"dlpack.seq_len has dtype (code 1, 32 bits", [](auto& a) { a.seq_len.dl.dtype.code = 1; }},
      {"dlpack.q has 2 dimensions; allowed: 3 .. 4", [](auto& a) { a.q.dl.ndim = 2; }},
      {"dlpack.q has 5 dimensions", [](auto& a) { a.q.dl.ndim = 5; }},
      {"dlpack.q has -1 dimensions", [](auto& a) { a.q.dl.ndim = -1; }},
      {"dlpack.kv has 2147483647 dimensions", [](auto& a) { a.kv.dl.ndim = INT32_MAX; }},
      {"dlpack.kv has a null shape", [](auto& a) { a.kv.dl.shape = nullptr; }},
      {"dlpack.q has size 511 in dimension 2; allowed: 576", [](auto& a) { a.q.shape[2] = 511; }},
      {"dlpack.q has size 16 in dimension 1; allowed: 12", [](auto& a) { a.q.shape[1] = 16; }},
      {"dlpack.q has size 11 in dimension 0; allowed: 12", [](auto& a) { a.q.shape[0] = 11; }},
      {"dlpack.o has size 576 in dimension 2; allowed: 512", [](auto& a) { a.o.shape[2] = 576; }},
      {"dlpack.o has size 13 in dimension 0", [](auto& a) { a.o.shape[0] = 13; }},
      {"dlpack.lse has size 11 in dimension 1", [](auto& a) { a.lse.shape[1] = 11; }},
      {"dlpack.kv has size -1 in dimension 0", [](auto& a) { a.kv.shape[0] = -1; }},
      {"dlpack.kv has size 9223372036854775807 in dimension 0", [](auto& a) { a.kv.shape[0] = INT64_MAX; }},
      {"dlpack.kv has 2000 rows 576 bytes apart; allowed: the 1048576 bytes", [](auto& a) { a.kv.shape[0] = 2000; }},
      {"rows 9223372036854775807 bytes apart", [](auto& a) { a.kv.set_strides({INT64_MAX, 1}); }},
      {"dlpack.q has stride 2 in dimension 2; allowed: 1", [](auto& a) { a.q.set_strides({20000, 1600, 2}); }},
      {"dlpack.q has stride -576 in dimension 1", [](auto& a) { a.q.set_strides({6912, -576, 1}); }},
      {"dlpack.seq_len has stride 2 in dimension 0", [](auto& a) { a.seq_len.set_strides({2}); }},
      {"dlpack.page_indptr has size 3 in dimension 0; allowed: 4", [](auto& a) { a.page_indptr.shape[0] = 3; }},
      {"dlpack.page_indptr has null data", [](auto& a) { a.page_indptr.dl.data = nullptr; }},
      {"dlpack.page_table has 1 dimensions; allowed: 2 .. 2", [](auto& a) { a.from.page_indptr = nullptr; }},
      {"dlpack.seq_len has 5 requests; allowed: 0 .. 4", [](auto& a) { a.seq_len.shape[0] = 5; }},
      {"dlpack.k_scale has null data", [](auto& a) { a.k_scale.dl.data = nullptr; }},
      {"dlpack.v_scale has size 2 in dimension 0; allowed: 1", [](auto& a) { a.v_scale.shape[0] = 2; }},
      {"dlpack.q has byte_offset 18446744073709551615", [](auto& a) { a.q.dl.byte_offset = UINT64_MAX; }},
      {"from.struct_size", [](auto& a) { a.from.struct_size = 8; }},
      {"tensors.struct_size", [](auto& a) { a.tensors.struct_size = 8; }},
      {"choice.row is not this library's", [](auto& a) { a.choice.row_index = 7; }},
  };
  for (const Fault& fault : faults) {
    Adapter adapter;
    fault.make(adapter);
    INFO(fault.message);
    CHECK(adapter.fill() == MLAFORGE_INVALID_ARGUMENT);
    INFO(mlaforge_last_error());
    CHECK(says(fault.message));
    CHECK(adapter.tensors.q == nullptr);
    CHECK(adapter.tensors.requests == 0);
  }
  Adapter adapter;
  CHECK(mlaforge_tensors_from_dlpack(nullptr, &adapter.choice, &adapter.from, &adapter.tensors) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_tensors_from_dlpack(adapter.library, nullptr, &adapter.from, &adapter.tensors) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_tensors_from_dlpack(adapter.library, &adapter.choice, nullptr, &adapter.tensors) ==
        MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_tensors_from_dlpack(adapter.library, &adapter.choice, &adapter.from, nullptr) ==
        MLAFORGE_INVALID_ARGUMENT);
}

TEST_CASE("pages whose rows are not equally spaced are refused") {
  Adapter adapter(16);
  adapter.kv = Tensor(0x20000, e4m3fn, {60, 16, 576});
  adapter.kv.set_strides({16 * 576 + 64, 576, 1});
  CHECK(adapter.fill() == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("dlpack.kv has stride 9280 in dimension 0; allowed: 9216, so that the rows are equally spaced"));
}
