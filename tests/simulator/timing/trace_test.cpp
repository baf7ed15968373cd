// The trace that Perfetto opens: tracks, slices, and that they cover what the waves did.
#include "simulator/timing/trace.h"

#include <map>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "tests/simulator/timing/clocks.h"

using namespace mlaforge::simulator::timing;

namespace {

LaunchTiming traced() {
  GridOptions options;
  options.trace = true;
  return test::time_kernel({.before = "v_mov_b32 v1, 0",
                            .body = "ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_add_f32 v3, v2, v2\ns_barrier",
                            .threads = 128,
                            .workgroups = 1,
                            .lds_bytes = 4096},
                           5, mi355x(), options);
}

}  // namespace

TEST_CASE("Each wave is a track whose slices follow each other without gaps") {
  const LaunchTiming timing = traced();
  const double us = 1 / 2.4e3;
  const nlohmann::json trace = nlohmann::json::parse(perfetto_trace(std::span(&timing, 1), 2.4));
  std::map<int, double> end;
  std::map<int, std::string> names;
  std::map<std::string, int> causes;
  for (const auto& event : trace.at("traceEvents")) {
    const int track = event.at("tid");
    if (event.at("ph") == "M") {
      names[track] = event.at("args").at("name");
      continue;
    }
    REQUIRE(event.at("ph") == "X");
    const double begin = event.at("ts");
    if (end.count(track) != 0) CHECK(begin == Approx(end[track]).margin(us / 2));
    end[track] = begin + event.at("dur").get<double>();
    ++causes[event.at("cat")];
  }
  CHECK(end.size() == 2);
  CHECK(names[1] == "workgroup 0 wave 0 (SIMD 0)");
  CHECK(names[2] == "workgroup 0 wave 1 (SIMD 1)");
  CHECK(causes["issue_lds"] == 2 * 5);
  CHECK(causes["barrier"] == 2 * 5);
  CHECK(causes["wait_lds"] == 2 * 5);
}

TEST_CASE("Slices carry the disassembly") {
  const LaunchTiming timing = traced();
  const std::string trace = perfetto_trace(std::span(&timing, 1), 2.4);
  CHECK(trace.find("ds_read_b32 v2, v1") != std::string::npos);
  CHECK(trace.find("v_add_f32_e32 v3, v2, v2") != std::string::npos);
}

TEST_CASE("Without the option nothing is kept") {
  CHECK(test::time_kernel({.before = "", .body = "s_nop 0"}, 3).trace.empty());
}
