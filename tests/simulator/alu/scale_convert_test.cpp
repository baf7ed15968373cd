// Every v_cvt_scalef32_*: all codes of the narrow format, as values that both sides hold exactly, in the elements'
// places; and the stochastic ones between two codes.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

struct Narrow {
  std::string name;
  int exponent_bits, mantissa_bits;
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
const Narrow fp8{"fp8", 4, 3}, bf8{"bf8", 5, 2}, fp6{"fp6", 2, 3}, bf6{"bf6", 3, 2}, fp4{"fp4", 2, 1};

/// Of a code's fields; nothing for infinities and NaN.
std::optional<double> value_of(const Narrow& narrow, uint32_t code) {
  const int bias = (1 << (narrow.exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<int>(code & ((1u << narrow.mantissa_bits) - 1));
  const auto exponent = static_cast<int>(code >> narrow.mantissa_bits & ((1u << narrow.exponent_bits) - 1));
  if (narrow.name == "fp8" && (code & 0x7f) == 0x7f) return std::nullopt;
  if (narrow.name == "bf8" && exponent == 31) return std::nullopt;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - narrow.mantissa_bits)
                    : std::ldexp(mantissa + (1 << narrow.mantissa_bits), exponent - bias - narrow.mantissa_bits);
  return (code >> (narrow.bits() - 1) & 1) != 0 ? -magnitude : magnitude;
}

int wide_bits(const std::string& wide) { return wide == "f32" ? 32 : 16; }
uint32_t wide_code(const std::string& wide, double value) {
  const auto single = static_cast<float>(value);
  if (wide == "f32") return std::bit_cast<uint32_t>(single);
  if (wide == "bf16") return std::bit_cast<uint32_t>(single) >> 16;
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

/// Bits of a lane over consecutive registers.
uint32_t get(WaveRunner& wave, int reg, int lane, int bit, int width) {
  uint64_t words = wave.v(reg + bit / 32, lane);
  if (bit % 32 + width > 32) words |= uint64_t{wave.v(reg + bit / 32 + 1, lane)} << 32;
  return static_cast<uint32_t>(words >> bit % 32 & ((uint64_t{1} << width) - 1));
}
void put(WaveRunner& wave, int reg, int lane, int bit, int width, uint32_t value) {
  for (int b = 0; b < width; ++b) {
    uint32_t& word = wave.v(reg + (bit + b) / 32, lane);
    word = (word & ~(1u << (bit + b) % 32)) | (value >> b & 1) << (bit + b) % 32;
  }
}

std::string registers(int first, int bits) {
  const int count = (bits + 31) / 32;
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

constexpr int narrow_at = 4, wide_at = 64, random_at = 2, scale_at = 3;
constexpr float scale = 0.5f;

/// The code that element `i` of a lane has in a round: every finite code comes.
uint32_t code_of(const Narrow& narrow, int round, int lane, int i, int elements) {
  const auto codes = 1u << narrow.bits();
  uint32_t code = static_cast<uint32_t>(round * 64 * elements + lane * elements + i) * 5 % codes;
  while (!value_of(narrow, code)) code = (code + 1) % codes;
  return code;
}
int rounds_of(const Narrow& narrow, int elements) { return std::max(1, (1 << narrow.bits()) / (64 * elements)); }

struct Form {
  std::string name, sources;
  Narrow narrow;
  std::string wide;
  int elements;
  bool interleaved = false;  ///< elements alternate between two sources
};

void check_narrowing(const Form& form) {
  const int width = wide_bits(form.wide), bits = form.narrow.bits();
  for (int round = 0; round < rounds_of(form.narrow, form.elements); ++round) {
    WaveRunner wave;
    wave.set_f32(scale_at, scale);
    wave.set(random_at, 0x9e3779b9);
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < form.elements; ++i) {
        const double value = *value_of(form.narrow, code_of(form.narrow, round, lane, i, form.elements)) * scale;
        const int place = form.interleaved ? i % 2 * form.elements / 2 + i / 2 : i;
        put(wave, wide_at, lane, place * width, width, wide_code(form.wide, value));
      }
    }
    wave.run(fmt::format("{} {}, {}", form.name, registers(narrow_at, bits * form.elements), form.sources));
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < form.elements; ++i) {
        CAPTURE(form.name, lane, i);
        CHECK(get(wave, narrow_at, lane, i * bits, bits) == code_of(form.narrow, round, lane, i, form.elements));
      }
    }
  }
}

void check_widening(const Form& form) {
  const int width = wide_bits(form.wide), bits = form.narrow.bits();
  for (int round = 0; round < rounds_of(form.narrow, form.elements); ++round) {
    WaveRunner wave;
    wave.set_f32(scale_at, scale);
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < form.elements; ++i) {
        put(wave, narrow_at, lane, i * bits, bits, code_of(form.narrow, round, lane, i, form.elements));
      }
    }
    wave.run(fmt::format("{} {}, {}, v{}", form.name, registers(wide_at, width * form.elements),
                         registers(narrow_at, bits * form.elements), scale_at));
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < form.elements; ++i) {
        CAPTURE(form.name, lane, i);
        const double value = *value_of(form.narrow, code_of(form.narrow, round, lane, i, form.elements)) * scale;
        CHECK(get(wave, wide_at, lane, i * width, width) == wide_code(form.wide, value));
      }
    }
  }
}

