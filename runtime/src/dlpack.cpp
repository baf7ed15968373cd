// DLPack tensors as a launch's tensors. Every check names the tensor; nothing is written before all have passed.
#include "mlaforge/dlpack.h"

#include <initializer_list>

#include "error.h"
#include "launch_checks.h"
#include "library.h"
#include "struct_version.h"

namespace mlaforge {
namespace {

constexpr int most_dimensions = 4;

struct Dtype {
  uint8_t code, bits;
};
constexpr Dtype bf16{MLAFORGE_DL_BFLOAT, 16}, f32{MLAFORGE_DL_FLOAT, 32}, i32{MLAFORGE_DL_INT, 32},
    fp8{MLAFORGE_DL_FLOAT8_E4M3FN, 8}, u8{MLAFORGE_DL_UINT, 8};

/// One tensor, read. Strides are filled in where DLPack leaves them out.
struct View {
  const char* name = "";
  void* data = nullptr;
  int ndim = 0;
  int64_t shape[most_dimensions] = {};
  int64_t strides[most_dimensions] = {};

  int64_t size(int from_end) const { return shape[ndim - from_end]; }
  int64_t stride(int from_end) const { return strides[ndim - from_end]; }
};

mlaforge_status check_dtype(const char* name, const mlaforge_dl_dtype& dtype, std::initializer_list<Dtype> allowed) {
  for (const Dtype& one : allowed) {
    if (dtype.code == one.code && dtype.bits == one.bits && dtype.lanes == 1) {
      return MLAFORGE_SUCCESS;
    }
  }
  const Dtype& first = *allowed.begin();
  return failf(MLAFORGE_INVALID_ARGUMENT,
               "dlpack.%s has dtype (code %d, %d bits, %d lanes); allowed: (code %d, %d bits, 1 lane)%s", name,
               dtype.code, dtype.bits, dtype.lanes, first.code, first.bits,
               allowed.size() > 1 ? " or uint8 with its bytes" : "");
}

/// Device, dtype, dimensions, strides and the pointer of a tensor that has to be there.
mlaforge_status read_tensor(const mlaforge_library& library, const char* name, const mlaforge_dl_tensor* tensor,
                            std::initializer_list<Dtype> dtypes, int least_ndim, int most_ndim, View& view) {
  if (tensor == nullptr) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s is null; a tensor is required", name);
  }
  if (tensor->device.device_type != MLAFORGE_DL_ROCM || tensor->device.device_id != library.device) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s is on device (%d, %d); allowed: kDLROCM (%d), the library's %d",
                 name, tensor->device.device_type, tensor->device.device_id, MLAFORGE_DL_ROCM, library.device);
  }
  if (const mlaforge_status status = check_dtype(name, tensor->dtype, dtypes); status != MLAFORGE_SUCCESS) {
    return status;
  }
  if (tensor->ndim < least_ndim || tensor->ndim > most_ndim) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has %d dimensions; allowed: %d .. %d", name, tensor->ndim,
                 least_ndim, most_ndim);
  }
  if (tensor->ndim > 0 && tensor->shape == nullptr) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has a null shape with %d dimensions", name, tensor->ndim);
  }
  view.name = name;
  view.ndim = tensor->ndim;
  int64_t compact = 1;
  for (int i = view.ndim - 1; i >= 0; --i) {
    view.shape[i] = tensor->shape[i];
    view.strides[i] = tensor->strides != nullptr ? tensor->strides[i] : compact;
    if (view.shape[i] < 0 || __builtin_mul_overflow(compact, view.shape[i], &compact)) {
      return failf(MLAFORGE_INVALID_ARGUMENT,
                   "dlpack.%s has size %lld in dimension %d; allowed: 0 or above, in all below 2^63", name,
                   static_cast<long long>(view.shape[i]), i);
    }
    if (view.strides[i] < 0) {
      return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has stride %lld in dimension %d; allowed: 0 or above", name,
                   static_cast<long long>(view.strides[i]), i);
    }
  }
  uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor->data), tensor->byte_offset, &address)) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has byte_offset %llu; data + byte_offset is beyond 64 bits",
                 name, static_cast<unsigned long long>(tensor->byte_offset));
  }
  view.data = tensor->data == nullptr ? nullptr : reinterpret_cast<void*>(address);
  return MLAFORGE_SUCCESS;
}

/// A dimension's size, counted from the end.
mlaforge_status check_size(const View& view, int from_end, int64_t wanted) {
  if (view.size(from_end) == wanted) {
    return MLAFORGE_SUCCESS;
  }
  return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has size %lld in dimension %d; allowed: %lld", view.name,
               static_cast<long long>(view.size(from_end)), view.ndim - from_end, static_cast<long long>(wanted));
}

