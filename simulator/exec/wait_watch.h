// Watches one s_waitcnt or s_barrier of a kernel that was weakened: which operations the original would have waited
// for, and what ended each of them in the weakened kernel. With the checks on, an end without a fault proves that
// nothing used the operation's result before.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/exec/observer.h"

namespace mlaforge::simulator {

struct WatchedWait {
  std::string kernel;
  uint64_t offset = 0;  ///< bytes from the kernel's entry
  unsigned vmcnt = 63;  ///< the original's counts; a barrier has none
  unsigned lgkmcnt = 15;
};

enum class WatchedEnd : uint8_t { wait, full_counter, wave_end };

/// Operations of one instruction that ended in one way.
struct WatchedOperation {
  std::string operation;  ///< disassembly
  bool store = false;     ///< to global memory: no register and no LDS byte is written
  WatchedEnd end{};
  std::string until;  ///< the instruction that ended it
  auto operator<=>(const WatchedOperation&) const = default;
};

struct WatchReport {
  uint64_t executions = 0;
  std::map<WatchedOperation, uint64_t> released;  ///< of those that only the original waited for; how often
};

/// Makes observers for a launch's workgroups and adds up what they saw. Lives longer than the launch.
class WaitWatch {
 public:
  explicit WaitWatch(WatchedWait watched) : watched_(std::move(watched)) {}

  const WatchedWait& watched() const { return watched_; }
  /// For one workgroup; thread-safe.
  ExecutionObserver* observer(const KernelCode& kernel);
  /// Only while no launch runs.
  const WatchReport& report() const { return report_; }

 private:
  class Observer;
  void add(const WatchedOperation& operation);

  WatchedWait watched_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ExecutionObserver>> observers_;
  WatchReport report_;
};

}  // namespace mlaforge::simulator
