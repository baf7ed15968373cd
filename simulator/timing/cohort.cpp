#include <algorithm>
#include <cmath>

#include "simulator/timing/grid.h"

namespace mlaforge::simulator::timing {
namespace {

/// Rounds from which the middle ones are extrapolated.
constexpr uint64_t most_rounds = 3;
constexpr uint32_t fewest_cus = 4;

}  // namespace

uint32_t workgroups_per_cu(const Parameters& p, const KernelStream& stream) {
  constexpr uint32_t lds_granule = 1280;
  const uint32_t waves_a_simd = (stream.waves_per_workgroup + 3) / 4;
  const double by_registers = std::floor(p.vgprs_per_simd_lane / std::max(1u, stream.vgprs));
  const double slots = std::min(by_registers, p.waves_per_simd);
  double fit = std::floor(slots / waves_a_simd);
  if (stream.lds_bytes != 0) {
    const uint32_t lds = (stream.lds_bytes + lds_granule - 1) / lds_granule * lds_granule;
    fit = std::min(fit, std::floor(p.lds_bytes_per_cu / lds));
  }
  return static_cast<uint32_t>(std::max(1.0, fit));
}

Cohort choose_cohort(const Parameters& p, uint64_t grid, uint32_t per_cu, uint64_t steps, uint64_t budget) {
  Cohort cohort;
  cohort.grid = grid;
  cohort.workgroups_per_cu = per_cu;
  const auto xcds = static_cast<uint64_t>(p.xcds);
  cohort.xcds = static_cast<uint32_t>(std::min(grid, xcds));
  const uint64_t on_xcd = (grid + xcds - 1) / xcds;
  const auto all_cus = static_cast<uint64_t>(p.cus_per_xcd);
  cohort.active_cus = static_cast<uint32_t>(std::min(on_xcd, all_cus));
  // With fewer workgroups than the CUs have room for, they lie one a CU first.
  const uint64_t capacity = on_xcd <= all_cus ? on_xcd : std::min(on_xcd, all_cus * per_cu);
  cohort.rounds = on_xcd / capacity;
  const uint64_t rest = on_xcd % capacity;

  cohort.replayed_rounds = std::min(cohort.rounds, most_rounds);
  const uint64_t affordable = std::max<uint64_t>(1, budget / std::max<uint64_t>(1, steps));
  if (affordable >= on_xcd) cohort.replayed_rounds = cohort.rounds;
  const uint64_t a_cu = (capacity + cohort.active_cus - 1) / cohort.active_cus;
  const uint64_t wanted = affordable / (cohort.replayed_rounds * a_cu + (rest != 0));
  cohort.cus =
      static_cast<uint32_t>(std::clamp<uint64_t>(wanted, std::min(fewest_cus, cohort.active_cus), cohort.active_cus));

  const uint64_t a_round = std::max<uint64_t>(1, capacity * cohort.cus / cohort.active_cus);
  for (uint64_t round = 0; round < cohort.replayed_rounds; ++round) {
    for (uint64_t i = 0; i < a_round; ++i) cohort.ids.push_back((round * capacity + i) * xcds);
    cohort.round_ends.push_back(cohort.ids.size());
  }
  const uint64_t tail = rest == 0 ? 0 : std::max<uint64_t>(1, rest * cohort.cus / cohort.active_cus);
  for (uint64_t i = 0; i < tail; ++i) cohort.ids.push_back((cohort.rounds * capacity + i) * xcds);
  return cohort;
}

}  // namespace mlaforge::simulator::timing
