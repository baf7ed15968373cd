// Operand and result modifiers: neg, abs, clamp, omod, op_sel, SDWA selections, relative register indices, EXEC.
#include <algorithm>
#include <vector>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "simulator/core/ops.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

TEST_CASE("lanes that are off keep their registers") {
  WaveRunner wave;
  wave.set(0, 7);
  wave.set(1, 1);
  wave.set(4, 7);
  wave.set(5, 7);
  wave.wave().set_exec(0x8000000000000001);
  wave.run("v_add_u32 v0, v1, v1\nv_lshlrev_b64 v[4:5], 33, v[0:1]");
  for (int lane = 0; lane < 64; ++lane) {
    const bool on = lane == 0 || lane == 63;
    CHECK(wave.v(0, lane) == (on ? 2u : 7u));
    CHECK(wave.v(5, lane) == (on ? 4u : 7u));
  }
}

TEST_CASE("neg, abs, clamp and omod on floats") {
  WaveRunner wave;
  wave.set_f32(1, -3.0f);
  wave.set_f32(2, 0.75f);
  wave.set(3, 0x7fc00000);
  wave.run(
      "v_add_f32_e64 v4, |v1|, -v2\nv_mul_f32_e64 v5, v1, v2 clamp\nv_add_f32_e64 v6, v2, v2 clamp\n"
      "v_add_f32_e64 v7, v3, v2 clamp\nv_mul_f32_e64 v8, v2, v2 mul:4\nv_mul_f32_e64 v9, -|v1|, 1.0");
  CHECK(wave.f32(4, 0) == 2.25f);
  CHECK(wave.v(5, 0) == 0);
  CHECK(wave.f32(6, 0) == 1.0f);
  CHECK(wave.v(7, 0) == 0);          // DX10_CLAMP: NaN becomes 0
  CHECK(wave.f32(8, 0) == 0.5625f);  // omod is ignored in IEEE mode
  CHECK(wave.f32(9, 0) == -3.0f);
  wave.wave().mode = 0;  // no IEEE, denormals flushed, no DX10_CLAMP
  wave.run("v_mul_f32_e64 v8, v2, v2 mul:4\nv_mul_f32_e64 v9, v2, v2 div:2\nv_add_f32_e64 v7, v3, v2 clamp");
  CHECK(wave.f32(8, 0) == 2.25f);
  CHECK(wave.f32(9, 0) == 0.28125f);
  CHECK((wave.v(7, 0) & 0x7fffffff) > 0x7f800000);
}

TEST_CASE("op_sel picks halves of sources and destination") {
  WaveRunner wave;
  wave.set(1, 0x00070003);
  wave.set(2, 0x000b0005);
  wave.set(3, 0x000d0001);
  wave.set(4, 0xaaaabbbb);
  wave.set(5, 0xaaaabbbb);
  wave.run(
      "v_mad_u16 v4, v1, v2, v3 op_sel:[0,1,0,1]\nv_mad_u16 v5, v1, v2, v3 op_sel:[1,0,1,0]\n"
      "v_mad_u32_u16 v6, v1, v2, v3 op_sel:[1,1,0,0]\nv_pack_b32_f16 v7, v1, v2 op_sel:[1,0,0]");
  CHECK(wave.v(4, 0) == 0x0022bbbb);  // 3 * 11 + 1
  CHECK(wave.v(5, 0) == 0xaaaa0030);  // 7 * 5 + 13
  CHECK(wave.v(6, 0) == 7 * 11 + 0x000d0001);
  CHECK(wave.v(7, 0) == 0x00050007);
}

