#include "simulator/timing/grid.h"

#include <algorithm>
#include <future>
#include <numeric>

#include "simulator/timing/main_loop.h"
#include "simulator/timing/recorder.h"

namespace mlaforge::simulator::timing {
namespace {

std::vector<bool> mark_recent(const KernelStream& stream, const std::vector<AddressRange>& ranges) {
  if (ranges.empty()) return {};
  std::vector<bool> recent(stream.sectors.size());
  for (size_t i = 0; i < recent.size(); ++i) {
    const uint64_t address = stream.sectors[i] * sector_bytes;
    recent[i] = std::any_of(ranges.begin(), ranges.end(),
                            [&](const AddressRange& r) { return address + sector_bytes > r.begin && address < r.end; });
  }
  return recent;
}

/// The first `rounds` replayed rounds, and the tail.
std::vector<uint32_t> order_of(const Cohort& cohort, uint64_t rounds) {
  std::vector<uint32_t> order(cohort.round_ends[rounds - 1]);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = cohort.round_ends.back(); i < cohort.ids.size(); ++i) order.push_back(static_cast<uint32_t>(i));
  return order;
}

struct Sums {
  double hbm_bytes = 0, l2_bytes = 0;
  double path = 0, lds = 0, mfma = 0, valu = 0;  ///< clocks of the busiest CU or SIMD
  double conflict = 0, lds_all = 0;
  CauseTimes causes{};
};

Sums sums_of(const MachineResult& result) {
  Sums sums;
  sums.hbm_bytes = static_cast<double>(result.hbm_bytes);
  sums.l2_bytes = static_cast<double>(result.l2_bytes);
  for (const CuCounters& cu : result.cus) {
    sums.path = std::max(sums.path, cu.vmem_clk);
    sums.lds = std::max(sums.lds, cu.lds_clk);
    sums.mfma = std::max(sums.mfma, *std::max_element(cu.mfma_clk.begin(), cu.mfma_clk.end()));
    sums.valu = std::max(sums.valu, *std::max_element(cu.valu_clk.begin(), cu.valu_clk.end()));
    sums.conflict += cu.lds_conflict_clk;
    sums.lds_all += cu.lds_clk;
    for (size_t c = 0; c < cause_count; ++c) sums.causes[c] += cu.causes[c];
  }
  return sums;
}

/// What `later` has more than `earlier`, once for each round that was not replayed, on top of `later`.
struct Extrapolation {
  double rounds = 0;  ///< not replayed
  double operator()(double earlier, double later) const { return later + rounds * (later - earlier); }
};

struct Evaluation {
  MachineResult result;
  double clocks = 0;
  Sums sums;
};

Evaluation evaluate(const Parameters& p, const MachineInput& input, const Cohort& cohort) {
  Evaluation evaluation;
  evaluation.result = replay(p, input);
  evaluation.clocks = evaluation.result.clocks;
  evaluation.sums = sums_of(evaluation.result);
  if (cohort.replayed_rounds == cohort.rounds) return evaluation;
  MachineInput shorter = input;
  shorter.order = order_of(cohort, cohort.replayed_rounds - 1);
  shorter.trace = false;
  const MachineResult before = replay(p, shorter);
  const Sums sums = sums_of(before);
  const Extrapolation extend{static_cast<double>(cohort.rounds - cohort.replayed_rounds)};
  Sums& all = evaluation.sums;
  evaluation.clocks = extend(before.clocks, evaluation.clocks);
  all.hbm_bytes = extend(sums.hbm_bytes, all.hbm_bytes);
  all.l2_bytes = extend(sums.l2_bytes, all.l2_bytes);
  all.path = extend(sums.path, all.path);
  all.lds = extend(sums.lds, all.lds);
  all.mfma = extend(sums.mfma, all.mfma);
  all.valu = extend(sums.valu, all.valu);
  return evaluation;
}

/// The instructions with the most LDS clocks lost to conflicts.
std::vector<Conflict> find_conflicts(const KernelStream& stream) {
  constexpr size_t shown = 6;
  std::vector<Conflict> all(stream.instructions.size());
  double total = 0;
  for (const WorkgroupStream& group : stream.workgroups) {
    for (const WaveStream& wave : group.waves) {
      size_t next = 0;
      for (const uint32_t step : wave.steps) {
        if ((step & has_memory) == 0) continue;
        const MemoryFacts& facts = wave.memory[next++];
        Conflict& conflict = all[step & ~has_memory];
        conflict.lost += facts.lds_phases - facts.lds_ideal;
        conflict.degree =
            std::max(conflict.degree, facts.lds_ideal == 0 ? 0 : facts.lds_phases / double(facts.lds_ideal));
        total += facts.lds_phases - facts.lds_ideal;
      }
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].instruction = stream.instructions[i].text;
    if (total != 0) all[i].lost /= total;
  }
  std::sort(all.begin(), all.end(), [](const Conflict& a, const Conflict& b) {
    return a.lost != b.lost ? a.lost > b.lost : a.instruction < b.instruction;
  });
  all.resize(std::min(all.size(), shown));
  std::erase_if(all, [](const Conflict& conflict) { return conflict.lost == 0; });
  return all;
}

void describe_nominal(LaunchTiming& timing, const Parameters& p, const MachineInput& input, Evaluation evaluation) {
  const double us = 1 / (p.clock_ghz * 1e3);
  const Sums& sums = evaluation.sums;
  const MachineResult& result = evaluation.result;
  timing.nominal_clocks = evaluation.clocks;
  timing.bounds = {.hbm = sums.hbm_bytes / result.hbm_bytes_per_clk * us,
                   .l2 = sums.l2_bytes / result.l2_bytes_per_clk * us,
                   .cu_path = sums.path * us,
                   .lds = sums.lds * us,
                   .mfma = sums.mfma * us,
                   .valu = sums.valu * us,
                   .issue = result.longest_wave_instructions * p.issue_clk * us};
  const Cohort& cohort = timing.cohort;
  timing.hbm_bytes = sums.hbm_bytes * cohort.active_cus / cohort.cus * cohort.xcds;
  timing.lds_conflict_share = sums.lds_all == 0 ? 0 : sums.conflict / sums.lds_all;
  const double all = std::accumulate(sums.causes.begin(), sums.causes.end(), 0.0);
  for (size_t c = 0; c < cause_count; ++c) timing.causes[c] = all == 0 ? 0 : sums.causes[c] / all;
  timing.loop = steady_loop(p, result, input);
  timing.trace = std::move(evaluation.result.trace);
  for (const LoopPass& pass : result.passes) timing.pass_clocks.push_back(pass.time);
}

}  // namespace

