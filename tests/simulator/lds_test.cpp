// DS instructions: transpose reads against the formulas of gfx950.md section 2, permutes, pairs, small elements,
// atomics.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

/// Fills 8 bytes a lane at lane * 8 so that every byte is told apart by (lane, byte): two rounds, lane then byte.
/// Round 0 stores the lane number in every byte, round 1 the byte number.
std::string fill(int round) {
  return round == 0 ? "v_lshlrev_b32 v1, 3, v0\nv_mul_u32_u24 v2, 0x010101, v0\nv_lshlrev_b32 v3, 24, v0\n"
                      "v_or_b32 v2, v2, v3\nv_mov_b32 v3, v2\nds_write_b64 v1, v[2:3]\ns_waitcnt lgkmcnt(0)\n"
                    : "v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v2, 0x03020100\nv_mov_b32 v3, 0x07060504\n"
                      "ds_write_b64 v1, v[2:3]\ns_waitcnt lgkmcnt(0)\n";
}

/// result[lane][byte] of the instruction reading address lane' * 8 with lane' = lane ^ 9 (so that addresses are free).
std::vector<std::vector<uint8_t>> read_bytes(const std::string& instruction, int round) {
  const auto lanes = test::run_lanes(fill(round) + "v_xor_b32 v4, 9, v0\nv_lshlrev_b32 v4, 3, v4\n" + instruction +
                                         " v[8:9], v4\ns_waitcnt lgkmcnt(0)",
                                     2, MemoryMode::lazy, 512);
  std::vector<std::vector<uint8_t>> bytes(64, std::vector<uint8_t>(8));
  for (size_t lane = 0; lane < 64; ++lane) {
    for (size_t b = 0; b < 8; ++b) bytes[lane][b] = static_cast<uint8_t>(lanes[lane][b / 4] >> (8 * (b % 4)));
  }
  return bytes;
}

}  // namespace

TEST_CASE("ds_read_b64_tr_b8") {
  const auto from_lane = read_bytes("ds_read_b64_tr_b8", 0);
  const auto from_byte = read_bytes("ds_read_b64_tr_b8", 1);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    for (uint32_t n = 0; n < 8; ++n) {
      CAPTURE(lane, n);
      const uint32_t group = lane & ~15u;
      CHECK(from_lane[lane][n] == ((group + 2 * n + (lane >> 3 & 1)) ^ 9));
      CHECK(from_byte[lane][n] == (lane & 7));
    }
  }
}

TEST_CASE("ds_read_b64_tr_b16") {
  const auto from_lane = read_bytes("ds_read_b64_tr_b16", 0);
  const auto from_byte = read_bytes("ds_read_b64_tr_b16", 1);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    for (uint32_t n = 0; n < 4; ++n) {
      CAPTURE(lane, n);
      const uint32_t group = lane & ~15u;
      for (uint32_t half = 0; half < 2; ++half) {
        CHECK(from_lane[lane][2 * n + half] == ((group + 4 * n + (lane >> 2 & 3)) ^ 9));
        CHECK(from_byte[lane][2 * n + half] == 2 * (lane & 3) + half);
      }
    }
  }
}

TEST_CASE("ds_read_b64_tr_b4 transposes 16 rows of 16 nibbles") {
  // Nibble c of lane r (of each group of 16) is (r + 3 c) mod 16: after the transposition lane c holds it at r.
  std::string body = "v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0\n";
  for (int c = 0; c < 16; ++c) {
    body += fmt::format("v_add_u32 v5, {}, v0\nv_and_b32 v5, 15, v5\nv_lshlrev_b32 v5, {}, v5\nv_or_b32 v{}, v{}, v5\n",
                        3 * c, 4 * (c % 8), 2 + c / 8, 2 + c / 8);
  }
  body += "ds_write_b64 v1, v[2:3]\ns_waitcnt lgkmcnt(0)\nds_read_b64_tr_b4 v[8:9], v1\ns_waitcnt lgkmcnt(0)";
  const auto lanes = test::run_lanes(body, 2, MemoryMode::lazy, 512);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    for (uint32_t r = 0; r < 16; ++r) {
      CAPTURE(lane, r);
      CHECK((lanes[lane][r / 8] >> (4 * (r % 8)) & 15) == (r + 3 * (lane % 16)) % 16);
    }
  }
}

TEST_CASE("a transpose read with a lane off is a fault") {
  test::TestMemory memory;
  const auto result = test::run({.source = "v_lshlrev_b32 v1, 3, v0\ns_mov_b64 exec, 0xffff\n"
                                           "ds_read_b64_tr_b8 v[8:9], v1\ns_endpgm",
                                 .lds_bytes = 512},
                                memory, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.fault->kind == FaultKind::exec_not_full);
}

