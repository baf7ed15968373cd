#include "key.h"

#include <tuple>

#include "error.h"

namespace mlaforge {
namespace {

constexpr int most_parts = 15;  // of the 4 bits; kernels have 1 or 2

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
  struct Range {
    const char* field;
    int32_t value, least, most;
  };
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
  for (const Range& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return std::string(range.field) + " is " + std::to_string(range.value) +
             "; allowed: " + std::to_string(range.least) + " .. " + std::to_string(range.most);
    }
  }
  return {};
}

mlaforge_status check_problem(const mlaforge_problem& problem) {
  struct Field {
    const char* name;
    int32_t mlaforge_problem::* value;
    int32_t least, most;
  };
  // Looked through at every select, so it is made only once.
  static constexpr Field fields[] = {
      {"heads", &mlaforge_problem::heads, 1, 128},
      {"qlen", &mlaforge_problem::qlen, 1, 8},
      {"latent_dim", &mlaforge_problem::latent_dim, MLAFORGE_LATENT_DIM, MLAFORGE_LATENT_DIM},
      {"rope_dim", &mlaforge_problem::rope_dim, MLAFORGE_ROPE_DIM, MLAFORGE_ROPE_DIM},
      {"page_size", &mlaforge_problem::page_size, 1, 256},
      {"q_dtype", &mlaforge_problem::q_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"kv_dtype", &mlaforge_problem::kv_dtype, MLAFORGE_BF16, MLAFORGE_FP8_E4M3},
      {"context_parallel", &mlaforge_problem::context_parallel, 1, 8},
      {"splits", &mlaforge_problem::splits, 0, 256},
      {"batch_capacity", &mlaforge_problem::batch_capacity, 0, INT32_MAX},
      {"policy", &mlaforge_problem::policy, MLAFORGE_TUNED, MLAFORGE_FIXED_SPLIT},
      {"probability_parts", &mlaforge_problem::probability_parts, 0, 2},
  };
  for (const Field& field : fields) {
    const int32_t value = problem.*field.value;
    if (value < field.least || value > field.most) {
      return failf(MLAFORGE_INVALID_ARGUMENT, "problem.%s is %d; allowed: %d .. %d", field.name, value, field.least,
                   field.most);
    }
  }
  if (problem.longest_context < 0 || problem.longest_context > INT32_MAX) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "problem.longest_context is %lld; allowed: 0 .. %d",
                 static_cast<long long>(problem.longest_context), INT32_MAX);
  }
  if (problem.pool_bytes < MLAFORGE_KEY_DIM) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "problem.pool_bytes is %llu; allowed: the cache's bytes, at least one row of %d",
                 static_cast<unsigned long long>(problem.pool_bytes), MLAFORGE_KEY_DIM);
  }
  return MLAFORGE_SUCCESS;
}

}  // namespace mlaforge
