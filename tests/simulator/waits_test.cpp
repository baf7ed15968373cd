// Counters: what a wait guarantees, in every memory mode, and what a missing one costs.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

constexpr MemoryMode all_modes[] = {MemoryMode::lazy, MemoryMode::clobber, MemoryMode::eager, MemoryMode::random};

const std::string prologue = "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n";

/// Runs with s[8:9] = 64 words 1000 + i, s[10:11] = output, v1 = lane * 4.
LaunchResult run_body(const std::string& body, MemoryMode mode, std::vector<uint32_t>* out = nullptr,
                      uint32_t threads = 64, uint64_t seed = 11) {
  TestMemory memory;
  std::vector<uint32_t> words(1024);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
  const uint64_t source = memory.upload(words);
  const uint64_t destination = memory.allocate(4096);
  const auto result = test::run({.source = prologue + body + "\ns_endpgm", .lds_bytes = 4096}, memory,
                                {source, destination}, threads, mode, seed);
  if (out != nullptr) *out = memory.download<uint32_t>(destination, 1024);
  return result;
}

void expect_pending(const std::string& body) {
  for (const MemoryMode mode : all_modes) {
    CAPTURE(body, static_cast<int>(mode));
    const auto result = run_body(body, mode);
    REQUIRE_FALSE(result.ok());
    CHECK(result.fault->kind == FaultKind::register_pending);
  }
}

void expect_clean(const std::string& body) {
  for (const MemoryMode mode : all_modes) {
    CAPTURE(body, static_cast<int>(mode));
    const auto result = run_body(body, mode);
    if (!result.ok()) FAIL(format_fault(*result.fault));
  }
}

}  // namespace

TEST_CASE("reading a loaded register without its wait") {
  expect_pending("global_load_dword v2, v1, s[8:9]\nv_add_u32 v3, 1, v2");
  expect_pending("ds_read_b32 v2, v1\nv_add_u32 v3, 1, v2");
  expect_pending("s_load_dword s12, s[8:9], 0x0\ns_add_u32 s13, s12, 1");
  expect_pending("global_load_dword v2, v1, s[8:9]\ns_waitcnt lgkmcnt(0)\nv_add_u32 v3, 1, v2");
  expect_pending("global_load_dword v2, v1, s[8:9]\nglobal_store_dword v1, v2, s[10:11]");
}

TEST_CASE("data of a store, addresses and operands of atomics are read, though they stand first") {
  const std::string resource = "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, -1\ns_mov_b32 s15, 0x20000\n";
  const std::string load = resource + "buffer_load_dword v2, v1, s[12:15], 0 offen\n";
  expect_pending(load + "buffer_store_dword v2, v1, s[12:15], 0 offen");
  expect_pending(load + "buffer_atomic_add v2, v1, s[12:15], 0 offen sc0");
  expect_pending(load + "s_mov_b32 m0, 0\nbuffer_load_dword v2, s[12:15], 0 offen lds");
  expect_pending(load + "global_store_dword v2, v1, s[10:11]");
  expect_pending("ds_read_b32 v2, v1\nds_write_b32 v2, v1");
  expect_pending("ds_read_b32 v2, v1\nds_add_u32 v2, v1");
}

TEST_CASE("overwriting a register that a load will still write") {
  expect_pending("global_load_dwordx2 v[2:3], v1, s[8:9]\nv_mov_b32 v3, 0");
  expect_pending("ds_read_b32 v2, v1\nglobal_load_dword v2, v1, s[8:9]");
  // Loads of one counter return in order, so the second may follow the first into its register.
  expect_clean(
      "global_load_dword v2, v1, s[8:9]\nglobal_load_dword v2, v1, s[8:9] offset:4\ns_waitcnt vmcnt(0)\n"
      "v_add_u32 v3, 1, v2");
}

