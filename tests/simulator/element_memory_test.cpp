// Every load and store of elements below a dword, and of 1 to 4 dwords, in all address spaces: which bytes move, how
// they extend, and that the half of a register that a load of 16 bits does not fill is zero (ECC: CDNA 4 ISA, 9.1.6).
#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

constexpr uint32_t old_register = 0x11112222;

struct Load {
  std::string name;
  unsigned bytes;
  std::function<uint32_t(const uint8_t* from)> value;  ///< of a register that held old_register
};

uint32_t half(const uint8_t* from) { return from[0] | from[1] * 256u; }
uint32_t low(uint32_t value) { return value & 0xffff; }
uint32_t high(uint32_t value) { return value << 16; }
uint32_t extended(uint32_t value, unsigned bits) {
  return static_cast<uint32_t>(static_cast<int32_t>(value << (32 - bits)) >> (32 - bits));
}

/// Names as global, flat, scratch and buffer loads have them, and as the LDS has them.
std::vector<std::pair<Load, std::string>> small_loads() {
  return {
      {{"ubyte", 1, [](const uint8_t* p) { return uint32_t{*p}; }}, "u8"},
      {{"sbyte", 1, [](const uint8_t* p) { return extended(*p, 8); }}, "i8"},
      {{"ushort", 2, [](const uint8_t* p) { return half(p); }}, "u16"},
      {{"sshort", 2, [](const uint8_t* p) { return extended(half(p), 16); }}, "i16"},
      {{"ubyte_d16", 1, [](const uint8_t* p) { return low(*p); }}, "u8_d16"},
      {{"ubyte_d16_hi", 1, [](const uint8_t* p) { return high(*p); }}, "u8_d16_hi"},
      {{"sbyte_d16", 1, [](const uint8_t* p) { return low(extended(*p, 8)); }}, "i8_d16"},
      {{"sbyte_d16_hi", 1, [](const uint8_t* p) { return high(extended(*p, 8)); }}, "i8_d16_hi"},
      {{"short_d16", 2, [](const uint8_t* p) { return low(half(p)); }}, "u16_d16"},
      {{"short_d16_hi", 2, [](const uint8_t* p) { return high(half(p)); }}, "u16_d16_hi"},
  };
}

std::vector<uint8_t> source_bytes() {
  std::vector<uint8_t> bytes(4096);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + (i >> 8) * 11 + 0x55);
  return bytes;
}

/// v1 = 16 * lane, v[2:3] = s[8:9] + v1, s[12:15] a buffer of s[8:9]; s[10:11] is the output.
const std::string prologue =
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 4, v0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s8\n"
    "s_mov_b32 s13, s9\ns_mov_b32 s14, -1\ns_mov_b32 s15, 0x20000\nv_mov_b32 v3, s9\nv_add_co_u32 v2, vcc, s8, v1\n"
    "v_addc_co_u32 v3, vcc, 0, v3, vcc\n";

std::string registers(int first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + static_cast<int>(count) - 1);
}

struct Space {
  std::string name;
  std::function<std::string(const std::string& element, const std::string& data)> load, store;
};

std::vector<Space> spaces() {
  const auto global = [](const std::string& verb) {
    return [verb](const std::string& e, const std::string& d) {
      return verb == "load" ? fmt::format("global_load_{} {}, v1, s[8:9]", e, d)
                            : fmt::format("global_store_{} v1, {}, s[8:9]", e, d);
    };
  };
  const auto flat = [](const std::string& verb) {
    return [verb](const std::string& e, const std::string& d) {
      return verb == "load" ? fmt::format("flat_load_{} {}, v[2:3]", e, d)
                            : fmt::format("flat_store_{} v[2:3], {}", e, d);
    };
  };
  const auto buffer = [](const std::string& verb) {
    return [verb](const std::string& e, const std::string& d) {
      return fmt::format("buffer_{}_{} {}, v1, s[12:15], 0 offen", verb, e, d);
    };
  };
  const auto scratch = [](const std::string& verb) {
    return [verb](const std::string& e, const std::string& d) {
      return verb == "load" ? fmt::format("scratch_load_{} {}, off, off", e, d)
                            : fmt::format("scratch_store_{} off, {}, off", e, d);
    };
  };
  return {{"global", global("load"), global("store")},
          {"flat", flat("load"), flat("store")},
          {"buffer", buffer("load"), buffer("store")},
          {"scratch", scratch("load"), scratch("store")}};
}

