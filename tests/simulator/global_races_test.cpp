// Checks::global_races: bytes that two workgroups touch, one of them writing.
#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

/// Four workgroups of a wave; s2 = the workgroup, s[8:9] = 4 KiB of memory, v1 = lane * 4, v2 = that + workgroup * 256.
LaunchResult run_checked(const std::string& body, unsigned threads = 1) {
  TestMemory memory;
  const std::vector<uint64_t> arguments{memory.allocate(4096)};
  auto code = test::make_kernel({.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
                                           "s_lshl_b32 s5, s2, 8\nv_add_u32 v2, s5, v1\ns_waitcnt lgkmcnt(0)\n" +
                                           body + "\ns_endpgm",
                                 .lds_bytes = 4096});
  code.kernarg_bytes = 8;
  LaunchConfig config;
  config.grid = {4, 1, 1};
  config.block = {64, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  config.checks = {.global_races = true};
  config.threads = threads;
  return test::launch(code, config, memory);
}

void expect_race(const std::string& body, uint32_t workgroup, const std::string& other) {
  for (const unsigned threads : {1u, 2u}) {
    CAPTURE(body, threads);
    const auto result = run_checked(body, threads);
    REQUIRE_FALSE(result.ok());
    CAPTURE(format_fault(*result.fault));
    CHECK(result.fault->kind == FaultKind::global_race);
    CHECK(result.fault->workgroup[0] == workgroup);
    CHECK(result.fault->message.find(other) != std::string::npos);
    // By device address and allocation.
    CHECK(result.fault->message.find("the byte at 0x7000000") != std::string::npos);
    CHECK(result.fault->message.find("-byte allocation at 0x7000000") != std::string::npos);
  }
}

void expect_clean(const std::string& body) {
  CAPTURE(body);
  const auto result = run_checked(body);
  if (!result.ok()) FAIL(format_fault(*result.fault));
}

}  // namespace

TEST_CASE("workgroups that write the same bytes race, each to its own do not") {
  expect_race("global_store_dword v1, v0, s[8:9]", 0, "workgroup (1, 0, 0) writes");
  expect_clean("global_store_dword v2, v0, s[8:9]");
  // Neighbouring bytes of one dword are not shared.
  expect_clean("v_mov_b32 v3, s2\nv_mov_b32 v4, 1\ns_mov_b64 exec, 1\nglobal_store_byte v3, v4, s[8:9]");
}

TEST_CASE("a read of what another workgroup writes races, whichever came first") {
  // Workgroup 2 alone writes the words that all read.
  const std::string body =
      "global_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)\ns_cmp_lg_u32 s2, 2\ns_cbranch_scc1 end\n"
      "global_store_dword v1, v0, s[8:9]\nend:";
  expect_race(body, 0, "workgroup (2, 0, 0) writes by 'global_store_dword v1, v0, s[8:9]'");
  expect_race("s_load_dword s12, s[8:9], 0x0\n" + body, 0, "workgroup (2, 0, 0)");
  expect_clean("global_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)");
  expect_clean("global_load_dword v5, v2, s[8:9]\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v5, s[8:9]");
}

TEST_CASE("atomics do not race with each other, but with plain accesses") {
  expect_clean("global_atomic_add v1, v0, s[8:9]");
  expect_race("global_atomic_add v1, v0, s[8:9]\nglobal_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)", 0,
              "workgroup (1, 0, 0)");
}

TEST_CASE("an LDS DMA reads memory; the LDS and scratch are a workgroup's own") {
  expect_clean(
      "s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v1, s[8:9]\nds_write_b32 v1, v0 offset:1024\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)");
  expect_race(
      "s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
      "global_store_dword v2, v0, s[8:9]",
      0, "workgroup (1, 0, 0) reads");
}
