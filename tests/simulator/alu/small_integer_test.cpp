// Integer minima, maxima and medians of two and three operands, 16-bit arithmetic and its packed forms, against their
// formulas on all pairs of edge values.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

const std::vector<uint32_t> edges{0,          1,          2,          15,         16,         17,         0x7ffe,
                                  0x7fff,     0x8000,     0x8001,     0xfffe,     0xffff,     0x00010002, 0x7fff8000,
                                  0x8000ffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};

using Formula = std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)>;

struct Operation {
  std::string mnemonic;
  int operands;
  Formula formula;
  uint32_t mask = ~0u;  ///< of the result: 16-bit instructions of gfx9 clear or keep the rest by their own rules
};

void check(const std::vector<Operation>& operations) {
  std::string source;
  for (const Operation& o : operations) {
    source += fmt::format("{} v8, v2, v4{}\n", o.mnemonic, o.operands == 3 ? ", v6" : "");
  }
  const std::vector<Instruction> code = WaveRunner::decode(source);
  REQUIRE(code.size() == operations.size());
  const size_t n = edges.size();
  for (size_t i = 0; i < operations.size(); ++i) {
    for (size_t first = 0; first < n * n; first += 64) {
      WaveRunner runner;
      for (int lane = 0; lane < 64; ++lane) {
        const size_t pair = (first + static_cast<size_t>(lane)) % (n * n);
        runner.v(2, lane) = edges[pair / n];
        runner.v(4, lane) = edges[pair % n];
        runner.v(6, lane) = edges[(pair * 7 + 3) % n];
      }
      runner.execute(code[i]);
      for (int lane = 0; lane < 64; ++lane) {
        const uint32_t a = runner.v(2, lane), b = runner.v(4, lane), c = runner.v(6, lane);
        CAPTURE(operations[i].mnemonic, a, b, c);
        REQUIRE((runner.v(8, lane) & operations[i].mask) == (operations[i].formula(a, b, c) & operations[i].mask));
      }
    }
  }
}

template <typename T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// The min, max and median family of one type.
template <typename T>
void add_orders(std::vector<Operation>& operations, const std::string& type, bool two) {
  const uint32_t mask = sizeof(T) == 2 ? 0xffffu : ~0u;
  const auto t = [](uint32_t x) { return static_cast<T>(x); };
  const auto u = [](T x) { return static_cast<uint32_t>(x); };
  if (two) {
    operations.push_back({"v_min_" + type, 2, [=](auto a, auto b, auto) { return u(std::min(t(a), t(b))); }, mask});
    operations.push_back({"v_max_" + type, 2, [=](auto a, auto b, auto) { return u(std::max(t(a), t(b))); }, mask});
  }
  operations.push_back(
      {"v_min3_" + type, 3, [=](auto a, auto b, auto c) { return u(std::min({t(a), t(b), t(c)})); }, mask});
  operations.push_back(
      {"v_max3_" + type, 3, [=](auto a, auto b, auto c) { return u(std::max({t(a), t(b), t(c)})); }, mask});
  operations.push_back(
      {"v_med3_" + type, 3, [=](auto a, auto b, auto c) { return u(median(t(a), t(b), t(c))); }, mask});
}

/// Both halves of a packed instruction by the formula of one.
Formula packed(std::function<uint32_t(uint16_t, uint16_t, uint16_t)> half) {
  return [half](uint32_t a, uint32_t b, uint32_t c) {
    const auto low = [](uint32_t x) { return static_cast<uint16_t>(x); };
    const auto high = [](uint32_t x) { return static_cast<uint16_t>(x >> 16); };
    return (half(low(a), low(b), low(c)) & 0xffff) | half(high(a), high(b), high(c)) << 16;
  };
}

int s16(uint32_t x) { return static_cast<int16_t>(x); }

}  // namespace

TEST_CASE("minima, maxima and medians") {
  std::vector<Operation> operations;
  add_orders<int32_t>(operations, "i32", true);
  add_orders<uint32_t>(operations, "u32", true);
  add_orders<int16_t>(operations, "i16", true);
  add_orders<uint16_t>(operations, "u16", true);
  check(operations);
}

