// Global, flat, scratch and buffer accesses: addressing, bounds, range checks, atomics.
#include <fmt/format.h>

#include <bit>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

const std::string prologue = "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n";

struct Fixture {
  TestMemory memory;
  uint64_t source;
  uint64_t out;
  Fixture() {
    std::vector<uint32_t> words(256);
    for (uint32_t i = 0; i < 256; ++i) words[i] = 0x80000000u + i;
    source = memory.upload(words);
    out = memory.allocate(4096);
  }
  LaunchResult run(const std::string& body, uint32_t scratch = 0, uint32_t lds = 0) {
    return test::run({.source = prologue + body + "\ns_endpgm", .lds_bytes = lds, .scratch_bytes = scratch}, memory,
                     {source, out});
  }
  std::vector<uint32_t> result(const std::string& body, uint32_t scratch = 0, uint32_t lds = 0) {
    const auto launch = run(body, scratch, lds);
    if (!launch.ok()) FAIL(format_fault(*launch.fault));
    return memory.download<uint32_t>(out, 1024);
  }
  Fault fault(const std::string& body, uint32_t scratch = 0) {
    const auto launch = run(body, scratch);
    REQUIRE_FALSE(launch.ok());
    return *launch.fault;
  }
};

const std::string store_v2 = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v2, s[10:11]";

}  // namespace

TEST_CASE("global addressing: scalar base, 64-bit vector, signed offsets") {
  Fixture f;
  const auto by_scalar = f.result("v_add_u32 v3, 64, v1\nglobal_load_dword v2, v3, s[8:9] offset:-64" + store_v2);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(by_scalar[lane] == 0x80000000u + lane);
  const auto by_vector =
      f.result("v_mov_b32 v5, s9\nv_add_u32 v4, s8, v1\nglobal_load_dword v2, v[4:5], off offset:256" + store_v2);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(by_vector[lane] == 0x80000000u + lane + 64);
}

TEST_CASE("lanes that are off load and store nothing") {
  Fixture f;
  const auto words = f.result(
      "v_mov_b32 v2, 5\ns_mov_b64 exec, 0xff\nglobal_load_dword v2, v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
      "s_mov_b64 exec, 0xfff\nglobal_store_dword v1, v2, s[10:11]");
  CHECK(words[7] == 0x80000007u);
  CHECK(words[8] == 5);
  CHECK(words[12] == 0);
}

TEST_CASE("bounds: past the end, before the start, after free, read-only arguments") {
  Fixture f;
  const Fault past = f.fault("global_load_dwordx4 v[4:7], v1, s[8:9] offset:760");
  CHECK(past.kind == FaultKind::memory_bounds);
  CHECK(past.lane == 63);  // 252 + 760 + 16 = 1028 > 1024
  CHECK(past.message.find("1024-byte allocation") != std::string::npos);
  CHECK(f.fault("global_load_dword v4, v1, s[8:9] offset:-4").lane == 0);
  const Fault read_only = f.fault("global_store_dword v1, v0, s[0:1]");
  CHECK(read_only.kind == FaultKind::memory_bounds);
  CHECK(read_only.message.find("read-only: the kernel arguments") != std::string::npos);
  CHECK(f.fault("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_load_dword v4, v[2:3], off").kind ==
        FaultKind::memory_bounds);
  f.memory.free(f.source);
  CHECK(f.fault("global_load_dword v4, v1, s[8:9]").kind == FaultKind::use_after_free);
}

TEST_CASE("scalar stores, by address and by buffer") {
  Fixture f;
  const auto words = f.result(
      "s_mov_b32 s12, 7\ns_mov_b32 s13, 8\ns_mov_b32 s14, 9\ns_mov_b32 s15, 10\n"
      "s_store_dwordx4 s[12:15], s[10:11], 0x10\ns_store_dword s12, s[10:11], 0x20\n"
      "s_mov_b32 s16, s10\ns_mov_b32 s17, s11\ns_mov_b32 s18, 48\ns_mov_b32 s19, 0x20000\n"
      "s_mov_b64 s[20:21], s[14:15]\ns_buffer_store_dwordx2 s[20:21], s[16:19], 0x28\ns_buffer_store_dword s15, "
      "s[16:19], 0x30\n"
      "s_mov_b32 s12, 0\ns_waitcnt lgkmcnt(0)");
  CHECK(std::vector(words.begin() + 4, words.begin() + 13) ==
        std::vector<uint32_t>{7, 8, 9, 10, 7, 0, 9, 10, 0});  // byte 0x30 lies past num_records
  CHECK(f.fault("s_store_dword s12, s[0:1], 0x0").kind == FaultKind::memory_bounds);
}

