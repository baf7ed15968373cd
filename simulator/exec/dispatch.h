// Which workgroup a host thread runs next. As on the device, workgroups start in order and those that fit are resident
// together: one that runs long, or sleeps, gives way to the next, which it may wait for.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

/// A resident workgroup that is not ended.
struct Resident {
  std::unique_ptr<Workgroup> group;
  uint64_t place = 0;   ///< in the order of the launch
  uint64_t quanta = 0;  ///< how often it has given way
};

/// What the host threads of a launch share.
class Dispatch {
 public:
  /// `resident`: workgroups that the device holds at once.
  Dispatch(uint64_t workgroups, uint64_t resident) : most_resident_(resident), limit_(workgroups) {}

  /// One to run: resumed, or to start (no quanta yet; `group` is null or one to use again). Nothing: all is done, or
  /// the rest is other threads'.
  std::optional<Resident> take();
  /// It has run a quantum and is not ended.
  void give_way(Resident resident);
  void ended() { --resident_; }
  /// The launch's fault is the one that came after the fewest quanta, of the lowest workgroup, whatever the threads.
  void fail(const Resident& resident, const Fault& fault);
  /// Nobody goes on beyond its quantum: the launch has no result.
  void abandon();

  /// Of a launch that is over.
  std::optional<Fault> take_fault() { return std::move(fault_); }

 private:
  std::optional<Resident> start_next();
  std::optional<Resident> resume_next();
  bool may_run(uint64_t quanta, uint64_t place) const;

  const uint64_t most_resident_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> limit_;  ///< workgroups at or beyond it are not started
  std::atomic<uint64_t> resident_{0};
  std::atomic<uint64_t> waiting_count_{0};
  std::mutex mutex_;
  std::deque<Resident> waiting_;  ///< the next to resume first
  bool start_before_resume_ = false;
  std::optional<Fault> fault_;
  uint64_t fault_quanta_ = 0;
  uint64_t fault_place_ = 0;
};

}  // namespace mlaforge::simulator