TEST_CASE("16-bit arithmetic") {
  constexpr uint32_t half = 0xffff;
  check({
      {"v_add_u16", 2, [](auto a, auto b, auto) { return a + b; }, half},
      {"v_sub_u16", 2, [](auto a, auto b, auto) { return a - b; }, half},
      {"v_subrev_u16", 2, [](auto a, auto b, auto) { return b - a; }, half},
      {"v_add_i16", 2, [](auto a, auto b, auto) { return a + b; }, half},
      {"v_sub_i16", 2, [](auto a, auto b, auto) { return a - b; }, half},
      {"v_mul_lo_u16", 2, [](auto a, auto b, auto) { return (a & half) * (b & half); }, half},
      {"v_lshlrev_b16", 2, [](auto a, auto b, auto) { return b << (a & 15); }, half},
      {"v_lshrrev_b16", 2, [](auto a, auto b, auto) { return (b & half) >> (a & 15); }, half},
      {"v_ashrrev_i16", 2, [](auto a, auto b, auto) { return static_cast<uint32_t>(s16(b) >> (a & 15)); }, half},
      {"v_mad_u16", 3, [](auto a, auto b, auto c) { return (a & half) * (b & half) + c; }, half},
      {"v_mad_i16", 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(s16(a) * s16(b)) + c; }, half},
      {"v_mad_legacy_u16", 3, [](auto a, auto b, auto c) { return (a & half) * (b & half) + c; }, half},
      {"v_mad_legacy_i16", 3, [](auto a, auto b, auto c) { return static_cast<uint32_t>(s16(a) * s16(b)) + c; }, half},
  });
}

TEST_CASE("packed 16-bit integers") {
  check({
      {"v_pk_add_u16", 2, packed([](auto a, auto b, auto) { return uint32_t{a} + b; })},
      {"v_pk_sub_u16", 2, packed([](auto a, auto b, auto) { return uint32_t{a} - b; })},
      {"v_pk_add_i16", 2, packed([](auto a, auto b, auto) { return uint32_t{a} + b; })},
      {"v_pk_sub_i16", 2, packed([](auto a, auto b, auto) { return uint32_t{a} - b; })},
      {"v_pk_mul_lo_u16", 2, packed([](auto a, auto b, auto) { return uint32_t{a} * b; })},
      {"v_pk_lshlrev_b16", 2, packed([](auto a, auto b, auto) { return uint32_t{b} << (a & 15); })},
      {"v_pk_lshrrev_b16", 2, packed([](auto a, auto b, auto) { return uint32_t{b} >> (a & 15); })},
      {"v_pk_ashrrev_i16", 2, packed([](auto a, auto b, auto) { return static_cast<uint32_t>(s16(b) >> (a & 15)); })},
      {"v_pk_min_i16", 2, packed([](auto a, auto b, auto) { return static_cast<uint32_t>(std::min(s16(a), s16(b))); })},
      {"v_pk_max_i16", 2, packed([](auto a, auto b, auto) { return static_cast<uint32_t>(std::max(s16(a), s16(b))); })},
      {"v_pk_min_u16", 2, packed([](auto a, auto b, auto) { return uint32_t{std::min(a, b)}; })},
      {"v_pk_max_u16", 2, packed([](auto a, auto b, auto) { return uint32_t{std::max(a, b)}; })},
      {"v_pk_mad_u16", 3, packed([](auto a, auto b, auto c) { return uint32_t{a} * b + c; })},
      {"v_pk_mad_i16", 3, packed([](auto a, auto b, auto c) { return static_cast<uint32_t>(s16(a) * s16(b)) + c; })},
  });
}

TEST_CASE("sums of absolute differences") {
  const auto byte = [](uint32_t x, int n) { return x >> (8 * n) & 0xff; };
  const auto distance = [](uint32_t a, uint32_t b) { return a > b ? a - b : b - a; };
  const auto bytes = [=](uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int n = 0; n < 4; ++n) sum += distance(byte(a, n), byte(b, n));
    return sum;
  };
  check({
      {"v_sad_u8", 3, [=](auto a, auto b, auto c) { return bytes(a, b) + c; }},
      {"v_sad_hi_u8", 3, [=](auto a, auto b, auto c) { return (bytes(a, b) << 16) + c; }},
      {"v_sad_u16", 3,
       [=](auto a, auto b, auto c) { return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c; }},
      {"v_sad_u32", 3, [=](auto a, auto b, auto c) { return distance(a, b) + c; }},
      // Bytes of the second operand that are 0 are masked out.
      {"v_msad_u8", 3,
       [=](auto a, auto b, auto c) {
         uint32_t sum = c;
         for (int n = 0; n < 4; ++n) sum += byte(b, n) == 0 ? 0 : distance(byte(a, n), byte(b, n));
         return sum;
       }},
      {"v_lerp_u8", 3,
       [=](auto a, auto b, auto c) {
         uint32_t out = 0;
         for (int n = 0; n < 4; ++n) out |= (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1 << (8 * n);
         return out;
       }},
  });
}
