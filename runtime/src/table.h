// The dispatch table: rows sorted by key, tuned points, and the choice of a row for a problem. No HIP in here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "key.h"
#include "mlaforge/mlaforge.h"
#include "split_choice.h"

namespace mlaforge {

/// A place where the best row is known.
struct TunedPoint {
  uint32_t row = 0;  ///< index in the table
  int32_t batch = 1;
  int64_t context = 1;
  float log2_batch = 0, log2_context = 0;
  bool measured = false;
};

/// The rows of one packed key, and the points whose rows they are: runs of the table's arrays.
struct KeyRun {
  uint32_t first_row = 0, last_row = 0;
  uint32_t first_point = 0, last_point = 0;
};

struct DispatchTable {
  std::vector<mlaforge_kernel_row> rows;   ///< sorted by compare_keys
  std::vector<SplitCandidate> candidates;  ///< of rows, by index
  std::vector<uint64_t> keys;              ///< pack_key of the rows, ascending, each once
  std::vector<KeyRun> runs;                ///< of keys, by index
  std::vector<TunedPoint> points;          ///< by run, in it sorted by batch, then context; each place once
  int64_t compute_units = 0;
};

/// The table over rows that are sorted already and have no key twice; no tuned points.
DispatchTable make_table(std::vector<mlaforge_kernel_row> sorted_rows, int64_t compute_units);

/// Index of the first of the table's keys that is not below `key`.
size_t first_key(const DispatchTable& table, uint64_t key);

struct Selection {
  size_t row = 0;
  mlaforge_basis basis = MLAFORGE_BY_COST_MODEL;
};

/// The row that serves `problem` best; the wide kernels also serve small pools. Allocates nothing where there is one.
/// NO_KERNEL leaves the whole explanation as the thread's message.
mlaforge_status select_row(const DispatchTable& table, const mlaforge_problem& problem, Selection& selection);

/// The requests that rows of this problem are compared for: its capacity, or the fixed batch of MLAFORGE_FIXED_SPLIT.
int64_t batch_to_serve(const mlaforge_problem& problem);

/// The point of a run that is nearest to the problem by |log2 batch ratio| + |log2 context ratio|, within a factor 5/4 in
/// batch and 2 in context, whose row has the splits asked for; null without one. Of equals the measured, then the first.
const TunedPoint* nearest_point(const DispatchTable& table, const KeyRun& run, const mlaforge_problem& problem);

}  // namespace mlaforge
