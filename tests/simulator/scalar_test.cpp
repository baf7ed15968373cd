// Scalar instructions at their edges; expected values worked out by hand from the ISA's definitions.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

struct Outcome {
  uint64_t value;
  bool scc;
};

/// Runs `instruction` with s[10:11] = a and s[12:13] = b; the result is s[14:15], whose start is 0.
Outcome scalar(const std::string& instruction, uint64_t a, uint64_t b = 0, bool scc = false) {
  const auto set = [](int reg, uint64_t value) {
    return fmt::format("s_mov_b32 s{}, 0x{:x}\ns_mov_b32 s{}, 0x{:x}\n", reg, value & 0xffffffff, reg + 1, value >> 32);
  };
  const std::string body = set(10, a) + set(12, b) + set(14, 0) + fmt::format("s_cmp_eq_u32 s15, {}\n", scc ? 0 : 1) +
                           instruction +
                           "\ns_cselect_b32 s16, 1, 0\nv_mov_b32 v8, s14\nv_mov_b32 v9, s15\nv_mov_b32 v10, s16";
  const auto lanes = test::run_lanes(body, 3);
  return {lanes[0][0] | uint64_t{lanes[0][1]} << 32, lanes[0][2] != 0};
}

void check(const std::string& instruction, uint64_t a, uint64_t b, uint64_t value, bool scc, bool scc_in = false) {
  CAPTURE(instruction, a, b);
  const Outcome outcome = scalar(instruction, a, b, scc_in);
  CHECK(outcome.value == value);
  CHECK(outcome.scc == scc);
}

}  // namespace

TEST_CASE("sums, carries and overflow") {
  check("s_add_u32 s14, s10, s12", 0xffffffff, 1, 0, true);
  check("s_add_i32 s14, s10, s12", 0x7fffffff, 1, 0x80000000, true);
  check("s_add_i32 s14, s10, s12", 0xffffffff, 1, 0, false);
  check("s_sub_u32 s14, s10, s12", 0, 1, 0xffffffff, true);
  check("s_sub_i32 s14, s10, s12", 0x80000000, 1, 0x7fffffff, true);
  check("s_addc_u32 s14, s10, s12", 0xffffffff, 0, 0, true, true);
  check("s_subb_u32 s14, s10, s12", 0, 0xffffffff, 0, true, true);
  check("s_lshl3_add_u32 s14, s10, s12", 0x20000000, 5, 5, true);
  check("s_absdiff_i32 s14, s10, s12", 3, 10, 7, true);
  check("s_mul_hi_u32 s14, s10, s12", 0xffffffff, 0xffffffff, 0xfffffffe, false);
  check("s_mul_hi_i32 s14, s10, s12", 0xffffffff, 0x7fffffff, 0xffffffff, false);
}

TEST_CASE("shifts use the low bits of the amount") {
  check("s_lshl_b32 s14, s10, s12", 1, 33, 2, true);
  check("s_lshr_b32 s14, s10, s12", 0x80000000, 32, 0x80000000, true);
  check("s_ashr_i32 s14, s10, s12", 0x80000000, 31, 0xffffffff, true);
  check("s_lshl_b64 s[14:15], s[10:11], s12", 1, 63, uint64_t{1} << 63, true);
  check("s_lshl_b64 s[14:15], s[10:11], s12", 1, 64, 1, true);
  check("s_ashr_i64 s[14:15], s[10:11], s12", uint64_t{1} << 63, 63, ~uint64_t{0}, true);
}

TEST_CASE("bit fields") {
  check("s_bfe_u32 s14, s10, s12", 0xdeadbeef, 8 | 12 << 16, 0xdbe, true);
  check("s_bfe_i32 s14, s10, s12", 0x00000f00, 8 | 4 << 16, 0xffffffff, true);
  check("s_bfe_u32 s14, s10, s12", 0xffffffff, 4, 0, false);
  check("s_bfe_u32 s14, s10, s12", 0xffffffff, 28 | 8 << 16, 0xf, true);
  check("s_bfe_u64 s[14:15], s[10:11], s12", 0x123456789abcdef0, 32 | 16 << 16, 0x5678, true);
  check("s_bfm_b32 s14, s10, s12", 4, 8, 0xf00, false);
  check("s_bfm_b64 s[14:15], s10, s12", 33, 1, 0x3fffffffe, false);
  check("s_pack_lh_b32_b16 s14, s10, s12", 0x11112222, 0x33334444, 0x33332222, false);
}

