// Data movement between lanes: DPP patterns lane by lane, swaps, readlane and their neighbours.
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

constexpr uint32_t kOld = 0x5000;

struct Pattern {
  std::string text;
  std::function<int(int)> source;  // -1: none
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{
      {"quad_perm:[3,1,0,2]",
       [](int l) {
         const int quad[] = {3, 1, 0, 2};
         return l / 4 * 4 + quad[l % 4];
       }},
      {"row_shl:1", [](int l) { return l % 16 + 1 < 16 ? l + 1 : -1; }},
      {"row_shl:15", [](int l) { return l % 16 == 0 ? l + 15 : -1; }},
      {"row_shr:3", [](int l) { return l % 16 >= 3 ? l - 3 : -1; }},
      {"row_ror:5", [](int l) { return l / 16 * 16 + (l % 16 + 11) % 16; }},
      {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
      {"wave_shr:1", [](int l) { return l > 0 ? l - 1 : -1; }},
      {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
      {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
      {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
      {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
      {"row_bcast:15", [](int l) { return l >= 16 ? l / 16 * 16 - 1 : -1; }},
      {"row_bcast:31", [](int l) { return l >= 32 ? 31 : -1; }},
      {"row_newbcast:6", [](int l) { return l / 16 * 16 + 6; }},
  };
  return all;
}

}  // namespace

TEST_CASE("every DPP pattern, lane by lane, with and without bound_ctrl and under EXEC") {
  for (const Pattern& pattern : patterns()) {
    for (const bool bound : {false, true}) {
      const std::string text =
          "v_mov_b32_dpp v0, v1 " + pattern.text + " row_mask:0xf bank_mask:0xf" + (bound ? " bound_ctrl:0" : "");
      INFO(text);
      const auto instructions = WaveRunner::decode(text);
      for (uint64_t exec : {~uint64_t{0}, uint64_t{0xf0f0ffff00ff5a5a}}) {
        WaveRunner wave;
        wave.wave().set_exec(exec);
        wave.set(0, kOld);
        for (int lane = 0; lane < 64; ++lane) wave.v(1, lane) = 100 + static_cast<uint32_t>(lane);
        wave.execute(instructions[0]);
        for (int lane = 0; lane < 64; ++lane) {
          const int source = pattern.source(lane);
          const bool valid = source >= 0 && (exec >> source & 1) != 0;
          const uint32_t expected = (exec >> lane & 1) == 0 ? kOld
                                    : valid                 ? 100 + static_cast<uint32_t>(source)
                                    : bound                 ? 0
                                                            : kOld;
          CAPTURE(lane, source, exec);
          REQUIRE(wave.v(0, lane) == expected);
        }
      }
    }
  }
}

TEST_CASE("DPP row and bank masks leave lanes alone, and other sources are not moved") {
  WaveRunner wave;
  wave.set(0, kOld);
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(1, lane) = static_cast<uint32_t>(lane);
    wave.v(2, lane) = 1000 * static_cast<uint32_t>(lane);
  }
  wave.run("v_add_u32_dpp v0, v1, v2 row_mirror row_mask:0xa bank_mask:0x5");
  for (int lane = 0; lane < 64; ++lane) {
    const bool on = (0xa >> (lane / 16) & 1) != 0 && (0x5 >> (lane % 16 / 4) & 1) != 0;
    const auto source = static_cast<uint32_t>(lane / 16 * 16 + 15 - lane % 16);
    CHECK(wave.v(0, lane) == (on ? source + 1000 * static_cast<uint32_t>(lane) : kOld));
  }
}

TEST_CASE("a DPP sum over a row, as compilers write it") {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) wave.v(1, lane) = 1u << (lane % 16);
  wave.run(
      "v_add_u32_dpp v1, v1, v1 row_ror:8 row_mask:0xf bank_mask:0xf\n"
      "v_add_u32_dpp v1, v1, v1 row_ror:4 row_mask:0xf bank_mask:0xf\n"
      "v_add_u32_dpp v1, v1, v1 row_ror:2 row_mask:0xf bank_mask:0xf\n"
      "v_add_u32_dpp v1, v1, v1 row_ror:1 row_mask:0xf bank_mask:0xf");
  for (int lane = 0; lane < 64; ++lane) CHECK(wave.v(1, lane) == 0xffff);
}

TEST_CASE("permlane swaps exchange odd rows of the first with even rows of the second") {
  for (int size : {16, 32}) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      wave.v(1, lane) = static_cast<uint32_t>(lane);
      wave.v(2, lane) = 100 + static_cast<uint32_t>(lane);
    }
    wave.run(size == 16 ? "v_permlane16_swap_b32 v1, v2" : "v_permlane32_swap_b32 v1, v2");
    for (int lane = 0; lane < 64; ++lane) {
      const bool odd = lane / size % 2 != 0;
      // r0 = [old0, src0, old2, src2], r1 = [old1, src1, old3, src3] in rows of 16 (gfx950.md 7).
      CHECK(wave.v(1, lane) == static_cast<uint32_t>(odd ? 100 + lane - size : lane));
      CHECK(wave.v(2, lane) == static_cast<uint32_t>(odd ? 100 + lane : lane + size));
    }
  }
}

