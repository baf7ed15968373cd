#include "launch_checks.h"

#include <cmath>
#include <utility>

#include "error.h"
#include "library.h"
#include "mlaforge/kernel_contract.h"
#include "struct_version.h"

namespace mlaforge {
namespace {

constexpr uintptr_t row_alignment = 16;
/// HIP counts a grid's threads in 32 bits.
constexpr int64_t grid_thread_limit = (int64_t{1} << 32) - 1;

struct Pointer {
  const char* field;
  const void* value;
  uintptr_t alignment;
  bool required;
};

mlaforge_status check_pointer(const Pointer& pointer) {
  if (pointer.value == nullptr) {
    return pointer.required
               ? failf(MLAFORGE_INVALID_ARGUMENT, "tensors.%s is null; a device pointer is required", pointer.field)
               : MLAFORGE_SUCCESS;
  }
  if (reinterpret_cast<uintptr_t>(pointer.value) % pointer.alignment != 0) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "tensors.%s is %p; allowed: a multiple of %zu bytes", pointer.field,
                 pointer.value, static_cast<size_t>(pointer.alignment));
  }
  return MLAFORGE_SUCCESS;
}

/// Two strides over [tokens, heads] rows of `width` elements.
struct Strides {
  const char* name;
  int64_t token_stride, head_stride;
  int64_t tokens, heads, width;
  int64_t multiple;  ///< elements that keep rows aligned
  bool written;      ///< rows must not overlap
};

/// Whether one dimension's stride steps over all of the other one's rows.
bool steps_over(int64_t outer_stride, int64_t outer_count, int64_t inner_stride, int64_t inner_count, int64_t width) {
  int64_t inner_extent = 0;
  if (inner_count > 1 && inner_stride < width) {
    return false;
  }
  if (__builtin_mul_overflow(inner_stride, inner_count - 1, &inner_extent) ||
      __builtin_add_overflow(inner_extent, width, &inner_extent)) {
    return false;
  }
  return outer_count == 1 || outer_stride >= (inner_count == 1 ? width : inner_extent);
}

mlaforge_status check_strides(const Strides& strides) {
  for (const auto& [dimension, stride] :
       {std::pair{"token", strides.token_stride}, std::pair{"head", strides.head_stride}}) {
    if (stride < 0 || stride % strides.multiple != 0) {
      return failf(MLAFORGE_INVALID_ARGUMENT,
                   "tensors.%s_%s_stride is %lld; allowed: 0 or above, a multiple of %lld elements", strides.name,
                   dimension, static_cast<long long>(stride), static_cast<long long>(strides.multiple));
    }
  }
  int64_t token_extent = 0;
  int64_t head_extent = 0;
  int64_t extent = 0;
  // The last row's end in bytes, at most 4 bytes an element, has to be an int64.
  if (__builtin_mul_overflow(strides.token_stride, strides.tokens, &token_extent) ||
      __builtin_mul_overflow(strides.head_stride, strides.heads, &head_extent) ||
      __builtin_add_overflow(token_extent, head_extent, &extent) ||
      __builtin_mul_overflow(extent, int64_t{4}, &extent)) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "tensors.%s_token_stride %lld and %s_head_stride %lld: the tensor's bytes do not fit 64 bits",
                 strides.name, static_cast<long long>(strides.token_stride), strides.name,
                 static_cast<long long>(strides.head_stride));
  }
  if (strides.written &&
      !steps_over(strides.token_stride, strides.tokens, strides.head_stride, strides.heads, strides.width) &&
      !steps_over(strides.head_stride, strides.heads, strides.token_stride, strides.tokens, strides.width)) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "tensors.%s_token_stride %lld and %s_head_stride %lld make rows of %lld elements overlap",
                 strides.name, static_cast<long long>(strides.token_stride), strides.name,
                 static_cast<long long>(strides.head_stride), static_cast<long long>(strides.width));
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status check_pointers(const mlaforge_kernel_row& row, const mlaforge_tensors& tensors) {
  const Pointer pointers[] = {
      {"q", tensors.q, row_alignment, true},
      {"kv", tensors.kv, row_alignment, true},
      {"page_table", tensors.page_table, alignof(int32_t), true},
      {"page_indptr", tensors.page_indptr, alignof(int32_t), false},
      {"seq_len", tensors.seq_len, alignof(int32_t), true},
      {"q_scale", tensors.q_scale, alignof(float), false},
      {"k_scale", tensors.k_scale, alignof(float), false},
      {"v_scale", tensors.v_scale, alignof(float), false},
      {"o", tensors.o, row_alignment, true},
      {"lse", tensors.lse, alignof(float), row.context_parallel > 1},
  };
  for (const Pointer& pointer : pointers) {
    if (const mlaforge_status status = check_pointer(pointer); status != MLAFORGE_SUCCESS) {
      return status;
    }
  }
  if (row.q_dtype == MLAFORGE_BF16 && tensors.q_scale != nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, "tensors.q_scale is set; allowed with a bf16 query: null");
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status check_layout(const mlaforge_kernel_row& row, const mlaforge_tensors& tensors) {
  const int64_t tokens = int64_t{tensors.requests} * row.qlen;
  const int64_t q_multiple = row.q_dtype == MLAFORGE_BF16 ? 8 : 16;
  const Strides all[] = {
      {"q", tensors.q_token_stride, tensors.q_head_stride, tokens, row.heads, MLAFORGE_KEY_DIM, q_multiple, false},
      {"o", tensors.o_token_stride, tensors.o_head_stride, tokens, row.heads, MLAFORGE_LATENT_DIM, 8, true},
      {"lse", tensors.lse_token_stride, tensors.lse_head_stride, tokens, row.heads, 1, 1, true},
  };
  for (const Strides& strides : all) {
    const bool unused = strides.width == 1 && tensors.lse == nullptr;
    if (const mlaforge_status status = unused ? MLAFORGE_SUCCESS : check_strides(strides); status != MLAFORGE_SUCCESS) {
      return status;
    }
  }
  if (tensors.kv_row_stride < MLAFORGE_KEY_DIM || tensors.kv_row_stride % 16 != 0) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "tensors.kv_row_stride is %lld; allowed: a multiple of 16 bytes, at least %d",
                 static_cast<long long>(tensors.kv_row_stride), MLAFORGE_KEY_DIM);
  }
  if (tensors.page_indptr == nullptr && tensors.page_table_stride < 1) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "tensors.page_table_stride is %lld; allowed for a dense table: 1 or above",
                 static_cast<long long>(tensors.page_table_stride));
  }
  return MLAFORGE_SUCCESS;
}

}  // namespace

