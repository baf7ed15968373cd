#include "cli/tune/tune.h"

#include <algorithm>
#include <set>

namespace mlaforge::tune {
namespace {

/// Faster, then the key's order, which has fewer splits (less to combine) first.
bool better(const Tried& a, const Tried& b) {
  if (a.us != b.us) return a.us < b.us;
  return a.kernel->variant < b.kernel->variant;
}

struct Timer {
  const HipApi& hip;
  run::Kernels& loader;
  const Point& point;

  Expected<bench::BenchReport> operator()(const PlannedKernel& kernel, bool ranges) const {
    return bench::bench_kernel(hip, loader, kernel, {.batch = point.batch, .context = point.context},
                               {.trace = false, .full = false, .ranges = ranges});
  }
};

/// The same but for pages and offsets, on which a time hardly depends.
Variant without_pages(Variant variant) {
  variant.page_size = 1;
  variant.wide_kv = false;
  return variant;
}

bool same_shape(const Point& a, const Point& b) {
  Key of_b = b.key;
  of_b.page_size = a.key.page_size;
  of_b.wide_kv = a.key.wide_kv;
  return a.key == of_b && a.batch == b.batch && a.context == b.context;
}

/// A known point of the same shape, or null.
const TunedPoint* twin_of(const Point& point, std::span<const TunedPoint> known) {
  const auto twin =
      std::find_if(known.begin(), known.end(), [&](const TunedPoint& tuned) { return same_shape(tuned.point, point); });
  return twin == known.end() ? nullptr : &*twin;
}

/// Those of `kernels` whose twins were about the fastest at `point`.
std::vector<const PlannedKernel*> twins_of_best(std::span<const PlannedKernel* const> kernels, const TunedPoint& point,
                                                double worth) {
  std::set<Variant> wanted;
  for (const Tried& tried : point.tried) {
    if (tried.us <= worth * point.us.nominal) wanted.insert(without_pages(tried.kernel->variant));
  }
  std::vector<const PlannedKernel*> found;
  for (const PlannedKernel* kernel : kernels) {
    if (wanted.contains(without_pages(kernel->variant))) found.push_back(kernel);
  }
  return found;
}

/// Times explored kernels; one that does not compile within the chip's limits is none.
Expected<std::optional<Tried>> best_explored(const Timer& timer, run::Kernels& loader,
                                             std::span<const PlannedKernel* const> candidates) {
  std::optional<Tried> best;
  for (const PlannedKernel* kernel : candidates) {
    if (!loader.load(*kernel, std::nullopt)) continue;
    const Expected<bench::BenchReport> report = timer(*kernel, false);
    if (!report) return report.errors();
    const Tried timed{kernel, report->total_us.nominal};
    if (!best || better(timed, *best)) best = timed;
  }
  return best;
}

}  // namespace

Expected<TunedPoint> tune_point(const HipApi& hip, run::Kernels& loader, std::span<const PlannedKernel> kernels,
                                Explored& explored, const Point& point, std::span<const TunedPoint> known,
                                const TuneOptions& options) {
  const Timer timer{hip, loader, point};
  const bool predicts = hip.is_simulator();
  const std::vector<const PlannedKernel*> all = kernels_of(kernels, point.key);
  TunedPoint tuned{.point = point};
  const TunedPoint* twin = predicts && options.keep != 0 ? twin_of(point, known) : nullptr;
  std::vector<const PlannedKernel*> candidates;
  if (twin != nullptr) candidates = twins_of_best(all, *twin, options.twin_worth);
  if (candidates.empty()) {
    twin = nullptr;
    candidates = prune(all, point, options.keep);
  }
  (twin != nullptr ? tuned.left_out_by_twins : tuned.left_out) = all.size() - candidates.size();
  std::optional<Tried> best;
  // Of a single candidate the range is wanted at once; of several, only the fastest's.
  const bool ranges = twin == nullptr && candidates.size() == 1;
  for (const PlannedKernel* kernel : candidates) {
    const Expected<bench::BenchReport> report = timer(*kernel, ranges);
    if (!report) return report.errors();
    const Tried timed{kernel, report->total_us.nominal};
    tuned.tried.push_back(timed);
    if (best && !better(timed, *best)) continue;
    best = timed;
    tuned.us = ranges ? report->total_us : bench::Range{timed.us, timed.us, timed.us};
  }
  tuned.kernel = best->kernel;
  if (twin != nullptr) {
    const double factor = best->us / twin->us.nominal;
    tuned.us = {twin->us.low * factor, best->us, twin->us.high * factor};
  } else if (predicts && !ranges) {
    const Expected<bench::BenchReport> report = timer(*best->kernel, true);
    if (!report) return report.errors();
    tuned.us = report->total_us;
  }
  if (!options.explore) return tuned;

  const std::vector<const PlannedKernel*> others =
      prune(explored.kernels(point, all.front()->variant, all), point, options.keep);
  const Expected<std::optional<Tried>> other = best_explored(timer, loader, others);
  if (!other) return other.errors();
  if (other->has_value() && (*other)->us <= options.worth * best->us) {
    tuned.proposal = {(*other)->kernel->variant, (*other)->us};
  }
  return tuned;
}

std::vector<ConfigRow> rows_to_add(std::span<const TunedPoint> points) {
  std::map<Variant, ConfigRow> rows;
  std::map<Variant, std::set<int>> splits;
  for (const TunedPoint& tuned : points) {
    if (!tuned.proposal) continue;
    Variant family = tuned.proposal->variant;
    family.splits = 0;
    splits[family].insert(tuned.proposal->variant.splits);
    ConfigRow& row = rows[family];
    ++row.points;
    row.best_share = std::min(row.best_share, tuned.proposal->us / tuned.us.nominal);
  }
  std::vector<ConfigRow> out;
  for (auto& [v, row] : rows) {
    row.entry = {{"query_length", v.qlen},
                 {"splits", splits[v]},
                 {"head_groups", v.head_groups},
                 {"context_parallel", v.context_parallel},
                 {"page_size", v.page_size},
                 {"kv_dtype", dtype_name(v.kv_dtype)},
                 {"query_dtype", dtype_name(v.q_dtype)},
                 {"partial_dtype", dtype_name(v.partial_dtype)},
                 {"probability_parts", v.probability_parts},
                 {"wide_kv", v.wide_kv},
                 {"pipeline", pipeline_name(v.pipeline)},
                 {"block_tokens", v.block_tokens}};
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace mlaforge::tune
