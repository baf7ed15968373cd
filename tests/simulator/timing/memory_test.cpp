// HBM streams and latencies, L2 hits, DMA into LDS.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/timing/clocks.h"

using namespace mlaforge::simulator::timing;
using test::Run;

namespace {

Parameters nominal() { return parameters_at(mi355x(), Point::nominal); }

/// Waves that bring 1 KiB an instruction to LDS, all from lines of their own: `loads` each of 4 waves a workgroup.
Run dma_stream(uint32_t workgroups, int loads) {
  const int bytes_a_wave = loads * 1024;
  std::string body;
  for (int i = 0; i < loads; ++i) {
    body += "global_load_lds_dwordx4 v1, s[8:9]\nv_add_u32 v1, 0x400, v1\n";
    if (i % 16 == 15) body += "s_waitcnt vmcnt(8)\n";
  }
  const std::string before = fmt::format(
      "v_lshrrev_b32 v2, 6, v0\nv_and_b32 v3, 63, v0\ns_lshl_b32 s3, s2, 2\nv_add_u32 v2, s3, v2\n"
      "s_mov_b32 s20, {}\nv_mul_lo_u32 v2, v2, s20\nv_lshl_add_u32 v1, v3, 4, v2\ns_mov_b32 m0, 0\ns_nop 0\n",
      bytes_a_wave);
  return {.before = before + body + "s_waitcnt vmcnt(0)",
          .body = "",
          .threads = 256,
          .workgroups = workgroups,
          .lds_bytes = 160000,  // one workgroup a CU
          .buffer_bytes = uint64_t{workgroups} * 4 * static_cast<uint64_t>(bytes_a_wave)};
}

double stream_tb_s(uint32_t workgroups) {
  // Twice the loads, so that the start cancels.
  const LaunchTiming a = test::time_kernel(dma_stream(workgroups, 32), 0);
  const LaunchTiming b = test::time_kernel(dma_stream(workgroups, 96), 0);
  const auto i = static_cast<size_t>(Point::nominal);
  return (b.hbm_bytes - a.hbm_bytes) / (b.us[i] - a.us[i]) * 1e-6;
}

}  // namespace

TEST_CASE("A stream of all CUs gets the attainable bandwidth") {
  CHECK(stream_tb_s(256) == Approx(nominal().hbm_tb_s).epsilon(0.02));
}

TEST_CASE("One CU's stream is bound by its own path or its requests in flight, not by its share of the chip's") {
  const double alone = stream_tb_s(1);
  const double by_path = nominal().cu_memory_bytes_per_clk * nominal().clock_ghz * 1e-3;
  CHECK(alone <= by_path * 1.001);
  CHECK(alone > 3 * nominal().hbm_tb_s / 256);
}

TEST_CASE("A dependent load from HBM takes about 790 clocks, a hit in L2 its own latency") {
  // Each load's address depends on the one before; the buffer holds zeros.
  const auto chase = [](const std::string& step, uint64_t bytes) {
    return test::clocks_a_body({.before = "v_mov_b32 v1, 0",
                                .body = "global_load_dword v2, v1, s[8:9]\ns_waitcnt vmcnt(0)\n" + step,
                                .threads = 64,
                                .workgroups = 1,
                                .lds_bytes = 0,
                                .buffer_bytes = bytes},
                               4, 12);
  };
  const double arithmetic = 4 + 4 + 8;  // the load's, the wait's and the two vector instructions' issue
  const double hbm = chase("v_add_u32 v1, 0x1000, v1\nv_add_u32 v1, v1, v2", 1 << 20);
  CHECK(hbm == Approx(nominal().hbm_latency_clk + arithmetic).margin(24));
  const double hit = chase("v_add_u32 v1, v1, v2\nv_add_u32 v1, v1, v2", 1 << 20);
  CHECK(hit == Approx(nominal().l2_latency_clk + arithmetic).margin(24));
}

TEST_CASE("Workgroups of an XCD that read the same lines fetch them once") {
  // All read the same 64 KiB: workgroup's number does not enter the address.
  std::string body;
  for (int i = 0; i < 64; ++i) body += "global_load_dwordx4 v[4:7], v1, s[8:9]\nv_add_u32 v1, 0x400, v1\n";
  const Run run{.before = "v_and_b32 v3, 63, v0\nv_lshlrev_b32 v1, 4, v3\n" + body + "s_waitcnt vmcnt(0)",
                .body = "",
                .threads = 64,
                .workgroups = 64,
                .lds_bytes = 160000,
                .buffer_bytes = 1 << 17};
  const LaunchTiming timing = test::time_kernel(run, 0);
  // Eight XCDs fetch 64 KiB each, and the kernel arguments' line.
  CHECK(timing.hbm_bytes == 8.0 * (65536 + 64));
}

TEST_CASE(
    "A row of 576 bytes at an odd slot costs its own nine sectors where 64 bytes are fetched, ten where 128 are") {
  std::string body = "v_lshlrev_b32 v1, 4, v3\n";
  const Run run{.before = "v_and_b32 v3, 63, v0\ns_mov_b32 exec_lo, -1\ns_mov_b32 exec_hi, 0xf\n" + body +
                          "global_load_dwordx4 v[4:7], v1, s[8:9] offset:576\ns_waitcnt vmcnt(0)",
                .body = "",
                .threads = 64,
                .workgroups = 1,
                .lds_bytes = 0,
                .buffer_bytes = 1 << 16};
  const auto bytes = [&](double fetch) {
    DeviceFile device = mi355x();
    for (ParameterRow& row : device.rows) {
      if (row.name == "memory_fetch_bytes") row.value = fetch;
    }
    return test::time_kernel(run, 0, device).hbm_bytes;
  };
  CHECK(bytes(64) - 64 == 9 * 64);
  CHECK(bytes(128) - 128 == 10 * 64);
}

TEST_CASE("vmcnt counts in order: waiting for the first load does not wait for a later miss") {
  // The first load hits the line that was loaded before; the second goes to HBM.
  const std::string warm =
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 0x2000\nglobal_load_dword v4, v1, s[8:9]\ns_waitcnt vmcnt(0)\n";
  const auto clocks = [&](const std::string& wait) {
    // What follows the wait is long enough to show what it waited for.
    return test::time_kernel({.before = warm + "global_load_dword v5, v1, s[8:9]\nglobal_load_dword v6, v2, s[8:9]\n" +
                                        wait + "\ns_sleep 12\ns_waitcnt vmcnt(0)",
                              .body = "",
                              .threads = 64,
                              .workgroups = 1,
                              .lds_bytes = 0,
                              .buffer_bytes = 1 << 16},
                             0)
        .nominal_clocks;
  };
  const double sleep = 64 * 12;
  const double saved = clocks("s_waitcnt vmcnt(0)") - clocks("s_waitcnt vmcnt(1)");
  const double gap = nominal().hbm_latency_clk - nominal().l2_latency_clk;
  CHECK(saved == Approx(std::min(sleep, gap)).margin(24));
}
