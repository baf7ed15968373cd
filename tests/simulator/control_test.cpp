// Branches, barriers, workgroups and waves, kernel arguments, and the faults of a launch.
#include <fmt/format.h>

#include <cstring>
#include <new>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

Fault expect_fault(const LaunchResult& result, FaultKind kind) {
  REQUIRE_FALSE(result.ok());
  INFO(format_fault(*result.fault));
  CHECK(result.fault->kind == kind);
  return *result.fault;
}

}  // namespace

TEST_CASE("nested loops with data-dependent trip counts") {
  // sum over i < 5 of (sum over j < i of j) = 0 + 0 + 1 + 3 + 6
  const auto lanes = test::run_lanes(
      "s_mov_b32 s10, 0\ns_mov_b32 s11, 0\nouter:\ns_mov_b32 s12, 0\ninner:\ns_cmp_ge_u32 s12, s11\n"
      "s_cbranch_scc1 done\ns_add_u32 s10, s10, s12\ns_add_u32 s12, s12, 1\ns_branch inner\ndone:\n"
      "s_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 5\ns_cbranch_scc1 outer\nv_mov_b32 v8, s10");
  CHECK(lanes[0][0] == 10);
}

TEST_CASE("calls and computed jumps") {
  const auto lanes = test::run_lanes(
      "s_mov_b32 s10, 1\ns_getpc_b64 s[12:13]\nhere:\ns_add_u32 s12, s12, func-here\ns_addc_u32 s13, s13, 0\n"
      "s_swappc_b64 s[14:15], s[12:13]\ns_add_u32 s10, s10, 100\ns_call_b64 s[14:15], func\ns_branch end\n"
      "func:\ns_mul_i32 s10, s10, 3\ns_setpc_b64 s[14:15]\nend:\nv_mov_b32 v8, s10");
  CHECK(lanes[0][0] == (1 * 3 + 100) * 3);
}

TEST_CASE("divergent branch by EXEC") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v8, 1\ns_mov_b64 s[10:11], 0xf0\ns_and_saveexec_b64 s[12:13], s[10:11]\ns_cbranch_execz skip\n"
      "v_mov_b32 v8, 2\nskip:\ns_mov_b64 exec, s[12:13]");
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(lanes[lane][0] == (lane >= 4 && lane < 8 ? 2u : 1u));
}

TEST_CASE("forks run both sides of a branch, the smaller part of the lanes first, and join") {
  // Lanes 0 to 9 pass. s20 counts who runs: the fork sends the 10 lanes to `pass` first, then the 54 fall through.
  const std::string body =
      "s_mov_b32 s20, 0\ns_mov_b32 s21, 0\ns_getreg_b32 s24, hwreg(HW_REG_MODE, 29, 3)\nv_mov_b32 v8, 0\n"
      "MASKFORK"
      "v_mov_b32 v8, 1\ns_mul_i32 s20, s20, 10\ns_add_u32 s20, s20, 1\ns_branch joined\n"
      "pass:\nv_mov_b32 v8, 2\ns_mul_i32 s20, s20, 10\ns_add_u32 s20, s20, 2\njoined:\ns_cbranch_join s24\ns_mov_b64 "
      "exec, -1\n"
      "s_getreg_b32 s25, hwreg(HW_REG_MODE, 29, 3)\nv_mov_b32 v9, s20\nv_mov_b32 v10, s25";
  const auto check = [&](std::string fork, const std::string& mask, uint32_t order, uint32_t passing) {
    std::string text = body;
    text.replace(text.find("FORK"), 4, fork);
    text.replace(text.find("MASK"), 4, mask);
    const auto lanes = test::run_lanes(text, 3);
    for (uint32_t lane = 0; lane < 64; ++lane) {
      CAPTURE(fork, mask, lane);
      CHECK(lanes[lane] == std::vector<uint32_t>{lane < passing ? 2u : 1u, order, 0});
    }
  };
  const std::string by_distance = "s_cbranch_i_fork s[10:11], pass\n";
  const std::string by_register =
      "s_getpc_b64 s[12:13]\nhere:\ns_add_u32 s12, s12, pass-here\ns_addc_u32 s13, s13, 0\n"
      "s_cbranch_g_fork s[10:11], s[12:13]\n";
  for (const std::string& fork : {by_distance, by_register}) {
    check(fork, "s_movk_i32 s10, 0x3ff\ns_mov_b32 s11, 0\n", 21, 10);
    check(fork, "s_mov_b32 s10, -1\ns_mov_b32 s11, 0xffff\n", 12, 48);
    check(fork, "s_mov_b32 s10, -1\ns_mov_b32 s11, -1\n", 2, 64);
    check(fork, "s_mov_b32 s10, 0\ns_mov_b32 s11, 0\n", 1, 0);
  }
}