TimingResult time_launch(const DeviceFile& device, const KernelCode& kernel, const LaunchConfig& config,
                         GlobalMemory& memory, const GridOptions& options) {
  TimingResult out;
  const Parameters nominal = parameters_at(device, Point::nominal);
  Recording first = record(kernel, config, memory, {0});
  if (first.fault) {
    out.fault = std::move(first.fault);
    return out;
  }
  LaunchTiming& timing = out.timing;
  timing.kernel = kernel.name;
  const uint32_t per_cu = workgroups_per_cu(nominal, first.stream);
  timing.cohort =
      choose_cohort(nominal, first.stream.grid_workgroups, per_cu, first.stream.instruction_count, options.budget);
  Recording recording = record(kernel, config, memory, timing.cohort.ids);
  if (recording.fault) {
    out.fault = std::move(recording.fault);
    return out;
  }
  const KernelStream& stream = recording.stream;
  timing.instructions = stream.instruction_count;
  timing.written = stream.written;
  const std::vector<bool> recent = mark_recent(stream, options.recent);
  const Cohort& cohort = timing.cohort;
  MachineInput input{.stream = stream,
                     .order = order_of(cohort, cohort.replayed_rounds),
                     .cus = cohort.cus,
                     .workgroups_per_cu = per_cu,
                     .share = {.xcds = static_cast<double>(cohort.xcds),
                               .cus = static_cast<double>(cohort.cus),
                               .active_cus = static_cast<double>(cohort.active_cus)},
                     .recent = recent,
                     .loop_head = find_main_loop(stream, stream.workgroups.front().waves.front())};
  const auto evaluate_at = [&device, &cohort](Point point, const MachineInput& at) {
    return evaluate(parameters_at(device, point), at, cohort);
  };
  // The ends of the range beside the nominal replay, on threads of their own.
  std::array<std::future<Evaluation>, 3> ends;
  for (const Point point : {Point::fast, Point::slow}) {
    if (options.ranges) ends[static_cast<size_t>(point)] = std::async(std::launch::async, evaluate_at, point, input);
  }
  input.trace = options.trace;
  Evaluation middle = evaluate_at(Point::nominal, input);
  timing.us.fill(middle.clocks / (nominal.clock_ghz * 1e3));
  for (const Point point : {Point::fast, Point::slow}) {
    std::future<Evaluation>& end = ends[static_cast<size_t>(point)];
    if (end.valid())
      timing.us[static_cast<size_t>(point)] = end.get().clocks / (parameters_at(device, point).clock_ghz * 1e3);
  }
  describe_nominal(timing, nominal, input, std::move(middle));
  timing.conflicts = find_conflicts(stream);
  if (options.trace) {
    for (const InstructionInfo& info : stream.instructions) {
      timing.instructions_text.push_back(info.text);
      timing.instructions_pc.push_back(info.pc);
    }
  }
  return out;
}

}  // namespace mlaforge::simulator::timing
