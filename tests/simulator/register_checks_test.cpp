// Registers never written, and wait states that the hardware does not insert:
// each fault planted in a small kernel, and beside it the kernel that is right.
#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

/// s[8:9] = 64 words, s[10:11] = output, v1 = lane * 4, v[4:7] and v[8:23] = 0,
/// s[12:13] = 0.
const std::string prologue =
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_mov_b64 "
    "s[12:13], 0\ns_mov_b64 s[14:15], 0\n"
    "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 0\nv_mov_b32 v7, "
    "0\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\n"
    "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v12, 0\nv_mov_b32 v13, "
    "0\nv_mov_b32 v14, 0\nv_mov_b32 v15, 0\n"
    "v_mov_b32 v16, 0\nv_mov_b32 v17, 0\nv_mov_b32 v18, 0\nv_mov_b32 v19, "
    "0\nv_mov_b32 v20, 0\nv_mov_b32 v21, 0\n"
    "v_mov_b32 v22, 0\nv_mov_b32 v23, 0\ns_waitcnt lgkmcnt(0)\ns_nop 7\n";

LaunchResult run_checked(const std::string& body) {
  TestMemory memory;
  const uint64_t source = memory.allocate(4096);
  const uint64_t destination = memory.allocate(4096);
  KernelCode code = test::make_kernel({.source = prologue + body + "\ns_endpgm", .lds_bytes = 4096});
  const std::vector<uint64_t> arguments{source, destination};
  code.kernarg_bytes = 16;
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  config.checks = {.uninitialized = true, .wait_states = true};
  return test::launch(code, config, memory);
}

void expect_clean(const std::string& body) {
  CAPTURE(body);
  const auto result = run_checked(body);
  if (!result.ok()) FAIL(format_fault(*result.fault));
}

void expect_fault(FaultKind kind, const std::string& body, const std::string& named) {
  CAPTURE(body);
  const auto result = run_checked(body);
  REQUIRE_FALSE(result.ok());
  CAPTURE(format_fault(*result.fault));
  CHECK(result.fault->kind == kind);
  CHECK(result.fault->message.find(named) != std::string::npos);
}

/// `states` wait states are enough between the two, one less is not.
void expect_states(int states, const std::string& writer, const std::string& reader) {
  const auto between = [](int count) {
    std::string nops;
    for (; count > 0; count -= 16) nops += "s_nop " + std::to_string(std::min(count, 16) - 1) + "\n";
    return nops;
  };
  expect_clean(writer + "\n" + between(states) + reader);
  expect_fault(FaultKind::wait_states, writer + "\n" + between(states - 1) + reader,
               std::to_string(states) + " are needed");
}

}  // namespace

TEST_CASE("registers read before they are written") {
  expect_fault(FaultKind::uninitialized, "v_add_u32 v2, 1, v3", "v3 is read but was never written");
  expect_fault(FaultKind::uninitialized, "s_add_u32 s20, s21, 1", "s21");
  expect_fault(FaultKind::uninitialized, "v_cndmask_b32 v2, v4, v5, vcc", "vcc");
  expect_fault(FaultKind::uninitialized, "global_store_dword v1, v30, s[10:11]", "v30");
  expect_fault(FaultKind::uninitialized, "v_accvgpr_read_b32 v2, a3\nv_add_u32 v2, v2, v4", "v2");
  expect_fault(FaultKind::uninitialized, "v_fmac_f32 v2, v4, v5", "v2");
  expect_fault(FaultKind::uninitialized, "global_load_lds_dword v1, s[8:9]\ns_waitcnt vmcnt(0)", "m0");
  expect_clean(
      "v_add_u32 v2, 1, v4\nv_add_u32 v3, 1, v2\ns_mov_b32 s20, "
      "s3\nv_accvgpr_write_b32 a3, v4\n"
      "v_accvgpr_read_b32 v2, a3\nglobal_load_dword v30, v1, "
      "s[8:9]\ns_waitcnt vmcnt(0)\nv_mov_b32 v31, v30");
}

TEST_CASE("a function saves registers on its stack without knowing whether they were written") {
  TestMemory memory;
  const auto saved = [&](const std::string& body) {
    KernelCode code = test::make_kernel({.source = "s_mov_b32 s33, 0\n" + body + "\ns_endpgm", .scratch_bytes = 64});
    LaunchConfig config;
    config.block = {64, 1, 1};
    config.checks = {.uninitialized = true};
    return test::launch(code, config, memory);
  };
  CHECK(saved("scratch_store_dword off, v40, s33 offset:4").ok());
  CHECK(saved("v_writelane_b32 v41, s34, 2").ok());
  CHECK_FALSE(saved("v_add_u32 v41, v40, v0").ok());
  CHECK_FALSE(saved("scratch_store_dword v40, v0, off").ok());  // as an address it is used
}

