#include "table.h"

#include <algorithm>
#include <tuple>

#include "error.h"
#include "split_choice.h"

namespace mlaforge {
namespace {

/// What a problem fixes; rows that agree in it form one run of the sorted table.
using FunctionalKey = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t>;

FunctionalKey functional_key(const mlaforge_kernel_row& row) {
  return {row.heads, row.qlen, row.page_size, row.q_dtype, row.kv_dtype, row.context_parallel, row.wide_kv};
}

FunctionalKey functional_key(const mlaforge_problem& problem, bool wide) {
  return {problem.heads, problem.qlen, problem.page_size, problem.q_dtype, problem.kv_dtype, problem.context_parallel,
          wide ? 1 : 0};
}

/// The best row of those with this functional key; false when there is none (or none with the splits asked for).
bool best_of_key(std::span<const mlaforge_kernel_row> table, int64_t compute_units, const mlaforge_problem& problem,
                 bool wide, size_t& index) {
  const FunctionalKey key = functional_key(problem, wide);
  const auto first = std::lower_bound(
      table.begin(), table.end(), key,
      [](const mlaforge_kernel_row& row, const FunctionalKey& wanted) { return functional_key(row) < wanted; });
  const SplitProblem split_problem{
      .batch = problem.batch_capacity, .longest_context = problem.longest_context, .compute_units = compute_units};
  bool found = false;
  for (auto row = first; row != table.end() && functional_key(*row) == key; ++row) {
    if (problem.splits != 0 && row->splits != problem.splits) {
      continue;
    }
    // More parts of P are more accurate: a looser kernel is never taken where a better one is there for the key.
    const mlaforge_kernel_row& best = table[index];
    if (!found || row->probability_parts > best.probability_parts ||
        (row->probability_parts == best.probability_parts &&
         better_splits(split_problem, candidate_of(*row), candidate_of(best)))) {
      index = static_cast<size_t>(row - table.begin());
      found = true;
    }
  }
  return found;
}

}  // namespace

std::strong_ordering compare_keys(const mlaforge_kernel_row& a, const mlaforge_kernel_row& b) {
  const auto rest = [](const mlaforge_kernel_row& row) {
    return std::tuple(row.splits, row.head_groups, row.block_tokens, row.pipeline, row.partial_dtype,
                      row.probability_parts);
  };
  const auto order = functional_key(a) <=> functional_key(b);
  return order != std::strong_ordering::equal ? order : rest(a) <=> rest(b);
}

mlaforge_status check_problem(const mlaforge_problem& problem) {
  struct Range {
    const char* field;
    int64_t value, least, most;
  };
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
  };
  for (const Range& range : ranges) {
    if (range.value < range.least || range.value > range.most) {
      return failf(MLAFORGE_INVALID_ARGUMENT, "problem.%s is %lld; allowed: %lld .. %lld", range.field,
                   static_cast<long long>(range.value), static_cast<long long>(range.least),
                   static_cast<long long>(range.most));
    }
  }
  if (problem.pool_bytes < MLAFORGE_KEY_DIM) {
    return failf(MLAFORGE_INVALID_ARGUMENT,
                 "problem.pool_bytes is %llu; allowed: the cache's bytes, at least one row of %d",
                 static_cast<unsigned long long>(problem.pool_bytes), MLAFORGE_KEY_DIM);
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status select_row(std::span<const mlaforge_kernel_row> table, int64_t compute_units,
                           const mlaforge_problem& problem, size_t& index) {
  if (const mlaforge_status status = check_problem(problem); status != MLAFORGE_SUCCESS) {
    return status;
  }
  size_t found = 0;
  const bool narrow_reaches = problem.pool_bytes <= narrow_pool_limit_bytes;
  if ((narrow_reaches && best_of_key(table, compute_units, problem, false, found)) ||
      best_of_key(table, compute_units, problem, true, found)) {
    index = found;
    return succeed();
  }
  return fail(MLAFORGE_NO_KERNEL, explain_miss(table, problem));
}

}  // namespace mlaforge
