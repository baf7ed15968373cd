#include "cli/tune/candidates.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "cli/run/kernels.h"
#include "runtime/src/split_choice.h"

namespace mlaforge::tune {
namespace {

/// What the cost model may give a kernel, of the best of its kind's, for it to be tried. Its error is a few percent of
/// the cycle model (docs/runtime.md): the order of two may be wrong by twice that.
constexpr double hopeless = 1.2;

/// All but the split count, and what follows from it.
Variant family_of(Variant variant) {
  variant.splits = 0;
  return variant;
}

/// Head groups worth a try: the fewest for each count of row tiles.
std::set<int> head_groups_of(int heads, int qlen) {
  constexpr int most_row_tiles = 4;
  std::set<int> groups;
  for (int tiles = 1; tiles <= most_row_tiles; ++tiles) {
    const int heads_a_group = 16 * tiles / qlen;
    if (heads_a_group > 0) groups.insert((heads + heads_a_group - 1) / heads_a_group);
  }
  return groups;
}

/// Powers of two, and what fills the compute units once or twice with every workgroup of the batch.
std::set<int> splits_of(const Point& point, int groups) {
  constexpr int most = 256;
  std::set<int> splits;
  for (int count = 1; count <= most; count *= 2) splits.insert(count);
  for (const int rounds : {1, 2}) {
    const int fill = rounds * run::mi355x_compute_units / (point.batch * groups);
    if (fill >= 1 && fill <= most) splits.insert(fill);
  }
  return splits;
}

}  // namespace

std::vector<const PlannedKernel*> prune(std::span<const PlannedKernel* const> kernels, const Point& point,
                                        size_t keep) {
  const SplitProblem problem = split_problem(point.batch, point.context);
  std::map<Variant, std::vector<const PlannedKernel*>> families;
  for (const PlannedKernel* kernel : kernels) families[family_of(kernel->variant)].push_back(kernel);
  std::vector<const PlannedKernel*> kept;
  for (auto& [family, members] : families) {
    std::vector<SplitCandidate> candidates;
    for (const PlannedKernel* kernel : members)
      candidates.push_back(candidate_of(make_row(*kernel), run::mi355x_compute_units));
    const size_t count = keep == 0 ? members.size() : std::min(keep, members.size());
    int64_t least = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto best = static_cast<std::ptrdiff_t>(cheapest(problem, candidates, 0));
      const int64_t clocks = predicted_clocks(problem, candidates[static_cast<size_t>(best)]);
      if (i == 0) least = clocks;
      if (keep != 0 && static_cast<double>(clocks) > hopeless * static_cast<double>(least)) break;
      kept.push_back(members[static_cast<size_t>(best)]);
      members.erase(members.begin() + best);
      candidates.erase(candidates.begin() + best);
    }
  }
  return kept;
}

std::vector<const PlannedKernel*> Explored::kernels(const Point& point, const Variant& like,
                                                    std::span<const PlannedKernel* const> known) {
  std::set<Variant> skip;
  for (const PlannedKernel* kernel : known) skip.insert(kernel->variant);
  std::vector<const PlannedKernel*> found;
  for (const int groups : head_groups_of(like.heads, like.qlen)) {
    for (const int splits : splits_of(point, groups)) {
      for (const int block_tokens : {64, 128}) {
        for (const mlaforge_pipeline pipeline : {MLAFORGE_UNIFORM, MLAFORGE_WARP_SPECIALIZED}) {
          Variant variant = like;
          variant.head_groups = groups;
          variant.splits = splits;
          variant.block_tokens = block_tokens;
          variant.pipeline = pipeline;
          if (skip.contains(variant)) continue;
          auto [entry, missing] = planned_.try_emplace(variant);
          if (missing) {
            if (Expected<PlannedKernel> planned = plan_kernel(variant)) entry->second = std::move(*planned);
          }
          if (entry->second.has_value()) found.push_back(&*entry->second);
        }
      }
    }
  }
  return found;
}

}  // namespace mlaforge::tune
