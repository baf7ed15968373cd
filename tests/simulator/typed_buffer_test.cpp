// Loads and stores with format conversion: every data and number format against arithmetic on the bits, layouts written
// out once more; stores against codes worked out by hand (CDNA 4 ISA, 9.1.2 to 9.1.5).
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

constexpr unsigned lanes = 64;

struct Channel {
  unsigned first, bits;
};
struct Layout {
  unsigned code;
  std::string name;
  unsigned bytes;
  std::vector<Channel> channels;
};
const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all{
      {1, "8", 1, {{0, 8}}},
      {2, "16", 2, {{0, 16}}},
      {3, "8_8", 2, {{0, 8}, {8, 8}}},
      {4, "32", 4, {{0, 32}}},
      {5, "16_16", 4, {{0, 16}, {16, 16}}},
      {6, "10_11_11", 4, {{0, 11}, {11, 11}, {22, 10}}},
      {7, "11_11_10", 4, {{0, 10}, {10, 11}, {21, 11}}},
      {8, "10_10_10_2", 4, {{0, 2}, {2, 10}, {12, 10}, {22, 10}}},
      {9, "2_10_10_10", 4, {{0, 10}, {10, 10}, {20, 10}, {30, 2}}},
      {10, "8_8_8_8", 4, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
      {11, "32_32", 8, {{0, 32}, {32, 32}}},
      {12, "16_16_16_16", 8, {{0, 16}, {16, 16}, {32, 16}, {48, 16}}},
      {13, "32_32_32", 12, {{0, 32}, {32, 32}, {64, 32}}},
      {14, "32_32_32_32", 16, {{0, 32}, {32, 32}, {64, 32}, {96, 32}}},
  };
  return all;
}
constexpr std::array numbers{"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT"};

uint32_t float_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

/// The float of 5 exponent bits without a sign, or f16 by the host's conversion.
uint32_t small_float(uint64_t code, unsigned bits) {
  if (bits == 16) {
    const auto half = static_cast<uint16_t>(code);
    _Float16 value;
    std::memcpy(&value, &half, 2);
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
  const unsigned mantissa_bits = bits - 5;
  const auto exponent = static_cast<int>(code >> mantissa_bits);
  const double mantissa = static_cast<double>(code & ((1u << mantissa_bits) - 1)) / (1u << mantissa_bits);
  if (exponent == 31) return mantissa == 0 ? 0x7f800000 : 0x7fc00000;
  return float_bits(exponent == 0 ? std::ldexp(mantissa, -14) : std::ldexp(1 + mantissa, exponent - 15));
}

uint32_t expected_component(uint64_t code, unsigned bits, unsigned number) {
  if (bits == 32) return static_cast<uint32_t>(code);
  const auto span = std::pow(2.0, bits);
  const double value = static_cast<double>(code), with_sign = value >= span / 2 ? value - span : value;
  switch (number) {
    case 0:
      return float_bits(value / (span - 1));
    case 1:
      return float_bits(std::max(-1.0, with_sign / (span / 2 - 1)));
    case 2:
      return float_bits(value);
    case 3:
      return float_bits(with_sign);
    case 4:
      return static_cast<uint32_t>(code);
    case 5:
      return static_cast<uint32_t>(static_cast<int32_t>(with_sign));
    default:
      return small_float(code, bits);
  }
}

bool exists(const Layout& layout, unsigned number) {
  const bool has_float = layout.channels[0].bits >= 16 || layout.code == 6 || layout.code == 7;
  return number != 6 && (number != 7 || has_float);
}

/// 64 elements of 16 bytes: zeros, ones, the highest and lowest bits, then a mixture.
std::vector<uint8_t> patterns() {
  std::vector<uint8_t> bytes(16 * lanes);
  uint32_t state = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    state = state * 1664525 + 1013904223;
    const size_t element = i / 16;
    bytes[i] = element == 0   ? 0
               : element == 1 ? 0xff
               : element == 2 ? (i % 2 != 0 ? 0x80 : 0)
               : element == 3 ? (i % 2 != 0 ? 0x7f : 0xff)
                              : static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

uint64_t channel_of(const uint8_t* element, const Channel& channel) {
  uint64_t value = 0;
  for (unsigned bit = 0; bit < channel.bits; ++bit) {
    const unsigned at = channel.first + bit;
    value |= uint64_t{element[at / 8] >> at % 8 & 1u} << bit;
  }
  return value;
}

constexpr uint32_t identity = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// s[12:15]: records of 16 bytes at s[8:9], 64 of them; the output is s[10:11], 16 bytes a lane at v1.
std::string prologue(uint32_t data, uint32_t number, uint32_t select = identity) {
  return fmt::format(
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v1, 4, v0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s8\n"
      "s_or_b32 s13, s9, 0x100000\ns_mov_b32 s14, 64\ns_mov_b32 s15, 0x{:x}\n",
      select | number << 12 | data << 15);
}

struct Ran {
  LaunchResult result;
  std::vector<uint8_t> target;
  std::vector<uint32_t> out;
};
Ran run(const std::string& source, const std::vector<uint8_t>& bytes) {
  test::TestMemory memory;
  const uint64_t target = memory.upload(bytes), out = memory.allocate(16 * lanes);
  Ran ran{test::run({.source = source + "\ns_endpgm", .lds_bytes = 1024}, memory, {target, out}), {}, {}};
  ran.target = memory.download<uint8_t>(target, bytes.size());
  ran.out = memory.download<uint32_t>(out, 4 * lanes);
  return ran;
}
Ran pass(const std::string& source, const std::vector<uint8_t>& bytes) {
  Ran ran = run(source, bytes);
  if (!ran.result.ok()) FAIL(format_fault(*ran.result.fault));
  return ran;
}
Fault refuse(const std::string& source) {
  const Ran ran = run(source, patterns());
  REQUIRE_FALSE(ran.result.ok());
  CHECK(ran.target == patterns());
  return *ran.result.fault;
}

std::string vgprs(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}
const std::string keep = "\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v1, v[20:23], s[10:11]";
const std::string clear = "v_mov_b32 v20, 0\nv_mov_b32 v21, 0\nv_mov_b32 v22, 0\nv_mov_b32 v23, 0\n";
const std::string xyzw = "xyzw";

}  // namespace

TEST_CASE("every format, loaded by the resource's and by the instruction's") {
  const auto bytes = patterns();
  for (const Layout& layout : layouts()) {
    for (unsigned number = 0; number < 8; ++number) {
      if (!exists(layout, number)) continue;
      const std::string format =
          fmt::format("format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]", layout.name, numbers[number]);
      const Ran by_resource =
          pass(prologue(layout.code, number) + "buffer_load_format_xyzw v[20:23], v0, s[12:15], 0 idxen" + keep, bytes);
      const Ran by_instruction = pass(
          prologue(0, 0, 0) + "tbuffer_load_format_xyzw v[20:23], v0, s[12:15], 0 " + format + " idxen" + keep, bytes);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        for (unsigned c = 0; c < 4; ++c) {
          CAPTURE(format, lane, c);
          uint32_t expected = 0;
          if (c < layout.channels.size()) {
            const Channel& channel = layout.channels[c];
            expected = expected_component(channel_of(&bytes[16 * lane], channel), channel.bits, number);
          }
          // A NaN of a small float may keep its payload.
          const auto same = [&](uint32_t value) {
            const bool nan = number == 7 && (expected & 0x7fffffff) > 0x7f800000 && layout.channels[0].bits != 32;
            return nan ? (value & 0x7fffffff) > 0x7f800000 : value == expected;
          };
          CHECK(same(by_resource.out[4 * lane + c]));
          CHECK(same(by_instruction.out[4 * lane + c]));
        }
      }
    }
  }
}

