#include "tests/kernels/covering.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "generator/plan/kernel_plan.h"
#include "reference/random.h"

namespace mlaforge::test {
namespace {

const std::vector<int> heads = {1, 3, 6, 8, 9, 12, 16, 20, 24, 32, 48, 64, 96, 128};
const std::vector<int> splits = {1, 2, 3, 7, 8, 33, 85, 256};
const std::vector<std::string> inputs = {"normal", "spike11", "rising", "tiny_q", "all_bytes"};

/// A kind of head grouping: the heuristic's, twice as many groups, and the fewest that the plan takes.
enum Grouping { automatic, doubled, fewest, groupings };

enum Parameter {
  p_heads,
  p_grouping,
  p_qlen,
  p_block,
  p_splits,
  p_page,
  p_pipeline,
  p_wide,
  p_cp,
  p_partial,
  p_query,
  p_parts,
  p_input,
  p_dense,
  p_scales,
  parameters
};
constexpr const char* names[parameters] = {
    "heads",       "grouping",          "qlen",    "block_tokens",     "splits",
    "page_size",   "pipeline",          "wide_kv", "context_parallel", "partial_dtype",
    "query_dtype", "probability_parts", "input",   "dense_table",      "scales"};

using Values = std::array<int, parameters>;

Values value_counts() {
  return {static_cast<int>(heads.size()),  groupings, 8, 2, static_cast<int>(splits.size()), 9, 2, 2, 4, 2, 2, 2,
          static_cast<int>(inputs.size()), 2,         2};
}

using Pair = std::tuple<int, int, int, int>;  ///< parameter, value, later parameter, value

Pair make_pair_of(const Values& values, int a, int b) { return {a, values[a], b, values[b]}; }

std::string describe(const Pair& pair) {
  const auto& [a, x, b, y] = pair;
  return std::string(names[a]) + " " + std::to_string(x) + ", " + names[b] + " " + std::to_string(y);
}

bool can_be_planned(const Variant& variant) { return std::holds_alternative<KernelPlan>(make_plan(variant)); }

std::optional<Combination> make_combination(const Values& values, int64_t most_workgroups) {
  Combination made;
  Variant& v = made.variant;
  v.heads = heads[values[p_heads]];
  v.qlen = values[p_qlen] + 1;
  v.block_tokens = values[p_block] == 0 ? 128 : 64;
  v.splits = splits[values[p_splits]];
  v.page_size = 1 << values[p_page];
  v.pipeline = values[p_pipeline] == 0 ? MLAFORGE_UNIFORM : MLAFORGE_WARP_SPECIALIZED;
  v.wide_kv = values[p_wide] == 1;
  v.context_parallel = 1 << values[p_cp];
  v.partial_dtype = values[p_partial] == 0 ? MLAFORGE_BF16 : MLAFORGE_F32;
  v.q_dtype = values[p_query] == 0 ? MLAFORGE_BF16 : MLAFORGE_FP8_E4M3;
  v.probability_parts = 2 - values[p_parts];
  v.head_groups = auto_head_groups(v.heads, v.qlen);
  if (values[p_grouping] == doubled) {
    v.head_groups = std::min(v.heads, 2 * v.head_groups);
  } else if (values[p_grouping] == fewest) {
    const int most = v.head_groups;
    for (v.head_groups = 1; v.head_groups < most && !can_be_planned(v);) {
      ++v.head_groups;
    }
  }
  made.input = inputs[values[p_input]];
  made.dense_table = values[p_dense] == 1;
  made.scales = values[p_scales] == 1;
  if (int64_t{v.head_groups} * v.splits * v.context_parallel > most_workgroups || !can_be_planned(v)) {
    return std::nullopt;
  }
  return made;
}

/// Greedy: each member starts from a pair that is still open and takes, parameter by parameter, the value that closes
/// most open pairs.
class Coverer {
 public:
  explicit Coverer(int64_t most_workgroups) : most_workgroups_(most_workgroups) {
    for (int a = 0; a < parameters; ++a) {
      for (int b = a + 1; b < parameters; ++b) {
        for (int x = 0; x < counts_[a]; ++x) {
          for (int y = 0; y < counts_[b]; ++y) {
            open_.insert({a, x, b, y});
          }
        }
      }
    }
  }