TEST_CASE("bpermute pulls, permute pushes, inactive sources give 0") {
  const auto pulled = test::run_lanes(
      "v_add_u32 v2, 100, v0\nv_xor_b32 v3, 33, v0\nv_lshlrev_b32 v3, 2, v3\n"
      "ds_bpermute_b32 v8, v3, v2\ns_waitcnt lgkmcnt(0)");
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(pulled[lane][0] == 100 + (lane ^ 33));
  const auto pushed = test::run_lanes(
      "v_add_u32 v2, 100, v0\nv_add_u32 v3, 1, v0\nv_lshlrev_b32 v3, 2, v3\n"
      "ds_permute_b32 v8, v3, v2\ns_waitcnt lgkmcnt(0)");
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(pushed[lane][0] == 100 + (lane + 63) % 64);
  const auto masked = test::run_lanes(
      "v_add_u32 v2, 100, v0\nv_mov_b32 v8, 7\nv_xor_b32 v3, 1, v0\nv_lshlrev_b32 v3, 2, v3\n"
      "s_mov_b64 exec, 0x5\nds_bpermute_b32 v8, v3, v2\ns_waitcnt lgkmcnt(0)");
  CHECK(masked[0][0] == 0);  // lane 1 is off
  CHECK(masked[1][0] == 7);
}

TEST_CASE("swizzles") {
  const auto run = [](const char* pattern) {
    return test::run_lanes(fmt::format("ds_swizzle_b32 v8, v0 offset:{}\ns_waitcnt lgkmcnt(0)", pattern));
  };
  const auto reversed = run("swizzle(QUAD_PERM, 3,2,1,0)");
  const auto swapped = run("swizzle(SWAP, 16)");
  const auto broadcast = run("swizzle(BROADCAST, 8, 2)");
  const auto mirrored = run("swizzle(REVERSE, 32)");
  for (uint32_t lane = 0; lane < 64; ++lane) {
    CHECK(reversed[lane][0] == (lane ^ 3));
    CHECK(swapped[lane][0] == (lane ^ 16));
    CHECK(broadcast[lane][0] == (lane & ~7u) + 2);
    CHECK(mirrored[lane][0] == (lane ^ 31));
  }
}

TEST_CASE("pairs and their strides of 64") {
  const auto lanes = test::run_lanes(
      "v_lshlrev_b32 v1, 2, v0\nv_add_u32 v2, 1000, v0\nds_write2st64_b32 v1, v0, v2 offset1:2\ns_waitcnt lgkmcnt(0)\n"
      "ds_read2_b32 v[8:9], v1 offset0:128 offset1:0\ns_waitcnt lgkmcnt(0)",
      2, MemoryMode::lazy, 1024);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(lanes[lane] == std::vector<uint32_t>{1000 + lane, lane});
}

TEST_CASE("pairs of one and two dwords, near and 64 elements apart") {
  // v[2:3] and v[4:5] go to two places; what is read by single reads must be what a pair read gives.
  const std::string values =
      "v_lshlrev_b32 v1, 3, v0\nv_add_u32 v2, 0x1000, v0\nv_add_u32 v3, 0x2000, v0\nv_add_u32 v4, 0x3000, v0\n"
      "v_add_u32 v5, 0x4000, v0\n";
  struct Pair {
    std::string suffix;
    unsigned dwords, unit;  ///< bytes that an offset counts
  };
  for (const Pair& pair : {Pair{"2_b32", 1, 4}, {"2_b64", 2, 8}, {"2st64_b32", 1, 256}, {"2st64_b64", 2, 512}}) {
    const std::string first = pair.dwords == 1 ? "v2" : "v[2:3]", second = pair.dwords == 1 ? "v4" : "v[4:5]";
    const unsigned far = pair.unit >= 256 ? 3 : 200;
    const std::string write = fmt::format("ds_write{} v1, {}, {} offset0:1 offset1:{}\ns_waitcnt lgkmcnt(0)\n",
                                          pair.suffix, first, second, far);
    const auto one = [&](unsigned at, unsigned offset) {
      return fmt::format("ds_read_{}{} offset:{}\n", pair.dwords == 1 ? "b32 v" : "b64 v[",
                         pair.dwords == 1 ? fmt::format("{}, v1", at) : fmt::format("{}:{}], v1", at, at + 1), offset);
    };
    const unsigned n = 2 * pair.dwords;
    const auto by_single = test::run_lanes(
        values + write + one(8, pair.unit) + one(8 + pair.dwords, far * pair.unit) + "s_waitcnt lgkmcnt(0)",
        static_cast<int>(n), MemoryMode::lazy, 8192);
    const auto by_pair = test::run_lanes(
        values + write +
            fmt::format("ds_read{} v[8:{}], v1 offset0:1 offset1:{}\ns_waitcnt lgkmcnt(0)", pair.suffix, 7 + n, far),
        static_cast<int>(n), MemoryMode::lazy, 8192);
    for (uint32_t lane = 0; lane < 64; ++lane) {
      CAPTURE(pair.suffix, lane);
      const auto expected = pair.dwords == 1
                                ? std::vector<uint32_t>{0x1000 + lane, 0x3000 + lane}
                                : std::vector<uint32_t>{0x1000 + lane, 0x2000 + lane, 0x3000 + lane, 0x4000 + lane};
      CHECK(by_single[lane] == expected);
      CHECK(by_pair[lane] == expected);
    }
  }
}

