// The memory that the CUs of an XCD share: L2 with its lines in flight, and the XCD's part of the HBM's bandwidth.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "simulator/timing/parameters.h"
#include "simulator/timing/stream.h"

namespace mlaforge::simulator::timing {

/// The share of an XCD that a replay stands for: `cus` of its `active_cus`.
struct MemoryShare {
  double xcds = 8;  ///< XCDs that run workgroups of the launch
  double cus = 32;
  double active_cus = 32;
};

class MemorySystem {
 public:
  /// `sectors` are the addresses / 64 of the stream's sector numbers, ascending; `recent` (same size, or empty) marks
  /// those that an earlier kernel has just written.
  MemorySystem(const Parameters& parameters, const MemoryShare& share, std::span<const uint64_t> sectors,
               const std::vector<bool>& recent);

  /// Load to use of a read sent at `time`; calls come in order of time. `latency_clk` is that of an L2 hit.
  double read(double time, std::span<const uint32_t> sectors, double latency_clk);
  /// Time at which a write is acknowledged. Lines are then in L2.
  double write(double time, std::span<const uint32_t> sectors);

  double hbm_bytes_per_clk() const { return hbm_rate_; }
  double l2_bytes_per_clk() const { return l2_rate_; }
  uint64_t hbm_bytes() const { return hbm_bytes_; }
  uint64_t l2_bytes() const { return l2_bytes_; }

 private:
  void fetch(double time, uint32_t sector);
  void keep(uint32_t sector, double ready);

  const Parameters& parameters_;
  double hbm_rate_ = 0;
  double l2_rate_ = 0;
  uint64_t capacity_sectors_ = 0;
  bool fetches_lines_ = false;
  const std::vector<bool>& recent_;
  std::vector<uint32_t> partner_;  ///< the other half of the sector's 128-byte line, or itself
  std::vector<double> ready_;      ///< when a sector is in L2; negative: it is not
  std::deque<uint32_t> resident_;  ///< oldest first
  double l2_free_ = 0;
  double hbm_free_ = 0;
  uint64_t hbm_bytes_ = 0;
  uint64_t l2_bytes_ = 0;
};

}  // namespace mlaforge::simulator::timing