TEST_CASE("readlane, writelane, readfirstlane and v_swap") {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(1, lane) = 1000 + static_cast<uint32_t>(lane);
    wave.v(2, lane) = 2000 + static_cast<uint32_t>(lane);
    wave.v(3, lane) = 3000 + static_cast<uint32_t>(lane);
  }
  wave.wave().set_exec(0xff00);
  wave.s(10) = 64 + 5;  // lane numbers are taken modulo 64
  wave.run(
      "v_readfirstlane_b32 s0, v1\nv_readlane_b32 s1, v1, s10\nv_readlane_b32 s2, v1, 63\nv_writelane_b32 v2, s1, 3\n"
      "v_swap_b32 v2, v3");
  CHECK(wave.s(0) == 1008);
  CHECK(wave.s(1) == 1005);
  CHECK(wave.s(2) == 1063);
  CHECK(wave.v(2, 3) == 1005);
  CHECK(wave.v(2, 8) == 3008);
  CHECK(wave.v(3, 8) == 2008);
  CHECK(wave.v(3, 7) == 3007);
  wave.wave().set_exec(0);
  wave.run("v_readfirstlane_b32 s0, v1");
  CHECK(wave.s(0) == 1000);
}

TEST_CASE("v_mbcnt numbers the active lanes") {
  WaveRunner wave;
  wave.s(4) = 0xf0f0f0f0;
  wave.s(5) = 0x0000ffff;
  wave.run(
      "v_mbcnt_lo_u32_b32 v1, s4, 0\nv_mbcnt_hi_u32_b32 v1, s5, v1\nv_mbcnt_lo_u32_b32 v2, -1, 0\n"
      "v_mbcnt_hi_u32_b32 v2, -1, v2");
  const uint64_t mask = 0x0000fffff0f0f0f0;
  uint32_t count = 0;
  for (int lane = 0; lane < 64; ++lane) {
    CHECK(wave.v(1, lane) == count);
    CHECK(wave.v(2, lane) == static_cast<uint32_t>(lane));
    count += static_cast<uint32_t>(mask >> lane & 1);
  }
}

TEST_CASE("accumulation registers move to and from vector registers") {
  WaveRunner wave;
  wave.set(1, 77);
  wave.run(
      "v_accvgpr_write_b32 a5, v1\nv_accvgpr_mov_b32 a6, a5\nv_accvgpr_read_b32 v2, a6\nv_accvgpr_write_b32 a7, 1.0\n"
      "v_accvgpr_read_b32 v3, a7");
  CHECK(wave.a(5, 3) == 77);
  CHECK(wave.v(2, 3) == 77);
  CHECK(wave.f32(3, 3) == 1.0f);
}

TEST_CASE("v_cndmask picks by vcc or a pair, with signs") {
  WaveRunner wave;
  wave.set_f32(1, 1.0f);
  wave.set_f32(2, 2.0f);
  wave.wave().set_vcc(0xaaaaaaaaaaaaaaaa);
  wave.wave().set_sgpr_pair(6, 0x00000000ffffffff);
  wave.run(
      "v_cndmask_b32 v3, v1, v2, vcc\nv_cndmask_b32_e64 v4, -v1, |v2|, s[6:7]\nv_cndmask_b32_e64 v5, 0, 1, s[6:7]");
  for (int lane = 0; lane < 64; ++lane) {
    CHECK(wave.f32(3, lane) == (lane % 2 != 0 ? 2.0f : 1.0f));
    CHECK(wave.f32(4, lane) == (lane < 32 ? 2.0f : -1.0f));
    CHECK(wave.v(5, lane) == (lane < 32 ? 1u : 0u));
  }
}