TEST_CASE("counted waits retire the oldest loads only") {
  const std::string two =
      "global_load_dword v2, v1, s[8:9]\nglobal_load_dword v3, v1, s[8:9] offset:4\ns_waitcnt vmcnt(1)\n";
  expect_clean(two + "v_add_u32 v4, 1, v2");
  expect_pending(two + "v_add_u32 v4, 1, v3");
  const std::string lds = "ds_read_b32 v2, v1\nds_read_b32 v3, v1 offset:4\ns_waitcnt lgkmcnt(1)\n";
  expect_clean(lds + "v_add_u32 v4, 1, v2");
  expect_pending(lds + "v_add_u32 v4, 1, v3");
  // Stores count as well.
  expect_clean(
      "global_load_dword v2, v1, s[8:9]\nglobal_store_dword v1, v0, s[10:11]\ns_waitcnt vmcnt(1)\nv_add_u32 v4, 1, v2");
}

TEST_CASE("scalar loads return out of order: only lgkmcnt(0) guarantees one") {
  expect_pending(
      "s_load_dword s12, s[8:9], 0x0\ns_load_dword s13, s[8:9], 0x4\ns_waitcnt lgkmcnt(1)\ns_add_u32 s14, s12, 1");
  expect_clean(
      "s_load_dword s12, s[8:9], 0x0\ns_load_dword s13, s[8:9], 0x4\ns_waitcnt lgkmcnt(0)\ns_add_u32 s14, s12, s13");
  // An LDS read behind which another follows is done at lgkmcnt(1) whatever the scalar load does.
  expect_clean(
      "ds_read_b32 v2, v1\ns_load_dword s13, s[8:9], 0x4\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(1)\nv_add_u32 v4, 1, "
      "v2");
}

TEST_CASE("flat loads need both counters at 0") {
  const std::string flat = "v_mov_b32 v5, s9\nv_add_u32 v4, s8, v1\nflat_load_dword v2, v[4:5]\n";
  expect_pending(flat + "s_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v2");
  expect_clean(flat + "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v3, 1, v2");
}

TEST_CASE("a full counter stalls until its oldest operation is done") {
  std::string body;
  for (int i = 0; i < 64; ++i) body += fmt::format("global_load_dword v{}, v1, s[8:9] offset:{}\n", 10 + i, 4 * i);
  expect_clean(body + "v_add_u32 v2, 1, v10");  // 63 fit: the 64th waited for the first
  expect_pending(body + "v_add_u32 v2, 1, v11");
}

TEST_CASE("source registers of a store may be overwritten at once") {
  std::vector<uint32_t> out;
  for (const MemoryMode mode : all_modes) {
    REQUIRE(run_body("v_add_u32 v2, 5, v0\nglobal_store_dword v1, v2, s[10:11]\nv_mov_b32 v2, 0", mode, &out).ok());
    for (uint32_t lane = 0; lane < 64; ++lane) CHECK(out[lane] == lane + 5);
  }
}

TEST_CASE("lazy reads the LDS before a DMA that was not waited for, eager and clobber behind it") {
  // v2 is read from the LDS before the DMA's wait, v3 after it. The LDS starts with 7. The read's own wait stands
  // behind the DMA's: a mode that samples at the wait would see the new bytes.
  const std::string body =
      "v_mov_b32 v4, 7\nds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 m0, 0\ns_nop 0\n"
      "global_load_lds_dword v1, s[8:9]\nds_read_b32 v2, v1\ns_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\n"
      "ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[10:11]\n"
      "global_store_dword v1, v3, s[10:11] offset:256";
  std::vector<uint32_t> out;
  for (const MemoryMode mode : all_modes) {
    REQUIRE(run_body(body, mode, &out).ok());
    for (uint32_t lane = 0; lane < 64; ++lane) {
      CHECK(out[64 + lane] == 1000 + lane);
      if (mode == MemoryMode::lazy) CHECK(out[lane] == 7);
      if (mode == MemoryMode::eager || mode == MemoryMode::clobber) CHECK(out[lane] == 1000 + lane);
    }
  }
}

