// Attention over a paged fp8 latent cache in float64, from the same bytes that a kernel reads: the right answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mlaforge/kernel_contract.h"

namespace mlaforge::reference {

/// Host pointers; shapes, strides and meanings as in mlaforge_attention_args.
struct AttentionProblem {
  int requests = 0, heads = 0, qlen = 1, page_size = 1;
  const uint16_t* q = nullptr;     ///< bf16
  const uint8_t* q_fp8 = nullptr;  ///< E4M3, in the place of q where it is not null
  const uint8_t* kv = nullptr;
  const int32_t* page_table = nullptr;
  const int32_t* page_indptr = nullptr;  ///< null: dense
  const int32_t* seq_len = nullptr;
  int64_t q_token_stride = 0, q_head_stride = 0;  ///< elements
  int64_t kv_row_stride = MLAFORGE_KEY_DIM;       ///< bytes
  int64_t page_table_stride = 0;                  ///< entries
  double softmax_scale = 1.0, q_scale = 1.0, k_scale = 1.0, v_scale = 1.0;
  /// Token j of a request lies at position j x context_parallel + rank; seq_len counts positions.
  int context_parallel = 1, context_parallel_rank = 0;
};

/// Row r = (request x qlen + position) x heads + head. A row that sees no token has o 0 and lse -inf.
struct AttentionResult {
  std::vector<double> o;              ///< [rows, 512]
  std::vector<double> lse;            ///< [rows], natural log
  std::vector<double> largest_logit;  ///< [rows], the largest |logit| that the row sees; 0 when it sees none
};

/// Position i of a request sees the tokens at positions 0 .. seq_len - qlen + i. Reads no page table entry beyond a
/// request's last page, and no cache row that no position sees. threads 0: as many as the machine has; the result does
/// not depend on it.
AttentionResult attention(const AttentionProblem& problem, unsigned threads = 0);

/// Tokens among the first `positions` of a request that lie on a rank.
int tokens_on_rank(int positions, int context_parallel, int rank);

/// What a kernel stored, on the host: strides in elements.
struct StoredOutput {
  const uint16_t* o = nullptr;  ///< bf16
  const float* lse = nullptr;   ///< null: not compared
  int64_t o_token_stride = 0, o_head_stride = 0;
  int64_t lse_token_stride = 0, lse_head_stride = 0;
};

/// Bounds on the difference; the defaults are for a bf16 query and two parts of P.
struct Tolerance {
  double rel_l2 = 3e-3;
  double row_error = 0x1p-7;  ///< of the row's largest magnitude
  /// [rows] or empty. Where the row is a merge of parts that each keep the bound, the weighted sum of their largest
  /// magnitudes: row_error is of this where the parts cancel and the row's own is smaller.
  std::span<const double> row_scale = {};
  double lse_absolute = 1e-4;     ///< lse's bound is the larger of this
  double lse_of_logit = 0x1p-18;  ///< and this x the row's largest |logit|
};

struct Comparison {
  double rel_l2 = 0;         ///< ||stored - right|| / ||right|| over all rows
  double max_row_error = 0;  ///< over rows: the largest |difference| / the row's largest magnitude
  double lse_max_abs = 0;    ///< over rows with a finite lse: the largest |difference|
  double lse_of_bound = 0;   ///< over those rows: the largest |difference| / its bound; at most 1 passes
  bool passed = false;
  std::string failure;  ///< the first thing that is out of bounds, with its row; empty when passed
};

/// A NaN is right exactly where the reference has one; a row that sees nothing has to be exactly 0 and -inf.
Comparison compare(const AttentionProblem& problem, const AttentionResult& right, const StoredOutput& stored,
                   const Tolerance& tolerance = {});

}  // namespace mlaforge::reference