TEST_CASE("VSKIP leaves out vector instructions and keeps the counters") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v8, 1\ns_mov_b32 s10, 4\ns_setvskip s10, 2\nv_mov_b32 v8, 2\nds_write_b32 v8, v8\n"
      "global_load_dword v8, v8, s[8:9]\ns_add_u32 s10, s10, 1\ns_getreg_b32 s11, hwreg(HW_REG_MODE, 28, 1)\n"
      "s_setvskip s10, 1\nv_mov_b32 v9, s10\nv_mov_b32 v10, s11",
      3);
  CHECK(lanes[5] == std::vector<uint32_t>{1, 5, 1});
}

TEST_CASE("conditional branches are taken by their condition alone") {
  // s10 collects a bit for each that is taken.
  std::string body = "s_mov_b32 s10, 0\ns_mov_b64 s[12:13], exec\n";
  int label = 0;
  const auto add = [&](const std::string& before, const std::string& branch, uint32_t bit) {
    body += fmt::format("{}\n{} taken{}\ns_branch over{}\ntaken{}:\ns_or_b32 s10, s10, {}\nover{}:\n", before, branch,
                        label, label, label, bit, label);
    ++label;
  };
  add("s_cmp_eq_u32 s10, s10", "s_cbranch_scc0", 1);
  add("s_cmp_lg_u32 s10, s10", "s_cbranch_scc0", 2);
  add("s_mov_b64 vcc, 0", "s_cbranch_vccnz", 4);
  add("s_mov_b64 vcc, 1", "s_cbranch_vccnz", 8);
  add("s_mov_b64 exec, 0", "s_cbranch_execnz", 16);
  add("s_mov_b64 exec, s[12:13]", "s_cbranch_execnz", 32);
  for (const std::string name : {"sys", "user", "sys_or_user", "sys_and_user"}) add("", "s_cbranch_cdbg" + name, 64);
  const auto lanes = test::run_lanes(body + "v_mov_b32 v8, s10");
  CHECK(lanes[0][0] == (2 | 8 | 32));
}

TEST_CASE("hints, counters and cache controls change no register") {
  const auto lanes = test::run_lanes(
      "s_mov_b32 s10, 7\nv_mov_b32 v8, 5\ns_setprio 3\ns_sethalt 0\ns_setkill 0\ns_wakeup\ns_icache_inv\n"
      "s_incperflevel 1\ns_decperflevel 1\ns_mov_b32 m0, 1\ns_ttracedata\ns_sendmsg sendmsg(MSG_INTERRUPT)\n"
      "s_dcache_inv\ns_dcache_wb\ns_dcache_inv_vol\ns_dcache_wb_vol\nbuffer_wbl2 sc1\nbuffer_inv sc1\nds_nop\nv_nop\n"
      "v_clrexcp\ns_atc_probe 0, s[8:9], 0x0\ns_atc_probe_buffer 0, s[8:11], 0x0\nv_mov_b32 v9, s10",
      2);
  CHECK(lanes[3] == std::vector<uint32_t>{5, 7});
}

TEST_CASE("clocks go forward, by the same in each run") {
  const std::string body =
      "s_memtime s[10:11]\ns_waitcnt lgkmcnt(0)\ns_sleep 1\ns_memtime s[12:13]\ns_memrealtime s[14:15]\n"
      "s_waitcnt lgkmcnt(0)\ns_sub_u32 s12, s12, s10\ns_sub_u32 s14, s14, s10\nv_mov_b32 v8, s12\nv_mov_b32 v9, s14";
  const auto first = test::run_lanes(body, 2), second = test::run_lanes(body, 2);
  CHECK(first[0][0] > 0);
  CHECK(first[0][1] >= first[0][0]);
  CHECK(first == second);
}