/// Runs and gives back the target's bytes and the output's words.
struct Ran {
  std::vector<uint8_t> target;
  std::vector<uint32_t> out;
};
Ran run(const std::string& body, size_t out_words) {
  test::TestMemory memory;
  const uint64_t target = memory.upload(source_bytes()), out = memory.allocate(4 * out_words);
  const auto result = test::run({.source = prologue + body + "s_endpgm", .lds_bytes = 4096, .scratch_bytes = 64},
                                memory, {target, out});
  if (!result.ok()) FAIL(format_fault(*result.fault));
  return {memory.download<uint8_t>(target, 4096), memory.download<uint32_t>(out, out_words)};
}

/// Fills each lane's scratch, or the LDS, with the 16 bytes of its place in the source.
const std::string fill_scratch =
    "global_load_dwordx4 v[40:43], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
    "scratch_store_dwordx4 off, v[40:43], off\ns_waitcnt vmcnt(0)\n";
const std::string fill_lds =
    "global_load_dwordx4 v[40:43], v1, s[8:9]\ns_waitcnt vmcnt(0)\nds_write_b128 v1, v[40:43]\ns_waitcnt lgkmcnt(0)\n";
const std::string wait = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";

/// The lines that load to v20 and store it to the output's 256 bytes number n.
std::string load_and_keep(const std::string& load, size_t n) {
  return fmt::format(
      "v_mov_b32 v20, 0x{:x}\n{}\n{}v_lshlrev_b32 v5, 2, v0\nv_add_u32 v5, {}, v5\n"
      "global_store_dword v5, v20, s[10:11]\n",
      old_register, load, wait, 256 * n);
}

}  // namespace

TEST_CASE("small loads of every space") {
  const auto bytes = source_bytes();
  const auto loads = small_loads();
  for (const Space& space : spaces()) {
    std::string body = space.name == "scratch" ? fill_scratch : "";
    for (size_t n = 0; n < loads.size(); ++n) body += load_and_keep(space.load(loads[n].first.name, "v20"), n);
    const Ran ran = run(body, 64 * loads.size());
    for (size_t n = 0; n < loads.size(); ++n) {
      for (size_t lane = 0; lane < 64; ++lane) {
        CAPTURE(space.name, loads[n].first.name, lane);
        REQUIRE(ran.out[64 * n + lane] == loads[n].first.value(&bytes[16 * lane]));
      }
    }
  }
}

TEST_CASE("small loads of the LDS") {
  const auto bytes = source_bytes();
  const auto loads = small_loads();
  std::string body = fill_lds;
  for (size_t n = 0; n < loads.size(); ++n)
    body += load_and_keep(fmt::format("ds_read_{} v20, v1", loads[n].second), n);
  const Ran ran = run(body, 64 * loads.size());
  for (size_t n = 0; n < loads.size(); ++n) {
    for (size_t lane = 0; lane < 64; ++lane) {
      CAPTURE(loads[n].second, lane);
      REQUIRE(ran.out[64 * n + lane] == loads[n].first.value(&bytes[16 * lane]));
    }
  }
}

TEST_CASE("loads of one to four dwords") {
  const auto bytes = source_bytes();
  for (const Space& space : spaces()) {
    for (unsigned dwords = 1; dwords <= 4; ++dwords) {
      const std::string name = dwords == 1 ? "dword" : fmt::format("dwordx{}", dwords);
      std::string body = (space.name == "scratch" ? fill_scratch : "") + space.load(name, registers(20, dwords)) +
                         "\n" + wait + "v_lshlrev_b32 v5, 4, v0\n" +
                         fmt::format("global_store_{} v5, {}, s[10:11]\n", name, registers(20, dwords));
      const Ran ran = run(body, 256);
      for (size_t lane = 0; lane < 64; ++lane) {
        CAPTURE(space.name, dwords, lane);
        REQUIRE(std::memcmp(&ran.out[4 * lane], &bytes[16 * lane], 4 * dwords) == 0);
      }
    }
  }
}

