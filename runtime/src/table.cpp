#include "table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "error.h"
#include "explain.h"

namespace mlaforge {
namespace {

/// Whether batch a is at most 5/4 of b. The splits that fill the chip go with the batch, so that a point serves its
/// neighbours only; the context changes the best kernel more slowly.
bool batch_reaches(int64_t a, int64_t b) { return 4 * a <= 5 * b; }
bool within_factor_2(int64_t a, int64_t b) { return a <= 2 * b && b <= 2 * a; }

/// The best row of the key's most accurate run that has one (and the splits asked for).
bool best_of_key(const DispatchTable& table, const mlaforge_problem& problem, bool wide, Selection& selection) {
  const uint64_t key = pack_key(problem, wide);
  const SplitProblem served = split_problem(batch_to_serve(problem), problem.longest_context);
  for (size_t i = first_key(table, key); i < table.keys.size() && same_function(table.keys[i], key); ++i) {
    if (problem.probability_parts != 0 && table.keys[i] != key) {
      return false;
    }
    const KeyRun& run = table.runs[i];
    if (const TunedPoint* point = nearest_point(table, run, problem); point != nullptr) {
      selection = {point->row, point->measured ? MLAFORGE_BY_MEASURED_TUNING : MLAFORGE_BY_PREDICTED_TUNING};
      return true;
    }
    const std::span<const SplitCandidate> candidates(table.candidates.data() + run.first_row,
                                                     table.candidates.data() + run.last_row);
    const size_t best = cheapest(served, candidates, static_cast<uint32_t>(problem.splits));
    if (best != no_candidate) {
      selection = {run.first_row + best, MLAFORGE_BY_COST_MODEL};
      return true;
    }
  }
  return false;
}

}  // namespace

DispatchTable make_table(std::vector<mlaforge_kernel_row> sorted_rows, int64_t compute_units) {
  DispatchTable table;
  table.rows = std::move(sorted_rows);
  table.compute_units = compute_units;
  for (uint32_t i = 0; i < table.rows.size(); ++i) {
    table.candidates.push_back(candidate_of(table.rows[i], compute_units));
    const uint64_t key = pack_key(table.rows[i]);
    if (table.keys.empty() || table.keys.back() != key) {
      table.keys.push_back(key);
      table.runs.push_back({.first_row = i, .last_row = i});
    }
    table.runs.back().last_row = i + 1;
  }
  return table;
}

size_t first_key(const DispatchTable& table, uint64_t key) {
  // Halves without a branch: which half it is cannot be foretold.
  const uint64_t* first = table.keys.data();
  size_t count = table.keys.size();
  while (count > 1) {
    const size_t half = count / 2;
    first += first[half - 1] < key ? half : 0;
    count -= half;
  }
  const auto index = static_cast<size_t>(first - table.keys.data());
  return count == 1 && *first < key ? index + 1 : index;
}

int64_t batch_to_serve(const mlaforge_problem& problem) {
  return problem.policy == MLAFORGE_FIXED_SPLIT ? MLAFORGE_FIXED_SPLIT_BATCH
                                                : std::max<int64_t>(1, problem.batch_capacity);
}

const TunedPoint* nearest_point(const DispatchTable& table, const KeyRun& run, const mlaforge_problem& problem) {
  if (run.first_point == run.last_point) {
    return nullptr;
  }
  const int64_t batch = batch_to_serve(problem);
  const int64_t context = std::max<int64_t>(1, problem.longest_context);
  const float log2_batch = std::log2(static_cast<float>(batch));
  const float log2_context = std::log2(static_cast<float>(context));
  const TunedPoint* const last = table.points.data() + run.last_point;
  const TunedPoint* point = std::lower_bound(
      table.points.data() + run.first_point, last, batch,
      [](const TunedPoint& candidate, int64_t wanted) { return !batch_reaches(wanted, candidate.batch); });
  const TunedPoint* nearest = nullptr;
  float least = std::numeric_limits<float>::infinity();
  for (; point != last && batch_reaches(point->batch, batch); ++point) {
    if (!within_factor_2(point->context, context) ||
        (problem.splits != 0 && table.rows[point->row].splits != problem.splits)) {
      continue;
    }
    const float distance = std::fabs(point->log2_batch - log2_batch) + std::fabs(point->log2_context - log2_context);
    if (distance < least || (distance == least && point->measured && !nearest->measured)) {
      least = distance;
      nearest = point;
    }
  }
  return nearest;
}

mlaforge_status select_row(const DispatchTable& table, const mlaforge_problem& problem, Selection& selection) {
  if (const mlaforge_status status = check_problem(problem); status != MLAFORGE_SUCCESS) {
    return status;
  }
  const bool narrow_reaches = problem.pool_bytes <= narrow_pool_limit_bytes;
  if ((narrow_reaches && best_of_key(table, problem, false, selection)) ||
      best_of_key(table, problem, true, selection)) {
    return succeed();
  }
  return fail(MLAFORGE_NO_KERNEL, explain_miss(table.rows, problem));
}

}  // namespace mlaforge