TEST_CASE("addresses of M0 and the lane; three dwords") {
  const auto lanes = test::run_lanes(
      "s_movk_i32 m0, 64\nv_add_u32 v2, 500, v0\nds_write_addtid_b32 v2 offset:32\ns_waitcnt lgkmcnt(0)\n"
      "v_lshlrev_b32 v1, 2, v0\nds_read_b32 v8, v1 offset:96\nds_read_addtid_b32 v9 offset:28\n"
      "ds_read_b96 v[10:12], v1 offset:96\ns_waitcnt lgkmcnt(0)",
      4, MemoryMode::lazy, 1024);
  for (uint32_t lane = 1; lane < 62; ++lane) {
    CHECK(lanes[lane] == std::vector<uint32_t>{500 + lane, 499 + lane, 500 + lane, 501 + lane});
  }
}

TEST_CASE("ds_read_b96_tr_b6 transposes 16 rows of 16 six-bit elements, rows 16 bytes apart") {
  // Element c of lane r (of each group of 16) is 16 (r % 4) + c; the transposed lane c holds it at r.
  std::string body = "v_lshlrev_b32 v1, 4, v0\nv_and_b32 v5, 3, v0\nv_lshlrev_b32 v5, 4, v5\n";
  for (int d = 0; d < 3; ++d) body += fmt::format("v_mov_b32 v{}, 0\n", 2 + d);
  for (int c = 0; c < 16; ++c) {
    const int bit = 6 * c, word = bit / 32, in = bit % 32;
    body += fmt::format("v_add_u32 v6, {}, v5\nv_lshlrev_b32 v7, {}, v6\nv_or_b32 v{}, v{}, v7\n", c, in, 2 + word,
                        2 + word);
    if (in > 26) body += fmt::format("v_lshrrev_b32 v7, {}, v6\nv_or_b32 v{}, v{}, v7\n", 32 - in, 3 + word, 3 + word);
  }
  body += "ds_write_b96 v1, v[2:4]\ns_waitcnt lgkmcnt(0)\nds_read_b96_tr_b6 v[8:10], v1\ns_waitcnt lgkmcnt(0)";
  const auto lanes = test::run_lanes(body, 3, MemoryMode::lazy, 1024);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    for (uint32_t r = 0; r < 16; ++r) {
      CAPTURE(lane, r);
      const uint32_t bit = 6 * r;
      uint64_t words = lanes[lane][bit / 32];
      if (bit / 32 < 2) words |= uint64_t{lanes[lane][bit / 32 + 1]} << 32;
      CHECK((words >> bit % 32 & 63) == 16 * (r % 4) + lane % 16);
    }
  }
}

TEST_CASE("small elements extend, or leave the other half zero") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 0x8081f2f3\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v9, 0x11112222\nv_mov_b32 v10, 0x11112222\nds_read_i8 v8, v1\nds_read_u8_d16_hi v9, v1\n"
      "ds_read_u16_d16 v10, v1 offset:2\nds_read_i16 v11, v1 offset:2\ns_waitcnt lgkmcnt(0)",
      4, MemoryMode::lazy, 64);
  CHECK(lanes[5] == std::vector<uint32_t>{0xfffffff3, 0x00f30000, 0x00008081, 0xffff8081});
}

TEST_CASE("LDS atomics see each other in lane order") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 10\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, 3\n"
      "ds_add_rtn_u32 v8, v1, v3\ns_waitcnt lgkmcnt(0)\nds_inc_rtn_u32 v9, v1, v3\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v4, 99\nds_cmpst_rtn_b32 v10, v1, v3, v4\nds_read_b32 v11, v1\ns_waitcnt lgkmcnt(0)",
      4, MemoryMode::lazy, 64);
  CHECK(lanes[0][0] == 10);
  CHECK(lanes[63][0] == 10 + 63 * 3);
  CHECK(lanes[0][1] == 10 + 64 * 3);
  CHECK(lanes[1][1] == 0);  // 202 >= 3 wraps to 0
  CHECK(lanes[5][1] == 0);  // 0, 1, 2, 3, then 0 again
  // After 64 incs the word is (63 - 1 + 1) % 4 = 3; cmpst finds 3 and stores 99.
  CHECK(lanes[0][2] == 3);
  CHECK(lanes[1][2] == 99);
  CHECK(lanes[7][3] == 99);
}

TEST_CASE("LDS beyond the workgroup's bytes is a fault that names the lane") {
  test::TestMemory memory;
  const auto result = test::run(
      {.source = "v_lshlrev_b32 v1, 2, v0\nds_read_b32 v2, v1 offset:8\ns_endpgm", .lds_bytes = 256}, memory, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.fault->kind == FaultKind::memory_bounds);
  CHECK(result.fault->lane == 62);
}
