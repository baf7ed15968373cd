#include "cli/tune/tune.h"

#include <algorithm>
#include <set>

namespace mlaforge::tune {
namespace {

struct Timed {
  const PlannedKernel* kernel = nullptr;
  double us = 0;
};

/// Faster, then the key's order, which has fewer splits (less to combine) first.
bool better(const Timed& a, const Timed& b) {
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

/// Times explored kernels; one that does not compile within the chip's limits is none.
Expected<std::optional<Timed>> best_explored(const Timer& timer, run::Kernels& loader,
                                             std::span<const PlannedKernel* const> candidates) {
  std::optional<Timed> best;
  for (const PlannedKernel* kernel : candidates) {
    if (!loader.load(*kernel, std::nullopt)) continue;
    const Expected<bench::BenchReport> report = timer(*kernel, false);
    if (!report) return report.errors();
    const Timed timed{kernel, report->total_us.nominal};
    if (!best || better(timed, *best)) best = timed;
  }
  return best;
}

}  // namespace

Expected<TunedPoint> tune_point(const HipApi& hip, run::Kernels& loader, std::span<const PlannedKernel> kernels,
                                Explored& explored, const Point& point, const TuneOptions& options) {
  const Timer timer{hip, loader, point};
  const std::vector<const PlannedKernel*> all = kernels_of(kernels, point.key);
  const std::vector<const PlannedKernel*> candidates = prune(all, point, options.keep);
  TunedPoint tuned{
      .point = point, .kernel = {}, .us = {}, .tried = {}, .left_out = all.size() - candidates.size(), .proposal = {}};
  std::optional<Timed> best;
  for (const PlannedKernel* kernel : candidates) {
    const Expected<bench::BenchReport> report = timer(*kernel, false);
    if (!report) return report.errors();
    const Timed timed{kernel, report->total_us.nominal};
    tuned.tried.push_back({kernel->plan.name, timed.us});
    if (!best || better(timed, *best)) best = timed;
    if (!report->predicted) tuned.us = {best->us, best->us, best->us};
  }
  tuned.kernel = best->kernel->plan.name;
  if (hip.is_simulator()) {
    const Expected<bench::BenchReport> report = timer(*best->kernel, true);
    if (!report) return report.errors();
    tuned.us = report->total_us;
  }
  if (!options.explore) return tuned;

  const std::vector<const PlannedKernel*> others =
      prune(explored.kernels(point, all.front()->variant, all), point, options.keep);
  const Expected<std::optional<Timed>> other = best_explored(timer, loader, others);
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
