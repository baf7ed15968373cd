// Matrix instructions against float64 products of matrices that are laid into registers by the layout formulas of the
// instruction set's documents, written out here once more.
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

enum class Type { fp8, bf8, fp6, bf6, fp4, f16, bf16, f32, i8 };

int width(Type type) {
  switch (type) {
    case Type::fp8:
    case Type::bf8:
    case Type::i8:
      return 8;
    case Type::fp6:
    case Type::bf6:
      return 6;
    case Type::fp4:
      return 4;
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::f32:
      return 32;
  }
  return 0;
}

uint32_t encode_as(Type type, double value) {
  switch (type) {
    case Type::fp8:
      return encode(kFp8, value);
    case Type::bf8:
      return encode(kBf8, value);
    case Type::fp6:
      return encode(kFp6, value);
    case Type::bf6:
      return encode(kBf6, value);
    case Type::fp4:
      return encode(kFp4, value);
    case Type::f16:
      return encode(kF16, value);
    case Type::bf16:
      return encode(kBf16, value);
    case Type::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case Type::i8:
      return static_cast<uint8_t>(static_cast<int>(value));
  }
  return 0;
}

double decode_as(Type type, uint32_t code) {
  switch (type) {
    case Type::fp8:
      return decode(kFp8, code);
    case Type::bf8:
      return decode(kBf8, code);
    case Type::fp6:
      return decode(kFp6, code);
    case Type::bf6:
      return decode(kBf6, code);
    case Type::fp4:
      return decode(kFp4, code);
    case Type::f16:
      return decode(kF16, code);
    case Type::bf16:
      return decode(kBf16, code);
    case Type::f32:
      return static_cast<double>(std::bit_cast<float>(code));
    case Type::i8:
      return static_cast<int8_t>(code);
  }
  return 0;
}

void put_element(WaveRunner& wave, int first, int lane, int element, Type type, uint32_t code) {
  const int bit = element * width(type);
  for (int i = 0; i < width(type); ++i) {
    uint32_t& word = wave.v(first + (bit + i) / 32, lane);
    const uint32_t mask = 1u << ((bit + i) % 32);
    word = (code >> i & 1) != 0 ? word | mask : word & ~mask;
  }
}

struct Case {
  std::string text;  // with A in v[64..], B in v[96..], C in v[128..], D in v[0..]
  int mn;
  int k;
  int blocks;
  Type a;
  Type b;
  std::function<int(int l, int e)> k_a;  // k of element e in lane l
  std::function<int(int l, int e)> k_b;
};

