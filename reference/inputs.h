// Inputs for a kernel, by name and seed: plain ones and those that break kernels. The same bytes on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/attention.h"

namespace mlaforge::reference {

/// What q and the cache hold. Logits stay within +-100, or the softmax is one-hot.
enum class InputKind {
  normal,     ///< q and kv close to normal
  spike7,     ///< one logit 0, all others -7 nats, every value 1
  spike11,    ///< the same at -11 nats
  rising,     ///< logits rise from block to block of 128 tokens, by 12 nats or by what keeps them within +-50
  tiny_q,     ///< two of three rows have 2^-100 (fp8: 2^-8) as their largest |q|, every eighth row is all zeros
  huge_q,     ///< every row's largest |q| is 2^100 (fp8: 2^8), one token's logit is above all others
  all_bytes,  ///< the cache holds all 254 finite bytes
  one_token,  ///< normal, every request has one token
};

/// The names that the command line takes, in the order of the enum.
const std::vector<std::string>& input_names();
std::optional<InputKind> parse_input(std::string_view name);

struct InputSpec {
  InputKind kind = InputKind::normal;
  uint64_t seed = 1;
  int requests = 1, heads = 12, qlen = 1, page_size = 1;
  std::vector<int> contexts = {128};  ///< requests take these in turn; 0 is a padded request
  bool dense_table = false;           ///< else CSR
  int64_t kv_row_stride = MLAFORGE_KEY_DIM;
  float softmax_scale = 0.072168784F;          ///< 192^-0.5: Kimi-K3's and DeepSeek-V3's
  std::optional<float> k_scale, v_scale;       ///< nothing: null pointers, 1.0
  mlaforge_dtype query_dtype = MLAFORGE_BF16;  ///< or MLAFORGE_FP8_E4M3
  std::optional<float> q_scale;                ///< an fp8 query's
  /// Positions of every request whose cache row has a NaN: 0x7f in a latent column where even, 0xff in a rotary one
  /// where odd.
  std::vector<int> nan_positions = {};
  /// The contexts are the request's positions over all ranks; rank `rank` holds every context_parallel-th token.
  int context_parallel = 1, rank = 0;
  /// The pool's size; 0: what the pages need and some over. A given size is sparse: only used pages are filled, and
  /// they lie at the pool's end, on both sides of powers of two of bytes, and elsewhere.
  uint64_t pool_bytes = 0;
};

/// Host copies of a launch's inputs, each allocation exactly as long as what may be read.
/// Pages lie shuffled in the pool; unused slots, page tails and row gaps are NaN bytes; tables continue after each
/// request's last page with -1 and 2147480000, but end with the last request's last page.
struct Inputs {
  /// A page of a sparse pool.
  struct Piece {
    uint64_t pool_offset = 0, kv_offset = 0, bytes = 0;
  };

  InputSpec spec;
  std::vector<uint16_t> q;     ///< empty with an fp8 query
  std::vector<uint8_t> q_fp8;  ///< empty with a bf16 query
  std::vector<uint8_t> kv;     ///< the pool; of a sparse one the used pages, one after another
  std::vector<Piece> pieces;   ///< where they lie in a sparse pool; empty with a plain one
  std::vector<int32_t> page_table;
  std::vector<int32_t> packed_table;  ///< page_table, by the pages' places in kv; empty with a plain pool
  std::vector<int32_t> page_indptr;   ///< empty with a dense table
  std::vector<int32_t> seq_len;
  int64_t q_token_stride = 0, q_head_stride = 0, page_table_stride = 0;

  /// The reference's view; valid while this object lives unchanged.
  AttentionProblem problem() const;
  /// Bytes from the cache's first row to the end of its last.
  uint64_t pool_bytes() const { return spec.pool_bytes != 0 ? spec.pool_bytes : kv.size(); }
  /// Tokens of this rank.
  int64_t longest_context() const;
};

/// A sparse pool has to have at least least_pool_bytes(spec).
Inputs make_inputs(const InputSpec& spec);

/// What a sparse pool must have at least: twice the pages that are used.
uint64_t least_pool_bytes(const InputSpec& spec);

}  // namespace mlaforge::reference
