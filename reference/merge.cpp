#include "reference/merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bf16.h"

namespace mlaforge::reference {
namespace {

constexpr double no_token = -std::numeric_limits<double>::infinity();

double lse_of(const StoredOutput& rank, int64_t token, int head) {
  return rank.lse[token * rank.lse_token_stride + head * rank.lse_head_stride];
}

/// The LSE of all ranks' tokens of a row.
double merged_lse(std::span<const StoredOutput> ranks, int64_t token, int head) {
  double largest = no_token;
  for (const StoredOutput& rank : ranks) {
    const double lse = lse_of(rank, token, head);
    if (std::isnan(lse)) {
      return lse;
    }
    largest = std::max(largest, lse);
  }
  if (largest == no_token) {
    return no_token;
  }
  double sum = 0;
  for (const StoredOutput& rank : ranks) {
    sum += std::exp(lse_of(rank, token, head) - largest);
  }
  return largest + std::log(sum);
}

}  // namespace

StoredOutput MergedOutput::stored(int heads) const {
  return {.o = o.data(),
          .lse = lse.data(),
          .o_token_stride = int64_t{heads} * MLAFORGE_LATENT_DIM,
          .o_head_stride = MLAFORGE_LATENT_DIM,
          .lse_token_stride = heads,
          .lse_head_stride = 1};
}

MergedOutput merge_ranks(std::span<const StoredOutput> ranks, int64_t tokens, int heads) {
  MergedOutput merged;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int head = 0; head < heads; ++head) {
      const double lse = merged_lse(ranks, token, head);
      double o[MLAFORGE_LATENT_DIM] = {};
      double scale = 0;
      for (const StoredOutput& rank : ranks) {
        const double rank_lse = lse_of(rank, token, head);
        if (rank_lse == no_token) {
          continue;
        }
        const uint16_t* row = rank.o + token * rank.o_token_stride + head * rank.o_head_stride;
        const double weight = std::exp(rank_lse - lse);
        double largest = 0;
        for (int column = 0; column < MLAFORGE_LATENT_DIM; ++column) {
          const double value = decode_bf16(row[column]);
          o[column] += weight * value;
          largest = std::fmax(largest, std::fabs(value));
        }
        scale += weight * largest;
      }
      for (const double value : o) {
        merged.o.push_back(encode_bf16(static_cast<float>(value)));
      }
      merged.lse.push_back(static_cast<float>(lse));
      merged.row_scale.push_back(scale);
    }
  }
  return merged;
}

}  // namespace mlaforge::reference