TEST_CASE("bits of the running lanes may be set and cleared in a mask without a value") {
  expect_clean("s_or_b64 s[20:21], s[20:21], exec\ns_mov_b64 s[22:23], s[20:21]");
  expect_clean("s_andn2_b64 s[20:21], s[20:21], exec\ns_or_b64 s[22:23], s[20:21], s[12:13]");
  expect_fault(FaultKind::uninitialized, "s_or_b64 s[20:21], s[20:21], s[12:13]", "s20");
  expect_fault(FaultKind::uninitialized, "s_and_b64 s[20:21], s[20:21], exec", "s20");
}

TEST_CASE("halves without a value may be passed on, but not used") {
  const std::string low = "v_mad_u64_u32 v[30:31], s[20:21], v4, v5, v[30:31]\n";
  expect_clean("v_mov_b32 v30, 0\n" + low + "v_add_u32 v2, v30, v4");
  expect_fault(FaultKind::uninitialized, "v_mov_b32 v30, 0\n" + low + "v_add_u32 v2, v31, v4", "v31");
  expect_clean("v_mov_b32 v30, 0\nv_pk_mul_f32 v[2:3], v[30:31], v[4:5] op_sel_hi:[0,1]");
  expect_fault(FaultKind::uninitialized, "v_mov_b32 v30, 0\nv_pk_mul_f32 v[2:3], v[30:31], v[4:5]", "v31");
}

TEST_CASE("a register written in some lanes is not written in the others") {
  const std::string half = "s_mov_b64 exec, 0xff\nv_mov_b32 v3, 1\n";
  expect_clean(half + "v_add_u32 v2, 1, v3");
  expect_fault(FaultKind::uninitialized, half + "s_mov_b64 exec, -1\nv_add_u32 v2, 1, v3", "in 56 of its lanes");
}

TEST_CASE("matrix results are read passes + 4 wait states later") {
  // gfx950.md 1.4: 4 passes 8, 8 passes 12; clang-22 puts s_nop 7 and s_nop 11
  // there.
  const std::string four = "v_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[4:5], v[6:7], v[12:15]";
  expect_states(8, four, "v_add_f32 v2, v8, v8");
  expect_states(8, four, "global_store_dword v1, v9, s[10:11]");
  expect_states(8, four, "ds_write_b32 v1, v11");
  expect_states(8, four, "v_mov_b32 v10, 0");
  expect_states(8, four, "v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[8:9], v[6:7], v[20:23]");
  const std::string eight = "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[16:23], v[12:15]";
  expect_states(12, eight, "v_add_f32 v2, v8, v8");
  // An accumulator passed on whole is forwarded.
  expect_clean(four + "\nv_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[4:5], v[6:7], v[8:11]");
}

TEST_CASE("scalar results of the VALU") {
  expect_states(5, "v_readfirstlane_b32 s12, v4", "buffer_load_dword v2, v1, s[12:15], 0 offen\ns_waitcnt vmcnt(0)");
  expect_states(2, "v_cmp_eq_u32 vcc, v4, v5", "v_cndmask_b32 v2, v4, v5, vcc");
  expect_states(4, "v_readfirstlane_b32 s12, v4", "v_readlane_b32 s14, v5, s12");
  expect_states(4, "v_cmp_eq_u32 vcc, v4, v5", "v_div_fmas_f32 v2, v4, v5, v6");
}

TEST_CASE("VALU results in lanes, in parts and from the transcendental unit") {
  expect_states(2, "v_mov_b32 v4, 1", "v_mov_b32_dpp v5, v4 row_shl:1 row_mask:0xf bank_mask:0xf");
  expect_states(1, "v_mov_b32 v4, 1", "v_readfirstlane_b32 s14, v4");
  expect_states(2, "v_mov_b32 v4, 1", "v_permlane32_swap_b32 v4, v5");
  expect_states(1, "v_exp_f32 v4, v5", "v_add_f32 v2, v4, v4");
  expect_clean("v_exp_f32 v4, v5\nv_rcp_f32 v2, v4");
  expect_states(1, "v_cvt_pk_fp8_f32 v4, v5, v6 op_sel:[0,0,1]", "v_add_u32 v2, v4, v4");
  expect_clean("v_cvt_pk_fp8_f32 v4, v5, v6\nv_add_u32 v2, v4, v4");
}

TEST_CASE("m0 and a store's data") {
  expect_states(1, "s_mov_b32 m0, 0", "global_load_lds_dword v1, s[8:9]\ns_waitcnt vmcnt(0)");
  expect_states(2, "global_store_dwordx4 v1, v[4:7], s[10:11]", "v_mov_b32 v5, 1");
  expect_clean("global_store_dwordx2 v1, v[4:5], s[10:11]\nv_mov_b32 v5, 1");
}
