// LDS DMA addressing (gfx950.md section 3): LDS = M0 + offset + lane * step, memory = address + offset.
#include <fmt/format.h>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;
using test::TestMemory;

namespace {

constexpr uint32_t lds_bytes = 4096;

/// Runs `body` with s[8:9] the source (8192 bytes, each 32-bit word holds its index), then dumps the whole LDS.
std::vector<uint32_t> dump_after(const std::string& body, MemoryMode mode = MemoryMode::lazy) {
  TestMemory memory;
  std::vector<uint32_t> words(2048);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = i * 0x01010101u + 0x00030201u;
  const uint64_t source = memory.upload(words);
  const uint64_t out = memory.allocate(lds_bytes);
  std::string text = "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0x5a5a5a5a\n";
  for (uint32_t at = 0; at < lds_bytes; at += 256) text += fmt::format("ds_write_b32 v1, v2 offset:{}\n", at);
  text += "s_waitcnt lgkmcnt(0)\n" + body + "\ns_mov_b64 exec, -1\ns_waitcnt vmcnt(0)\n";
  for (uint32_t at = 0; at < lds_bytes; at += 256) {
    text += fmt::format("ds_read_b32 v3, v1 offset:{}\ns_waitcnt lgkmcnt(0)\n", at);
    text += fmt::format("global_store_dword v1, v3, s[10:11] offset:{}\n", at);
  }
  const LaunchResult result =
      test::run({.source = text + "s_endpgm", .lds_bytes = lds_bytes}, memory, {source, out}, 64, mode, 3);
  if (!result.ok()) FAIL(format_fault(*result.fault));
  return memory.download<uint32_t>(out, lds_bytes / 4);
}

uint32_t source_word(uint32_t index) { return index * 0x01010101u + 0x00030201u; }

/// What the LDS must hold: lane l's `words` words from source word first(l) at LDS word base + l * step, else
/// untouched.
template <typename F>
std::vector<uint32_t> expected(uint32_t base_bytes, uint32_t step, uint32_t words, uint64_t exec, F first) {
  std::vector<uint32_t> lds(lds_bytes / 4, 0x5a5a5a5a);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    for (uint32_t w = 0; w < words; ++w) lds[(base_bytes + lane * step) / 4 + w] = source_word(first(lane) + w);
  }
  return lds;
}

}  // namespace

TEST_CASE("16-byte DMA: lanes are 16 bytes apart, the offset moves both sides") {
  for (const MemoryMode mode : {MemoryMode::lazy, MemoryMode::clobber, MemoryMode::eager, MemoryMode::random}) {
    const auto lds = dump_after(
        "s_mov_b32 m0, 512\nv_xor_b32 v4, 5, v0\nv_lshlrev_b32 v4, 4, v4\n"
        "global_load_lds_dwordx4 v4, s[8:9] offset:48",
        mode);
    CHECK(lds == expected(512 + 48, 16, 4, ~uint64_t{0}, [](uint32_t lane) { return (lane ^ 5) * 4 + 12; }));
  }
}

TEST_CASE("12-byte DMA leaves every fourth dword") {
  const auto lds = dump_after("s_mov_b32 m0, 64\nv_mul_u32_u24 v4, 12, v0\nglobal_load_lds_dwordx3 v4, s[8:9]");
  CHECK(lds == expected(64, 16, 3, ~uint64_t{0}, [](uint32_t lane) { return lane * 3; }));
}

TEST_CASE("4-byte DMA from 64-bit addresses, some lanes off") {
  const auto lds = dump_after(
      "s_mov_b32 m0, 128\nv_lshlrev_b32 v4, 3, v0\nv_mov_b32 v5, s9\nv_add_u32 v4, s8, v4\n"
      "s_mov_b32 exec_lo, 0xf0f0f0f0\ns_mov_b32 exec_hi, 0x0000ffff\nglobal_load_lds_dword v[4:5], off offset:4");
  CHECK(lds == expected(128 + 4, 4, 1, 0x0000fffff0f0f0f0, [](uint32_t lane) { return lane * 2 + 1; }));
}

