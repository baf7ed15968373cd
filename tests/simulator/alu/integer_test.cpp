// Integer instructions on edge values against 64-bit arithmetic written here.
#include <algorithm>
#include <limits>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

const std::vector<uint32_t> kEdges{0,          1,          2,          31,         32,         0x7fff,
                                   0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,
                                   0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678};

// Lane l of v1 and v2 is a pair of edges; v3 varies too. Round `round` shifts the pairing.
void load_edges(WaveRunner& wave, int round) {
  const size_t n = kEdges.size();
  for (int lane = 0; lane < 64; ++lane) {
    const auto i = static_cast<size_t>(lane);
    wave.v(1, lane) = kEdges[i % n];
    wave.v(2, lane) = kEdges[(i + static_cast<size_t>(round)) % n];
    wave.v(3, lane) = kEdges[(i * 5 + static_cast<size_t>(round) * 3) % n];
  }
}

// Runs `text` with D = v0 and compares with `expected(a, b, c)` on all pairs of edges.
template <class F>
void check(const char* text, F expected) {
  INFO(text);
  const auto instructions = WaveRunner::decode(text);
  for (int round = 0; round < static_cast<int>(kEdges.size()); ++round) {
    WaveRunner wave;
    load_edges(wave, round);
    wave.execute(instructions[0]);
    for (int lane = 0; lane < 64; ++lane) {
      CAPTURE(wave.v(1, lane), wave.v(2, lane), wave.v(3, lane));
      REQUIRE(wave.v(0, lane) == static_cast<uint32_t>(expected(wave.v(1, lane), wave.v(2, lane), wave.v(3, lane))));
    }
  }
}

int64_t s64(uint32_t v) { return static_cast<int32_t>(v); }
int64_t sext24(uint32_t v) {
  return (v & 0x800000) != 0 ? static_cast<int64_t>(v & 0xffffff) - 0x1000000 : v & 0xffffff;
}

}  // namespace