TEST_CASE("fewer components, and those of 16 bits") {
  const auto bytes = patterns();
  for (unsigned n = 1; n <= 4; ++n) {
    const std::string names = xyzw.substr(0, n);
    const auto load = [&](const std::string& name, unsigned number, unsigned count) {
      return pass(prologue(10, number) + clear +
                      fmt::format("{} {}, v0, s[12:15], 0 {}idxen", name, vgprs(20, count),
                                  name[0] == 't' ? fmt::format("format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_{}] ",
                                                               numbers[number])
                                                 : "") +
                      keep,
                  bytes)
          .out;
    };
    for (const std::string prefix : {"buffer_load_format_", "tbuffer_load_format_"}) {
      const auto whole = load(prefix + names, 4, n);
      const auto halves = load(prefix + "d16_" + names, 5, (n + 1) / 2);
      const auto floats = load(prefix + "d16_" + names, 0, (n + 1) / 2);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        for (unsigned c = 0; c < 4; ++c) {
          CAPTURE(prefix, names, lane, c);
          const uint8_t code = bytes[16 * lane + c];
          CHECK(whole[4 * lane + c] == (c < n ? code : 0u));
          const auto half = [&](const std::vector<uint32_t>& words) {
            return static_cast<uint16_t>(words[4 * lane + c / 2] >> (c % 2 != 0 ? 16 : 0));
          };
          CHECK(half(halves) == (c < n ? static_cast<uint16_t>(static_cast<int8_t>(code)) : 0));
          const auto expected = static_cast<_Float16>(static_cast<float>(code / 255.0));
          CHECK(half(floats) == (c < n ? std::bit_cast<uint16_t>(expected) : 0));
        }
      }
    }
  }
  const Ran high = pass(
      prologue(1, 4) + "v_mov_b32 v20, 0x1234\nbuffer_load_format_d16_hi_x v20, v0, s[12:15], 0 idxen" + keep, bytes);
  for (unsigned lane = 0; lane < lanes; ++lane) CHECK(high.out[4 * lane] == uint32_t{bytes[16 * lane]} << 16);
}