TEST_CASE("scalar registers indexed by M0, and values moved by SCC") {
  // s[20:27] = 120 .. 127.
  std::string body = "s_mov_b32 m0, 2\n";
  for (int i = 20; i < 28; ++i) body += fmt::format("s_mov_b32 s{}, {}\n", i, 100 + i);
  body +=
      "s_movrels_b32 s10, s20\ns_movrels_b64 s[12:13], s[20:21]\ns_movreld_b32 s22, s20\n"
      "s_movreld_b64 s[24:25], s[20:21]\nv_mov_b32 v8, s10\nv_mov_b32 v9, s13\nv_mov_b32 v10, s24\nv_mov_b32 v11, s27";
  CHECK(test::run_lanes(body, 4)[0] == std::vector<uint32_t>{122, 123, 120, 121});
  const auto moved = test::run_lanes(
      "s_mov_b32 s10, 1\ns_mov_b32 s11, 1\ns_cmp_eq_u32 s10, s11\ns_cmovk_i32 s10, -5\ns_cmp_lg_u32 s11, s11\n"
      "s_cmovk_i32 s11, -5\ns_mov_b32 s12, 7\ns_mulk_i32 s12, -300\nv_mov_b32 v8, s10\nv_mov_b32 v9, s11\n"
      "v_mov_b32 v10, s12",
      3);
  CHECK(moved[0] == std::vector<uint32_t>{static_cast<uint32_t>(-5), 1, static_cast<uint32_t>(-2100)});
}

TEST_CASE("MODE is set from a register, a field of it alone") {
  const auto lanes = test::run_lanes(
      "s_mov_b32 s10, 0xff6\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s10\ns_getreg_b32 s11, hwreg(HW_REG_MODE, 0, 8)\n"
      "v_mov_b32 v8, s11");
  CHECK((lanes[0][0] & 0xf) == 6);
  CHECK((lanes[0][0] >> 4) == 15);  // denormals as they were
}

TEST_CASE("VGPR indices follow s_set_gpr_idx_idx") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v20, 20\nv_mov_b32 v21, 21\nv_mov_b32 v22, 22\ns_mov_b32 s10, 1\n"
      "s_set_gpr_idx_on s10, gpr_idx(SRC0)\ns_mov_b32 s10, 2\ns_set_gpr_idx_idx s10\nv_mov_b32 v8, v20\n"
      "s_set_gpr_idx_off");
  CHECK(lanes[0][0] == 22);
}

TEST_CASE("s_endpgm_saved ends the wave") {
  TestMemory memory;
  CHECK(test::run({.source = "s_endpgm_saved\ns_trap 1"}, memory, {}).ok());
}

TEST_CASE("VGPR indexing moves the chosen operands only") {
  const auto lanes = test::run_lanes(
      "v_mov_b32 v20, 20\nv_mov_b32 v21, 21\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\ns_mov_b32 s10, 1\n"
      "s_set_gpr_idx_on s10, gpr_idx(SRC0)\nv_mov_b32 v8, v20\ns_set_gpr_idx_mode gpr_idx(DST)\n"
      "v_mov_b32 v8, v20\ns_set_gpr_idx_off",
      2);
  CHECK(lanes[0] == std::vector<uint32_t>{21, 20});
}

TEST_CASE("workgroup and workitem ids, partial last wave") {
  TestMemory memory;
  const uint64_t out = memory.allocate(4 * 3 * 2 * 2 * 96);
  // Global index = ((wz * 2 + wy) * 3 + wx) * 96 + thread; the value packs v0 and the ids.
  auto code = test::make_kernel(
      {.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_bfe_u32 v2, v0, 10, 10\n"
                 "v_mul_u32_u24 v2, 48, v2\nv_add_u32 v1, v1, v2\ns_lshl_b32 s10, s4, 1\ns_add_u32 s10, s10, s3\n"
                 "s_mul_i32 s10, s10, 3\ns_add_u32 s10, s10, s2\ns_mul_i32 s10, s10, 96\nv_add_u32 v1, s10, v1\n"
                 "v_add_u32 v3, 7, v1\nv_lshlrev_b32 v1, 2, v1\ns_waitcnt lgkmcnt(0)\n"
                 "global_store_dword v1, v3, s[8:9]\ns_endpgm"});
  code.kernarg_bytes = 8;
  LaunchConfig config;
  config.grid = {3, 2, 2};
  config.block = {48, 2, 1};
  config.kernarg = std::as_bytes(std::span(&out, 1));
  for (const unsigned threads : {1u, 2u, 5u}) {
    config.threads = threads;
    const LaunchResult result = test::launch(code, config, memory);
    REQUIRE(result.ok());
    CHECK(result.stats.workgroups == 12);
    CHECK(result.stats.waves == 24);
  }
  const auto words = memory.download<uint32_t>(out, 12 * 96);
  for (uint32_t i = 0; i < words.size(); ++i) REQUIRE(words[i] == i + 7);
}