  Covering run(size_t least) {
    while (!open_.empty()) {
      const Pair pair = *std::next(open_.begin(), static_cast<long>(random_.below(open_.size())));
      if (!cover(pair)) {
        covering_.impossible.push_back(describe(pair));
        open_.erase(pair);
      }
    }
    while (covering_.combinations.size() < least) {
      Values values{};
      for (int p = 0; p < parameters; ++p) {
        values[p] = draw(p);
      }
      if (const auto made = make_combination(values, most_workgroups_)) {
        covering_.combinations.push_back(*made);
      }
    }
    std::sort(covering_.impossible.begin(), covering_.impossible.end());
    return std::move(covering_);
  }

 private:
  int draw(int parameter) { return static_cast<int>(random_.below(static_cast<uint64_t>(counts_[parameter]))); }

  /// False when no combination with the pair was found: then it is refused, or far too large.
  bool cover(const Pair& pair) {
    constexpr int tries = 200;
    for (int i = 0; i < tries; ++i) {
      const Values values = complete(pair, i < tries / 2);
      if (const auto made = make_combination(values, most_workgroups_)) {
        for (int a = 0; a < parameters; ++a) {
          for (int b = a + 1; b < parameters; ++b) {
            open_.erase(make_pair_of(values, a, b));
          }
        }
        covering_.combinations.push_back(*made);
        return true;
      }
    }
    return false;
  }

  Values complete(const Pair& pair, bool greedily) {
    Values values{};
    std::vector<int> set = {std::get<0>(pair), std::get<2>(pair)};
    values[set[0]] = std::get<1>(pair);
    values[set[1]] = std::get<3>(pair);
    for (const int parameter : shuffled_parameters()) {
      if (parameter == set[0] || parameter == set[1]) {
        continue;
      }
      values[parameter] = draw(parameter);
      if (greedily) {
        values[parameter] = best_value(values, set, parameter);
      }
      set.push_back(parameter);
    }
    return values;
  }

  std::vector<int> shuffled_parameters() {
    std::vector<int> all(parameters);
    for (int i = 0; i < parameters; ++i) {
      const auto at = static_cast<size_t>(random_.below(static_cast<uint64_t>(i) + 1));
      all[static_cast<size_t>(i)] = all[at];
      all[at] = i;
    }
    return all;
  }

  int best_value(Values values, const std::vector<int>& set, int parameter) {
    const int first = values[parameter];
    int best = first;
    int most = -1;
    for (int i = 0; i < counts_[parameter]; ++i) {
      values[parameter] = (first + i) % counts_[parameter];
      int closed = 0;
      for (const int other : set) {
        closed += open_.contains(make_pair_of(values, std::min(other, parameter), std::max(other, parameter))) ? 1 : 0;
      }
      if (closed > most) {
        most = closed;
        best = values[parameter];
      }
    }
    return best;
  }

  const Values counts_ = value_counts();
  const int64_t most_workgroups_;
  reference::Random random_{1, 0};
  std::set<Pair> open_;
  Covering covering_;
};

}  // namespace

Covering make_covering(size_t least, int64_t most_workgroups) { return Coverer(most_workgroups).run(least); }

std::vector<Combination> make_sweep(int64_t most_workgroups) {
  const Values counts = value_counts();
  reference::Random random(2, 0);
  std::vector<Combination> sweep;
  const int shapes = counts[p_heads] * counts[p_qlen] * counts[p_grouping];
  for (int shape = 0; shape < shapes; ++shape) {
    for (const auto& [pipeline, block] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0)}) {
      constexpr int tries = 100;  // a draw may be too large
      std::optional<Combination> made;
      for (int i = 0; i < tries && !made; ++i) {
        Values values{};
        for (int p = 0; p < parameters; ++p) {
          values[p] = static_cast<int>(random.below(static_cast<uint64_t>(counts[p])));
        }
        values[p_heads] = shape % counts[p_heads];
        values[p_qlen] = shape / counts[p_heads] % counts[p_qlen];
        values[p_grouping] = shape / counts[p_heads] / counts[p_qlen];
        values[p_pipeline] = pipeline;
        values[p_block] = block;
        made = make_combination(values, most_workgroups);
      }
      if (made) {
        sweep.push_back(*made);
      }
    }
  }
  return sweep;
}

std::string describe(const Combination& combination) {
  return format(combination.variant) + ", input " + combination.input + (combination.dense_table ? ", dense" : "") +
         (combination.scales ? ", scales" : "");
}

}  // namespace mlaforge::test
