// Merging the outputs of context-parallel ranks by their LSE, as a deployment does after its ranks have attended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/attention.h"

namespace mlaforge::reference {

struct MergedOutput {
  std::vector<uint16_t> o;  ///< [tokens, heads, 512] bf16
  std::vector<float> lse;   ///< [tokens, heads]
  /// [tokens, heads] sum of exp(lse_r - lse) x the largest |o_r|: above the row's own largest where ranks cancel.
  std::vector<double> row_scale;

  StoredOutput stored(int heads) const;
};

/// o = sum of exp(lse_r - lse) o_r in float64; a rank whose lse is -inf has weight 0, whatever its o holds.
/// Every rank has an lse. tokens = requests x qlen.
MergedOutput merge_ranks(std::span<const StoredOutput> ranks, int64_t tokens, int heads);

}  // namespace mlaforge::reference
