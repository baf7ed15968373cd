// Where the split partials lie in the caller's workspace.
#pragma once

#include <cstdint>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

inline constexpr uint64_t workspace_alignment = 256;

/// o partials from byte 0, lse partials from lse_offset; both 0 with one split.
struct WorkspaceLayout {
  uint64_t lse_offset = 0;  ///< a multiple of 256
  uint64_t bytes = 0;       ///< exact
};

/// False when the bytes do not fit 64 bits.
bool workspace_layout(const mlaforge_kernel_row& row, uint64_t requests, WorkspaceLayout& layout);

}  // namespace mlaforge