mlaforge_status check_choice(const mlaforge_library* library, const mlaforge_choice* choice) {
  if (library == nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, "library is null");
  }
  if (const mlaforge_status status = check_struct("choice", choice); status != MLAFORGE_SUCCESS) {
    return status;
  }
  if (choice->row_index >= library->table.rows.size() || choice->row != &library->table.rows[choice->row_index]) {
    return fail(MLAFORGE_INVALID_ARGUMENT,
                "choice.row is not this library's; use what mlaforge_select of this library gave");
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status check_tensors(const mlaforge_choice& choice, const mlaforge_tensors& tensors) {
  const mlaforge_kernel_row& row = *choice.row;
  if (tensors.requests < 0 || tensors.requests > choice.batch_capacity) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "tensors.requests is %d; allowed: 0 .. %d, the capacity that was selected for", tensors.requests,
                 choice.batch_capacity);
  }
  if (tensors.requests == 0) {
    return MLAFORGE_SUCCESS;
  }
  if (!(tensors.softmax_scale > 0.0F) || !std::isfinite(tensors.softmax_scale)) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "tensors.softmax_scale is %g; allowed: finite and above 0",
                 static_cast<double>(tensors.softmax_scale));
  }
  if (tensors.context_parallel_rank < 0 || tensors.context_parallel_rank >= row.context_parallel) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "tensors.context_parallel_rank is %d; allowed: 0 .. %d",
                 tensors.context_parallel_rank, row.context_parallel - 1);
  }
  if (tensors.reserved != 0) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "tensors.reserved is %d; allowed: 0", tensors.reserved);
  }
  const int64_t attention = mlaforge_attention_grid(tensors.requests, row.splits, row.head_groups);
  const int64_t combine =
      row.splits > 1 ? tensors.requests * mlaforge_combine_grid(row.qlen, row.heads, row.combine_parts) : 0;
  if (attention > grid_thread_limit / row.threads ||
      (combine != 0 && combine > grid_thread_limit / row.combine_threads)) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "tensors.requests is %d; the grid of %lld workgroups of %d threads has more than 2^32 - 1 threads",
                 tensors.requests, static_cast<long long>(attention), row.threads);
  }
  if (const mlaforge_status status = check_pointers(row, tensors); status != MLAFORGE_SUCCESS) {
    return status;
  }
  return check_layout(row, tensors);
}

}  // namespace mlaforge
