// Whole grids: occupancy, rounds, tails, and extrapolation against full replays.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/timing/clocks.h"

using namespace mlaforge::simulator::timing;
using test::Run;

namespace {

/// A workgroup of 4 waves that computes for about 6,000 clocks; `lds` decides how many fit a CU.
Run compute(uint32_t workgroups, uint32_t lds) {
  return {.before = "",
          .body = test::repeat("v_fma_f32 v1, v1, v3, v4\n", 40),
          .threads = 256,
          .workgroups = workgroups,
          .lds_bytes = lds,
          .buffer_bytes = 0,
          .vgprs = 128};
}

double clocks(const Run& run, uint64_t budget = 1'000'000'000) {
  GridOptions options;
  options.budget = budget;
  return test::time_kernel(run, 20, mi355x(), options).nominal_clocks;
}

}  // namespace

TEST_CASE("Workgroups a CU: by LDS, by registers, by wave slots") {
  const Parameters p = parameters_at(mi355x(), Point::nominal);
  const auto fit = [&](uint32_t waves, uint32_t lds, uint32_t vgprs) {
    KernelStream stream;
    stream.waves_per_workgroup = waves;
    stream.lds_bytes = lds;
    stream.vgprs = vgprs;
    return workgroups_per_cu(p, stream);
  };
  CHECK(fit(8, 160000, 128) == 1);
  CHECK(fit(4, 81920, 256) == 2);
  CHECK(fit(4, 82000, 256) == 1);
  CHECK(fit(8, 0, 256) == 1);  // two waves a SIMD of 256 registers fill it
  CHECK(fit(4, 0, 512) == 1);
  CHECK(fit(8, 0, 64) == 4);  // eight wave slots a SIMD
  CHECK(fit(1, 0, 64) == 8);
}

TEST_CASE("Twice as many workgroups as CUs take twice as long, one more workgroup a whole round") {
  const double one = clocks(compute(256, 160000));
  CHECK(clocks(compute(128, 160000)) == Approx(one).epsilon(0.1));
  CHECK(clocks(compute(512, 160000)) == Approx(2 * one).epsilon(0.1));
  CHECK(clocks(compute(257, 160000)) == Approx(2 * one).epsilon(0.1));
}

TEST_CASE("Two workgroups on a CU overlap") {
  const double alone = clocks(compute(256, 80000));
  CHECK(clocks(compute(512, 80000)) < 1.2 * alone);
}

TEST_CASE("The workgroups that stand for a grid are those of XCD 0, in the order of their dispatch") {
  const Parameters p = parameters_at(mi355x(), Point::nominal);
  const Cohort small = choose_cohort(p, 20, 1, 1000, 1'000'000);
  CHECK(small.ids == std::vector<uint64_t>{0, 8, 16});
  CHECK(small.whole());
  CHECK(small.xcds == 8);
  CHECK(choose_cohort(p, 5, 1, 1000, 1'000'000).xcds == 5);
  // 1,000 workgroups an XCD are 31 rounds and 8: three rounds are replayed, the tail is kept.
  const Cohort large = choose_cohort(p, 8000, 1, 1000, 200'000);
  CHECK(large.rounds == 31);
  CHECK(large.replayed_rounds == 3);
  CHECK_FALSE(large.whole());
  CHECK(large.ids.size() == large.round_ends.back() + 8);
  CHECK(large.ids.back() == uint64_t{999} * 8);
}

TEST_CASE("Extrapolated rounds differ from a full replay by less than 2 %") {
  for (const uint32_t workgroups : {256u * 8, 256u * 8 + 100}) {
    CAPTURE(workgroups);
    const Run run = compute(workgroups, 160000);
    const double whole = clocks(run);
    // A budget of less than the grid: fewer CUs, three rounds.
    CHECK(clocks(run, 300'000) == Approx(whole).epsilon(0.02));
  }
}

TEST_CASE("The same launch gives the same clocks, whatever else ran before") {
  const Run run = compute(300, 160000);
  CHECK(clocks(run) == clocks(run));
}

TEST_CASE("The main loop is found, with its clocks and its bounds") {
  const std::string body = test::repeat("v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[0:7], v[16:23], v[64:67]\n", 10);
  const Run run{.before = "s_movk_i32 s20, 12\n" + body +  // s_sub before the branch; the loop is `body` to here
                          "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n" +
                          fmt::format("s_cbranch_scc1 {}", 65536 - (10 * 8 + 12) / 4),
                .body = ""};
  const LaunchTiming timing = test::time_kernel(run, 0);
  REQUIRE(timing.loop.has_value());
  CHECK(timing.loop->mfma_clk == Approx(320));
  CHECK(timing.loop->clocks >= 320);
  CHECK(timing.loop->clocks <= 360);
  double of_a_wave = 0;
  for (const double clk : timing.loop->causes) of_a_wave += clk;
  CHECK(of_a_wave == Approx(timing.loop->clocks).epsilon(0.01));
}

TEST_CASE("A wave's time is accounted for wholly") {
  const LaunchTiming timing = test::time_kernel(compute(16, 160000), 20);
  double share = 0;
  for (const double part : timing.causes) share += part;
  CHECK(share == Approx(1));
}
