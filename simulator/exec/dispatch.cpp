#include "simulator/exec/dispatch.h"

#include <tuple>

namespace mlaforge::simulator {

bool Dispatch::may_run(uint64_t quanta, uint64_t place) const {
  return !fault_ || std::tie(quanta, place) < std::tie(fault_quanta_, fault_place_);
}

std::optional<Resident> Dispatch::start_next() {
  const uint64_t place = next_.fetch_add(1);
  if (place >= limit_.load()) return std::nullopt;
  ++resident_;
  return Resident{nullptr, place, 0};
}

std::optional<Resident> Dispatch::take() {
  if (waiting_count_.load() == 0) {
    if (auto started = start_next()) return started;
    // Another thread's may have given way meanwhile.
    if (waiting_count_.load() == 0) return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  const auto start = [&] {
    return resident_.load() < most_resident_ && next_.load() < limit_.load() ? start_next() : std::nullopt;
  };
  // New ones and resumed ones in turn: whom a resumed one waits for starts soon, and long ones do not pile up.
  start_before_resume_ = !start_before_resume_;
  auto resident = start_before_resume_ ? start() : resume_next();
  if (resident) return resident;
  return start_before_resume_ ? resume_next() : start();
}

std::optional<Resident> Dispatch::resume_next() {
  while (!waiting_.empty()) {
    Resident resident = std::move(waiting_.front());
    waiting_.pop_front();
    --waiting_count_;
    if (may_run(resident.quanta, resident.place)) return resident;
    --resident_;
  }
  return std::nullopt;
}

void Dispatch::give_way(Resident resident) {
  const std::scoped_lock lock(mutex_);
  ++resident.quanta;
  waiting_.push_back(std::move(resident));
  ++waiting_count_;
}

void Dispatch::fail(const Resident& resident, const Fault& fault) {
  const std::scoped_lock lock(mutex_);
  --resident_;
  if (!may_run(resident.quanta, resident.place)) return;
  fault_ = fault;
  fault_quanta_ = resident.quanta;
  fault_place_ = resident.place;
  if (fault_quanta_ == 0) limit_.store(fault_place_);
}

void Dispatch::abandon() {
  const std::scoped_lock lock(mutex_);
  fault_.emplace();
  fault_quanta_ = fault_place_ = 0;  // before every workgroup
  limit_.store(0);
}

}  // namespace mlaforge::simulator