TEST_CASE("add, subtract and their saturating forms") {
  using u32 = uint32_t;
  check("v_add_u32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a} + b; });
  check("v_sub_u32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a} - b; });
  check("v_subrev_u32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{b} - a; });
  check("v_add_u32_e64 v0, v1, v2 clamp",
        [](u32 a, u32 b, u32) { return std::min<uint64_t>(uint64_t{a} + b, 0xffffffff); });
  check("v_sub_u32_e64 v0, v1, v2 clamp", [](u32 a, u32 b, u32) { return a > b ? a - b : 0; });
  check("v_add_i32 v0, v1, v2 clamp",
        [](u32 a, u32 b, u32) { return std::clamp<int64_t>(s64(a) + s64(b), INT32_MIN, INT32_MAX); });
  check("v_sub_i32 v0, v1, v2 clamp",
        [](u32 a, u32 b, u32) { return std::clamp<int64_t>(s64(a) - s64(b), INT32_MIN, INT32_MAX); });
  check("v_add3_u32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return uint64_t{a} + b + c; });
  check("v_lshl_add_u32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return (uint64_t{a} << (b % 32)) + c; });
  check("v_add_lshl_u32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return (uint64_t{a} + b) << (c % 32); });
  check("v_xad_u32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return uint64_t{a ^ b} + c; });
  check("v_add_u16 v0, v1, v2", [](u32 a, u32 b, u32) { return (a + b) & 0xffff; });
  check("v_mul_lo_u16 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a & 0xffff} * (b & 0xffff) & 0xffff; });
}

TEST_CASE("multiplications") {
  using u32 = uint32_t;
  check("v_mul_lo_u32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a} * b; });
  check("v_mul_hi_u32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a} * b >> 32; });
  check("v_mul_hi_i32 v0, v1, v2", [](u32 a, u32 b, u32) { return s64(a) * s64(b) >> 32; });
  check("v_mul_u32_u24 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a & 0xffffff} * (b & 0xffffff); });
  check("v_mul_hi_u32_u24 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{a & 0xffffff} * (b & 0xffffff) >> 32; });
  check("v_mul_i32_i24 v0, v1, v2", [](u32 a, u32 b, u32) { return sext24(a) * sext24(b); });
  check("v_mul_hi_i32_i24 v0, v1, v2", [](u32 a, u32 b, u32) { return sext24(a) * sext24(b) >> 32; });
  check("v_mad_u32_u24 v0, v1, v2, v3",
        [](u32 a, u32 b, u32 c) { return uint64_t{a & 0xffffff} * (b & 0xffffff) + c; });
  check("v_mad_i32_i24 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return sext24(a) * sext24(b) + s64(c); });
  check("v_mad_u32_u16 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return uint64_t{a & 0xffff} * (b & 0xffff) + c; });
  check("v_mad_i32_i16 v0, v1, v2, v3",
        [](u32 a, u32 b, u32 c) { return int64_t{static_cast<int16_t>(a)} * static_cast<int16_t>(b) + c; });
}

TEST_CASE("shifts take the amount modulo the width") {
  using u32 = uint32_t;
  check("v_lshlrev_b32 v0, v1, v2", [](u32 a, u32 b, u32) { return uint64_t{b} << (a % 32); });
  check("v_lshrrev_b32 v0, v1, v2", [](u32 a, u32 b, u32) { return b >> (a % 32); });
  check("v_ashrrev_i32 v0, v1, v2", [](u32 a, u32 b, u32) { return s64(b) >> (a % 32); });
  check("v_lshlrev_b16 v0, v1, v2", [](u32 a, u32 b, u32) { return (b & 0xffff) << (a % 16) & 0xffff; });
  check("v_ashrrev_i16 v0, v1, v2", [](u32 a, u32 b, u32) { return (static_cast<int16_t>(b) >> (a % 16)) & 0xffff; });
  check("v_alignbit_b32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return ((uint64_t{a} << 32) | b) >> (c % 32); });
  check("v_alignbyte_b32 v0, v1, v2, v3",
        [](u32 a, u32 b, u32 c) { return ((uint64_t{a} << 32) | b) >> (8 * (c % 4)); });

  WaveRunner wave;
  const uint64_t value = 0x8123456789abcdef;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(2, lane) = static_cast<u32>(lane + 64 * (lane % 2));  // amounts 0..63 and 65..127
    wave.v(4, lane) = static_cast<u32>(value);
    wave.v(5, lane) = static_cast<u32>(value >> 32);
  }
  wave.run(
      "v_lshlrev_b64 v[6:7], v2, v[4:5]\nv_lshrrev_b64 v[8:9], v2, v[4:5]\nv_ashrrev_i64 v[10:11], v2, v[4:5]\n"
      "v_lshl_add_u64 v[12:13], v[4:5], 4, v[4:5]");
  for (int lane = 0; lane < 64; ++lane) {
    CHECK(wave.u64(6, lane) == value << lane);
    CHECK(wave.u64(8, lane) == value >> lane);
    CHECK(wave.u64(10, lane) == static_cast<uint64_t>(static_cast<int64_t>(value) >> lane));
    CHECK(wave.u64(12, lane) == (value << 4) + value);
  }
}

TEST_CASE("bit fields and permutations") {
  using u32 = uint32_t;
  check("v_bfe_u32 v0, v1, v2, v3",
        [](u32 a, u32 b, u32 c) { return (a >> (b % 32)) & ((uint64_t{1} << (c % 32)) - 1); });
  check("v_bfe_i32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) {
    const int width = static_cast<int>(c % 32);
    int64_t field = (a >> (b % 32)) & ((int64_t{1} << width) - 1);
    if (width > 0 && (field >> (width - 1) & 1) != 0) field -= int64_t{1} << width;
    return field;
  });
  check("v_bfi_b32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
  check("v_bfm_b32 v0, v1, v2", [](u32 a, u32 b, u32) { return ((uint64_t{1} << (a % 32)) - 1) << (b % 32); });
  check("v_and_or_b32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return (a & b) | c; });
  check("v_or3_b32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return a | b | c; });
  check("v_xnor_b32 v0, v1, v2", [](u32 a, u32 b, u32) { return ~(a ^ b); });
  check("v_bfrev_b32 v0, v1", [](u32 a, u32, u32) {
    u32 r = 0;
    for (int i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i);
    return r;
  });
  check("v_ffbh_u32 v0, v1", [](u32 a, u32, u32) {
    for (int i = 0; i < 32; ++i)
      if ((a >> (31 - i) & 1) != 0) return i;
    return -1;
  });
  check("v_ffbl_b32 v0, v1", [](u32 a, u32, u32) {
    for (int i = 0; i < 32; ++i)
      if ((a >> i & 1) != 0) return i;
    return -1;
  });
  check("v_ffbh_i32 v0, v1", [](u32 a, u32, u32) {
    for (int i = 1; i < 32; ++i)
      if ((a >> (31 - i) & 1) != a >> 31) return i;
    return -1;
  });
  check("v_bcnt_u32_b32 v0, v1, v2", [](u32 a, u32 b, u32) {
    u32 n = b;
    for (int i = 0; i < 32; ++i) n += a >> i & 1;
    return n;
  });
  check("v_sad_u8 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) {
    for (int i = 0; i < 4; ++i)
      c += static_cast<u32>(std::abs(static_cast<int>(a >> 8 * i & 255) - static_cast<int>(b >> 8 * i & 255)));
    return c;
  });
  check("v_med3_i32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) {
    std::vector<int64_t> v{s64(a), s64(b), s64(c)};
    std::sort(v.begin(), v.end());
    return v[1];
  });
  check("v_max3_u32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); });
  check("v_min3_i32 v0, v1, v2, v3", [](u32 a, u32 b, u32 c) { return std::min({s64(a), s64(b), s64(c)}); });
  for (uint32_t table : {0x00u, 0x96u, 0xe8u, 0xcau, 0x1bu, 0xffu}) {
    const std::string text = "v_bitop3_b32 v0, v1, v2, v3 bitop3:" + std::to_string(table);
    check(text.c_str(), [table](u32 a, u32 b, u32 c) {
      u32 r = 0;
      for (int i = 0; i < 32; ++i) {
        const u32 index = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
        r |= (table >> index & 1) << i;
      }
      return r;
    });
  }
}

TEST_CASE("v_perm_b32 selects bytes, sign copies and constants") {
  WaveRunner wave;
  wave.set(1, 0x80017f02);  // bytes 4..7
  wave.set(2, 0x03ff0405);  // bytes 0..3
  const uint8_t bytes[8] = {0x05, 0x04, 0xff, 0x03, 0x02, 0x7f, 0x01, 0x80};
  for (int lane = 0; lane < 64; ++lane) wave.v(3, lane) = static_cast<uint32_t>(lane % 16) | 0x0c0d0000;
  wave.run("v_perm_b32 v0, v1, v2, v3");
  for (int lane = 0; lane < 16; ++lane) {
    uint32_t expected = 0xff;
    if (lane < 8)
      expected = bytes[lane];
    else if (lane < 12)
      expected = bytes[2 * (lane - 8) + 1] >= 0x80 ? 0xff : 0;
    else if (lane == 12)
      expected = 0;
    CHECK((wave.v(0, lane) & 0xff) == expected);
    CHECK(wave.v(0, lane) >> 16 == 0x00ff);
  }
}

TEST_CASE("carry chains through vcc and scalar pairs make 64-bit arithmetic") {
  const std::vector<uint64_t> values{
      0, 1, 0xffffffff, 0x100000000, 0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0x123456789abcdef0};
  for (size_t shift = 0; shift < values.size(); ++shift) {
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      const uint64_t a = values[static_cast<size_t>(lane) % values.size()];
      const uint64_t b = values[(static_cast<size_t>(lane) + shift) % values.size()];
      wave.v(2, lane) = static_cast<uint32_t>(a);
      wave.v(3, lane) = static_cast<uint32_t>(a >> 32);
      wave.v(4, lane) = static_cast<uint32_t>(b);
      wave.v(5, lane) = static_cast<uint32_t>(b >> 32);
    }
    wave.run(
        "v_add_co_u32 v6, vcc, v2, v4\nv_addc_co_u32 v7, vcc, v3, v5, vcc\n"
        "v_sub_co_u32_e64 v8, s[4:5], v2, v4\nv_subb_co_u32_e64 v9, s[6:7], v3, v5, s[4:5]\n"
        "v_subrev_co_u32 v10, vcc, v2, v4\nv_subbrev_co_u32 v11, vcc, v3, v5, vcc\n"
        "v_mad_u64_u32 v[12:13], s[8:9], v2, v4, v[2:3]\nv_mad_i64_i32 v[14:15], s[10:11], v2, v4, v[2:3]");
    for (int lane = 0; lane < 64; ++lane) {
      const uint64_t a = wave.u64(2, lane);
      const uint64_t b = wave.u64(4, lane);
      CHECK(wave.u64(6, lane) == a + b);
      CHECK(wave.u64(8, lane) == a - b);
      CHECK(wave.u64(10, lane) == b - a);
      CHECK((wave.wave().sgpr_pair(6) >> lane & 1) == (b > a ? 1u : 0u));
      const uint64_t product = (a & 0xffffffff) * (b & 0xffffffff);
      CHECK(wave.u64(12, lane) == product + a);
      CHECK((wave.wave().sgpr_pair(8) >> lane & 1) == (product + a < a ? 1u : 0u));
      CHECK(wave.u64(14, lane) ==
            static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) + a);
    }
  }
}

TEST_CASE("compares write masks, v_cmpx writes EXEC, lanes off give 0") {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(1, lane) = static_cast<uint32_t>(lane) - 32;
    wave.v(2, lane) = 0;
  }
  wave.run("v_cmp_lt_i32 vcc, v1, v2\nv_cmp_lt_u32_e64 s[2:3], v2, v1\nv_cmp_eq_u32_e64 s[4:5], v1, v2");
  CHECK(wave.wave().vcc() == 0x00000000ffffffff);
  CHECK(wave.wave().sgpr_pair(2) == ~(uint64_t{1} << 32));
  CHECK(wave.wave().sgpr_pair(4) == uint64_t{1} << 32);
  wave.run("v_cmpx_ge_i32 vcc, v1, v2");
  CHECK(wave.wave().exec() == 0xffffffff00000000);
  CHECK(wave.wave().vcc() == 0xffffffff00000000);
  wave.run("v_cmp_le_i32_e64 s[2:3], v1, v1\nv_cmp_lt_i64_e64 s[4:5], v[4:5], v[2:3]");
  CHECK(wave.wave().sgpr_pair(2) == 0xffffffff00000000);
}

TEST_CASE("integer dot products") {
  WaveRunner wave;
  wave.set(1, 0x80ff7f02);
  wave.set(2, 0x03fe8005);
  wave.set(3, 100);
  wave.run(
      "v_dot4_i32_i8 v4, v1, v2, v3\nv_dot4_u32_u8 v5, v1, v2, v3\nv_dot2_i32_i16 v6, v1, v2, v3\n"
      "v_dot8_i32_i4 v7, v1, v2, v3\nv_mov_b32 v8, v3\nv_dot4c_i32_i8 v8, v1, v2");
  CHECK(static_cast<int32_t>(wave.v(4, 5)) == 100 + 2 * 5 + 127 * -128 + -1 * -2 + -128 * 3);
  CHECK(wave.v(8, 5) == wave.v(4, 5));
  CHECK(wave.v(5, 5) == 100u + 2 * 5 + 127 * 128 + 255 * 254 + 128 * 3);
  CHECK(static_cast<int32_t>(wave.v(6, 5)) == 100 + 0x7f02 * (0x8005 - 0x10000) + (0x80ff - 0x10000) * 0x03fe);
  const int a[8] = {2, 0, -1, 7, -1, -1, 0, -8};
  const int b[8] = {5, 0, 0, -8, -2, -1, 3, 0};
  int expected = 100;
  for (int i = 0; i < 8; ++i) expected += a[i] * b[i];
  CHECK(static_cast<int32_t>(wave.v(7, 5)) == expected);
}

TEST_CASE("v_prng_b32 steps the shift register of the ISA") {
  WaveRunner wave;
  wave.set_lanes<uint32_t>(1, {0u, 1u, 0x80000000u, 0xffffffffu});
  wave.run("v_prng_b32 v0, v1");
  CHECK(wave.v(0, 0) == 0);
  CHECK(wave.v(0, 1) == 2);
  CHECK(wave.v(0, 2) == 197);
  CHECK(wave.v(0, 3) == (0xfffffffeu ^ 197u));
}