/// A dimension whose elements have to lie side by side.
mlaforge_status check_packed(const View& view, int from_end) {
  if (view.size(from_end) <= 1 || view.stride(from_end) == 1) {
    return MLAFORGE_SUCCESS;
  }
  return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has stride %lld in dimension %d; allowed: 1", view.name,
               static_cast<long long>(view.stride(from_end)), view.ndim - from_end);
}

/// That dimension `outer` steps over all of `inner`, so that both are one of equal steps. With one element in either,
/// the other's stride is that step.
mlaforge_status check_merges(const View& view, int outer_from_end, int inner_from_end) {
  int64_t step = 0;
  if (view.size(outer_from_end) <= 1 || view.size(inner_from_end) == 1 ||
      (!__builtin_mul_overflow(view.size(inner_from_end), view.stride(inner_from_end), &step) &&
       view.stride(outer_from_end) == step)) {
    return MLAFORGE_SUCCESS;
  }
  return failf(MLAFORGE_INVALID_ARGUMENT,
               "dlpack.%s has stride %lld in dimension %d; allowed: %lld, so that the rows are equally spaced",
               view.name, static_cast<long long>(view.stride(outer_from_end)), view.ndim - outer_from_end,
               static_cast<long long>(step));
}

/// [T, H, width] or [R, qlen, H, width]; width 0: [T, H] or [R, qlen, H], and rows of one element.
mlaforge_status check_rows(const View& view, const mlaforge_kernel_row& row, int64_t requests, int64_t width) {
  const int last = width == 0 ? 0 : 1;
  mlaforge_status status = MLAFORGE_SUCCESS;
  if (width != 0) {
    status = check_size(view, 1, width);
    status = status == MLAFORGE_SUCCESS ? check_packed(view, 1) : status;
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_size(view, last + 1, row.heads);
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  if (view.ndim == last + 2) {
    return check_size(view, last + 2, requests * row.qlen);
  }
  status = check_size(view, last + 2, row.qlen);
  if (status == MLAFORGE_SUCCESS) {
    status = check_size(view, last + 3, requests);
  }
  return status == MLAFORGE_SUCCESS ? check_merges(view, last + 3, last + 2) : status;
}

/// Stride between tokens: of the [R, qlen] form the inner one, unless there is one token a request.
int64_t token_stride(const View& view, int last, const mlaforge_kernel_row& row) {
  return view.ndim == last + 3 && row.qlen == 1 ? view.stride(last + 3) : view.stride(last + 2);
}

mlaforge_status read_scale(const mlaforge_library& library, const char* name, const mlaforge_dl_tensor* tensor,
                           const float*& scale) {
  scale = nullptr;
  if (tensor == nullptr) {
    return MLAFORGE_SUCCESS;
  }
  View view;
  mlaforge_status status = read_tensor(library, name, tensor, {f32}, 0, most_dimensions, view);
  for (int i = 1; i <= view.ndim && status == MLAFORGE_SUCCESS; ++i) {
    status = check_size(view, i, 1);
  }
  scale = static_cast<const float*>(view.data);
  if (status == MLAFORGE_SUCCESS && scale == nullptr) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.%s has null data; without a scale pass no tensor", name);
  }
  return status;
}