TEST_CASE("SDWA selects bytes and words, extends, and places the result") {
  WaveRunner wave;
  wave.set(1, 0x81f27304);
  wave.set(2, 0x0000fff0);
  for (int reg : {10, 11, 12, 13, 14, 15}) wave.set(reg, 0x99999999);
  wave.run(
      "v_add_u32_sdwa v10, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_0\n"
      "v_add_u32_sdwa v11, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_1\n"
      "v_mov_b32_sdwa v12, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1\n"
      "v_mov_b32_sdwa v13, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0\n"
      "v_mov_b32_sdwa v14, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3\n"
      "v_lshlrev_b32_sdwa v15, v2, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:BYTE_0");
  CHECK(wave.v(10, 0) == 0x81 + 0xfff0);
  CHECK(wave.v(11, 0) == 0xffffff81);
  CHECK(wave.v(12, 0) == 0x99739999);
  CHECK(wave.v(13, 0) == 0x73040000);
  CHECK(wave.v(14, 0) == 0xffff8100);
  CHECK(wave.v(15, 0) == 4);
  wave.run(
      "v_cmp_eq_u32_sdwa vcc, v1, v2 src0_sel:BYTE_0 src1_sel:WORD_1\n"
      "v_add_f16_sdwa v10, v1, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0");
  CHECK(wave.wave().vcc() == 0);
  CHECK((wave.v(10, 0) & 0xffff) == ((0x81 + 0xfff0) & 0xffff));
  const double half = decode(kF16, 0x7304);
  CHECK(wave.v(10, 0) >> 16 == encode(kF16, 2 * half));
}

TEST_CASE("16-bit constants are halves, 64-bit constants doubles") {
  WaveRunner wave;
  wave.set(1, encode(kF16, 2.0));
  wave.set64(2, std::bit_cast<uint64_t>(2.0));
  wave.run(
      "v_add_f16 v4, 1.0, v1\nv_add_u16 v5, 64, v1\nv_mul_f64 v[6:7], 0.5, v[2:3]\nv_add_f16 v8, 0x4200, v1\n"
      "v_lshlrev_b64 v[10:11], 1, -1\nv_cvt_f64_f32 v[12:13], 1.0\nv_add_f32 v14, 0x40490fdb, v1");
  CHECK(wave.v(4, 0) == encode(kF16, 3.0));
  CHECK(wave.v(5, 0) == encode(kF16, 2.0) + 64);
  CHECK(wave.f64(6, 0) == 1.0);
  CHECK(wave.v(8, 0) == encode(kF16, 5.0));
  CHECK(wave.u64(10, 0) == 0xfffffffffffffffe);
  CHECK(wave.f64(12, 0) == 1.0);
}

TEST_CASE("s_set_gpr_idx moves the registers that M0 enables") {
  WaveRunner wave;
  for (int reg = 0; reg < 32; ++reg) wave.set(reg, static_cast<uint32_t>(100 + reg));
  wave.wave().mode |= mode_bits::gpr_idx_en;
  wave.wave().sgpr[m0_index] = 3 | 1u << 12;  // source 0
  wave.run("v_mov_b32 v0, v10\nv_add_u32 v1, v10, v10");
  CHECK(wave.v(0, 0) == 113);
  CHECK(wave.v(1, 0) == 113 + 110);
  wave.wave().sgpr[m0_index] = 5 | 8u << 12;  // destination
  wave.run("v_mov_b32 v2, v10\nv_add_f32 v3, 1.0, 1.0");
  CHECK(wave.v(7, 0) == 110);
  CHECK(wave.v(2, 0) == 102);
  CHECK(wave.f32(8, 0) == 2.0f);
  wave.wave().mode = hip_mode;
  wave.run("v_mov_b32 v2, v10");
  CHECK(wave.v(2, 0) == 110);
}

TEST_CASE("a reversed or unusual mode leaves integer instructions alone") {
  WaveRunner wave;
  wave.wave().mode = 3;
  wave.set(1, 1);
  wave.run("v_add_u32 v0, v1, v1\nv_max_i32 v2, v1, 0");
  CHECK(wave.v(0, 0) == 2);
  CHECK(wave.v(2, 0) == 1);
}

TEST_CASE("every mnemonic of the tables is known once") {
  std::vector<std::string_view> names;
  for (const OpEntry& entry : alu_ops()) names.push_back(entry.mnemonic);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