TEST_CASE("stores move their bytes and no others") {
  struct Store {
    std::string name;
    unsigned bytes, from;  ///< of the registers' bytes
    std::string lds;
  };
  const std::vector<Store> stores{{"byte", 1, 0, "b8"},
                                  {"short", 2, 0, "b16"},
                                  {"byte_d16_hi", 1, 2, "b8_d16_hi"},
                                  {"short_d16_hi", 2, 2, "b16_d16_hi"},
                                  {"dword", 4, 0, "b32"},
                                  {"dwordx2", 8, 0, "b64"},
                                  {"dwordx3", 12, 0, "b96"},
                                  {"dwordx4", 16, 0, "b128"}};
  const std::string values =
      "v_add_u32 v20, 0xa0b0c0d0, v0\nv_add_u32 v21, 0xa1b1c1d1, v0\nv_add_u32 v22, 0xa2b2c2d2, v0\n"
      "v_add_u32 v23, 0xa3b3c3d3, v0\n";
  const auto before = source_bytes();
  auto all = spaces();
  all.push_back(
      {"lds", {}, [](const std::string& e, const std::string& d) { return fmt::format("ds_write_{} v1, {}", e, d); }});
  for (const Space& space : all) {
    for (const Store& store : stores) {
      const std::string data = registers(20, (store.bytes + 3) / 4);
      std::string body = values;
      if (space.name == "scratch") body += fill_scratch;
      if (space.name == "lds") body += fill_lds;
      body += space.store(space.name == "lds" ? store.lds : store.name, data) + "\n" + wait;
      // Scratch and LDS go back to the memory where they came from.
      if (space.name == "scratch") body += "scratch_load_dwordx4 v[40:43], off, off\n";
      if (space.name == "lds") body += "ds_read_b128 v[40:43], v1\n";
      if (space.name == "scratch" || space.name == "lds") body += wait + "global_store_dwordx4 v1, v[40:43], s[8:9]\n";
      const Ran ran = run(body, 1);
      for (uint32_t lane = 0; lane < 64; ++lane) {
        CAPTURE(space.name, store.name, lane);
        const std::array<uint32_t, 4> words{0xa0b0c0d0 + lane, 0xa1b1c1d1 + lane, 0xa2b2c2d2 + lane, 0xa3b3c3d3 + lane};
        std::vector<uint8_t> expected(before.begin() + 16 * lane, before.begin() + 16 * lane + 16);
        std::memcpy(expected.data(), reinterpret_cast<const char*>(words.data()) + store.from, store.bytes);
        REQUIRE(std::memcmp(&ran.target[16 * lane], expected.data(), 16) == 0);
      }
    }
  }
}

TEST_CASE("scalar loads of 1 to 16 dwords, and buffers cut by their size") {
  const auto bytes = source_bytes();
  for (const unsigned dwords : {1u, 2u, 4u, 8u, 16u}) {
    const std::string name = dwords == 1 ? "dword" : fmt::format("dwordx{}", dwords);
    const std::string to = dwords == 1 ? "s32" : fmt::format("s[32:{}]", 31 + dwords);
    std::string keep = wait + "v_mov_b32 v5, 0\n";
    for (unsigned d = 0; d < dwords; ++d)
      keep += fmt::format("v_mov_b32 v6, s{}\nglobal_store_dword v5, v6, s[10:11] offset:{}\n", 32 + d, 4 * d);
    const Ran plain = run(fmt::format("s_load_{} {}, s[8:9], 0x40\n{}", name, to, keep), 16);
    const Ran cut =
        run(fmt::format("s_mov_b32 s14, 0x50\ns_buffer_load_{} {}, s[12:15], 0x40\n{}", name, to, keep), 16);
    for (unsigned d = 0; d < dwords; ++d) {
      CAPTURE(name, d);
      uint32_t expected = 0;
      std::memcpy(&expected, &bytes[0x40 + 4 * d], 4);
      CHECK(plain.out[d] == expected);
      CHECK(cut.out[d] == (d < 4 ? expected : 0));
    }
  }
}
