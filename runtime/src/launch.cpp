// Workspace and launch of the C ABI: no allocation, no print, no synchronisation on the way of a launch.
#include <cstdint>
#include <type_traits>

#include "error.h"
#include "launch_checks.h"
#include "library.h"
#include "struct_version.h"
#include "workspace.h"

namespace mlaforge {
namespace {

// HIP's markers in the packed form of a launch's arguments.
void* const launch_buffer_pointer = reinterpret_cast<void*>(1);
void* const launch_buffer_size = reinterpret_cast<void*>(2);
void* const launch_end = reinterpret_cast<void*>(3);

constexpr uintptr_t last_named_stream = 2;  // hipStreamPerThread; hipStreamLegacy is 1

/// "hipModuleLaunchKernel of k: reason (error)"; what it was done to may be empty.
mlaforge_status hip_failed(const HipApi& hip, const char* call, const char* what, int error) {
  const char* reason = hip.get_error_string(error);
  return failf(MLAFORGE_HIP_ERROR, "%s%s: %s (%d)", call, what, reason != nullptr ? reason : "unknown error", error);
}

template <typename Args>
mlaforge_status launch_kernel(const mlaforge_library& library, HipFunction function, const char* name, int64_t grid_x,
                              int64_t grid_y, int32_t threads, Args args, void* stream) {
  static_assert(std::is_trivially_copyable_v<Args>);
  size_t bytes = sizeof(args);
  void* extra[] = {launch_buffer_pointer, &args, launch_buffer_size, &bytes, launch_end};
  const int error =
      library.hip.module_launch_kernel(function, static_cast<unsigned>(grid_x), static_cast<unsigned>(grid_y), 1,
                                       static_cast<unsigned>(threads), 1, 1, 0, stream, nullptr, extra);
  return error == hip_success ? MLAFORGE_SUCCESS : hip_failed(library.hip, "hipModuleLaunchKernel of ", name, error);
}

mlaforge_attention_args attention_args(const mlaforge_tensors& tensors, void* o_partial, float* lse_partial) {
  mlaforge_attention_args args{};
  args.q = tensors.q;
  args.kv = tensors.kv;
  args.page_table = tensors.page_table;
  args.page_indptr = tensors.page_indptr;
  args.seq_len = tensors.seq_len;
  args.q_scale = tensors.q_scale;
  args.k_scale = tensors.k_scale;
  args.v_scale = tensors.v_scale;
  args.o = tensors.o;
  args.lse = tensors.lse;
  args.o_partial = o_partial;
  args.lse_partial = lse_partial;
  args.q_token_stride = tensors.q_token_stride;
  args.q_head_stride = tensors.q_head_stride;
  args.kv_row_stride = tensors.kv_row_stride;
  args.page_table_stride = tensors.page_table_stride;
  args.o_token_stride = tensors.o_token_stride;
  args.o_head_stride = tensors.o_head_stride;
  args.lse_token_stride = tensors.lse_token_stride;
  args.lse_head_stride = tensors.lse_head_stride;
  args.requests = tensors.requests;
  args.softmax_scale = tensors.softmax_scale;
  args.context_parallel_rank = tensors.context_parallel_rank;
  return args;
}

mlaforge_combine_args combine_args(const mlaforge_kernel_row& row, const mlaforge_tensors& tensors,
                                   const void* o_partial, const float* lse_partial) {
  mlaforge_combine_args args{};
  args.o_partial = o_partial;
  args.lse_partial = lse_partial;
  args.o = tensors.o;
  args.lse = tensors.lse;
  args.o_token_stride = tensors.o_token_stride;
  args.o_head_stride = tensors.o_head_stride;
  args.lse_token_stride = tensors.lse_token_stride;
  args.lse_head_stride = tensors.lse_head_stride;
  args.requests = tensors.requests;
  args.qlen = row.qlen;
  args.heads = row.heads;
  return args;
}

mlaforge_status choice_layout(const mlaforge_choice& choice, WorkspaceLayout& layout) {
  if (choice.batch_capacity < 0 ||
      !workspace_layout(*choice.row, static_cast<uint64_t>(choice.batch_capacity), layout)) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "choice.batch_capacity is %d; the workspace's bytes do not fit 64 bits",
                 choice.batch_capacity);
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status check_workspace(const WorkspaceLayout& layout, const void* workspace, uint64_t bytes) {
  if (bytes < layout.bytes) {
    return failf(MLAFORGE_WORKSPACE_TOO_SMALL, "workspace_bytes is %llu; %llu are needed",
                 static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(layout.bytes));
  }
  if (layout.bytes != 0 &&
      (workspace == nullptr || reinterpret_cast<uintptr_t>(workspace) % workspace_alignment != 0)) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "workspace is %p; allowed: device memory at a multiple of %llu bytes",
                 workspace, static_cast<unsigned long long>(workspace_alignment));
  }
  return MLAFORGE_SUCCESS;
}

