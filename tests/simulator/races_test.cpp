// Checks::lds_races: what must be reported, with both instructions, and what must not.
#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

/// 128 threads; v1 = thread * 4, s5 = wave * 256, s[8:9] 4 KiB of memory; the LDS has 4 KiB.
LaunchResult run_checked(const std::string& body, MemoryMode mode, Checks checks) {
  TestMemory memory;
  const std::vector<uint64_t> arguments{memory.allocate(4096)};
  auto code = test::make_kernel(
      {.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_readfirstlane_b32 s5, v1\n"
                 "s_mov_b32 m0, s5\ns_waitcnt lgkmcnt(0)\n" +
                 body + "\ns_endpgm",
       .lds_bytes = 4096});
  code.kernarg_bytes = 8;
  LaunchConfig config;
  config.block = {128, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  config.memory = mode;
  config.seed = 5;
  config.checks = checks;
  return test::launch(code, config, memory);
}

constexpr MemoryMode all_modes[] = {MemoryMode::lazy, MemoryMode::clobber, MemoryMode::eager, MemoryMode::random};

void expect_race(const std::string& body, const char* other) {
  for (const MemoryMode mode : all_modes) {
    CAPTURE(body, static_cast<int>(mode));
    const auto result = run_checked(body, mode, {.lds_races = true});
    REQUIRE_FALSE(result.ok());
    CHECK(result.fault->kind == FaultKind::lds_race);
    CHECK(result.fault->message.find(other) != std::string::npos);
    CHECK(run_checked(body, mode, {}).ok());  // only the check knows
  }
}

void expect_clean(const std::string& body) {
  for (const MemoryMode mode : all_modes) {
    CAPTURE(body, static_cast<int>(mode));
    const auto result = run_checked(body, mode, {.lds_races = true});
    if (!result.ok()) FAIL(format_fault(*result.fault));
  }
}

const std::string store = "ds_write_b32 v1, v0\n";
const std::string wait = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
const std::string barrier = "s_barrier\n";
const std::string read_other = "v_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\n";
const std::string dma = "global_load_lds_dword v1, s[8:9]\n";

}  // namespace

TEST_CASE("write, wait, barrier, read is ordered") {
  expect_clean(store + wait + barrier + read_other + wait);
  expect_clean(dma + wait + barrier + read_other + wait);
}

TEST_CASE("a barrier or a wait is missing") {
  expect_race(store + wait + read_other + wait, "ds_");
  expect_race(store + barrier + read_other + wait, "ds_write_b32");
  expect_race(dma + barrier + read_other + wait, "global_load_lds_dword");
}

TEST_CASE("a report names both accesses, their lanes and bytes, and the last barrier") {
  // Each wave writes 256 bytes; behind the barrier, but without a wait before it, wave 0 reads those of wave 1.
  const auto result = run_checked(store + barrier + read_other + wait, MemoryMode::lazy, {.lds_races = true});
  REQUIRE_FALSE(result.ok());
  const std::string text = format_fault(*result.fault);
  CAPTURE(text);
  for (const char* part :
       {"LDS bytes 256 to 259", "'ds_write_b32 v1, v0' at 0x60000000", "lane 0 of wave 1 writes",
        "since the s_barrier at 0x60000000", "no s_waitcnt and s_barrier", "ds_read_b32 v3, v2", "wave 0, lane 0"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  const auto unwaited = run_checked(dma + "ds_read_b32 v3, v1\n" + wait, MemoryMode::lazy, {.lds_races = true});
  REQUIRE_FALSE(unwaited.ok());
  CHECK(unwaited.fault->message.find("no s_waitcnt vmcnt between") != std::string::npos);
}

TEST_CASE("a read still outstanding at the barrier that frees its buffer") {
  const std::string filled = store + wait + barrier + read_other;
  expect_race(filled + barrier + store + wait, "ds_read_b32");
  expect_race(filled + barrier + dma + wait, "ds_read_b32");
  expect_clean(filled + wait + barrier + dma + wait);
}

TEST_CASE("one wave: its LDS operations are in order, but not with its DMA") {
  expect_clean(store + "ds_read_b32 v3, v1\n" + store + wait);
  expect_race(dma + "ds_read_b32 v3, v1\n" + wait, "global_load_lds_dword");
  expect_race(store + wait + "ds_read_b32 v3, v1\n" + dma + wait, "ds_read_b32");
  expect_clean(dma + "s_waitcnt vmcnt(0)\nds_read_b32 v3, v1\n" + wait);
}

TEST_CASE("reads share, atomics share, an atomic and a read do not") {
  const std::string zero = "v_mov_b32 v4, 0\n";
  expect_clean(store + wait + barrier + zero + "ds_read_b32 v3, v4\n" + wait);
  expect_clean(store + wait + barrier + zero + "ds_add_u32 v4, v0\n" + wait);
  // Wave 1 alone reads the word that wave 0 adds to.
  expect_race(store + wait + barrier + zero + "s_cmp_eq_u32 s5, 0\ns_cbranch_scc1 add\nds_read_b32 v3, v4\n" + wait +
                  "s_endpgm\nadd:\nds_add_u32 v4, v0\n" + wait,
              "ds_");
}

TEST_CASE("neighbouring bytes of one dword are not shared") {
  expect_clean("v_lshrrev_b32 v2, 6, v0\nds_write_b8 v2, v0\n" + wait);
}

TEST_CASE("LDS bytes never written") {
  const auto result = run_checked("ds_read_b32 v3, v1 offset:1024\n" + wait, MemoryMode::lazy, {.uninitialized = true});
  REQUIRE_FALSE(result.ok());
  CHECK(result.fault->kind == FaultKind::uninitialized);
  CHECK(result.fault->message.find("byte 1024") != std::string::npos);
  CHECK(run_checked(store + "ds_read_b32 v3, v1\n" + wait, MemoryMode::lazy, {.uninitialized = true}).ok());
}

TEST_CASE("a flat store into the LDS is done when lgkmcnt says so, as clang waits for it before a barrier") {
  const std::string flat =
      "s_mov_b64 s[12:13], src_shared_base\nv_mov_b32 v6, v1\nv_mov_b32 v7, s13\n"
      "flat_store_dword v[6:7], v1\n";
  const std::string others =
      "s_barrier\nv_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32 v4, v3\ns_waitcnt vmcnt(0)";
  expect_clean(flat + "s_waitcnt lgkmcnt(0)\n" + others);
  expect_race(flat + "s_waitcnt vmcnt(0)\n" + others, "flat_store_dword");
}