TEST_CASE("a barrier drops waves that ended") {
  TestMemory memory;
  const uint64_t out = memory.allocate(4 * 256);
  // Waves 2 and 3 end at once; 0 and 1 meet at the barrier.
  const auto result = test::run(
      {.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_readfirstlane_b32 s10, v0\n"
                 "s_cmp_ge_u32 s10, 128\ns_cbranch_scc1 end\ns_waitcnt lgkmcnt(0)\nds_write_b32 v1, v0\n"
                 "s_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n"
                 "global_store_dword v1, v3, s[8:9]\nend:\ns_endpgm",
       .lds_bytes = 1024},
      memory, {out}, 256);
  if (!result.ok()) FAIL(format_fault(*result.fault));
  const auto words = memory.download<uint32_t>(out, 128);
  for (uint32_t i = 0; i < 128; ++i) CHECK(words[i] == (i ^ 64));
}

TEST_CASE("hidden arguments are filled in behind the explicit ones") {
  TestMemory memory;
  const uint64_t out = memory.allocate(64);
  auto code = test::make_kernel(
      {.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_load_dword s10, s[0:1], 0x8\n"
                 "s_load_dword s11, s[0:1], 0x14\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\n"
                 "v_mov_b32 v2, s10\nv_mov_b32 v3, s11\nglobal_store_dwordx2 v1, v[2:3], s[8:9]\ns_endpgm"});
  code.kernarg_bytes = 264;
  code.hidden_fields = {{HiddenArgument::block_count_x, 8, 4},
                        {HiddenArgument::group_size_x, 20, 2},
                        {HiddenArgument::group_size_y, 22, 2}};
  LaunchConfig config;
  config.grid = {5, 1, 1};
  config.block = {32, 3, 1};
  config.kernarg = std::as_bytes(std::span(&out, 1));
  REQUIRE(test::launch(code, config, memory).ok());
  CHECK(memory.download<uint32_t>(out, 2) == std::vector<uint32_t>{5, 32 | 3 << 16});
}

TEST_CASE("arguments may be longer or shorter than declared; only reading past them is a fault") {
  TestMemory memory;
  const auto launch = [&](uint32_t declared, size_t given) {
    auto code = test::make_kernel({.source = "s_load_dwordx2 s[8:9], s[0:1], 0x20\ns_waitcnt lgkmcnt(0)\ns_endpgm"});
    code.kernarg_bytes = declared;
    const std::vector<std::byte> bytes(given);
    LaunchConfig config;
    config.kernarg = bytes;
    return test::launch(code, config, memory);
  };
  CHECK(launch(40, 40).ok());
  CHECK(launch(16, 64).ok());
  const Fault fault = expect_fault(launch(40, 16), FaultKind::kernarg_bounds);
  CHECK(fault.message.find("byte 32") != std::string::npos);
}

TEST_CASE("impossible launches are named") {
  TestMemory memory;
  const auto code = test::make_kernel({.source = "s_endpgm", .lds_bytes = 1024});
  LaunchConfig config;
  config.grid = {0, 1, 1};
  expect_fault(test::launch(code, config, memory), FaultKind::bad_launch);
  config.grid = {1, 1, 1};
  config.block = {1025, 1, 1};
  expect_fault(test::launch(code, config, memory), FaultKind::bad_launch);
  config.block = {64, 1, 1};
  config.dynamic_lds_bytes = max_lds_bytes - 1024;
  CHECK(test::launch(code, config, memory).ok());
  config.dynamic_lds_bytes += 4;
  const Fault fault = expect_fault(test::launch(code, config, memory), FaultKind::bad_launch);
  CHECK(fault.message.find("163844") != std::string::npos);
}

