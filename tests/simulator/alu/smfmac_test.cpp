// Sparse matrix instructions against float64 products of the expanded A: two of every four k, placed by index bits that
// are written out here.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

struct Shape {
  int m, k;
};

/// Small whole numbers, exact in every format and in every sum.
uint32_t encode_small(const std::string& type, int value) {
  if (type == "f16") return encode(kF16, value);
  if (type == "bf16") return encode(kBf16, value);
  if (type == "fp8") return encode(kFp8, value);
  if (type == "bf8") return encode(kBf8, value);
  return static_cast<uint8_t>(value);
}

int bits_of(const std::string& type) { return type.ends_with("16") ? 16 : 8; }

void check_product(const std::string& mnemonic, const std::string& a_type, const std::string& b_type, Shape shape,
                   int abid, int cbsz) {
  CAPTURE(mnemonic, abid, cbsz);
  const auto [m, k] = shape;
  const int bits = bits_of(a_type);
  const int stored = m * k / 128, dense = m * k / 64, group_lanes = m;
  std::mt19937 random(static_cast<uint32_t>(m * 1000 + k + abid));
  WaveRunner runner;
  const int a0 = 40, b0 = 60, index_register = 80, d0 = 100;
  for (int r = a0; r < index_register + 1; ++r) runner.set(r, 0);
  std::vector<int> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(m * k));
  const auto put = [&](int first, int lane, int element, uint32_t code) {
    const int bit = element * bits;
    runner.v(first + bit / 32, lane) |= code << (bit % 32);
  };
  for (int lane = 0; lane < 64; ++lane) {
    const int group = lane / group_lanes;
    uint64_t index = 0;
    for (int pair = 0; pair < stored / 2; ++pair) {
      // Two different places of four, in order.
      const int first = static_cast<int>(random() % 3);
      const int second = first + 1 + static_cast<int>(random() % static_cast<uint32_t>(3 - first));
      for (int half = 0; half < 2; ++half) {
        const int place = half == 0 ? first : second;
        const int value = static_cast<int>(random() % 7) - 3;
        put(a0, lane, 2 * pair + half, encode_small(a_type, value));
        index |= static_cast<uint64_t>(place) << (2 * (2 * pair + half));
        a[static_cast<size_t>((lane % m) * k + group * dense + 4 * pair + place)] = value;
      }
    }
    // Other sets of index bits hold noise.
    const int set_bits = 2 * stored;
    uint32_t word = static_cast<uint32_t>(random());
    const int set = set_bits == 32 || cbsz != 0 ? 0 : abid % (32 / set_bits);
    const uint32_t mask = set_bits == 32 ? ~0u : ((1u << set_bits) - 1) << (set * set_bits);
    word = (word & ~mask) | (static_cast<uint32_t>(index << (set * set_bits)) & mask);
    runner.v(index_register, lane) = word;
    for (int e = 0; e < dense; ++e) {
      const int value = static_cast<int>(random() % 7) - 3;
      put(b0, lane, e, encode_small(b_type, value));
      b[static_cast<size_t>((group * dense + e) * m + lane % m)] = value;
    }
  }
  const bool integer = mnemonic.find("_i32_") != std::string::npos;
  const int results = m * m / 64;
  for (int r = 0; r < results; ++r) {
    for (int lane = 0; lane < 64; ++lane) {
      runner.v(d0 + r, lane) = integer ? static_cast<uint32_t>(r - lane) : std::bit_cast<uint32_t>(float(r - lane));
    }
  }
  const std::string modifiers = fmt::format("{}{}", cbsz != 0 ? fmt::format(" cbsz:{}", cbsz) : "",
                                            abid != 0 ? fmt::format(" abid:{}", abid) : "");
  runner.run(fmt::format("{} v[{}:{}], v[{}:{}], v[{}:{}], v{}{}", mnemonic, d0, d0 + results - 1, a0,
                         a0 + stored * bits / 32 - 1, b0, b0 + dense * bits / 32 - 1, index_register, modifiers));
  for (int r = 0; r < results; ++r) {
    for (int lane = 0; lane < 64; ++lane) {
      const int row = m == 32 ? 8 * (r / 4) + 4 * (lane / 32) + r % 4 : 4 * (lane / 16) + r;
      int sum = r - lane;
      for (int s = 0; s < k; ++s) {
        sum += a[static_cast<size_t>(row * k + s)] * b[static_cast<size_t>(s * m + lane % m)];
      }
      const uint32_t got = runner.v(d0 + r, lane);
      const int value = integer ? static_cast<int>(got) : static_cast<int>(std::bit_cast<float>(got));
      REQUIRE(value == sum);
    }
  }
}

}  // namespace

TEST_CASE("sparse products of 16-bit floats") {
  for (const std::string type : {"f16", "bf16"}) {
    for (const Shape shape : {Shape{16, 32}, {32, 16}, {16, 64}, {32, 32}}) {
      const std::string name = fmt::format("v_smfmac_f32_{}x{}x{}_{}", shape.m, shape.m, shape.k, type);
      for (int abid = 0; abid < 4; ++abid) check_product(name, type, type, shape, abid, 0);
      check_product(name, type, type, shape, 3, 1);  // CBSZ takes the first set whatever ABID says
    }
  }
}

TEST_CASE("sparse products of bytes") {
  for (const Shape shape : {Shape{16, 64}, {32, 32}, {16, 128}, {32, 64}}) {
    for (int abid = 0; abid < 2; ++abid) {
      check_product(fmt::format("v_smfmac_i32_{}x{}x{}_i8", shape.m, shape.m, shape.k), "i8", "i8", shape, abid, 0);
      for (const std::string a : {"fp8", "bf8"}) {
        for (const std::string b : {"fp8", "bf8"}) {
          check_product(fmt::format("v_smfmac_f32_{}x{}x{}_{}_{}", shape.m, shape.m, shape.k, a, b), a, b, shape, abid,
                        0);
        }
      }
    }
  }
}