std::string tuple(const char* file, int first, int count) {
  if (count == 1) return file + std::to_string(first);
  return std::string(file) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

int registers(const Case& c, Type type) { return c.mn * c.k * c.blocks * width(type) / 64 / 32; }
int results(const Case& c) { return c.mn * c.mn * c.blocks / 64; }

std::string instruction_text(const Case& c, const std::string& name, const std::string& modifiers = "") {
  return "v_mfma_" + name + " " + tuple("v", 0, results(c)) + ", " + tuple("v", 64, registers(c, c.a)) + ", " +
         tuple("v", 96, registers(c, c.b)) + ", " + tuple("v", 128, results(c)) + modifiers;
}

struct Matrices {
  std::vector<double> a, b, c;  // [block][row][k], [block][k][column], [block][row][column]
};

int d_block(const Case& c, int l, int r) { return c.mn == 32 ? r / 16 : c.mn == 16 ? r / 4 : l / 4; }
int d_row(const Case& c, int l, int r) {
  if (c.mn == 32) return 8 * (r % 16 / 4) + 4 * (l / 32) + r % 4;
  if (c.mn == 16) return 4 * (l / 16) + r % 4;
  return r;
}

// Fills registers with random exact values of small integers (so sums are exact in f32), and the matrices with them.
Matrices load(WaveRunner& wave, const Case& c, uint32_t seed, bool integers) {
  std::mt19937 random(seed);
  Matrices m;
  const auto size = [](int n) { return static_cast<size_t>(n); };
  m.a.resize(size(c.blocks * c.mn * c.k));
  m.b.resize(size(c.blocks * c.mn * c.k));
  m.c.resize(size(c.blocks * c.mn * c.mn));
  const auto value = [&](Type type) {
    if (integers) return static_cast<double>(static_cast<int>(random() % 7) - 3);
    if (type == Type::i8) return static_cast<double>(static_cast<int>(random() % 256) - 128);
    const double raw =
        std::ldexp(static_cast<double>(random() % 2001) / 1000.0 - 1.0, static_cast<int>(random() % 6) - 2);
    return decode_as(type, encode_as(type, raw));
  };
  const int elements_a = c.mn * c.k * c.blocks / 64;
  for (int l = 0; l < 64; ++l) {
    const int block = c.blocks == 1 ? 0 : l / c.mn;
    for (int e = 0; e < elements_a; ++e) {
      const double va = value(c.a);
      const double vb = value(c.b);
      m.a[size((block * c.mn + l % c.mn) * c.k + c.k_a(l, e))] = va;
      m.b[size((block * c.k + c.k_b(l, e)) * c.mn + l % c.mn)] = vb;
      put_element(wave, 64, l, e, c.a, encode_as(c.a, va));
      put_element(wave, 96, l, e, c.b, encode_as(c.b, vb));
    }
    for (int r = 0; r < results(c); ++r) {
      const double vc = static_cast<double>(static_cast<int>(random() % 201) - 100);
      m.c[size((d_block(c, l, r) * c.mn + d_row(c, l, r)) * c.mn + l % c.mn)] = vc;
      wave.v(128 + r, l) = c.a == Type::i8 ? static_cast<uint32_t>(static_cast<int32_t>(vc))
                                           : std::bit_cast<uint32_t>(static_cast<float>(vc));
    }
  }
  return m;
}

double expected(const Case& c, const Matrices& m, int block, int row, int column, double* magnitude = nullptr) {
  const auto at = [](int i) { return static_cast<size_t>(i); };
  double sum = m.c[at((block * c.mn + row) * c.mn + column)];
  if (magnitude != nullptr) *magnitude = std::fabs(sum);
  for (int k = 0; k < c.k; ++k) {
    const double product = m.a[at((block * c.mn + row) * c.k + k)] * m.b[at((block * c.k + k) * c.mn + column)];
    sum += product;
    if (magnitude != nullptr) *magnitude += std::fabs(product);
  }
  return sum;
}

double result(WaveRunner& wave, const Case& c, int l, int r) {
  return c.a == Type::i8 ? static_cast<double>(static_cast<int32_t>(wave.v(r, l)))
                         : static_cast<double>(wave.f32(r, l));
}

void check_case(const Case& c, const std::string& name, const std::string& modifiers = "") {
  INFO(name + modifiers);
  const auto instructions = WaveRunner::decode(instruction_text(c, name, modifiers));
  for (const bool integers : {true, false}) {
    WaveRunner wave;
    const Matrices m = load(wave, c, integers ? 11 : 23, integers);
    wave.wave().set_exec(0x1);  // ignored
    wave.execute(instructions[0]);
    for (int l = 0; l < 64; ++l)
      for (int r = 0; r < results(c); ++r) {
        double magnitude = 0;
        const double exact = expected(c, m, d_block(c, l, r), d_row(c, l, r), l % c.mn, &magnitude);
        CAPTURE(integers, l, r, exact);
        // One rounding to f32 at the end: half a unit of the result, and the float64 sums' own error.
        const double bound = integers || c.a == Type::i8 ? 0 : std::fabs(exact) * 0x1p-24 + magnitude * 0x1p-46;
        REQUIRE(std::fabs(result(wave, c, l, r) - exact) <= bound);
      }
  }
}

std::function<int(int, int)> contiguous(int mn, int elements) {
  return [=](int l, int e) { return elements * (l / mn) + e; };
}
std::function<int(int, int)> in_block() {
  return [](int, int e) { return e; };
}

}  // namespace

TEST_CASE("f8f6f4: fp8 in two pieces of 16 bytes, fp6 and fp4 contiguous, formats mixed") {
  const auto k128 = [](int l, int b) { return 64 * (b / 16) + 16 * (l / 16) + b % 16; };
  const auto k64 = [](int l, int b) { return 32 * (b / 16) + 16 * (l / 32) + b % 16; };
  const Type types[] = {Type::fp8, Type::bf8, Type::fp6, Type::bf6, Type::fp4};
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b) {
      const std::string modifiers = " cbsz:" + std::to_string(a) + " blgp:" + std::to_string(b);
      const auto layout = [](int format, const std::function<int(int, int)>& pieces, int mn) {
        return format < 2 ? pieces : contiguous(mn, 32);
      };
      check_case({"", 16, 128, 1, types[a], types[b], layout(a, k128, 16), layout(b, k128, 16)}, "f32_16x16x128_f8f6f4",
                 modifiers);
      check_case({"", 32, 64, 1, types[a], types[b], layout(a, k64, 32), layout(b, k64, 32)}, "f32_32x32x64_f8f6f4",
                 modifiers);
    }
}