TEST_CASE("a resource selects channels and constants, also where nothing is in range") {
  const auto bytes = patterns();
  // W, 1, 0, X of UINT, 60 records.
  const std::string start = prologue(10, 4, 7 | 1 << 3 | 0 << 6 | 4 << 9) + "s_mov_b32 s14, 60\n";
  const Ran ran = pass(start + "buffer_load_format_xyzw v[20:23], v0, s[12:15], 0 idxen" + keep, bytes);
  const Ran as_float = pass(prologue(10, 0, 1) + "buffer_load_format_x v20, v0, s[12:15], 0 idxen" + keep, bytes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::vector<uint32_t> got(ran.out.begin() + 4 * lane, ran.out.begin() + 4 * lane + 4);
    const uint8_t* element = &bytes[16 * lane];
    CHECK(got == (lane < 60 ? std::vector<uint32_t>{element[3], 1, 0, element[0]} : std::vector<uint32_t>{0, 1, 0, 0}));
    CHECK(as_float.out[4 * lane] == 0x3f800000);
  }
  // A resource of zeros is unbound: loads give 0, stores do nothing.
  const Ran unbound = pass(prologue(0, 0, 0) +
                               "s_mov_b32 s12, 0\ns_mov_b32 s13, 0\ns_mov_b32 s14, 0\nv_mov_b32 v20, 1\n"
                               "buffer_store_format_x v20, v0, s[12:15], 0 idxen\n"
                               "buffer_load_format_x v20, v0, s[12:15], 0 idxen" +
                               keep,
                           bytes);
  CHECK(unbound.out[0] == 0);
  CHECK(unbound.target == bytes);
}

TEST_CASE("an element is in range whole or not at all") {
  const auto bytes = patterns();
  // Raw: 10 bytes, so that the third element of 4 is cut.
  const Ran ran = pass(prologue(10, 4) +
                           "s_mov_b32 s13, s9\ns_mov_b32 s14, 10\nv_lshlrev_b32 v2, 2, v0\n"
                           "buffer_load_format_xyzw v[20:23], v2, s[12:15], 0 offen\n"
                           "s_waitcnt vmcnt(0)\nbuffer_store_format_xyzw v[20:23], v2, s[12:15], 0 offen" +
                           keep,
                       bytes);
  CHECK(ran.out[4 + 3] == bytes[7]);
  CHECK(ran.out[8] == 0);
  CHECK(ran.target == bytes);
}

TEST_CASE("format_x to the LDS") {
  const auto bytes = patterns();
  const Ran ran = pass(prologue(1, 0) +
                           "s_mov_b32 m0, 0\nbuffer_load_format_x v0, s[12:15], 0 idxen lds\ns_waitcnt vmcnt(0)\n"
                           "v_lshlrev_b32 v2, 2, v0\nds_read_b32 v20, v2\ns_waitcnt lgkmcnt(0)" +
                           keep,
                       bytes);
  for (unsigned lane = 0; lane < lanes; ++lane) CHECK(ran.out[4 * lane] == float_bits(bytes[16 * lane] / 255.0));
}

TEST_CASE("stores: codes worked out by hand") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  struct Case {
    unsigned data, number;
    std::array<float, 4> values;
    std::vector<uint8_t> stored;
  };
  const std::vector<Case> cases{
      {10, 0, {-1, 0.5f, 2, nan}, {0, 128, 255, 0}},             // 127.5 is a tie
      {10, 0, {1 / 255.f, 0.25f, 0.75f, 1}, {1, 64, 191, 255}},  // 63.75, 191.25
      {10, 1, {-2, -1, 0.5f, infinity}, {0x81, 0x81, 64, 127}},  // 63.5 is a tie
      {5, 0, {0.5f, 1, 0, 0}, {0x00, 0x80, 0xff, 0xff}},         // 32767.5 is a tie
      {5, 7, {1, -2, 0, 0}, {0x00, 0x3c, 0x00, 0xc0}},           // f16
      {12, 7, {65504, 1e6f, nan, 0x1p-24f}, {0xff, 0x7b, 0x00, 0x7c, 0x00, 0x7e, 0x01, 0x00}},
      {9, 0, {1, 0.5f, 0, 1}, {0xff, 0x03, 0x08, 0xc0}},          // 1023, 512 << 10, 0, 3 << 30
      {8, 1, {-1, 1, 0, -1}, {0xff, 0x07, 0x40, 0x80}},           // 3, 511 << 2, 0, 0x201 << 22
      {6, 7, {1, 2, 0.5f, 0}, {0xc0, 0x03, 0x20, 0x70}},          // 0x3c0, 0x400 << 11, 0x1c0 << 22
      {6, 7, {-1, infinity, 1e9f, 0}, {0x00, 0x00, 0x3e, 0xf8}},  // 0, 0x7c0 << 11, 0x3e0 << 22
      {4, 0, {1.5f, 0, 0, 0}, {0x00, 0x00, 0xc0, 0x3f}},          // 32 bits are never converted
  };
  for (const Case& one : cases) {
    CAPTURE(one.data, one.number, one.values);
    std::string body = prologue(one.data, one.number);
    for (unsigned c = 0; c < 4; ++c)
      body += fmt::format("v_mov_b32 v{}, 0x{:x}\n", 20 + c, std::bit_cast<uint32_t>(one.values[c]));
    const Ran ran = pass(body + "buffer_store_format_xyzw v[20:23], v0, s[12:15], 0 idxen", patterns());
    auto expected = patterns();
    for (unsigned lane = 0; lane < lanes; ++lane) std::copy(one.stored.begin(), one.stored.end(), &expected[16 * lane]);
    CHECK(ran.target == expected);
  }
}

