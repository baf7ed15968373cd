// LDS bandwidth and latency, and barriers.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/timing/clocks.h"

using namespace mlaforge::simulator::timing;
using test::clocks_a_body;
using test::Run;

namespace {

/// Eight reads in flight, then a wait for them.
std::string reads(const std::string& mnemonic, int registers) {
  std::string body;
  for (int i = 0; i < 8; ++i) {
    const int first = 16 + i * registers;
    body += registers == 1 ? fmt::format("{} v{}, v1\n", mnemonic, first)
                           : fmt::format("{} v[{}:{}], v1\n", mnemonic, first, first + registers - 1);
  }
  return body + "s_waitcnt lgkmcnt(0)";
}

/// Bytes a clock of a CU with eight waves that read, lanes 1 << shift bytes apart.
double bandwidth(const std::string& mnemonic, int registers, int shift) {
  const Run run{.before = fmt::format("v_and_b32 v1, 63, v0\nv_lshlrev_b32 v1, {}, v1", shift),
                .body = reads(mnemonic, registers),
                .threads = 512,
                .workgroups = 1,
                .lds_bytes = 65536};
  return 8.0 * 8 * 64 * 4 * registers / clocks_a_body(run);
}

}  // namespace

TEST_CASE("Wide reads reach 180 to 210 bytes a clock, as measured") {
  for (const auto& [mnemonic, registers, shift] : {std::tuple{"ds_read_b64", 2, 3}, std::tuple{"ds_read_b128", 4, 4}}) {
    CAPTURE(mnemonic);
    const double bytes = bandwidth(mnemonic, registers, shift);
    CHECK(bytes >= 180);
    CHECK(bytes <= 210);
  }
}

TEST_CASE("b32 reads reach 128 bytes a clock at most") {
  const double bytes = bandwidth("ds_read_b32", 1, 2);
  CHECK(bytes > 100);
  CHECK(bytes <= 128);
}

TEST_CASE("Conflicts divide the bandwidth by their degree") {
  const double free = bandwidth("ds_read_b128", 4, 4);
  // Lanes 256 bytes apart: all sixteen lanes of a phase meet in the same four banks.
  CHECK(bandwidth("ds_read_b128", 4, 8) == Approx(free / 16).epsilon(0.05));
  const LaunchTiming timing = test::time_kernel({.before = "v_and_b32 v1, 63, v0\nv_lshlrev_b32 v1, 8, v1",
                                                 .body = reads("ds_read_b128", 4),
                                                 .threads = 512,
                                                 .workgroups = 1,
                                                 .lds_bytes = 65536},
                                                20);
  CHECK(timing.lds_conflict_share == Approx(15.0 / 16).epsilon(0.01));
}

TEST_CASE("ds_read2_b64 takes four times as long as the two reads it stands for") {
  const auto clocks = [](const std::string& body) {
    return clocks_a_body({.before = "v_and_b32 v1, 63, v0\nv_lshlrev_b32 v1, 3, v1",
                          .body = body + "\ns_waitcnt lgkmcnt(0)",
                          .threads = 1024,
                          .workgroups = 1,
                          .lds_bytes = 65536,
                          .buffer_bytes = 0,
                          .vgprs = 64});
  };
  const std::string pairs = "ds_read2_b64 v[16:19], v1 offset1:64\nds_read2_b64 v[20:23], v1 offset1:64\n";
  const std::string singles =
      "ds_read_b64 v[16:17], v1\nds_read_b64 v[18:19], v1 offset:512\n"
      "ds_read_b64 v[20:21], v1\nds_read_b64 v[22:23], v1 offset:512\n";
  CHECK(clocks(test::repeat(pairs, 3)) / clocks(test::repeat(singles, 3)) == Approx(4).epsilon(0.1));
}

TEST_CASE("A read's latency is 64 to 69 clocks") {
  const double body = clocks_a_body({.before = "v_mov_b32 v1, 0\nds_write_b32 v1, v1\ns_waitcnt lgkmcnt(0)",
                                     .body = "ds_read_b32 v1, v1\ns_waitcnt lgkmcnt(0)",
                                     .threads = 64,
                                     .workgroups = 1,
                                     .lds_bytes = 4096});
  // The wait's own issue comes after the data.
  CHECK(body - 4 >= 64);
  CHECK(body - 4 <= 69);
}

TEST_CASE("A barrier lasts until the last wave comes") {
  const double barrier = parameters_at(mi355x(), Point::nominal).barrier_clk;
  CHECK(clocks_a_body({.before = "", .body = "s_barrier", .threads = 512}) == Approx(barrier).margin(1));
  // Wave 0 alone sleeps before each barrier; all pay for it.
  const std::string uneven = "s_cmp_eq_u32 s20, 0\ns_cbranch_scc0 1\ns_sleep 4\ns_barrier";
  const Run run{.before = "v_readfirstlane_b32 s20, v0\ns_nop 4", .body = uneven, .threads = 512};
  const double clocks = clocks_a_body(run);
  CHECK(clocks >= 256 + barrier);
  CHECK(clocks <= 256 + barrier + 16);
}
