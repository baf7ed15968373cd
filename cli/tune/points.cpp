#include "cli/tune/points.h"

#include <algorithm>
#include <set>

#include "runtime/src/table.h"

namespace mlaforge::tune {

Key key_of(const Variant& variant) {
  return {.heads = variant.heads,
          .qlen = variant.qlen,
          .page_size = variant.page_size,
          .q_dtype = variant.q_dtype,
          .kv_dtype = variant.kv_dtype,
          .context_parallel = variant.context_parallel,
          .wide_kv = variant.wide_kv};
}

uint64_t Point::pool_bytes() const {
  const auto page = static_cast<uint64_t>(key.page_size);
  const uint64_t pages = (static_cast<uint64_t>(context) + page - 1) / page;
  return pages * page * static_cast<uint64_t>(batch) * MLAFORGE_KEY_DIM;
}

std::vector<Point> points_of(std::span<const PlannedKernel> kernels, const Grid& grid) {
  std::set<Key> keys;
  for (const PlannedKernel& kernel : kernels) {
    const bool wanted =
        grid.qlens.empty() || std::find(grid.qlens.begin(), grid.qlens.end(), kernel.variant.qlen) != grid.qlens.end();
    if (wanted) keys.insert(key_of(kernel.variant));
  }
  const std::set<int> batches(grid.batches.begin(), grid.batches.end());
  const std::set<int> contexts(grid.contexts.begin(), grid.contexts.end());
  std::vector<Point> points;
  for (const Key& key : keys) {
    for (const int batch : batches) {
      for (const int context : contexts) {
        const Point point{.key = key, .batch = batch, .context = context};
        if (key.wide_kv || point.pool_bytes() <= narrow_pool_limit_bytes) points.push_back(point);
      }
    }
  }
  return points;
}

std::vector<const PlannedKernel*> kernels_of(std::span<const PlannedKernel> kernels, const Key& key) {
  std::vector<const PlannedKernel*> found;
  for (const PlannedKernel& kernel : kernels) {
    if (key_of(kernel.variant) == key) found.push_back(&kernel);
  }
  return found;
}

}  // namespace mlaforge::tune
