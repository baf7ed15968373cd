#include "cli/bench/measure.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "cli/run/device_buffer.h"

namespace mlaforge::bench {
namespace {

constexpr size_t flush_bytes = size_t{512} << 20;  ///< twice the Infinity Cache

/// HIP's events, taken by name from the library that is open.
struct Events {
  int (*create)(void** event) = nullptr;
  int (*destroy)(void* event) = nullptr;
  int (*record)(void* event, void* stream) = nullptr;
  int (*synchronize)(void* event) = nullptr;
  int (*elapsed)(float* milliseconds, void* start, void* stop) = nullptr;
  void* start = nullptr;
  void* stop = nullptr;

  ~Events() {
    for (void* event : {start, stop}) {
      if (event != nullptr) destroy(event);
    }
  }
};

template <typename Function>
Status take(const HipApi& hip, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(hip.handle, name));
  if (function == nullptr) return Diagnostic{"device", hip.path + " has no symbol " + name, {}, {}, {}};
  return std::monostate{};
}

Status checked(const HipApi& hip, const char* call, int error) {
  if (error != hip_success) return run::hip_error(hip, call, error);
  return std::monostate{};
}

Status open_events(const HipApi& hip, Events& events) {
  const Status symbols[] = {take(hip, "hipEventCreate", events.create), take(hip, "hipEventDestroy", events.destroy),
                            take(hip, "hipEventRecord", events.record),
                            take(hip, "hipEventSynchronize", events.synchronize),
                            take(hip, "hipEventElapsedTime", events.elapsed)};
  for (const Status& symbol : symbols) {
    if (!symbol) return symbol;
  }
  for (void** event : {&events.start, &events.stop}) {
    if (Status made = checked(hip, "hipEventCreate", events.create(event)); !made) return made;
  }
  return std::monostate{};
}

Expected<double> time_once(const HipApi& hip, Events& events, const std::function<Status()>& launch) {
  if (Status step = checked(hip, "hipEventRecord", events.record(events.start, nullptr)); !step) return step.errors();
  if (Status step = launch(); !step) return step.errors();
  if (Status step = checked(hip, "hipEventRecord", events.record(events.stop, nullptr)); !step) return step.errors();
  if (Status step = checked(hip, "hipEventSynchronize", events.synchronize(events.stop)); !step) return step.errors();
  float milliseconds = 0;
  if (Status step = checked(hip, "hipEventElapsedTime", events.elapsed(&milliseconds, events.start, events.stop));
      !step) {
    return step.errors();
  }
  return milliseconds * 1e3;
}

}  // namespace

Expected<Range> measure(const HipApi& hip, const std::function<Status()>& launch, int warmups, int repeats) {
  Events events;
  if (Status opened = open_events(hip, events); !opened) return opened.errors();
  Expected<run::DeviceBuffer> flush = run::DeviceBuffer::allocate(hip, flush_bytes);
  if (!flush) return flush.errors();
  std::vector<double> times;
  for (int i = 0; i < warmups + repeats; ++i) {
    if (Status flushed = flush->fill(i & 0xff); !flushed) return flushed.errors();
    const Expected<double> us = time_once(hip, events, launch);
    if (!us) return us.errors();
    if (i >= warmups) times.push_back(*us);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](size_t percent) { return times[(times.size() - 1) * percent / 100]; };
  return Range{at(10), at(50), at(90)};
}

}  // namespace mlaforge::bench