TEST_CASE("clobber overwrites the LDS under a read that was not waited for") {
  // The buffer's release without a wait: the DMA of the next block may land before the read samples.
  const auto body = [](const std::string& wait) {
    return "v_mov_b32 v4, 7\nds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 m0, 0\nds_read_b32 v2, v1\n" + wait +
           "global_load_lds_dword v1, s[8:9]\ns_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\n"
           "global_store_dword v1, v2, s[10:11]";
  };
  std::vector<uint32_t> out;
  for (const MemoryMode mode : all_modes) {
    REQUIRE(run_body(body("s_waitcnt lgkmcnt(0)\n"), mode, &out).ok());
    CHECK(out[5] == 7);
  }
  REQUIRE(run_body(body(""), MemoryMode::lazy, &out).ok());
  CHECK(out[5] == 7);
  REQUIRE(run_body(body(""), MemoryMode::clobber, &out).ok());
  CHECK(out[5] == 1005);
}

TEST_CASE("random shows both ends of what the counters allow") {
  // As above without a wait: over the seeds the read must come before the DMA and behind it, and a DMA must stay behind
  // by more than a few operations.
  std::string body =
      "v_mov_b32 v4, 7\nds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 m0, 0\ns_nop 0\n"
      "global_load_lds_dword v1, s[8:9]\n";
  for (int i = 0; i < 12; ++i) body += fmt::format("ds_read_b32 v{}, v1\n", 10 + i);
  body += "s_waitcnt lgkmcnt(0)\n";
  for (int i = 0; i < 12; ++i) body += fmt::format("global_store_dword v1, v{}, s[10:11] offset:{}\n", 10 + i, 256 * i);
  bool first_new = false;
  bool last_old = false;
  bool between = false;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<uint32_t> out;
    REQUIRE(run_body(body, MemoryMode::random, &out, 64, seed).ok());
    first_new |= out[0] == 1000;
    last_old |= out[11 * 64] == 7;
    between |= out[0] == 7 && out[11 * 64] == 1000;
  }
  CHECK(first_new);
  CHECK(last_old);
  CHECK(between);
}

TEST_CASE("vcc is not used before its scalar load's wait, named or not") {
  const std::string load = "s_load_dwordx2 vcc, s[8:9], 0x0\n";
  for (const char* use : {"s_cbranch_vccz 0", "v_div_fmas_f32 v2, v1, v1, v1", "v_cndmask_b32 v2, v1, v1, vcc",
                          "v_addc_co_u32 v2, vcc, v1, v1, vcc", "v_cmp_eq_u32 vcc, v1, v1", "s_mov_b64 s[12:13], vcc",
                          "s_getreg_b32 s12, hwreg(HW_REG_STATUS)"}) {
    expect_pending(load + use);
    expect_clean(load + "s_waitcnt lgkmcnt(0)\n" + use);
  }
}

TEST_CASE("lazy shows the other wave stale LDS when the writer does not wait before the barrier") {
  // Wave w writes its number + 1 to LDS words w * 64 .., then reads the other wave's.
  const auto exchange = [](const std::string& wait) {
    return "v_mov_b32 v4, 0\nds_write_b32 v1, v4\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_add_u32 v4, 1, v0\n"
           "ds_write_b32 v1, v4\n" +
           wait +
           "s_barrier\nv_xor_b32 v5, 0x100, v1\nds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)\n"
           "global_store_dword v1, v6, s[10:11]";
  };
  std::vector<uint32_t> out;
  REQUIRE(run_body(exchange("s_waitcnt lgkmcnt(0)\n"), MemoryMode::lazy, &out, 128).ok());
  for (uint32_t thread = 0; thread < 128; ++thread) CHECK(out[thread] == (thread ^ 64) + 1);
  REQUIRE(run_body(exchange(""), MemoryMode::lazy, &out, 128).ok());
  CHECK(out[0] == 0);  // wave 1's write has not landed
}

TEST_CASE("memory sees one wave's accesses in order, whatever the mode") {
  std::vector<uint32_t> out;
  for (const MemoryMode mode : all_modes) {
    REQUIRE(run_body("v_add_u32 v2, 77, v0\nglobal_store_dword v1, v2, s[10:11]\nglobal_load_dword v3, v1, s[10:11]\n"
                     "s_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[10:11] offset:256",
                     mode, &out)
                .ok());
    CHECK(out[64 + 9] == 77 + 9 + 1);
  }
}
