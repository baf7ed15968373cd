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
  // 24 CTAs an XCD: one round of 8 blocks. Partials 64 x 48 x 1028 = 3,158,016 bytes; 7100 + that / 2417 to combine.
  CHECK(clocks(1, 65536) == 7500 + 8 * 2770 + 7100 + 1306);
  // 33 CTAs: two rounds of 7. HBM: 7500 + 5500 + (65536 x 576 + 4,194,240) / 2417 = 30,353; an eighth of what both
  // share.
  row.splits = 85;
  CHECK(clocks(1, 65536) == 49280 + (2 * 30353 - 49280) / 8 + 7100 + 1735);
  // HBM binds 64 requests of 4 splits and one position: 7500 + (64 x 8192 x 576 + 64 x 4 x 12 x 1028) / 2417.
  row.qlen = 1;
  row.head_groups = 1;
  row.splits = 4;
  CHECK(clocks(64, 8192) == 7500 + 126250 + 7100 + 1306);
  // 64-token blocks, two CTAs a CU: 48 CTAs on 32 CUs of an XCD share them, 5 blocks of 2700; 32 have a CU each.
  row.block_tokens = 64;
  row.head_groups = 3;
  row.splits = 128;
  CHECK(clocks(1, 64 * 640) == 7500 + 5 * 2700 + 7100 + 128 * 12 * 1028 / 2417);
  row.head_groups = 2;
  CHECK(clocks(1, 64 * 640) == 7500 + 5 * 1870 + 7100 + 128 * 12 * 1028 / 2417);
  // Two row tiles, warp-specialized, one split.
  row.block_tokens = 128;
  row.qlen = 4;
  row.splits = 1;
  row.pipeline = MLAFORGE_WARP_SPECIALIZED;
  CHECK(clocks(1, 4096) == 7500 + 3000 + 32 * (2770 + 1300));
  // As large as the fields go, nothing wraps.
  row.splits = 256;
  CHECK(clocks(INT32_MAX, INT32_MAX) > clocks(1 << 19, INT32_MAX));
}

TEST_CASE("predicted clocks are near the cycle model's") {
  struct Point {
    int block, qlen, groups, batch;
    int64_t context;
    int splits;
    double us;  // attention, gap and combine: `mlaforge bench`, nominal total less the launch
  };
  const Point points[] = {
      {128, 1, 1, 1, 4096, 1, 39.90},    {128, 1, 1, 1, 4096, 32, 7.27},    {128, 1, 1, 1, 68400, 64, 17.34},
      {128, 1, 1, 1, 68400, 128, 14.08}, {128, 1, 1, 8, 16384, 32, 19.74},  {128, 1, 1, 8, 68400, 64, 64.57},
      {128, 1, 1, 64, 8192, 4, 58.67},   {128, 4, 3, 1, 68400, 80, 15.46},  {128, 4, 3, 8, 16384, 32, 29.33},
      {128, 1, 1, 256, 4096, 1, 108.07}, {64, 1, 1, 1, 4096, 1, 52.82},     {64, 1, 1, 1, 4096, 64, 6.87},
      {64, 1, 1, 1, 68400, 128, 13.80},  {64, 1, 1, 8, 16384, 64, 20.05},   {64, 1, 1, 8, 16384, 128, 22.63},
      {64, 4, 3, 1, 68400, 128, 17.28},  {64, 4, 3, 1, 68400, 256, 19.01},  {64, 1, 1, 64, 68400, 4, 446.28},
      {128, 4, 2, 1, 4096, 1, 58.66},    {128, 4, 2, 1, 68400, 128, 18.41},
  };
  for (const Point& point : points) {
    mlaforge_kernel_row row{};
    row.heads = 12;
    row.qlen = point.qlen;
    row.head_groups = point.groups;
    row.block_tokens = point.block;
    row.splits = point.splits;
    row.partial_dtype = MLAFORGE_BF16;
    row.pipeline = point.groups == 2 ? MLAFORGE_WARP_SPECIALIZED : MLAFORGE_UNIFORM;
    const int64_t clocks = predicted_clocks(split_problem(point.batch, point.context), candidate_of(row, 256));
    INFO(point.block << "-token blocks, qlen " << point.qlen << ", batch " << point.batch << ", context "
                     << point.context << ", splits " << point.splits);
    CHECK(static_cast<double>(clocks) / 2400 == Approx(point.us).epsilon(0.09));
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
