// The cost model by hand, and against the cycle model's figures.
#include <vector>

#include "catch.h"
#include "runtime/src/split_choice.h"

using namespace mlaforge;

TEST_CASE("predicted clocks by hand") {
  mlaforge_kernel_row row{};
  row.heads = 12;
  row.qlen = 4;
  row.head_groups = 3;
  row.block_tokens = 128;
  row.partial_dtype = MLAFORGE_BF16;
  row.splits = 64;
  const auto clocks = [&](int64_t batch, int64_t context) {
    return predicted_clocks(split_problem(batch, context), candidate_of(row, 256));
  };
  // 24 CTAs an XCD: one round of 8 blocks. Partials 64 x 48 x 1028 = 3,158,016 bytes; 5310 + that / 2417 to combine.
  CHECK(clocks(1, 65536) == 6170 + 8 * 2830 + 5310 + 1306);
  // 33 CTAs: two rounds of 7, 6170 + 1500 + 14 x 2830 = 47,290. HBM: 6860 + 5800 + (65536 x 576 + 4,194,240) /
  // 2417 = 30,013; an eighth of what both
  // share.
  row.splits = 85;
  CHECK(clocks(1, 65536) == 47290 + (2 * 30013 - 47290) / 8 + 5310 + 1735);
  // HBM binds 64 requests of 4 splits and one position: 6860 + (64 x 8192 x 576 + 64 x 4 x 12 x 1028) / 2417.
  row.qlen = 1;
  row.head_groups = 1;
  row.splits = 4;
  CHECK(clocks(64, 8192) == 6860 + 126250 + 5310 + 1306);
  // 64-token blocks, two CTAs a CU: 48 CTAs on 32 CUs of an XCD share them, 5 blocks of 2800; 32 have a CU each.
  row.block_tokens = 64;
  row.head_groups = 3;
  row.splits = 128;
  CHECK(clocks(1, 64 * 640) == 5690 + 5 * 2800 + 5310 + 128 * 12 * 1028 / 2417);
  row.head_groups = 2;
  // Computing binds there, 5690 + 5 x 1870, against 2920 + (40960 x 576 + 128 x 12 x 1028) / 2417 = 13,334.
  CHECK(clocks(1, 64 * 640) == 5690 + 5 * 1870 + 5310 + 128 * 12 * 1028 / 2417);
  // Two row tiles, warp-specialized, one split.
  row.block_tokens = 128;
  row.qlen = 4;
  row.splits = 1;
  row.pipeline = MLAFORGE_WARP_SPECIALIZED;
  CHECK(clocks(1, 4096) == 5510 + 32 * (2160 + 1090));
  // As large as the fields go, nothing wraps.
  row.splits = 256;
  CHECK(clocks(INT32_MAX, INT32_MAX) > clocks(1 << 19, INT32_MAX));
}

TEST_CASE("predicted clocks are near the cycle model's") {
  struct Point {
    int block, qlen, groups, batch;
    int64_t context;
    int splits;
    bool warp_specialized;
    double us;  // attention, gap and combine: `mlaforge bench`, nominal total less the launch
  };
  const Point points[] = {
      {128, 1, 1, 1, 4096, 1, false, 38.58},   {128, 1, 1, 1, 4096, 32, false, 5.89},
      {128, 1, 1, 1, 68400, 64, false, 15.78}, {128, 1, 1, 1, 68400, 128, false, 12.91},
      {128, 1, 1, 8, 16384, 32, false, 18.34}, {128, 1, 1, 8, 68400, 64, false, 62.5},
      {128, 1, 1, 64, 8192, 4, false, 57.68},  {128, 4, 3, 1, 68400, 80, false, 14.39},
      {128, 4, 3, 8, 16384, 32, false, 26.8},  {128, 1, 1, 256, 4096, 1, false, 107.38},
      {64, 1, 1, 1, 4096, 1, false, 51.19},    {64, 1, 1, 1, 4096, 64, false, 5.48},
      {64, 1, 1, 1, 68400, 128, false, 12.46}, {64, 1, 1, 8, 16384, 64, false, 18.84},
      {64, 1, 1, 8, 16384, 128, false, 20.8},  {64, 4, 3, 1, 68400, 128, false, 16.18},
      {64, 4, 3, 1, 68400, 256, false, 17.4},  {64, 1, 1, 64, 68400, 4, false, 443.36},
      {128, 4, 2, 1, 4096, 1, true, 45.68},    {128, 4, 2, 1, 68400, 128, true, 14.61},
      {128, 4, 3, 1, 68400, 80, true, 13.07},  {128, 4, 3, 8, 16384, 16, true, 24.66},
      {128, 1, 1, 1, 4096, 1, true, 31.09},
  };
  for (const Point& point : points) {
    mlaforge_kernel_row row{};
    row.heads = 12;
    row.qlen = point.qlen;
    row.head_groups = point.groups;
    row.block_tokens = point.block;
    row.splits = point.splits;
    row.partial_dtype = MLAFORGE_BF16;
    row.pipeline = point.warp_specialized ? MLAFORGE_WARP_SPECIALIZED : MLAFORGE_UNIFORM;
    const int64_t clocks = predicted_clocks(split_problem(point.batch, point.context), candidate_of(row, 256));
    INFO(point.block << "-token blocks, qlen " << point.qlen << ", batch " << point.batch << ", context "
                     << point.context << ", splits " << point.splits);
    CHECK(static_cast<double>(clocks) / 2400 == Approx(point.us).epsilon(0.06));
  }
}

TEST_CASE("exact quotients by a multiplication") {
  for (const uint32_t divisor : {1u, 2u, 3u, 7u, 64u, 85u, 128u, 255u, 256u, 1000u, 65535u, 65536u}) {
    const Divider by(divisor);
    for (const uint32_t quotient : {0u, 1u, 2u, 1000u, UINT32_MAX / divisor - 1}) {
      for (const uint32_t off : {0u, divisor - 1}) {
        CHECK(by.floor(quotient * divisor + off) == quotient);
      }
      CHECK((quotient == 0 || by.ceil(quotient * divisor) == quotient));
      CHECK(by.ceil(quotient * divisor + 1) == quotient + 1);
    }
  }
}

TEST_CASE("one long request is served by the kernel of 64-token blocks, two of which share a CU") {
  // The cycle model, nominal: 15.30 and 15.45 us with 128 and 256 splits, 15.58 and 16.05 with 128-token blocks.
  std::vector<SplitCandidate> candidates;
  for (const int block : {64, 128}) {
    for (const int splits : {32, 64, 128, 256}) {
      mlaforge_kernel_row row{};
      row.heads = 12;
      row.qlen = 1;
      row.head_groups = 1;
      row.block_tokens = block;
      row.splits = splits;
      row.partial_dtype = MLAFORGE_BF16;
      candidates.push_back(candidate_of(row, 256));
    }
  }
  CHECK(cheapest(split_problem(1, 68400), candidates, 0) < 4);
  CHECK(cheapest(split_problem(1, 68400), candidates, 128) % 4 == 2);
  CHECK(cheapest(split_problem(1, 68400), candidates, 7) == no_candidate);
}