TEST_CASE("searches and counts") {
  check("s_ff1_i32_b32 s14, s10", 0, 0, 0xffffffff, false);
  check("s_ff1_i32_b64 s14, s[10:11]", uint64_t{1} << 40, 0, 40, false);
  check("s_ff0_i32_b32 s14, s10", 0x7, 0, 3, false);
  check("s_flbit_i32_b32 s14, s10", 1, 0, 31, false);
  check("s_flbit_i32 s14, s10", 0xffffffff, 0, 0xffffffff, false);
  check("s_flbit_i32 s14, s10", 0xfffffff0, 0, 28, false);
  check("s_bcnt1_i32_b64 s14, s[10:11]", 0xf0f0f0f0f0f0f0f0, 0, 32, true);
  check("s_bcnt0_i32_b32 s14, s10", 0xffffffff, 0, 0, false);
  check("s_brev_b32 s14, s10", 0x1, 0, 0x80000000, false);
  check("s_wqm_b32 s14, s10", 0x00100001, 0, 0x00f0000f, true);
  check("s_quadmask_b32 s14, s10", 0x00100001, 0, 0x21, true);
  check("s_bitreplicate_b64_b32 s[14:15], s10", 0x80000001, 0, 0xc000000000000003, false);
  check("s_sext_i32_i8 s14, s10", 0x80, 0, 0xffffff80, false);
  check("s_abs_i32 s14, s10", 0x80000000, 0, 0x80000000, true);
}

TEST_CASE("short immediates are signed, but unsigned in unsigned compares") {
  check("s_movk_i32 s14, 0x8000", 0, 0, 0xffff8000, false);
  check("s_addk_i32 s14, -1", 0, 0, 0xffffffff, false);
  check("s_cmpk_eq_i32 s10, 0xffff", 0xffffffff, 0, 0, true);
  check("s_cmpk_eq_u32 s10, 0xffff", 0xffffffff, 0, 0, false);
  check("s_cmpk_lt_i32 s10, 0x0001", 0x80000000, 0, 0, true);
  check("s_cmpk_lt_u32 s10, 0x0001", 0x80000000, 0, 0, false);
}

TEST_CASE("logic sets SCC by its result") {
  check("s_andn2_b64 s[14:15], s[10:11], s[12:13]", 0xff00000000000001, 0xff00000000000001, 0, false);
  check("s_xnor_b32 s14, s10, s12", 0x0f0f0f0f, 0xf0f0f0f0, 0, false);
  check("s_nor_b64 s[14:15], s[10:11], s[12:13]", 0, 0, ~uint64_t{0}, true);
  check("s_bitcmp1_b32 s10, s12", 0x80000000, 31, 0, true);
  check("s_bitset1_b64 s[14:15], s12", 0, 35, uint64_t{1} << 35, false);
}

TEST_CASE("saveexec") {
  const auto lanes = test::run_lanes(
      "s_mov_b64 s[10:11], 0xff\ns_and_saveexec_b64 s[12:13], s[10:11]\ns_mov_b64 s[14:15], exec\n"
      "s_mov_b64 exec, -1\nv_mov_b32 v8, s12\nv_mov_b32 v9, s14\nv_mov_b32 v10, s15",
      3);
  CHECK(lanes[0] == std::vector<uint32_t>{0xffffffff, 0xff, 0});
}

TEST_CASE("MODE fields and the die's number") {
  const auto lanes = test::run_lanes(
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\ns_getreg_b32 s10, hwreg(HW_REG_MODE, 23, 1)\n"
      "s_getreg_b32 s11, hwreg(HW_REG_MODE, 4, 4)\ns_getreg_b32 s12, hwreg(HW_REG_XCC_ID)\n"
      "v_mov_b32 v8, s10\nv_mov_b32 v9, s11\nv_mov_b32 v10, s12",
      3);
  CHECK(lanes[0] == std::vector<uint32_t>{1, 15, 0});
}