TEST_CASE("fp8 and bf8 of gfx940") {
  const Type types[] = {Type::fp8, Type::bf8};
  const char* names[] = {"fp8", "bf8"};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const std::string suffix = std::string(names[a]) + "_" + names[b];
      check_case({"", 16, 32, 1, types[a], types[b], contiguous(16, 8), contiguous(16, 8)}, "f32_16x16x32_" + suffix);
      check_case({"", 32, 16, 1, types[a], types[b], contiguous(32, 8), contiguous(32, 8)}, "f32_32x32x16_" + suffix);
    }
}

TEST_CASE("f16 and bf16") {
  for (Type type : {Type::f16, Type::bf16}) {
    const std::string suffix = type == Type::f16 ? "f16" : "bf16";
    check_case({"", 16, 32, 1, type, type, contiguous(16, 8), contiguous(16, 8)}, "f32_16x16x32_" + suffix);
    check_case({"", 32, 16, 1, type, type, contiguous(32, 8), contiguous(32, 8)}, "f32_32x32x16_" + suffix);
    check_case({"", 16, 16, 1, type, type, contiguous(16, 4), contiguous(16, 4)}, "f32_16x16x16_" + suffix);
    check_case({"", 32, 8, 1, type, type, contiguous(32, 4), contiguous(32, 4)}, "f32_32x32x8_" + suffix);
    check_case({"", 32, 4, 2, type, type, in_block(), in_block()}, "f32_32x32x4_2b_" + suffix);
    check_case({"", 16, 4, 4, type, type, in_block(), in_block()}, "f32_16x16x4_4b_" + suffix);
    check_case({"", 4, 4, 16, type, type, in_block(), in_block()}, "f32_4x4x4_16b_" + suffix);
  }
}

TEST_CASE("f32") {
  const Type t = Type::f32;
  check_case({"", 16, 4, 1, t, t, contiguous(16, 1), contiguous(16, 1)}, "f32_16x16x4_f32");
  check_case({"", 32, 2, 1, t, t, contiguous(32, 1), contiguous(32, 1)}, "f32_32x32x2_f32");
  check_case({"", 32, 1, 2, t, t, in_block(), in_block()}, "f32_32x32x1_2b_f32");
  check_case({"", 16, 1, 4, t, t, in_block(), in_block()}, "f32_16x16x1_4b_f32");
  check_case({"", 4, 1, 16, t, t, in_block(), in_block()}, "f32_4x4x1_16b_f32");
}

TEST_CASE("i8") {
  const Type t = Type::i8;
  check_case({"", 16, 64, 1, t, t, contiguous(16, 16), contiguous(16, 16)}, "i32_16x16x64_i8");
  check_case({"", 32, 32, 1, t, t, contiguous(32, 16), contiguous(32, 16)}, "i32_32x32x32_i8");
  check_case({"", 16, 32, 1, t, t, contiguous(16, 8), contiguous(16, 8)}, "i32_16x16x32_i8");
  check_case({"", 32, 16, 1, t, t, contiguous(32, 8), contiguous(32, 8)}, "i32_32x32x16_i8");
  check_case({"", 32, 4, 2, t, t, in_block(), in_block()}, "i32_32x32x4_2b_i8");
  check_case({"", 16, 4, 4, t, t, in_block(), in_block()}, "i32_16x16x4_4b_i8");
  check_case({"", 4, 4, 16, t, t, in_block(), in_block()}, "i32_4x4x4_16b_i8");
}

