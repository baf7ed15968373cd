#include "simulator/timing/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace mlaforge::simulator::timing {
namespace {

bool is_issue(Cause cause) { return cause <= Cause::issue_other; }

nlohmann::json name_of(const char* kind, size_t process, uint64_t track, const std::string& name) {
  return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

}  // namespace

std::string perfetto_trace(std::span<const LaunchTiming> launches, double clock_ghz) {
  const double us = 1 / (clock_ghz * 1e3);
  nlohmann::json events = nlohmann::json::array();
  for (size_t i = 0; i < launches.size(); ++i) {
    const LaunchTiming& launch = launches[i];
    const size_t process = i + 1;
    events.push_back(name_of("process_name", process, 0, launch.kernel + ", predicted, one CU"));
    std::set<uint64_t> tracks;
    for (const TraceEvent& e : launch.trace) {
      const uint64_t track = uint64_t{e.workgroup} * 64 + e.wave + 1;
      if (tracks.insert(track).second) {
        const uint64_t id = launch.cohort.ids[e.workgroup];
        events.push_back(name_of("thread_name", process, track,
                                 "workgroup " + std::to_string(id) + " wave " + std::to_string(e.wave) + " (SIMD " +
                                     std::to_string(e.simd) + ")"));
      }
      const std::string& text = launch.instructions_text[e.instruction];
      const std::string cause(to_string(e.cause));
      events.push_back({{"ph", "X"},
                        {"name", is_issue(e.cause) ? text : cause},
                        {"cat", cause},
                        {"pid", process},
                        {"tid", track},
                        {"ts", e.begin * us},
                        {"dur", (e.end - e.begin) * us},
                        {"args", {{"instruction", text}, {"clock", e.begin}}}});
    }
  }
  nlohmann::json passes = nlohmann::json::array();
  for (const LaunchTiming& launch : launches) {
    nlohmann::json times = nlohmann::json::array();
    for (const double clock : launch.pass_clocks) times.push_back(clock * us);
    passes.push_back({{"kernel", launch.kernel}, {"main_loop_us", times}});
  }
  return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ns"}, {"otherData", {{"launches", passes}}}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mlaforge::simulator::timing