const std::vector<std::string> wides{"f32", "f16", "bf16"};

}  // namespace

TEST_CASE("one and two elements, narrowed") {
  for (const std::string& wide : wides) {
    for (const Narrow& narrow : {fp8, bf8, fp4}) {
      const std::string pair = wide == "f32" ? "v64, v65, v3" : "v64, v3";
      check_narrowing({"v_cvt_scalef32_pk_" + narrow.name + "_" + wide, pair, narrow, wide, 2});
    }
    for (const Narrow& narrow : {fp8, bf8}) {
      check_narrowing({"v_cvt_scalef32_sr_" + narrow.name + "_" + wide, "v64, v2, v3", narrow, wide, 1});
    }
    check_narrowing(
        {"v_cvt_scalef32_sr_pk_fp4_" + wide, registers(wide_at, 2 * wide_bits(wide)) + ", v2, v3", fp4, wide, 2});
  }
}

TEST_CASE("32 elements of six bits, narrowed") {
  for (const Narrow& narrow : {fp6, bf6}) {
    check_narrowing(
        {"v_cvt_scalef32_2xpk16_" + narrow.name + "_f32", "v[64:79], v[80:95], v3", narrow, "f32", 32, true});
    for (const std::string& wide : wides) {
      const std::string all = registers(wide_at, 32 * wide_bits(wide));
      if (wide != "f32")
        check_narrowing({"v_cvt_scalef32_pk32_" + narrow.name + "_" + wide, all + ", v3", narrow, wide, 32});
      check_narrowing({"v_cvt_scalef32_sr_pk32_" + narrow.name + "_" + wide, all + ", v2, v3", narrow, wide, 32});
    }
  }
}

TEST_CASE("every form widens every code") {
  for (const std::string& wide : wides) {
    for (const Narrow& narrow : {fp8, bf8, fp4}) {
      check_widening({"v_cvt_scalef32_pk_" + wide + "_" + narrow.name, "", narrow, wide, 2});
      if (wide != "bf16" && narrow.name != "fp4") {
        check_widening({"v_cvt_scalef32_" + wide + "_" + narrow.name, "", narrow, wide, 1});
      }
    }
    for (const Narrow& narrow : {fp6, bf6}) {
      check_widening({"v_cvt_scalef32_pk32_" + wide + "_" + narrow.name, "", narrow, wide, 32});
    }
  }
}

TEST_CASE("stochastic rounding goes up by the share that the random bits have") {
  // A quarter of the way from 1.0 to the next code: up when the random number's top two bits are both set.
  struct Case {
    std::string text;
    std::string wide;
    Narrow narrow;
  };
  std::vector<Case> cases;
  for (const std::string& wide : wides) {
    for (const Narrow& narrow : {fp8, bf8})
      cases.push_back({"v_cvt_scalef32_sr_" + narrow.name + "_" + wide + " v4, v64, v2, v3", wide, narrow});
    cases.push_back(
        {"v_cvt_scalef32_sr_pk_fp4_" + wide + " v4, " + registers(wide_at, 2 * wide_bits(wide)) + ", v2, v3", wide,
         fp4});
    for (const Narrow& narrow : {fp6, bf6}) {
      cases.push_back({"v_cvt_scalef32_sr_pk32_" + narrow.name + "_" + wide + " v[4:9], " +
                           registers(wide_at, 32 * wide_bits(wide)) + ", v2, v3",
                       wide, narrow});
    }
  }
  for (const Case& c : cases) {
    const double quarter = 1 + std::ldexp(0.25, -c.narrow.mantissa_bits);
    const auto bias = static_cast<uint32_t>((1 << (c.narrow.exponent_bits - 1)) - 1);
    const uint32_t one = bias << c.narrow.mantissa_bits;
    WaveRunner wave;
    wave.set_f32(scale_at, 1.0f);
    for (int lane = 0; lane < 64; ++lane) {
      wave.v(random_at, lane) = static_cast<uint32_t>(lane) << 26;
      for (int i = 0; i < 32; ++i)
        put(wave, wide_at, lane, i * wide_bits(c.wide), wide_bits(c.wide), wide_code(c.wide, quarter));
    }
    wave.run(c.text);
    for (int lane = 0; lane < 64; ++lane) {
      CAPTURE(c.text, lane);
      CHECK(get(wave, narrow_at, lane, 0, c.narrow.bits()) == one + (lane >= 48));
    }
  }
  WaveRunner wave;
  wave.set_f32(1, 1 + 0x1p-9f);   // a quarter of bf16's last place
  wave.set_f32(5, 1 + 0x1p-12f);  // a quarter of f16's
  for (int lane = 0; lane < 64; ++lane) wave.v(2, lane) = static_cast<uint32_t>(lane) << 26;
  wave.run("v_cvt_sr_bf16_f32 v6, v1, v2\nv_cvt_sr_f16_f32 v7, v5, v2");
  for (int lane = 0; lane < 64; ++lane) {
    CHECK((wave.v(6, lane) & 0xffff) == 0x3f80u + (lane >= 48));
    CHECK((wave.v(7, lane) & 0xffff) == 0x3c00u + (lane >= 48));
  }
}
