#include "tests/simulator/wait_state_pairs.h"

#include <fmt/format.h>

#include <array>

namespace mlaforge::simulator::test {
namespace {

using Written = WrittenInstruction;

/// Registers first .. first + count - 1 of one kind, in both spellings.
struct Registers {
  std::string assembly, machine_ir;
};
Registers registers(char kind, int first, int count) {
  const std::string_view name = kind == 'a' ? "agpr" : "vgpr";
  Registers r{count == 1 ? fmt::format("{}{}", kind, first) : fmt::format("{}[{}:{}]", kind, first, first + count - 1),
              "$"};
  for (int i = first; i < first + count; ++i) r.machine_ir += fmt::format("{}{}{}", i == first ? "" : "_", name, i);
  return r;
}
Registers v(int first, int count = 1) { return registers('v', first, count); }

/// One shape of matrix instruction: names, registers of A, B, and of C and D.
struct Matrix {
  std::string_view name, assembly, machine_ir, modifiers, immediates;
  int a, b, d;
};

constexpr std::array matrices{
    Matrix{"4x4x4 f16 (2 passes)", "v_mfma_f32_4x4x4_16b_f16", "V_MFMA_F32_4X4X4F16", "", ", 0, 0, 0", 2, 2, 4},
    Matrix{"16x16x32 fp8 (4)", "v_mfma_f32_16x16x32_fp8_fp8", "V_MFMA_F32_16X16X32_FP8_FP8", "", ", 0, 0, 0", 2, 2, 4},
    Matrix{"16x16x32 bf16 (4)", "v_mfma_f32_16x16x32_bf16", "V_MFMA_F32_16X16X32_BF16", "", ", 0, 0, 0", 4, 4, 4},
    Matrix{"16x16x128 fp8 (8)", "v_mfma_f32_16x16x128_f8f6f4", "V_MFMA_F32_16X16X128_F8F6F4_f8_f8", "", ", 0, 0", 8, 8,
           4},
    Matrix{"16x16x128 fp4 (4)", "v_mfma_f32_16x16x128_f8f6f4", "V_MFMA_F32_16X16X128_F8F6F4_f4_f4", " cbsz:4 blgp:4",
           ", 4, 4", 4, 4, 4},
    Matrix{"16x16x128 fp8 and fp4 (8)", "v_mfma_f32_16x16x128_f8f6f4", "V_MFMA_F32_16X16X128_F8F6F4_f8_f4", " blgp:4",
           ", 0, 4", 8, 4, 4},
    Matrix{"32x32x64 fp8 (16)", "v_mfma_f32_32x32x64_f8f6f4", "V_MFMA_F32_32X32X64_F8F6F4_f8_f8", "", ", 0, 0", 8, 8,
           16},
    Matrix{"32x32x64 fp4 (8)", "v_mfma_f32_32x32x64_f8f6f4", "V_MFMA_F32_32X32X64_F8F6F4_f4_f4", " cbsz:4 blgp:4",
           ", 4, 4", 4, 4, 16},
    Matrix{"32x32x16 fp8 (8)", "v_mfma_f32_32x32x16_fp8_fp8", "V_MFMA_F32_32X32X16_FP8_FP8", "", ", 0, 0, 0", 2, 2, 16},
    Matrix{"32x32x16 f16 (8)", "v_mfma_f32_32x32x16_f16", "V_MFMA_F32_32X32X16_F16", "", ", 0, 0, 0", 4, 4, 16},
    Matrix{"32x32x8 f16 (8)", "v_mfma_f32_32x32x8_f16", "V_MFMA_F32_32X32X8F16", "", ", 0, 0, 0", 2, 2, 16},
    Matrix{"32x32x4 f16 (16)", "v_mfma_f32_32x32x4_2b_f16", "V_MFMA_F32_32X32X4F16", "", ", 0, 0, 0", 2, 2, 32},
    Matrix{"16x16x4 f16 (8)", "v_mfma_f32_16x16x4_4b_f16", "V_MFMA_F32_16X16X4F16", "", ", 0, 0, 0", 2, 2, 16},
    Matrix{"16x16x64 i8 (4)", "v_mfma_i32_16x16x64_i8", "V_MFMA_I32_16X16X64_I8", "", ", 0, 0, 0", 4, 4, 4},
    Matrix{"32x32x32 i8 (8)", "v_mfma_i32_32x32x32_i8", "V_MFMA_I32_32X32X32_I8", "", ", 0, 0, 0", 4, 4, 16},
    Matrix{"32x32x4 i8 (16)", "v_mfma_i32_32x32x4_2b_i8", "V_MFMA_I32_32X32X4I8", "", ", 0, 0, 0", 1, 1, 32},
    Matrix{"4x4x1 f32 (2)", "v_mfma_f32_4x4x1_16b_f32", "V_MFMA_F32_4X4X1F32", "", ", 0, 0, 0", 1, 1, 4},
    Matrix{"16x16x4 f32 (8)", "v_mfma_f32_16x16x4_f32", "V_MFMA_F32_16X16X4F32", "", ", 0, 0, 0", 1, 1, 4},
    Matrix{"16x16x1 f32 (8)", "v_mfma_f32_16x16x1_4b_f32", "V_MFMA_F32_16X16X1F32", "", ", 0, 0, 0", 1, 1, 16},
    Matrix{"32x32x2 f32 (16)", "v_mfma_f32_32x32x2_f32", "V_MFMA_F32_32X32X2F32", "", ", 0, 0, 0", 1, 1, 16},
    Matrix{"4x4x4 f64", "v_mfma_f64_4x4x4_4b_f64", "V_MFMA_F64_4X4X4F64", "", ", 0, 0, 0", 2, 2, 2},
    Matrix{"16x16x4 f64", "v_mfma_f64_16x16x4_f64", "V_MFMA_F64_16X16X4F64", "", ", 0, 0, 0", 2, 2, 8},
};

Written matrix(const Matrix& m, int d, int a, int b, int c) {
  const Registers rd = v(d, m.d), ra = v(a, m.a), rb = v(b, m.b), rc = v(c, m.d);
  return {
      fmt::format("{} {}, {}, {}, {}{}", m.assembly, rd.assembly, ra.assembly, rb.assembly, rc.assembly, m.modifiers),
      fmt::format("{} = {}_vgprcd_e64 {}, {}, {}{}, implicit $mode, implicit $exec", rd.machine_ir, m.machine_ir,
                  ra.machine_ir, rb.machine_ir, rc.machine_ir, m.immediates)};
}
const Matrix& fp8_4 = matrices[1];
const Matrix& f32_8 = matrices[17];
const Matrix& f64_small = matrices[20];
const Matrix& f64_big = matrices[21];

Written smfmac(int d, int a, int b, int index) {
  const Registers rd = v(d, 4), ra = v(a, 4 / 2), rb = v(b, 4);
  return {fmt::format("v_smfmac_f32_16x16x32_f16 {}, {}, {}, v{}", rd.assembly, ra.assembly, rb.assembly, index),
          fmt::format("{} = V_SMFMAC_F32_16X16X32_F16_e64 {}, {}, $vgpr{}, 0, 0, {}, implicit $mode, implicit $exec",
                      rd.machine_ir, ra.machine_ir, rb.machine_ir, index, rd.machine_ir)};
}

Written mov(int d) {
  return {fmt::format("v_mov_b32 v{}, 1", d), fmt::format("$vgpr{} = V_MOV_B32_e32 1, implicit $exec", d)};
}
Written add(int d, int a) {
  return {fmt::format("v_add_u32 v{}, v{}, v{}", d, a, a),
          fmt::format("$vgpr{} = V_ADD_U32_e32 $vgpr{}, $vgpr{}, implicit $exec", d, a, a)};
}
Written store(int data) {
  return {fmt::format("global_store_dword v1, v{}, s[10:11]", data),
          fmt::format("GLOBAL_STORE_DWORD_SADDR $vgpr1, $vgpr{}, $sgpr10_sgpr11, 0, 0, implicit $exec", data)};
}
Written lds_write(int data) {
  return {fmt::format("ds_write_b32 v1, v{}", data),
          fmt::format("DS_WRITE_B32_gfx9 $vgpr1, $vgpr{}, 0, 0, implicit $exec", data)};
}
Written swap(int width, int a, int b) {
  return {
      fmt::format("v_permlane{}_swap_b32 v{}, v{}", width, a, b),
      fmt::format("$vgpr{}, $vgpr{} = V_PERMLANE{}_SWAP_B32_e32 $vgpr{}, $vgpr{}, implicit $exec", a, b, width, a, b)};
}
Written wide_store(int first, int count) {
  const Registers data = v(first, count);
  return {fmt::format("global_store_dwordx{} v1, {}, s[10:11]", count, data.assembly),
          fmt::format("GLOBAL_STORE_DWORDX{}_SADDR $vgpr1, {}, $sgpr10_sgpr11, 0, 0, implicit $exec", count,
                      data.machine_ir)};
}
Written buffer_store(std::string_view offset_assembly, std::string_view offset_ir) {
  return {fmt::format("buffer_store_dwordx4 v[4:7], v1, s[12:15], {} offen", offset_assembly),
          fmt::format("BUFFER_STORE_DWORDX4_OFFEN $vgpr4_vgpr5_vgpr6_vgpr7, $vgpr1, $sgpr12_sgpr13_sgpr14_sgpr15, {}, "
                      "0, 0, 0, implicit $exec",
                      offset_ir)};
}
/// v_cvt_pk_fp8_f32 of v4 and v5 into a half of v6.
Written pack_fp8(bool high) {
  return {fmt::format("v_cvt_pk_fp8_f32 v6, v4, v5{}", high ? " op_sel:[0,0,1]" : ""),
          fmt::format("$vgpr6 = V_CVT_PK_FP8_F32_e64 {}, $vgpr4, 0, $vgpr5, $vgpr6, 0, implicit $mode, implicit $exec",
                      high ? 8 : 0)};
}
Written dot2c(int d) {
  return {fmt::format("v_dot2c_f32_f16 v{}, v4, v5", d),
          fmt::format("$vgpr{} = V_DOT2C_F32_F16_e32 $vgpr4, $vgpr5, $vgpr{}, implicit $mode, implicit $exec", d, d)};
}

const Written exp6{"v_exp_f32 v6, v5", "$vgpr6 = V_EXP_F32_e32 $vgpr5, implicit $mode, implicit $exec"};
const Written dpp{"v_mov_b32_dpp v2, v6 row_shl:1 row_mask:0xf bank_mask:0xf",
                  "$vgpr2 = V_MOV_B32_dpp $vgpr2, $vgpr6, 257, 15, 15, 0, implicit $exec"};
const Written sdwa{"v_add_f16_sdwa v6, v4, v5 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
                   "$vgpr6 = V_ADD_F16_sdwa 0, $vgpr4, 0, $vgpr5, 0, 0, 5, 2, 6, 6, implicit $mode, implicit $exec, "
                   "implicit $vgpr6(tied-def 0)"};
const Written to_s12{"v_readfirstlane_b32 s12, v30", "$sgpr12 = V_READFIRSTLANE_B32 $vgpr30, implicit $exec"};
const Written compare{"v_cmp_eq_u32 vcc, v4, v5", "V_CMP_EQ_U32_e32 $vgpr4, $vgpr5, implicit-def $vcc, implicit $exec"};
const Written compare_exec{"v_cmpx_eq_u32 vcc, v4, v5",
                           "V_CMPX_EQ_U32_e32 $vgpr4, $vgpr5, implicit-def $exec, implicit-def $vcc, implicit $exec"};
const Written div_fmas{"v_div_fmas_f32 v2, v4, v5, v6",
                       "$vgpr2 = V_DIV_FMAS_F32_e64 0, $vgpr4, 0, $vgpr5, 0, $vgpr6, 0, 0, implicit $vcc, implicit "
                       "$mode, implicit $exec"};
const Written readlane_s12{"v_readlane_b32 s14, v5, s12", "$sgpr14 = V_READLANE_B32 $vgpr5, $sgpr12"};
const Written readlane6{"v_readlane_b32 s14, v6, 3", "$sgpr14 = V_READLANE_B32 $vgpr6, 3"};
const Written readfirstlane6{"v_readfirstlane_b32 s14, v6", "$sgpr14 = V_READFIRSTLANE_B32 $vgpr6, implicit $exec"};
const Written writelane6{"v_writelane_b32 v6, 1, 3", "$vgpr6 = V_WRITELANE_B32 1, 3, $vgpr6"};
const Written set_m0{"s_mov_b32 m0, 0", "$m0 = S_MOV_B32 0"};
const Written set_mode{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1",
                       "S_SETREG_IMM32_B32 1, 2049, implicit-def $mode, implicit $mode"};
const Written fma_f64{"v_fma_f64 v[60:61], v[62:63], v[64:65], v[66:67]",
                      "$vgpr60_vgpr61 = V_FMA_F64_e64 0, $vgpr62_vgpr63, 0, $vgpr64_vgpr65, 0, $vgpr66_vgpr67, 0, 0, "
                      "implicit $mode, implicit $exec"};

void add_matrix_pairs(std::vector<WaitStatePair>& pairs) {
  for (const Matrix& m : matrices) {
    const Written first = matrix(m, 100, 10, 20, 140);
    const auto pair = [&](std::string_view what, const Written& second) {
      pairs.push_back({fmt::format("{}, result {}", m.name, what), first, second});
    };
    pair("read by a VALU", add(2, 100));
    pair("stored", store(101));
    pair("written to the LDS", lds_write(101));
    pair("overwritten by a VALU", mov(101));
    pair("as A", matrix(fp8_4, 180, 100, 30, 184));
    pair("as A of f64", matrix(f64_big, 180, 100, 30, 190));
    pair("as the index of smfmac", smfmac(180, 30, 34, 100));
    pair("as the same addend", matrix(m, 100, 30, 40, 100));
    pair("overlapping the addend of xdl", matrix(fp8_4, 180, 30, 32, 98));
    pair("overlapping the addend of f32", matrix(f32_8, 180, 30, 32, 98));
    pair("overlapping the addend of f64", matrix(f64_big, 180, 30, 32, 94));
    pair("behind an independent one", matrix(fp8_4, 180, 30, 32, 184));
    pairs.push_back({fmt::format("{}, addend overwritten", m.name), first, mov(140)});
    pairs.push_back({fmt::format("{}, A overwritten", m.name), first, mov(10)});
  }
  pairs.push_back({"f64 matrix, then an f64 FMA", matrix(f64_big, 100, 10, 20, 140), fma_f64});
  pairs.push_back({"small f64 matrix, then an f64 FMA", matrix(f64_small, 100, 10, 20, 140), fma_f64});
  const Written scaled{"v_mfma_scale_f32_16x16x128_f8f6f4 v[100:103], v[10:17], v[20:27], v[140:143], v50, v51",
                       "$vgpr100_vgpr101_vgpr102_vgpr103 = V_MFMA_SCALE_F32_16X16X128_F8F6F4_f8_f8_vgprcd_e64 " +
                           v(10, 8).machine_ir + ", " + v(20, 8).machine_ir + ", " + v(140, 4).machine_ir +
                           ", 0, 0, $vgpr50, $vgpr51, 0, 0, implicit $mode, implicit $exec"};
  pairs.push_back({"VALU result as a scale", mov(50), scaled});
  pairs.push_back({"matrix result as a scale", matrix(fp8_4, 48, 30, 32, 184), scaled});
  pairs.push_back({"scaled matrix, result read", scaled, add(2, 100)});
  pairs.push_back({"smfmac, result read", smfmac(100, 10, 20, 30), add(2, 100)});
  pairs.push_back({"smfmac behind smfmac", smfmac(100, 10, 20, 30), smfmac(100, 12, 24, 30)});
  pairs.push_back({"VALU result as A", mov(10), matrix(fp8_4, 100, 10, 20, 140)});
  pairs.push_back({"VALU result as the addend", mov(141), matrix(fp8_4, 100, 10, 20, 140)});
  pairs.push_back({"VALU result as A of f64", mov(10), matrix(f64_big, 100, 10, 20, 140)});
  pairs.push_back({"VALU result as the index of smfmac", mov(30), smfmac(100, 10, 20, 30)});
  pairs.push_back({"exec of a VALU, then a matrix instruction", compare_exec, matrix(fp8_4, 100, 10, 20, 140)});
}

void add_scalar_pairs(std::vector<WaitStatePair>& pairs) {
  pairs.push_back({"SGPR of a VALU to a buffer's resource",
                   to_s12,
                   {"buffer_load_dword v2, v1, s[12:15], 0 offen",
                    "$vgpr2 = BUFFER_LOAD_DWORD_OFFEN $vgpr1, $sgpr12_sgpr13_sgpr14_sgpr15, 0, 0, 0, 0, implicit "
                    "$exec"}});
  pairs.push_back({"SGPR of a VALU to a global address",
                   to_s12,
                   {"global_load_dword v2, v1, s[12:13]",
                    "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr12_sgpr13, $vgpr1, 0, 0, implicit $exec"}});
  pairs.push_back({"SGPR of a VALU to a VALU",
                   to_s12,
                   {"v_add_u32 v2, s12, v3", "$vgpr2 = V_ADD_U32_e32 $sgpr12, $vgpr3, implicit $exec"}});
  pairs.push_back({"SGPR of a VALU to a SALU",
                   to_s12,
                   {"s_add_u32 s14, s12, s12", "$sgpr14 = S_ADD_U32 $sgpr12, $sgpr12, implicit-def $scc"}});
  pairs.push_back({"SGPR of a VALU to a scalar load",
                   to_s12,
                   {"s_load_dword s14, s[12:13], 0x0", "$sgpr14 = S_LOAD_DWORD_IMM $sgpr12_sgpr13, 0, 0"}});
  pairs.push_back({"SGPR of a VALU selects a lane to read", to_s12, readlane_s12});
  pairs.push_back({"SGPR of a VALU selects a lane to write",
                   to_s12,
                   {"v_writelane_b32 v5, 1, s12", "$vgpr5 = V_WRITELANE_B32 1, $sgpr12, $vgpr5"}});
  pairs.push_back({"SGPR of a VALU is written to a lane",
                   to_s12,
                   {"v_writelane_b32 v5, s12, 3", "$vgpr5 = V_WRITELANE_B32 $sgpr12, 3, $vgpr5"}});
  pairs.push_back({"SGPR of a SALU selects a lane", {"s_mov_b32 s12, 1", "$sgpr12 = S_MOV_B32 1"}, readlane_s12});
  pairs.push_back(
      {"vcc of a VALU to v_cndmask",
       compare,
       {"v_cndmask_b32 v2, v4, v5, vcc", "$vgpr2 = V_CNDMASK_B32_e32 $vgpr4, $vgpr5, implicit $vcc, implicit $exec"}});
  pairs.push_back({"vcc of a VALU to v_div_fmas", compare, div_fmas});
  pairs.push_back({"vcc of a SALU to v_div_fmas", {"s_mov_b64 vcc, -1", "$vcc = S_MOV_B64 -1"}, div_fmas});
  pairs.push_back({"exec of a VALU to DPP", compare_exec, dpp});
  pairs.push_back({"exec of a SALU to DPP", {"s_mov_b64 exec, -1", "$exec = S_MOV_B64 -1"}, dpp});
  pairs.push_back({"exec of a VALU to v_readlane", compare_exec, readlane6});
  pairs.push_back({"exec of a VALU to v_readfirstlane", compare_exec, readfirstlane6});
  pairs.push_back({"exec of a VALU to v_writelane", compare_exec, writelane6});
  pairs.push_back({"exec of a VALU to a lane swap", compare_exec, swap(32, 6, 7)});
  pairs.push_back({"exec of a VALU to a VALU", compare_exec, add(2, 6)});
  pairs.push_back({"m0 to LDS DMA",
                   set_m0,
                   {"global_load_lds_dwordx4 v1, s[8:9]",
                    "GLOBAL_LOAD_LDS_DWORDX4_SADDR $sgpr8_sgpr9, $vgpr1, 0, 0, implicit $m0, implicit $exec"}});
  pairs.push_back({"m0 to buffer LDS DMA",
                   set_m0,
                   {"buffer_load_dword v1, s[12:15], 0 offen lds",
                    "BUFFER_LOAD_DWORD_LDS_OFFEN $vgpr1, $sgpr12_sgpr13_sgpr14_sgpr15, 0, 0, 0, 0, implicit $m0, "
                    "implicit $exec"}});
  pairs.push_back({"m0 to ds_read",
                   set_m0,
                   {"ds_read_b32 v2, v1", "$vgpr2 = DS_READ_B32 $vgpr1, 0, 0, implicit $m0, implicit $exec"}});
  pairs.push_back({"m0 to ds_read_addtid",
                   set_m0,
                   {"ds_read_addtid_b32 v2", "$vgpr2 = DS_READ_ADDTID_B32 0, 0, implicit $m0, implicit $exec"}});
  pairs.push_back({"m0 to s_movrels", set_m0, {"s_movrels_b32 s4, s5", "$sgpr4 = S_MOVRELS_B32 $sgpr5, implicit $m0"}});
  pairs.push_back({"m0 to s_sendmsg", set_m0, {"s_sendmsg 3", "S_SENDMSG 3, implicit $exec, implicit $m0"}});
  pairs.push_back({"s_setreg to s_getreg",
                   set_mode,
                   {"s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 2)", "$sgpr4 = S_GETREG_B32 2049, implicit $mode"}});
  pairs.push_back({"s_setreg to s_setreg", set_mode, set_mode});
}

void add_vector_pairs(std::vector<WaitStatePair>& pairs) {
  const auto pair = [&](std::string name, const Written& first, const Written& second) {
    pairs.push_back({std::move(name), first, second});
  };
  pair("VGPR of a VALU to DPP", mov(6), dpp);
  pair("VGPR of a VALU kept by DPP", mov(2), dpp);
  pair("loaded VGPR to DPP",
       {"global_load_dword v6, v1, s[12:13]",
        "$vgpr6 = GLOBAL_LOAD_DWORD_SADDR $sgpr12_sgpr13, $vgpr1, 0, 0, implicit $exec"},
       dpp);
  pair("VGPR of a VALU to v_readlane", mov(6), readlane6);
  pair("VGPR of a VALU to v_readfirstlane", mov(6), readfirstlane6);
  pair("VGPR of a VALU to v_writelane", mov(6), writelane6);
  pair("v_writelane to v_readlane", writelane6, readlane6);
  for (const int width : {16, 32}) {
    pair(fmt::format("VGPR of a VALU to the first operand of a swap of {}", width), mov(6), swap(width, 6, 7));
    pair(fmt::format("VGPR of a VALU to the second operand of a swap of {}", width), mov(7), swap(width, 6, 7));
  }
  // What the combine kernels do: a maximum, then a swap.
  pair("v_max to a lane swap",
       {"v_max_f32 v6, v4, v5", "$vgpr6 = V_MAX_F32_e32 $vgpr4, $vgpr5, implicit $mode, implicit $exec"},
       swap(32, 6, 7));
  pair("lane swap to a lane swap", swap(32, 6, 7), swap(16, 6, 7));
  pair("lane swap to a VALU", swap(32, 6, 7), add(2, 6));
  pair("transcendental to a VALU", exp6, add(2, 6));
  pair("transcendental to a transcendental", exp6,
       {"v_rcp_f32 v2, v6", "$vgpr2 = V_RCP_F32_e32 $vgpr6, implicit $mode, implicit $exec"});
  pair("transcendental to a matrix instruction", exp6, matrix(fp8_4, 100, 6, 20, 140));
  pair("transcendental to a store", exp6, store(6));
  pair("transcendental to a lane swap", exp6, swap(32, 6, 7));
  pair("transcendental overwritten", exp6, mov(6));
  pair("f16 transcendental to a VALU",
       {"v_exp_f16 v6, v5", "$vgpr6 = V_EXP_F16_e32 $vgpr5, implicit $mode, implicit $exec"}, add(2, 6));
  pair("f64 transcendental to a VALU",
       {"v_rcp_f64 v[6:7], v[4:5]", "$vgpr6_vgpr7 = V_RCP_F64_e32 $vgpr4_vgpr5, implicit $mode, implicit $exec"},
       add(2, 7));
  pair("SDWA half to a VALU", sdwa, add(2, 6));
  pair("SDWA half to a store", sdwa, store(6));
  pair("SDWA half overwritten", sdwa, mov(6));
  pair("low fp8 pair to a VALU", pack_fp8(false), add(2, 6));
  pair("high fp8 pair to a VALU", pack_fp8(true), add(2, 6));
  pair("low fp8 pair, then the high one", pack_fp8(false), pack_fp8(true));
  pair("high fp8 pair, then the low one", pack_fp8(true), pack_fp8(false));
  pair("high fp8 pair to a matrix instruction", pack_fp8(true), matrix(fp8_4, 100, 6, 20, 140));
  pair("high fp8 pair to a store", pack_fp8(true), store(6));
  pair("dot product to a VALU", dot2c(6), add(2, 6));
  pair("dot product to a store", dot2c(6), store(6));
  pair("dot product to the LDS", dot2c(6), lds_write(6));
  pair("dot product as the same sum", dot2c(6), dot2c(6));
  pair("dot product as a factor of the same instruction", dot2c(4), dot2c(6));
  pair("dot product overwritten", dot2c(6), mov(6));
  pair("16-byte store, data overwritten", wide_store(4, 4), mov(5));
  pair("12-byte store, data overwritten", wide_store(4, 3), mov(5));
  pair("8-byte store, data overwritten", wide_store(4, 2), mov(5));
  pair("16-byte store, address overwritten", wide_store(4, 4), mov(1));
  pair("16-byte store, data overwritten by a matrix instruction", wide_store(100, 4), matrix(fp8_4, 100, 10, 20, 140));
  pair("16-byte buffer store, data overwritten", buffer_store("0", "0"), mov(5));
  pair("16-byte buffer store with an SGPR offset, data overwritten", buffer_store("s3", "$sgpr3"), mov(5));
  pair("16-byte LDS write, data overwritten",
       {"ds_write_b128 v2, v[4:7]", "DS_WRITE_B128_gfx9 $vgpr2, $vgpr4_vgpr5_vgpr6_vgpr7, 0, 0, implicit $exec"},
       mov(5));
  pair("16-byte scratch store, data overwritten",
       {"scratch_store_dwordx4 off, v[4:7], s3",
        "SCRATCH_STORE_DWORDX4_SADDR $vgpr4_vgpr5_vgpr6_vgpr7, $sgpr3, 0, 0, implicit $exec, implicit $flat_scr"},
       mov(5));
  pair("16-byte atomic, data overwritten",
       {"global_atomic_cmpswap_x2 v1, v[4:7], s[10:11]",
        "GLOBAL_ATOMIC_CMPSWAP_X2_SADDR $vgpr1, $vgpr4_vgpr5_vgpr6_vgpr7, $sgpr10_sgpr11, 0, 0, implicit $exec"},
       mov(5));
  pair("VALU result stored", mov(6), store(6));
  pair("VALU result to the LDS", mov(6), lds_write(6));
}

}  // namespace

std::vector<WaitStatePair> wait_state_pairs() {
  std::vector<WaitStatePair> pairs;
  add_matrix_pairs(pairs);
  add_scalar_pairs(pairs);
  add_vector_pairs(pairs);
  return pairs;
}

}  // namespace mlaforge::simulator::test