TEST_CASE("flat reaches global, LDS and scratch by their apertures") {
  Fixture f;
  const auto words = f.result(
      "v_mov_b32 v5, s9\nv_add_u32 v4, s8, v1\nflat_load_dword v2, v[4:5]\n"
      "s_mov_b64 s[12:13], src_shared_base\nv_mov_b32 v6, v1\nv_mov_b32 v7, s13\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "flat_store_dword v[6:7], v2\ns_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n"
      "s_mov_b64 s[12:13], src_private_base\nv_mov_b32 v6, 8\nv_mov_b32 v7, s13\nflat_store_dword v[6:7], v3\n"
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nscratch_load_dword v2, off, off offset:8" +
          store_v2,
      16, 256);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(words[lane] == 0x80000000u + lane);
}

TEST_CASE("scratch is each lane's own; vector, scalar and immediate parts add") {
  Fixture f;
  const auto words = f.result(
      "s_mov_b32 s12, 16\nv_mov_b32 v3, 8\nscratch_store_dword v3, v0, s12 offset:4\ns_waitcnt vmcnt(0)\n"
      "s_mov_b32 s13, 28\nscratch_load_dword v2, off, s13" +
          store_v2,
      32);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(words[lane] == lane);
  CHECK(f.fault("scratch_load_dword v2, off, off offset:32", 32).kind == FaultKind::memory_bounds);
}

TEST_CASE("buffer: dwords past num_records read 0 and are not stored") {
  Fixture f;
  const std::string resource = "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_movk_i32 s14, 0x68\ns_mov_b32 s15, 0x20000\n";
  // 26 dwords: lane 6 of the x4 load has two dwords in range.
  const auto words =
      f.result(resource +
               "v_lshlrev_b32 v3, 4, v0\nbuffer_load_dwordx4 v[4:7], v3, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\n"
               "global_store_dwordx4 v3, v[4:7], s[10:11]");
  for (uint32_t i = 0; i < 256; ++i) CHECK(words[i] == (i < 26 ? 0x80000000u + i : 0u));
  f.result(resource + "v_mov_b32 v4, 1\nbuffer_store_dword v4, v1, s[12:15], 0 offen offset:8");
  const auto stored = f.memory.download<uint32_t>(f.source, 64);
  for (uint32_t i = 2; i < 64; ++i) CHECK(stored[i] == (i < 26 ? 1u : 0x80000000u + i));
  // soffset counts in the range check: from dword 20 on six are left.
  const auto shifted =
      f.result(resource + "s_movk_i32 s16, 0x50\nbuffer_load_dword v2, v1, s[12:15], s16 offen" + store_v2);
  CHECK(shifted[5] == 1);
  CHECK(shifted[6] == 0);
}

TEST_CASE("buffer: index times stride, and swizzled") {
  Fixture f;
  // Stride 8, index from the lane, offset 4: dword 2 lane + 1.
  const auto strided = f.result(
      "s_mov_b32 s12, s8\ns_or_b32 s13, s9, 0x80000\ns_movk_i32 s14, 0x400\ns_mov_b32 s15, 0x20000\n"
      "buffer_load_dword v2, v0, s[12:15], 0 idxen offset:4" +
      store_v2);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(strided[lane] == 0x80000000u + 2 * lane + 1);
  // Swizzled with index stride 8: (i / 8 * 8 + offset / 4 * 4) * 8 + i % 8 * 4 bytes.
  const auto swizzled = f.result(
      "s_mov_b32 s12, s8\ns_or_b32 s13, s9, 0x80080000\ns_movk_i32 s14, 0x400\ns_mov_b32 s15, 0x20000\n"
      "buffer_load_dword v2, v0, s[12:15], 0 idxen offset:4" +
      store_v2);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    CHECK(swizzled[lane] == 0x80000000u + (lane / 8 * 8 + 4) * 8 / 4 + lane % 8);
  }
}