TEST_CASE("faults that stop a wave") {
  TestMemory memory;
  expect_fault(test::run({.source = "loop:\ns_branch loop"}, memory, {}), FaultKind::endless_loop);
  expect_fault(test::run({.source = "loop:\ns_sleep 1\ns_branch loop"}, memory, {}), FaultKind::endless_loop);
  expect_fault(test::run({.source = "s_trap 2"}, memory, {}), FaultKind::trap);
  expect_fault(test::run({.source = "s_nop 0"}, memory, {}), FaultKind::memory_bounds);  // runs off the code's end
  const Fault junk =
      expect_fault(test::run({.source = ".long 0xffffffff"}, memory, {}), FaultKind::unknown_instruction);
  CHECK(junk.message.find("0xffffffff") != std::string::npos);
  const Fault unknown = expect_fault(test::run({.source = "s_nop 0\ns_dcache_discard s[0:1], 0x0"}, memory, {}),
                                     FaultKind::unknown_instruction);
  CHECK(unknown.message.find("s_dcache_discard") != std::string::npos);
  CHECK(unknown.kernel == "test_kernel");
  CHECK(unknown.pc == 0x600000000004);
  // An unknown instruction that is not reached does not matter.
  CHECK(test::run({.source = "s_endpgm\ns_dcache_discard s[0:1], 0x0"}, memory, {}).ok());
  const Fault beyond =
      expect_fault(test::run({.source = "v_mov_b32 v64, 0\ns_endpgm", .vgprs = 64, .agprs = 0}, memory, {}),
                   FaultKind::register_bounds);
  CHECK(beyond.message.find("v64") != std::string::npos);
}

namespace {

/// s[8:9] the first argument, v0 a lane's number; `grid` workgroups whose number is s2.
LaunchResult launch_grid(const std::string& body, TestMemory& memory, uint64_t argument, LaunchConfig config) {
  auto code = test::make_kernel(
      {.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n" + body + "\ns_endpgm",
       .vgprs = 16,
       .agprs = 0});
  code.kernarg_bytes = 8;
  config.kernarg = std::as_bytes(std::span(&argument, 1));
  return test::launch(code, config, memory);
}

}  // namespace

TEST_CASE("a workgroup waits for one that starts later, spinning or sleeping") {
  for (const std::string pause : {"", "s_sleep 1\n"}) {
    // The last one sets the flag that all others wait for; each then counts itself.
    const std::string body =
        "s_cmp_lg_u32 s2, 39\ns_cbranch_scc1 wait\nv_mov_b32 v2, 1\nglobal_store_dword v1, v2, s[8:9]\n"
        "s_branch count\nwait:\n" +
        pause +
        "global_load_dword v2, v1, s[8:9] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v2\n"
        "s_cmp_eq_u32 s10, 0\ns_cbranch_scc1 wait\ncount:\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n"
        "global_atomic_add v1, v2, s[8:9] offset:4";
    for (const unsigned threads : {1u, 3u}) {
      TestMemory memory;
      const uint64_t words = memory.allocate(8);
      LaunchConfig config;
      config.grid = {40, 1, 1};
      config.block = {64, 1, 1};
      config.threads = threads;
      const auto result = launch_grid(body, memory, words, config);
      if (!result.ok()) FAIL(format_fault(*result.fault));
      CHECK(memory.download<uint32_t>(words, 2) == std::vector<uint32_t>{1, 40});
      CHECK(result.stats.workgroups == 40);
    }
  }
}

TEST_CASE("who waits for a workgroup that fails is not the fault") {
  const std::string body =
      "s_cmp_eq_u32 s2, 5\ns_cbranch_scc0 wait\ns_trap 1\nwait:\nglobal_load_dword v2, v1, s[8:9] sc1\n"
      "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v2\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc1 wait";
  for (const unsigned threads : {1u, 2u, 8u}) {
    TestMemory memory;
    LaunchConfig config;
    config.grid = {16, 1, 1};
    config.threads = threads;
    const Fault fault = expect_fault(launch_grid(body, memory, memory.allocate(4), config), FaultKind::trap);
    CHECK(fault.workgroup[0] == 5);
  }
  // Nobody sets the flag: an endless loop.
  TestMemory memory;
  LaunchConfig config;
  config.grid = {3, 1, 1};
  config.max_wave_instructions = 2'000'000;
  const std::string wait = body.substr(body.find("wait:"));
  const Fault fault = expect_fault(launch_grid(wait, memory, memory.allocate(4), config), FaultKind::endless_loop);
  CHECK(fault.workgroup[0] == 0);
}

