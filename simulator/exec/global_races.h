// Checks::global_races: bytes of device memory that one workgroup of a launch
// writes and another touches. Nothing orders the workgroups of a launch, so it
// is a race whichever ran first; atomics do not race with atomics. What each
// workgroup touches is noted while it runs, and compared when all have ended.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "simulator/core/fault.h"
#include "simulator/exec/memory_queue.h"

namespace mlaforge::simulator {

struct LaunchState;

/// What a workgroup does with 64 bytes of memory, a bit a byte.
struct LineUse {
  uint64_t read = 0, written = 0, atomic = 0;
  uint64_t device = 0;  ///< address of the line's first byte; before an allocation that begins in the line
  const Instruction* reader = nullptr;
  const Instruction* writer = nullptr;  ///< or atomic
};

/// By host address / 64: the same for one byte whatever its device address.
using GlobalLog = std::unordered_map<uint64_t, LineUse>;

/// Notes an operation at its issue; its LDS and scratch sides are not memory
/// that workgroups share.
void note_global(GlobalLog& log, const Wave& wave, const PendingOp& op);

class GlobalRaces {
 public:
  /// When a workgroup has ended; thread-safe.
  void add(uint64_t workgroup, GlobalLog log);
  /// When all have: the race of the lowest workgroup, at its lowest address.
  std::optional<Fault> find(const LaunchState& launch) const;

 private:
  std::mutex mutex_;
  std::map<uint64_t, GlobalLog> logs_;  ///< by linear id
};

}  // namespace mlaforge::simulator