TEST_CASE("f64: 16x16x4 and four blocks of 4x4x4, with signs") {
  WaveRunner wave;
  const auto a = [](int row, int k, int block) { return row * 7.0 + k * 0.5 + block * 100 + 1; };
  const auto b = [](int k, int column, int block) { return column - k * 3.25 + block * 10; };
  for (int l = 0; l < 64; ++l) {
    const auto put = [&](int reg, double v) {
      const auto value = std::bit_cast<uint64_t>(v);
      wave.v(reg, l) = static_cast<uint32_t>(value);
      wave.v(reg + 1, l) = static_cast<uint32_t>(value >> 32);
    };
    put(20, a(l % 16, l / 16, 0));
    put(22, b(l / 16, l % 16, 0));
    put(24, a(l % 4, l / 16, l / 4 % 4));
    put(26, b(l / 16, l % 4, l / 4 % 4));
    for (int r = 0; r < 4; ++r) put(30 + 2 * r, 1000.0 * r + l);
    put(40, 5.0);
  }
  wave.run(
      "v_mfma_f64_16x16x4_f64 v[0:7], v[20:21], v[22:23], v[30:37]\n"
      "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[24:25], v[26:27], v[40:41]\n"
      "v_mfma_f64_4x4x4_4b_f64 v[10:11], v[24:25], v[26:27], v[40:41] neg:[1,0,1]\n"
      "v_mfma_f64_4x4x4_4b_f64 v[12:13], v[24:25], v[26:27], 1.0");
  for (int l = 0; l < 64; ++l) {
    for (int r = 0; r < 4; ++r) {
      double sum = 1000.0 * r + l;
      for (int k = 0; k < 4; ++k) sum += a(4 * r + l / 16, k, 0) * b(k, l % 16, 0);
      CHECK(wave.f64(2 * r, l) == sum);
    }
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += a(l / 16, k, l / 4 % 4) * b(k, l % 4, l / 4 % 4);
    CHECK(wave.f64(8, l) == sum + 5);
    CHECK(wave.f64(10, l) == -sum - 5);
    CHECK(wave.f64(12, l) == sum + 1);
  }
}

TEST_CASE("block scales: the byte that op_sel picks, one for each row and 32 logical k") {
  const auto k128 = [](int l, int e) { return 64 * (e / 16) + 16 * (l / 16) + e % 16; };
  const auto k64 = [](int l, int e) { return 32 * (e / 16) + 16 * (l / 32) + e % 16; };
  const Case small{"", 16, 128, 1, Type::fp8, Type::fp8, k128, k128};
  const Case large{"", 32, 64, 1, Type::fp8, Type::fp8, k64, k64};
  for (const Case& c : {small, large}) {
    for (int byte_a = 0; byte_a < 4; ++byte_a) {
      const int byte_b = 3 - byte_a;
      WaveRunner wave;
      const Matrices m = load(wave, c, 5, true);
      // Exponents that differ for every row, block and byte, near 127.
      const auto code_a = [](int row, int block, int byte) {
        return static_cast<uint32_t>(124 + (row + 3 * block + byte) % 5);
      };
      const auto code_b = [](int column, int block, int byte) {
        return static_cast<uint32_t>(125 + (2 * column + block + 2 * byte) % 4);
      };
      for (int l = 0; l < 64; ++l) {
        wave.v(200, l) = wave.v(201, l) = 0;
        for (int byte = 0; byte < 4; ++byte) {
          wave.v(200, l) |= code_a(l % c.mn, l / c.mn, byte) << (8 * byte);
          wave.v(201, l) |= code_b(l % c.mn, l / c.mn, byte) << (8 * byte);
        }
      }
      const auto bits = [](int a, int b) { return "[" + std::to_string(a) + "," + std::to_string(b) + ",0]"; };
      const std::string name = c.mn == 16 ? "scale_f32_16x16x128_f8f6f4" : "scale_f32_32x32x64_f8f6f4";
      wave.run(instruction_text(
          c, name,
          ", v200, v201 op_sel:" + bits(byte_a & 1, byte_b & 1) + " op_sel_hi:" + bits(byte_a >> 1, byte_b >> 1)));
      for (int l = 0; l < 64; ++l)
        for (int r = 0; r < results(c); ++r) {
          const int row = d_row(c, l, r);
          const int column = l % c.mn;
          double sum = m.c[static_cast<size_t>(row * c.mn + column)];
          for (int k = 0; k < c.k; ++k)
            sum += m.a[static_cast<size_t>(row * c.k + k)] * m.b[static_cast<size_t>(k * c.mn + column)] *
                   std::ldexp(1.0, static_cast<int>(code_a(row, k / 32, byte_a)) - 127) *
                   std::ldexp(1.0, static_cast<int>(code_b(column, k / 32, byte_b)) - 127);
          CAPTURE(byte_a, l, r);
          REQUIRE(static_cast<double>(wave.f32(r, l)) == sum);
        }
    }
  }
}