TEST_CASE("a launch that the host has no memory for throws, whichever thread runs short, and leaves no waiter") {
  const std::string wait =
      "wait:\nglobal_load_dword v2, v1, s[8:9] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v2\n"
      "s_cmp_eq_u32 s10, 0\ns_cbranch_scc1 wait";
  for (const unsigned threads : {1u, 2u, 8u}) {
    TestMemory memory;
    LaunchConfig config;
    config.grid = {16, 1, 1};
    config.threads = threads;
    config.observer = [](uint64_t workgroup) -> ExecutionObserver* {
      if (workgroup != 0) throw std::bad_alloc();
      return nullptr;
    };
    CHECK_THROWS_AS(launch_grid(wait, memory, memory.allocate(4), config), std::bad_alloc);
  }
}

TEST_CASE("a cooperative launch: every workgroup meets all others, the same on any number of threads") {
  // A grid barrier of its own: count up, wait for all.
  const std::string body =
      "s_mov_b64 exec, 1\nv_mov_b32 v3, 1\nglobal_atomic_add v1, v3, s[8:9]\nwait:\n"
      "global_load_dword v2, v1, s[8:9] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s10, v2\n"
      "s_cmp_lt_u32 s10, 50\ns_cbranch_scc1 wait\nglobal_atomic_add v1, v3, s[8:9] offset:4";
  for (const MemoryMode mode : {MemoryMode::lazy, MemoryMode::clobber, MemoryMode::eager, MemoryMode::random}) {
    std::vector<uint64_t> instructions;
    for (const unsigned threads : {1u, 4u}) {
      TestMemory memory;
      const uint64_t words = memory.allocate(8);
      LaunchConfig config;
      config.grid = {50, 1, 1};
      config.block = {64, 1, 1};
      config.threads = threads;
      config.memory = mode;
      config.cooperative = true;
      config.checks.global_races = true;
      const auto result = launch_grid(body, memory, words, config);
      if (!result.ok()) FAIL(format_fault(*result.fault));
      CHECK(memory.download<uint32_t>(words, 2) == std::vector<uint32_t>{50, 50});
      instructions.push_back(result.stats.instructions);
    }
    CHECK(instructions[0] == instructions[1]);
  }
  TestMemory memory;
  LaunchConfig config;
  config.grid = {50, 1, 1};
  config.cooperative = true;
  config.resident_workgroups = 49;
  const Fault fault = expect_fault(launch_grid(body, memory, memory.allocate(8), config), FaultKind::bad_launch);
  CHECK(fault.message.find("50 workgroups in a cooperative launch, but the device holds 49") != std::string::npos);
}

TEST_CASE("the reported fault is the lowest workgroup's, whatever the threads") {
  TestMemory memory;
  // Workgroups 3 and up trap; workgroup 3 works longest before it does.
  auto code =
      test::make_kernel({.source = "s_cmp_lt_u32 s2, 3\ns_cbranch_scc1 end\ns_cmp_lg_u32 s2, 3\ns_cbranch_scc1 bad\n"
                                   "s_mov_b32 s5, 20000\nwork:\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\n"
                                   "s_cbranch_scc1 work\nbad:\ns_trap 1\nend:\ns_endpgm"});
  LaunchConfig config;
  config.grid = {64, 1, 1};
  for (const unsigned threads : {1u, 2u, 8u}) {
    config.threads = threads;
    const Fault fault = expect_fault(test::launch(code, config, memory), FaultKind::trap);
    CHECK(fault.workgroup[0] == 3);
  }
}

TEST_CASE("preloaded arguments start 256 bytes in") {
  TestMemory memory;
  const uint64_t out = memory.allocate(4);
  std::string source = "s_trap 3\n";
  for (int i = 1; i < 64; ++i) source += "s_nop 0\n";
  auto code = test::make_kernel(
      {.source = source + "v_mov_b32 v1, 0\nv_mov_b32 v2, 42\nglobal_store_dword v1, v2, s[2:3]\ns_endpgm"});
  code.kernarg_bytes = 8;
  code.descriptor.kernarg_preload = 2;
  code.descriptor.compute_pgm_rsrc2 = 4u << 1;
  LaunchConfig config;
  config.kernarg = std::as_bytes(std::span(&out, 1));
  const auto result = test::launch(code, config, memory);
  if (!result.ok()) FAIL(format_fault(*result.fault));
  CHECK(memory.download<uint32_t>(out, 1)[0] == 42);
}