TEST_CASE("what is stored is what was loaded, whole or in halves") {
  for (const bool d16 : {false, true}) {
    for (unsigned n = 1; n <= 4; ++n) {
      for (const unsigned number : {0u, 1u, 4u, 5u}) {
        for (const std::string prefix : {"buffer_", "tbuffer_"}) {
          const std::string what = (d16 ? "d16_" : "") + xyzw.substr(0, n);
          const std::string data = vgprs(20, d16 ? (n + 1) / 2 : n);
          const std::string tail =
              fmt::format("{}, v0, s[12:15], 0 {}idxen", data,
                          prefix == "buffer_"
                              ? ""
                              : fmt::format("format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_{}] ", numbers[number]));
          CAPTURE(prefix, what, number);
          const Ran ran = pass(prologue(10, number) + prefix + "load_format_" + what + " " + tail +
                                   "\ns_waitcnt vmcnt(0)\ns_mov_b32 s12, s10\ns_or_b32 s13, s11, 0x100000\n" + prefix +
                                   "store_format_" + what + " " + tail,
                               patterns());
          const auto bytes = patterns();
          for (unsigned lane = 0; lane < lanes; ++lane) {
            std::array<uint8_t, 4> expected{};
            for (unsigned c = 0; c < n; ++c) {
              expected[c] = bytes[16 * lane + c];
              if (number == 1 && expected[c] == 0x80) expected[c] = 0x81;  // both are -1
            }
            CHECK(ran.out[4 * lane] == std::bit_cast<uint32_t>(expected));
          }
        }
      }
    }
  }
  const Ran high = pass(
      prologue(1, 4) + "v_mov_b32 v20, 0x5a0000\nbuffer_store_format_d16_hi_x v20, v0, s[12:15], 0 idxen", patterns());
  CHECK(high.target[16] == 0x5a);
  CHECK(high.target[17] == 0xff);
}

TEST_CASE("formats and values without a meaning are faults that say what is allowed") {
  const auto load = [](uint32_t data, uint32_t number) {
    return refuse(prologue(data, number) + "buffer_load_format_x v20, v0, s[12:15], 0 idxen");
  };
  CHECK(load(15, 4).message.find("data format 15 is reserved; 1 to 14") != std::string::npos);
  CHECK(load(10, 6).message.find("number format 6 is reserved") != std::string::npos);
  CHECK(load(10, 7).message.find("8_8_8_8 has no FLOAT form; 16 and 32-bit channels") != std::string::npos);
  CHECK(load(10, 7).kind == FaultKind::unsupported);
  const auto store = [](uint32_t data, uint32_t number, const std::string& components, uint32_t select = identity) {
    return refuse(prologue(data, number, select) + clear + "v_mov_b32 v20, 0x100\nbuffer_store_format_" + components +
                  ", v0, s[12:15], 0 idxen")
        .message;
  };
  CHECK(store(10, 2, "x v20").find("8_8_8_8 USCALED can be loaded, but not stored") != std::string::npos);
  CHECK(store(10, 4, "x v20").find("the integer 256 does not fit channel 0 of 8 bits") != std::string::npos);
  CHECK(store(9, 4, "x v20").find("1 of 4 channels of a format whose channels are no whole bytes") !=
        std::string::npos);
  CHECK(store(10, 4, "xy v[20:21]", 5 | 4 << 3).find("DST_SEL of component 0 is 5; 4 (its own channel)") !=
        std::string::npos);
  CHECK(refuse(prologue(4, 4) + "buffer_load_format_d16_x v20, v0, s[12:15], 0 idxen\ns_waitcnt vmcnt(0)")
            .message.find("which 16 bits do not hold") != std::string::npos);
}
