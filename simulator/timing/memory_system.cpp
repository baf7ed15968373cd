#include "simulator/timing/memory_system.h"

#include <algorithm>
#include <numeric>

namespace mlaforge::simulator::timing {
namespace {

constexpr double absent = -1;

/// Of ascending addresses the two halves of a line are neighbours.
std::vector<uint32_t> find_partners(std::span<const uint64_t> sectors) {
  std::vector<uint32_t> partners(sectors.size());
  std::iota(partners.begin(), partners.end(), 0);
  for (uint32_t i = 1; i < sectors.size(); ++i) {
    if (sectors[i - 1] == (sectors[i] ^ 1)) std::swap(partners[i - 1], partners[i]);
  }
  return partners;
}

}  // namespace

MemorySystem::MemorySystem(const Parameters& parameters, const MemoryShare& share, std::span<const uint64_t> sectors,
                           const std::vector<bool>& recent)
    : parameters_(parameters), recent_(recent), ready_(sectors.size(), absent) {
  const double part = share.cus / share.active_cus;
  const double xcd_tb_s = std::min(parameters.hbm_tb_s / share.xcds, parameters.xcd_fabric_tb_s);
  hbm_rate_ = xcd_tb_s * 1e3 / parameters.clock_ghz * part;
  l2_rate_ = parameters.l2_bytes_per_clk * part;
  capacity_sectors_ = static_cast<uint64_t>(parameters.l2_bytes * part) / sector_bytes;
  fetches_lines_ = parameters.memory_fetch_bytes > sector_bytes;
  if (fetches_lines_) partner_ = find_partners(sectors);
}

void MemorySystem::keep(uint32_t sector, double ready) {
  ready_[sector] = ready;
  resident_.push_back(sector);
  if (resident_.size() > capacity_sectors_) {
    ready_[resident_.front()] = absent;
    resident_.pop_front();
  }
}

void MemorySystem::fetch(double time, uint32_t sector) {
  const double bytes = fetches_lines_ ? 2.0 * sector_bytes : sector_bytes;
  hbm_free_ = std::max(hbm_free_, time) + bytes / hbm_rate_;
  hbm_bytes_ += static_cast<uint64_t>(bytes);
  const bool recent = !recent_.empty() && recent_[sector];
  const double ready = hbm_free_ + (recent ? parameters_.mall_latency_clk : parameters_.hbm_latency_clk);
  keep(sector, ready);
  if (fetches_lines_ && partner_[sector] != sector && ready_[partner_[sector]] == absent) {
    keep(partner_[sector], ready);
  }
}

double MemorySystem::read(double time, std::span<const uint32_t> sectors, double latency_clk) {
  double arrival = time + latency_clk;
  for (const uint32_t sector : sectors) {
    l2_free_ = std::max(l2_free_, time) + sector_bytes / l2_rate_;
    l2_bytes_ += sector_bytes;
    if (ready_[sector] == absent) fetch(time, sector);
    arrival = std::max({arrival, l2_free_ + latency_clk, ready_[sector]});
  }
  return arrival;
}

double MemorySystem::write(double time, std::span<const uint32_t> sectors) {
  for (const uint32_t sector : sectors) {
    l2_free_ = std::max(l2_free_, time) + sector_bytes / l2_rate_;
    l2_bytes_ += sector_bytes;
    if (ready_[sector] == absent) keep(sector, time);
  }
  return std::max(l2_free_, time) + parameters_.l2_latency_clk;
}

}  // namespace mlaforge::simulator::timing
