// DS instructions that exchange pairs, exchange on a condition, wrap, and count lanes.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

/// Words at 4 * lane and at 4 * lane + 1024 hold the lane and 1000 + lane; v1 is 4 * lane.
const std::string filled =
    "v_lshlrev_b32 v1, 2, v0\nv_add_u32 v2, 1000, v0\nds_write_b32 v1, v0\nds_write_b32 v1, v2 offset:1024\n"
    "v_add_u32 v3, 2000, v0\nv_add_u32 v4, 3000, v0\ns_waitcnt lgkmcnt(0)\n";
const std::string wait = "\ns_waitcnt lgkmcnt(0)\n";

std::vector<std::vector<uint32_t>> run(const std::string& body) {
  return test::run_lanes(body, 4, MemoryMode::lazy, 4096);
}

}  // namespace

TEST_CASE("two words are exchanged, near or 64 elements apart") {
  // offset1:4 of 64 words each is byte 1024.
  const auto lanes = run(filled + "ds_wrxchg2st64_rtn_b32 v[8:9], v1, v3, v4 offset0:0 offset1:4" + wait +
                         "ds_read_b32 v10, v1\nds_read_b32 v11, v1 offset:1024" + wait);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    CHECK(lanes[lane] == std::vector<uint32_t>{lane, 1000 + lane, 2000 + lane, 3000 + lane});
  }
  const auto near = run(filled + "v_lshlrev_b32 v5, 3, v0\nds_wrxchg2_rtn_b32 v[8:9], v5, v3, v4 offset0:0 offset1:1" +
                        wait + "ds_read2_b32 v[10:11], v5 offset0:0 offset1:1" + wait);
  CHECK(near[3] == std::vector<uint32_t>{6, 7, 2003, 3003});
  const auto wide = run(filled +
                        "v_lshlrev_b32 v5, 4, v0\nv_mov_b32 v12, v3\nv_mov_b32 v13, v4\nv_mov_b32 v14, v4\n"
                        "v_mov_b32 v15, v3\ns_mov_b64 exec, 7\nds_wrxchg2_rtn_b64 v[8:11], v5, v[12:13], v[14:15] "
                        "offset0:0 offset1:1" +
                        wait + "ds_read2_b64 v[8:11], v5 offset0:0 offset1:1" + wait);
  CHECK(wide[2] == std::vector<uint32_t>{2002, 3002, 3002, 2002});
  const auto far = run(filled +
                       "v_lshlrev_b32 v5, 3, v0\nv_mov_b32 v12, v3\nv_mov_b32 v13, v4\ns_mov_b64 exec, 1\n"
                       "ds_wrxchg2st64_rtn_b64 v[8:11], v5, v[12:13], v[12:13] offset0:0 offset1:2" +
                       wait);
  CHECK(far[0] == std::vector<uint32_t>{0, 1, 1000, 1001});
}

TEST_CASE("dwords with bit 31 set are exchanged without it") {
  const auto lanes = run(filled +
                         "v_lshlrev_b32 v5, 3, v0\nv_mov_b32 v6, 0x80000005\nv_mov_b32 v7, 9\n"
                         "s_mov_b64 exec, 0xffffffff\nds_condxchg32_rtn_b64 v[8:9], v5, v[6:7]" +
                         wait + "ds_read_b64 v[10:11], v5" + wait);
  CHECK(lanes[4] == std::vector<uint32_t>{8, 9, 5, 9});
}

TEST_CASE("a counter wraps by one operand or the other") {
  // tmp >= data: minus data; else plus the second operand. All lanes work on one word, in lane order.
  const auto lanes =
      run("v_mov_b32 v1, 0\nv_mov_b32 v2, 5\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, 4\n"
          "v_mov_b32 v4, 10\nds_wrap_rtn_b32 v8, v1, v3, v4" +
          wait);
  CHECK(lanes[0][0] == 5);
  CHECK(lanes[1][0] == 1);
  CHECK(lanes[2][0] == 11);
  CHECK(lanes[3][0] == 7);
  CHECK(lanes[4][0] == 3);
  CHECK(lanes[5][0] == 13);
}

TEST_CASE("f64 values are exchanged where they compare equal, -0 and 0 among them") {
  const auto lanes =
      run("v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0x80000000\nds_write_b64 v1, v[2:3]\n"
          "s_waitcnt lgkmcnt(0)\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 7\nv_mov_b32 v7, 8\n"
          "ds_cmpst_rtn_f64 v[8:9], v1, v[4:5], v[6:7]" +
          wait + "ds_read_b64 v[10:11], v1" + wait);
  CHECK(lanes[9] == std::vector<uint32_t>{0, 0x80000000, 7, 8});
}

TEST_CASE("append and consume count the lanes that are on") {
  const auto lanes =
      run("v_mov_b32 v1, 0\nv_mov_b32 v2, 50\nds_write_b32 v1, v2 offset:72\ns_waitcnt lgkmcnt(0)\n"
          "s_mov_b32 m0, 64\ns_mov_b64 exec, 0x7f00\nds_append v8 offset:8" +
          wait + "ds_consume v9 offset:8" + wait + "ds_append v10 offset:8" + wait);
  CHECK(lanes[9][0] == 50);
  CHECK(lanes[9][1] == 57);
  CHECK(lanes[9][2] == 50);
}