/// That the library's device is the thread's and the stream's. Null and HIP's two named streams (1, 2) are the current
/// device's.
mlaforge_status check_device(const mlaforge_library& library, void* stream) {
  const HipApi& hip = library.hip;
  int current = 0;
  if (const int error = hip.get_device(&current); error != hip_success) {
    return hip_failed(hip, "hipGetDevice", "", error);
  }
  if (current != library.device) {
    return failf(MLAFORGE_WRONG_DEVICE, "device %d is current; the library's is %d: call hipSetDevice(%d) first",
                 current, library.device, library.device);
  }
  if (reinterpret_cast<uintptr_t>(stream) <= last_named_stream || hip.stream_get_device == nullptr) {
    return MLAFORGE_SUCCESS;
  }
  int of_stream = 0;
  if (const int error = hip.stream_get_device(stream, &of_stream); error != hip_success) {
    return hip_failed(hip, "hipStreamGetDevice", "", error);
  }
  return of_stream == library.device
             ? MLAFORGE_SUCCESS
             : failf(MLAFORGE_WRONG_DEVICE, "stream %p is of device %d; allowed: a stream of the library's device %d",
                     stream, of_stream, library.device);
}

mlaforge_status launch_checked(const mlaforge_library& library, const mlaforge_choice& choice,
                               const WorkspaceLayout& layout, const mlaforge_tensors& tensors, void* workspace,
                               void* stream) {
  const mlaforge_kernel_row& row = *choice.row;
  const mlaforge_library::Functions& functions = library.functions[choice.row_index];
  const bool split = row.splits > 1;
  void* o_partial = split ? workspace : nullptr;
  float* lse_partial = split ? reinterpret_cast<float*>(static_cast<char*>(workspace) + layout.lse_offset) : nullptr;
  const mlaforge_status status = launch_kernel(library, functions.attention, row.name,
                                               mlaforge_attention_grid(tensors.requests, row.splits, row.head_groups),
                                               1, row.threads, attention_args(tensors, o_partial, lse_partial), stream);
  if (status != MLAFORGE_SUCCESS || !split) {
    return status;
  }
  return launch_kernel(library, functions.combine, row.combine_name, tensors.requests,
                       mlaforge_combine_grid(row.qlen, row.heads, row.combine_parts), row.combine_threads,
                       combine_args(row, tensors, o_partial, lse_partial), stream);
}

}  // namespace
}  // namespace mlaforge

mlaforge_status mlaforge_workspace_size(const mlaforge_library* library, const mlaforge_choice* choice,
                                        uint64_t* bytes) {
  using namespace mlaforge;
  if (bytes == nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, "bytes is null");
  }
  WorkspaceLayout layout;
  mlaforge_status status = check_choice(library, choice);
  if (status == MLAFORGE_SUCCESS) {
    status = choice_layout(*choice, layout);
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  *bytes = layout.bytes;
  return succeed();
}

mlaforge_status mlaforge_launch(const mlaforge_library* library, const mlaforge_choice* choice,
                                const mlaforge_tensors* tensors, void* workspace, uint64_t workspace_bytes,
                                void* stream) {
  using namespace mlaforge;
  WorkspaceLayout layout;
  mlaforge_status status = check_choice(library, choice);
  if (status == MLAFORGE_SUCCESS) {
    status = check_struct("tensors", tensors);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_tensors(*choice, *tensors);
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  if (tensors->requests == 0) {
    return succeed();
  }
  status = choice_layout(*choice, layout);
  if (status == MLAFORGE_SUCCESS) {
    status = check_workspace(layout, workspace, workspace_bytes);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = check_device(*library, stream);
  }
  if (status == MLAFORGE_SUCCESS) {
    status = launch_checked(*library, *choice, layout, *tensors, workspace, stream);
  }
  return status == MLAFORGE_SUCCESS ? succeed() : status;
}
