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
  tiny_q,     ///< two of three rows have 2^-100 as their largest |q|, every eighth row is all zeros
  huge_q,     ///< every row's largest |q| is 2^100, one token's logit is above all others
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
  float softmax_scale = 0.072168784F;     ///< 192^-0.5: Kimi-K3's and DeepSeek-V3's
  std::optional<float> k_scale, v_scale;  ///< nothing: null pointers, 1.0
};

/// Host copies of a launch's inputs, each allocation exactly as long as what may be read.
/// Pages lie shuffled in the pool; unused slots, page tails and row gaps are NaN bytes; tables continue after each
/// request's last page with -1 and 2147480000, but end with the last request's last page.
struct Inputs {
  InputSpec spec;
  std::vector<uint16_t> q;
  std::vector<uint8_t> kv;
  std::vector<int32_t> page_table;
  std::vector<int32_t> page_indptr;  ///< empty with a dense table
  std::vector<int32_t> seq_len;
  int64_t q_token_stride = 0, q_head_stride = 0, page_table_stride = 0;

  /// The reference's view; valid while this object lives unchanged.
  AttentionProblem problem() const;
  /// Bytes from the cache's first row to the end of its last.
  uint64_t pool_bytes() const { return kv.size(); }
  int64_t longest_context() const;
};

Inputs make_inputs(const InputSpec& spec);

}  // namespace mlaforge::reference