mlaforge_status read_pool(const mlaforge_library& library, const mlaforge_choice& choice,
                          const mlaforge_dl_tensors& from, mlaforge_tensors& to) {
  View kv;
  mlaforge_status status = read_tensor(library, "kv", from.kv, {fp8, u8}, 2, 3, kv);
  if (status == MLAFORGE_SUCCESS) {
    status = check_size(kv, 1, MLAFORGE_KEY_DIM);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_packed(kv, 1);
  }
  if (status == MLAFORGE_SUCCESS && kv.ndim == 3) {
    status = check_size(kv, 2, choice.row->page_size);
    status = status == MLAFORGE_SUCCESS ? check_merges(kv, 3, 2) : status;
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  to.kv = kv.data;
  to.kv_row_stride = kv.ndim == 3 && kv.size(2) == 1 ? kv.stride(3) : kv.stride(2);
  const int64_t slots = kv.ndim == 3 ? kv.size(3) * kv.size(2) : kv.size(2);
  int64_t bytes = 0;
  if (slots > 0 && (__builtin_mul_overflow(slots - 1, to.kv_row_stride, &bytes) ||
                    __builtin_add_overflow(bytes, int64_t{MLAFORGE_KEY_DIM}, &bytes) ||
                    static_cast<uint64_t>(bytes) > choice.pool_bytes)) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "dlpack.kv has %lld rows %lld bytes apart; allowed: the %llu bytes that were selected for",
                 static_cast<long long>(slots), static_cast<long long>(to.kv_row_stride),
                 static_cast<unsigned long long>(choice.pool_bytes));
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status read_tables(const mlaforge_library& library, const mlaforge_dl_tensors& from, int64_t requests,
                            mlaforge_tensors& to) {
  View table;
  const bool dense = from.page_indptr == nullptr;
  mlaforge_status status =
      read_tensor(library, "page_table", from.page_table, {i32}, dense ? 2 : 1, dense ? 2 : 1, table);
  if (status == MLAFORGE_SUCCESS) {
    status = check_packed(table, 1);
  }
  if (status == MLAFORGE_SUCCESS && dense) {
    status = check_size(table, 2, requests);
  }
  if (status == MLAFORGE_SUCCESS && !dense) {
    View indptr;
    status = read_tensor(library, "page_indptr", from.page_indptr, {i32}, 1, 1, indptr);
    status = status == MLAFORGE_SUCCESS ? check_size(indptr, 1, requests + 1) : status;
    status = status == MLAFORGE_SUCCESS ? check_packed(indptr, 1) : status;
    if (status == MLAFORGE_SUCCESS && indptr.data == nullptr) {
      status = fail(MLAFORGE_INVALID_ARGUMENT, "dlpack.page_indptr has null data; with a dense table pass no tensor");
    }
    to.page_indptr = static_cast<const int32_t*>(indptr.data);
  }
  to.page_table = static_cast<const int32_t*>(table.data);
  to.page_table_stride = dense && status == MLAFORGE_SUCCESS ? table.stride(2) : 0;
  return status;
}

mlaforge_status read_all(const mlaforge_library& library, const mlaforge_choice& choice,
                         const mlaforge_dl_tensors& from, mlaforge_tensors& to) {
  const mlaforge_kernel_row& row = *choice.row;
  View seq_len, q, o, lse;
  mlaforge_status status = read_tensor(library, "seq_len", from.seq_len, {i32}, 1, 1, seq_len);
  if (status == MLAFORGE_SUCCESS) {
    status = check_packed(seq_len, 1);
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  const int64_t requests = seq_len.size(1);
  if (requests > choice.batch_capacity) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "dlpack.seq_len has %lld requests; allowed: 0 .. %d, as was selected for",
                 static_cast<long long>(requests), choice.batch_capacity);
  }
  to.requests = static_cast<int32_t>(requests);
  to.seq_len = static_cast<const int32_t*>(seq_len.data);
  status = row.q_dtype == MLAFORGE_BF16 ? read_tensor(library, "q", from.q, {bf16}, 3, 4, q)
                                        : read_tensor(library, "q", from.q, {fp8, u8}, 3, 4, q);
  if (status == MLAFORGE_SUCCESS) {
    status = check_rows(q, row, requests, MLAFORGE_KEY_DIM);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = read_tensor(library, "o", from.o, {bf16}, 3, 4, o);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_rows(o, row, requests, MLAFORGE_LATENT_DIM);
  }
  if (status == MLAFORGE_SUCCESS && from.lse != nullptr) {
    status = read_tensor(library, "lse", from.lse, {f32}, 2, 3, lse);
    status = status == MLAFORGE_SUCCESS ? check_rows(lse, row, requests, 0) : status;
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  to.q = q.data;
  to.q_token_stride = token_stride(q, 1, row);
  to.q_head_stride = q.stride(2);
  to.o = o.data;
  to.o_token_stride = token_stride(o, 1, row);
  to.o_head_stride = o.stride(2);
  to.lse = static_cast<float*>(lse.data);
  to.lse_token_stride = from.lse != nullptr ? token_stride(lse, 0, row) : 0;
  to.lse_head_stride = from.lse != nullptr ? lse.stride(1) : 0;
  status = read_pool(library, choice, from, to);
  if (status == MLAFORGE_SUCCESS) {
    status = read_tables(library, from, requests, to);
  }
  status = status == MLAFORGE_SUCCESS ? read_scale(library, "q_scale", from.q_scale, to.q_scale) : status;
  status = status == MLAFORGE_SUCCESS ? read_scale(library, "k_scale", from.k_scale, to.k_scale) : status;
  status = status == MLAFORGE_SUCCESS ? read_scale(library, "v_scale", from.v_scale, to.v_scale) : status;
  return status;
}

}  // namespace
}  // namespace mlaforge

mlaforge_status mlaforge_tensors_from_dlpack(const mlaforge_library* library, const mlaforge_choice* choice,
                                             const mlaforge_dl_tensors* from, mlaforge_tensors* tensors) {
  using namespace mlaforge;
  mlaforge_status status = check_choice(library, choice);
  if (status == MLAFORGE_SUCCESS) {
    status = check_struct("from", from);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_struct("tensors", static_cast<const mlaforge_tensors*>(tensors));
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  mlaforge_tensors filled = MLAFORGE_TENSORS_INIT;
  filled.softmax_scale = tensors->softmax_scale;
  filled.context_parallel_rank = tensors->context_parallel_rank;
  filled.reserved = tensors->reserved;
  status = read_all(*library, *choice, *from, filled);
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  *tensors = filled;
  return succeed();
}
