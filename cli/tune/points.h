// The problems that a deployment is tuned for: each key that its kernels serve, over a grid of batches and contexts.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "generator/emit/emit.h"
#include "generator/variants/variant.h"

namespace mlaforge::tune {

/// What a launch's problem fixes of a kernel; kernels of one key differ in speed only.
struct Key {
  int heads = 0;
  int qlen = 1;
  int page_size = 1;
  mlaforge_dtype q_dtype = MLAFORGE_BF16;
  mlaforge_dtype kv_dtype = MLAFORGE_FP8_E4M3;
  int context_parallel = 1;
  bool wide_kv = false;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const Variant& variant);

struct Point {
  Key key;
  int batch = 1;
  int context = 1;  ///< KV tokens of every request

  /// Of the cache's pages in use.
  uint64_t pool_bytes() const;
};

struct Grid {
  std::vector<int> batches = {1, 2, 4, 8, 16, 32, 64, 128};
  std::vector<int> contexts = {4096, 16384, 65536};
  std::vector<int> qlens;  ///< empty: all of the config
};

/// Every key of the kernels that the grid's qlens let pass, in order, with every batch and context. Keys of 32-bit
/// offsets have the points that those reach, keys of 64-bit offsets all: a server's pool is often larger than a batch.
std::vector<Point> points_of(std::span<const PlannedKernel> kernels, const Grid& grid);

/// The kernels of a point's key, in the order of `kernels`.
std::vector<const PlannedKernel*> kernels_of(std::span<const PlannedKernel> kernels, const Key& key);

}  // namespace mlaforge::tune