TEST_CASE("1-byte and 2-byte DMA") {
  const auto bytes = dump_after("s_mov_b32 m0, 0\nglobal_load_lds_ubyte v0, s[8:9]");
  for (uint32_t lane = 0; lane < 64; ++lane) {
    // Byte `lane` of the source, extended, is LDS word `lane`.
    CHECK(bytes[lane] == (source_word(lane / 4) >> (8 * (lane % 4)) & 0xff));
  }
  const std::string resource =
      "s_mov_b32 m0, 0\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, 100\ns_mov_b32 s15, 0x20000\n"
      "v_lshlrev_b32 v4, 2, v0\n";
  struct Form {
    std::string name;
    unsigned bits;
    bool extends_sign;
  };
  for (const Form& form : {Form{"ubyte", 8, false}, {"sbyte", 8, true}, {"ushort", 16, false}, {"sshort", 16, true}}) {
    const auto value = [&](uint32_t word) {
      const uint32_t cut = word << (32 - form.bits);
      return form.extends_sign ? static_cast<uint32_t>(static_cast<int32_t>(cut) >> (32 - form.bits))
                               : cut >> (32 - form.bits);
    };
    const auto global =
        dump_after("s_mov_b32 m0, 0\nv_lshlrev_b32 v4, 2, v0\nglobal_load_lds_" + form.name + " v4, s[8:9] offset:64");
    const auto buffer = dump_after(resource + "buffer_load_" + form.name + " v4, s[12:15], 0 offen lds");
    for (uint32_t lane = 0; lane < 64; ++lane) {
      CAPTURE(form.name, lane);
      CHECK(global[16 + lane] == value(source_word(16 + lane)));
      CHECK(buffer[lane] == (lane < 25 ? value(source_word(lane)) : 0u));
    }
  }
}

TEST_CASE("DMA out of the scratch") {
  TestMemory memory;
  const uint64_t out = memory.allocate(5 * 256);
  const std::vector<std::string> names{"dword", "ubyte", "sbyte", "ushort", "sshort"};
  std::string text =
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_add_u32 v2, 0x8091a2c0, v0\n"
      "scratch_store_dword off, v2, off offset:8\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  for (size_t n = 0; n < names.size(); ++n) {
    text += fmt::format("s_movk_i32 m0, {}\nscratch_load_lds_{} off, off offset:8\ns_waitcnt vmcnt(0)\n", 256 * n,
                        names[n]);
    text +=
        fmt::format("ds_read_b32 v3, v1 offset:{}\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v3, s[8:9] offset:{}\n",
                    256 * n + 8, 256 * n);
  }
  const auto result = test::run({.source = text + "s_endpgm", .lds_bytes = 2048, .scratch_bytes = 16}, memory, {out});
  if (!result.ok()) FAIL(format_fault(*result.fault));
  const auto words = memory.download<uint32_t>(out, 5 * 64);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    const uint32_t word = 0x8091a2c0 + lane;
    CHECK(words[lane] == word);
    CHECK(words[64 + lane] == (word & 0xff));
    CHECK(words[128 + lane] == (word & 0xff) - 256);  // 0xc0 to 0xff
    CHECK(words[192 + lane] == (word & 0xffff));
    CHECK(words[256 + lane] == (word & 0xffff) - 65536);
  }
}

TEST_CASE("buffer DMA: soffset and voffset move memory only, out of range is zero") {
  // 1024-byte resource: lanes 56 and up read past its end (16 bytes a lane from byte 128).
  const auto lds = dump_after(
      "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, 1024\ns_mov_b32 s15, 0x00020000\ns_movk_i32 s16, 0x40\n"
      "s_mov_b32 m0, 256\nv_lshlrev_b32 v4, 4, v0\nbuffer_load_dwordx4 v4, s[12:15], s16 offen offset:64 lds");
  auto want = expected(256 + 64, 16, 4, ~uint64_t{0}, [](uint32_t lane) { return lane * 4 + 32; });
  for (uint32_t lane = 56; lane < 64; ++lane) {
    for (uint32_t w = 0; w < 4; ++w) want[(256 + 64 + lane * 16) / 4 + w] = 0;
  }
  CHECK(lds == want);
}

TEST_CASE("DMA beyond the LDS and to a misaligned LDS address are faults") {
  TestMemory memory;
  const uint64_t source = memory.allocate(8192);
  const auto fault = [&](const std::string& m0) {
    const auto result =
        test::run({.source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 m0, " + m0 +
                             "\nv_lshlrev_b32 v4, 4, v0\nglobal_load_lds_dwordx4 v4, s[8:9]\ns_endpgm",
                   .lds_bytes = lds_bytes},
                  memory, {source});
    REQUIRE_FALSE(result.ok());
    return *result.fault;
  };
  const Fault beyond = fault("0xc10");
  CHECK(beyond.kind == FaultKind::memory_bounds);
  CHECK(beyond.lane == 63);
  CHECK(beyond.disassembly.find("global_load_lds_dwordx4") == 0);
  CHECK(fault("2").kind == FaultKind::misaligned);
}
