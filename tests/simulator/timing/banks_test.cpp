// LDS phases and banks against the stride tables that were worked out for this chip.
#include "catch.h"
#include "simulator/timing/lds_banks.h"

using namespace mlaforge::simulator::timing;

namespace {

using Addresses = std::array<uint32_t, 64>;

/// The K operand of a 16x16x128 MFMA: row = lane % 16, 16-byte chunk = lane / 16, `swizzle` applied to the chunk.
template <typename Swizzle>
uint32_t k_read_conflict(uint32_t stride, Swizzle swizzle) {
  Addresses a;
  for (uint32_t l = 0; l < 64; ++l) a[l] = l % 16 * stride + 16 * swizzle(l / 16, l % 16);
  const LdsClocks clocks = lds_clocks(LdsAccess::read_b128, a);
  return clocks.clocks / clocks.ideal;
}

/// The V^T operand by transpose reads: rows 8 g + m / 2, columns 8 (m % 2), for lane = 16 g + m.
template <typename Swizzle>
uint32_t v_read_conflict(uint32_t stride, Swizzle swizzle) {
  Addresses a;
  for (uint32_t l = 0; l < 64; ++l) {
    const uint32_t row = 8 * (l / 16) + l % 16 / 2;
    a[l] = row * stride + 16 * swizzle(0, row) + 8 * (l % 2);
  }
  const LdsClocks clocks = lds_clocks(LdsAccess::read_b64, a);
  return clocks.clocks / clocks.ideal;
}

uint32_t plain(uint32_t chunk, uint32_t) { return chunk; }

}  // namespace

TEST_CASE("Row strides: conflicts of ds_read_b128 and of transpose reads") {
  struct Row {
    uint32_t stride, b128, tr8;
  };
  const std::array table{Row{512, 8, 16}, Row{528, 2, 1}, Row{544, 1, 2}, Row{576, 2, 4},
                         Row{592, 2, 1},  Row{608, 1, 2}, Row{640, 4, 8}, Row{656, 2, 1}};
  for (const Row& row : table) {
    CAPTURE(row.stride);
    CHECK(k_read_conflict(row.stride, plain) == row.b128);
    CHECK(v_read_conflict(row.stride, plain) == row.tr8);
  }
}

TEST_CASE("Swizzles: chunk ^ row % 8 leaves two-way conflicts at a stride of 512, chunk ^ row % 16 none") {
  const auto by8 = [](uint32_t chunk, uint32_t row) { return chunk ^ (row % 8); };
  const auto by16 = [](uint32_t chunk, uint32_t row) { return chunk ^ (row % 16); };
  CHECK(k_read_conflict(512, by8) == 2);
  CHECK(v_read_conflict(512, by8) == 2);
  CHECK(k_read_conflict(512, by16) == 1);
  CHECK(v_read_conflict(512, by16) == 1);
}

TEST_CASE("Rows of 128 bytes: four-way without a swizzle, none with chunk ^ row % 8") {
  CHECK(k_read_conflict(128, plain) == 4);
  CHECK(k_read_conflict(128, [](uint32_t chunk, uint32_t row) { return chunk ^ (row % 8); }) == 1);
}

TEST_CASE("Clocks without conflicts are the widths' rates") {
  const auto dense = [](uint32_t bytes) {
    Addresses a;
    for (uint32_t l = 0; l < 64; ++l) a[l] = l * bytes;
    return a;
  };
  // 256 B a clock for b64 and b128 reads, 128 B for the rest.
  CHECK(lds_clocks(LdsAccess::read_b32, dense(4)).clocks == 2);
  CHECK(lds_clocks(LdsAccess::read_b64, dense(8)).clocks == 2);
  CHECK(lds_clocks(LdsAccess::read_b128, dense(16)).clocks == 4);
  CHECK(lds_clocks(LdsAccess::write_b32, dense(4)).clocks == 2);
  CHECK(lds_clocks(LdsAccess::write_b64, dense(8)).clocks == 4);
  CHECK(lds_clocks(LdsAccess::write_b128, dense(16)).clocks == 8);
}

TEST_CASE("Lanes of one dword share it; lanes that are off take nothing") {
  Addresses same;
  same.fill(128);
  CHECK(lds_clocks(LdsAccess::read_b32, same).clocks == 2);
  Addresses one_bank;
  for (uint32_t l = 0; l < 64; ++l) one_bank[l] = l * 128;
  CHECK(lds_clocks(LdsAccess::read_b32, one_bank).clocks == 64);
  Addresses off;
  off.fill(inactive_lane);
  CHECK(lds_clocks(LdsAccess::read_b32, off).clocks == 0);
}
