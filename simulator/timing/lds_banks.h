// LDS bank conflicts by phase (gfx950: 64 banks of 4 bytes for the wide reads, 32 for all else).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mlaforge::simulator::timing {

/// How an LDS instruction's lanes are served: in phases of lanes, each phase in as many clocks as its busiest bank has
/// different dwords.
enum class LdsAccess : uint8_t { read_b32, read_b64, read_b96, read_b128, write_b32, write_b64, write_b96, write_b128 };

struct LdsClocks {
  uint32_t clocks = 0;  ///< conflicts included
  uint32_t ideal = 0;   ///< one clock a phase that has lanes
};

/// `addresses` are byte offsets of 64 lanes, `inactive_lane` for those that are off.
inline constexpr uint32_t inactive_lane = 0xffffffff;
LdsClocks lds_clocks(LdsAccess access, std::span<const uint32_t, 64> addresses);

/// The access of `bytes` a lane.
LdsAccess lds_access(bool write, uint32_t bytes);

}  // namespace mlaforge::simulator::timing
