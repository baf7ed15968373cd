// Which values occur in a table's rows, field by field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// Ascending, each once.
struct Capabilities {
  std::vector<int32_t> heads, qlens, page_sizes, q_dtypes, kv_dtypes, context_parallel, wide_kv, splits,
      probability_parts;
};

Capabilities capabilities_of(std::span<const mlaforge_kernel_row> rows);

}  // namespace mlaforge
