#include "split_choice.h"

#include <algorithm>

#include "mlaforge/kernel_contract.h"

namespace mlaforge {
namespace {

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t block_count(const SplitProblem& problem) {
  return std::max<int64_t>(1, ceil_divide(problem.longest_context, split_block_tokens));
}

}  // namespace

int64_t split_block_times(const SplitProblem& problem, int64_t head_groups, int64_t splits) {
  const int64_t units = std::max<int64_t>(1, problem.batch) * splits;
  const int64_t ctas_of_xcd = ceil_divide(units, MLAFORGE_XCDS) * head_groups;
  const int64_t units_of_xcd = std::max<int64_t>(1, problem.compute_units / MLAFORGE_XCDS);
  const int64_t rounds = ceil_divide(ctas_of_xcd, units_of_xcd);
  const int64_t combine = splits > 1 ? split_combine_blocks : 0;
  return rounds * (ceil_divide(block_count(problem), splits) + split_start_blocks) + combine;
}

bool better_splits(const SplitProblem& problem, int64_t a_head_groups, int64_t a_splits, int64_t b_head_groups,
                   int64_t b_splits) {
  const bool a_idle = a_splits > block_count(problem);
  const bool b_idle = b_splits > block_count(problem);
  if (a_idle != b_idle) {
    return b_idle;
  }
  if (a_idle && a_splits != b_splits) {
    return a_splits < b_splits;
  }
  const int64_t a_times = split_block_times(problem, a_head_groups, a_splits);
  const int64_t b_times = split_block_times(problem, b_head_groups, b_splits);
  return a_times != b_times ? a_times < b_times : a_splits < b_splits;
}

}  // namespace mlaforge