TEST_CASE("C may be a constant, an accumulation register or the destination; NaN and infinity pass through") {
  const auto k128 = [](int l, int e) { return 64 * (e / 16) + 16 * (l / 16) + e % 16; };
  const Case c{"", 16, 128, 1, Type::fp8, Type::fp8, k128, k128};
  WaveRunner wave;
  Matrices m = load(wave, c, 3, true);
  for (int l = 0; l < 64; ++l)
    for (int r = 0; r < 4; ++r) {
      wave.a(r, l) = wave.v(128 + r, l);
      wave.v(140 + r, l) = wave.v(128 + r, l);
    }
  wave.run(
      "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[96:103], 1.0\n"
      "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[64:71], v[96:103], a[0:3]\n"
      "v_mfma_f32_16x16x128_f8f6f4 v[140:143], v[64:71], v[96:103], v[140:143]");
  for (int l = 0; l < 64; ++l)
    for (int r = 0; r < 4; ++r) {
      const double sum = expected(c, m, 0, d_row(c, l, r), l % 16);
      const double addend = m.c[static_cast<size_t>(d_row(c, l, r) * 16 + l % 16)];
      CHECK(static_cast<double>(wave.f32(r, l)) == sum - addend + 1);
      CHECK(static_cast<double>(std::bit_cast<float>(wave.a(r, l))) == sum);
      CHECK(static_cast<double>(wave.f32(140 + r, l)) == sum);
    }
  // One NaN byte of A reaches its row and no other.
  put_element(wave, 64, 5, 7, Type::fp8, 0x7f);
  wave.run("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[96:103], v[128:131]");
  for (int l = 0; l < 64; ++l)
    for (int r = 0; r < 4; ++r) CHECK(std::isnan(wave.f32(r, l)) == (d_row(c, l, r) == 5));
}

TEST_CASE("the fp8 sum is exact before its one rounding") {
  // 448 * 448 + 2^-18 - 448 * 448: the small product survives; and a sum just above a rounding midpoint rounds up.
  WaveRunner wave;
  for (int reg = 64; reg < 128; ++reg) wave.set(reg, 0);
  const auto both = [&](int e, uint32_t a, uint32_t b) {
    for (int l = 0; l < 16; ++l) {
      put_element(wave, 64, l, e, Type::fp8, a);
      put_element(wave, 96, l, e, Type::fp8, b);
    }
  };
  both(0, 0x7e, 0x7e);
  both(1, 0x01, 0x01);
  both(2, 0xfe, 0x7e);
  wave.run("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[96:103], 0");
  CHECK(wave.f32(0, 0) == 0x1p-18f);
  both(2, 0, 0);
  for (int r = 0; r < 4; ++r) wave.set_f32(128 + r, 0x1p24f + 2.0f);  // C's unit is 2: 200704 + C + 2^-18
  both(0, 0x38, 0x38);                                                // 1 * 1: exactly half a unit
  wave.run("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[96:103], v[128:131]");
  CHECK(wave.f32(0, 0) == 0x1p24f + 4.0f);
  both(1, 0, 0);
  for (int r = 0; r < 4; ++r) wave.set_f32(128 + r, 0x1p24f);
  wave.run("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[96:103], v[128:131]");
  CHECK(wave.f32(0, 0) == 0x1p24f);  // a tie goes to even
}

TEST_CASE("cbsz, abid broadcast blocks of A; blgp permutes lanes of B") {
  WaveRunner wave;
  for (int l = 0; l < 64; ++l) {
    wave.v(64, l) = std::bit_cast<uint32_t>(static_cast<float>(l + 1));
    wave.v(65, l) = std::bit_cast<uint32_t>(static_cast<float>(100 + l));
  }
  // 16x16x1, 4 blocks: D[block][row][column] = A[block][row] B[block][column]; register r of lane l: block r/4.
  const auto check = [&](const std::string& modifiers, const std::function<int(int)>& a_lane,
                         const std::function<int(int)>& b_lane) {
    INFO(modifiers);
    wave.run("v_mfma_f32_16x16x1_4b_f32 v[0:15], v64, v65, 0 " + modifiers);
    for (int l = 0; l < 64; ++l)
      for (int r = 0; r < 16; ++r) {
        const int block = r / 4;
        const int row = 4 * (l / 16) + r % 4;
        const double expected_value =
            static_cast<double>(a_lane(16 * block + row) + 1) * (100 + b_lane(16 * block + l % 16));
        REQUIRE(static_cast<double>(wave.f32(r, l)) == expected_value);
      }
  };
  const auto same = [](int lane) { return lane; };
  check("", same, same);
  check("cbsz:1 abid:1", [](int lane) { return lane / 32 * 32 + 16 + lane % 16; }, same);
  check("cbsz:2 abid:3", [](int lane) { return 48 + lane % 16; }, same);
  check("blgp:1", same, [](int lane) { return lane % 32; });
  check("blgp:2", same, [](int lane) { return 32 + lane % 32; });
  check("blgp:3", same, [](int lane) { return (lane + 16) % 64; });
  check("blgp:6", same, [](int lane) { return 32 + lane % 16; });
}
