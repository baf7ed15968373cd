#include "key.h"

#include <span>
#include <tuple>

#include "error.h"

namespace mlaforge {
namespace {

constexpr int most_parts = 15;  // of the 4 bits; kernels have 1 or 2

/// A field and what it may be.
struct Range {
  const char* field;
  int64_t value, least, most;

  bool holds() const { return value >= least && value <= most; }
};

const Range* first_outside(std::span<const Range> ranges) {
  for (const Range& range : ranges) {
    if (!range.holds()) {
      return &range;
    }
  }
  return nullptr;
}

uint64_t pack(int32_t heads, int32_t qlen, int32_t page_size, int32_t q_dtype, int32_t kv_dtype,
              int32_t context_parallel, bool wide, int32_t parts) {
  uint64_t key = 0;
  const auto append = [&](int32_t value, int bits) { key = key << bits | static_cast<uint32_t>(value); };
  append(heads, 16);
  append(qlen, 8);
  append(page_size, 16);
  append(q_dtype, 4);
  append(kv_dtype, 4);
  append(context_parallel, 8);
  append(wide ? 1 : 0, 4);
  append(most_parts - parts, 4);
  return key;
}

}  // namespace

uint64_t pack_key(const mlaforge_kernel_row& row) {
  return pack(row.heads, row.qlen, row.page_size, row.q_dtype, row.kv_dtype, row.context_parallel, row.wide_kv != 0,
              row.probability_parts);
}

uint64_t pack_key(const mlaforge_problem& problem, bool wide) {
  return pack(problem.heads, problem.qlen, problem.page_size, problem.q_dtype, problem.kv_dtype,
              problem.context_parallel, wide, problem.probability_parts == 0 ? most_parts : problem.probability_parts);
}

std::strong_ordering compare_keys(const mlaforge_kernel_row& a, const mlaforge_kernel_row& b) {
  const auto rest = [](const mlaforge_kernel_row& row) {
    return std::tuple(row.splits, row.head_groups, row.block_tokens, row.pipeline, row.partial_dtype);
  };
  const auto order = pack_key(a) <=> pack_key(b);
  return order != std::strong_ordering::equal ? order : rest(a) <=> rest(b);
}

std::string key_problem(const mlaforge_kernel_row& row) {
  const Range ranges[] = {
      {"heads", row.heads, 1, 128},
      {"qlen", row.qlen, 1, 8},
      {"page_size", row.page_size, 1, 256},
      {"q_dtype", row.q_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"kv_dtype", row.kv_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"context_parallel", row.context_parallel, 1, 8},
      {"wide_kv", row.wide_kv, 0, 1},
      {"splits", row.splits, 1, 256},
      {"head_groups", row.head_groups, 1, row.heads},
      {"block_tokens", row.block_tokens, 1, 1024},
      {"probability_parts", row.probability_parts, 1, 2},
  };
  const Range* bad = first_outside(ranges);
  return bad == nullptr ? std::string()
                        : std::string(bad->field) + " is " + std::to_string(bad->value) +
                              "; allowed: " + std::to_string(bad->least) + " .. " + std::to_string(bad->most);
}

mlaforge_status check_problem(const mlaforge_problem& problem) {
  const Range ranges[] = {
      {"heads", problem.heads, 1, 128},
      {"qlen", problem.qlen, 1, 8},
      {"latent_dim", problem.latent_dim, MLAFORGE_LATENT_DIM, MLAFORGE_LATENT_DIM},
      {"rope_dim", problem.rope_dim, MLAFORGE_ROPE_DIM, MLAFORGE_ROPE_DIM},
      {"page_size", problem.page_size, 1, 256},
      {"q_dtype", problem.q_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"kv_dtype", problem.kv_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"context_parallel", problem.context_parallel, 1, 8},
      {"splits", problem.splits, 0, 256},
      {"batch_capacity", problem.batch_capacity, 0, INT32_MAX},
      {"longest_context", problem.longest_context, 0, INT32_MAX},
      {"policy", problem.policy, MLAFORGE_TUNED, MLAFORGE_FIXED_SPLIT},
      {"probability_parts", problem.probability_parts, 0, 2},
  };
  if (const Range* bad = first_outside(ranges); bad != nullptr) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "problem.%s is %lld; allowed: %lld .. %lld", bad->field,
                 static_cast<long long>(bad->value), static_cast<long long>(bad->least),
                 static_cast<long long>(bad->most));
  }
  if (problem.pool_bytes < MLAFORGE_KEY_DIM) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "problem.pool_bytes is %llu; allowed: the cache's bytes, at least one row of %d",
                 static_cast<unsigned long long>(problem.pool_bytes), MLAFORGE_KEY_DIM);
  }
  return MLAFORGE_SUCCESS;
}

}  // namespace mlaforge
