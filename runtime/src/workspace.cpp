#include "workspace.h"

#include <initializer_list>

namespace mlaforge {

bool workspace_layout(const mlaforge_kernel_row& row, uint64_t requests, WorkspaceLayout& layout) {
  layout = {};
  if (row.splits <= 1) {
    return true;
  }
  const uint64_t element_bytes = row.partial_dtype == MLAFORGE_F32 ? 4 : 2;
  uint64_t rows = requests;
  for (const int32_t factor : {row.splits, row.qlen, row.heads}) {
    if (__builtin_mul_overflow(rows, static_cast<uint64_t>(factor), &rows)) {
      return false;
    }
  }
  uint64_t o_bytes = 0;
  uint64_t lse_bytes = 0;
  if (__builtin_mul_overflow(rows, MLAFORGE_LATENT_DIM * element_bytes, &o_bytes) ||
      __builtin_mul_overflow(rows, sizeof(float), &lse_bytes)) {
    return false;
  }
  uint64_t padded = 0;
  if (__builtin_add_overflow(o_bytes, workspace_alignment - 1, &padded)) {
    return false;
  }
  layout.lse_offset = padded / workspace_alignment * workspace_alignment;
  return !__builtin_add_overflow(layout.lse_offset, lse_bytes, &layout.bytes);
}

}  // namespace mlaforge