TEST_CASE("buffer: an index counts records of a stride, scalar loads too") {
  Fixture f;
  // Six records of 8 bytes: an offset behind them is in range, an index is not.
  const std::string resource =
      "s_mov_b32 s12, s8\ns_or_b32 s13, s9, 0x80000\ns_mov_b32 s14, 6\ns_mov_b32 s15, 0x20000\n";
  const auto indexed = f.result(resource + "buffer_load_dword v2, v0, s[12:15], 0 idxen offset:12" + store_v2);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(indexed[lane] == (lane < 6 ? 0x80000000u + 2 * lane + 3 : 0u));
  // Without an index records are bytes.
  const auto raw = f.result(resource + "buffer_load_dword v2, v1, s[12:15], 0 offen" + store_v2);
  CHECK(raw[1] == 0x80000001u);
  CHECK(raw[2] == 0);
  const auto scalar = f.result(resource +
                               "s_buffer_load_dwordx4 s[16:19], s[12:15], 0x28\ns_waitcnt lgkmcnt(0)\n"
                               "v_mov_b32 v2, s17\nv_mov_b32 v3, s18\nglobal_store_dwordx2 v1, v[2:3], s[10:11]");
  CHECK(scalar[0] == 0x8000000bu);  // bytes 44 to 47 of 48
  CHECK(scalar[64] == 0);
}

TEST_CASE("scalar buffer stores keep to the range") {
  Fixture f;
  f.result(
      "s_mov_b32 s12, s10\ns_mov_b32 s13, s11\ns_mov_b32 s14, 24\ns_mov_b32 s15, 0x20000\ns_mov_b32 s16, 1\n"
      "s_mov_b32 s17, 2\ns_mov_b32 s18, 3\ns_mov_b32 s19, 4\ns_buffer_store_dwordx4 s[16:19], s[12:15], 0x10");
  const auto words = f.memory.download<uint32_t>(f.out, 8);
  CHECK(words == std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 0, 0});
}

TEST_CASE("scalar scratch instructions: an SGPR counts 64 bytes, an immediate one") {
  Fixture f;
  const auto words = f.result(
      "s_mov_b32 s16, 2\ns_scratch_load_dword s17, s[8:9], s16\ns_scratch_load_dwordx2 s[18:19], s[8:9], 0x10\n"
      "s_scratch_load_dwordx4 s[20:23], s[8:9], s16 offset:0x8\ns_waitcnt lgkmcnt(0)\n"
      "s_scratch_store_dword s17, s[10:11], 0x0\ns_scratch_store_dwordx2 s[18:19], s[10:11], s16\n"
      "s_scratch_store_dwordx4 s[20:23], s[10:11], s16 offset:0x10");
  CHECK(words[0] == 0x80000020u);  // 2 * 64 bytes
  CHECK(words[32] == 0x80000004u);
  CHECK(words[33] == 0x80000005u);
  for (uint32_t d = 0; d < 4; ++d) CHECK(words[36 + d] == 0x80000022u + d);
}

TEST_CASE("atomics: integers wrap, compare and swap, floats add, old values come back") {
  Fixture f;
  const auto words =
      f.result("v_mov_b32 v3, 0\nv_mov_b32 v4, 1\nglobal_atomic_add v2, v3, v4, s[10:11] offset:512 sc0" + store_v2 +
               "\nv_mov_b32 v5, 1.0\nglobal_atomic_add_f32 v3, v5, s[10:11] offset:516\n"
               "v_mov_b32 v6, -1\nv_mov_b32 v7, 0\nglobal_atomic_add_x2 v3, v[6:7], s[10:11] offset:520\n"
               "v_mov_b32 v10, 0x3c00bc00\nglobal_atomic_pk_add_f16 v3, v10, s[10:11] offset:528\n"
               "v_mov_b32 v8, 9\nv_mov_b32 v9, 0\nglobal_atomic_cmpswap v3, v[8:9], s[10:11] offset:532");
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(words[lane] == lane);
  CHECK(words[128] == 64);
  CHECK(words[129] == std::bit_cast<uint32_t>(64.0f));
  CHECK((words[130] | uint64_t{words[131]} << 32) == uint64_t{64} * 0xffffffff);
  CHECK(words[132] == 0x5400d400);  // 64 and -64 in binary16
  CHECK(words[133] == 9);
  CHECK(f.fault("v_mov_b32 v3, 2\nglobal_atomic_add v3, v0, s[10:11]").kind == FaultKind::misaligned);
}

TEST_CASE("the alignment check is a switch: unaligned dwords are legal on amdhsa") {
  Fixture f;
  auto code = test::make_kernel({.source = prologue + "global_load_dword v2, v1, s[8:9] offset:2\ns_endpgm"});
  code.kernarg_bytes = 16;
  const std::vector<uint64_t> arguments{f.source, f.out};
  LaunchConfig config;
  config.block = {32, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  CHECK(test::launch(code, config, f.memory).ok());
  config.checks.alignment = true;
  const auto result = test::launch(code, config, f.memory);
  REQUIRE_FALSE(result.ok());
  CHECK(result.fault->kind == FaultKind::misaligned);
}
