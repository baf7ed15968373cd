// The compiler as a second source: the same C compiled for the host and, with and without optimization, for gfx950 must
// give the same bits, on edge values and on random ones. What an instruction means is then what the compiler takes it
// to mean.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "operations.h"
#include "tests/simulator/hip/hip_fixture.h"

namespace {

struct Operation {
  const char* name;
  u64 (*host)(u64 a, u64 b, u64 c);
};

#define DEFINE_HOST(name, expression)                                                       \
  u64 host_##name([[maybe_unused]] u64 a, [[maybe_unused]] u64 b, [[maybe_unused]] u64 c) { \
    return static_cast<u64>(expression);                                                    \
  }
INTEGER_OPERATIONS(DEFINE_HOST)
FLOAT_OPERATIONS(DEFINE_HOST)

#define LIST_OPERATION(name, expression) Operation{#name, host_##name},
constexpr Operation integer_operations[] = {INTEGER_OPERATIONS(LIST_OPERATION)};
constexpr Operation float_operations[] = {FLOAT_OPERATIONS(LIST_OPERATION)};

const std::vector<u64>& integer_edges() {
  static const std::vector<u64> edges{0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fff,
                                      0x8000,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      ~0ull,
                                      0xfffffffffffffffe,
                                      0xffffffff00000000,
                                      0x5555555555555555};
  return edges;
}

/// Of f32, f64, f16 and bf16 in the low bits: zeros, denormals, ones, ties, the largest, infinities, NaNs.
const std::vector<u64>& float_edges() {
  static const std::vector<u64> edges = [] {
    std::vector<u64> all;
    for (const float x : {0.0f,
                          0x1p-149f,
                          0x1.fffffcp-127f,
                          0x1p-126f,
                          0.5f,
                          1.0f,
                          1.5f,
                          2.5f,
                          0x1.fffffep23f,
                          0x1p31f,
                          65504.0f,
                          65520.0f,
                          0x1.008p0f,
                          0x1.018p0f,
                          0x1.004p0f,
                          0x1.00cp0f,
                          0x1p-24f,
                          0x1p-25f,
                          0x1.fffffep127f,
                          __builtin_inff(),
                          __builtin_nanf("")}) {
      for (const u32 sign : {0u, 0x80000000u}) all.push_back(bits_as<u32>(x) ^ sign);
    }
    for (const double x :
         {0.0, 0x1p-1074, 0x1.ffffffffffffep-1023, 0x1p-1022, 0.5, 1.0, 1.5, 2.5, 0x1.fffffffffffffp52, 0x1p63,
          0x1.000001p0, 0x1.000003p0, 0x1p-149, 0x1p-150, 0x1.fffffffffffffp1023, __builtin_inf(), __builtin_nan("")}) {
      for (const u64 sign : {0ull, 0x8000000000000000ull}) all.push_back(bits_as<u64>(x) ^ sign);
    }
    for (const u64 half : {0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x8001, 0xfbff, 0xfc00}) {
      all.push_back(half);
    }
    return all;
  }();
  return edges;
}

/// Triples: all pairs of edges, then random words of random widths.
std::vector<u64> inputs(const std::vector<u64>& edges, size_t random_triples) {
  std::vector<u64> in;
  std::mt19937_64 random(7);
  for (const u64 a : edges) {
    for (const u64 b : edges) in.insert(in.end(), {a, b, edges[random() % edges.size()]});
  }
  const auto draw = [&] { return random() >> random() % 64 << random() % 8; };
  for (size_t i = 0; i < random_triples; ++i) in.insert(in.end(), {draw(), random(), draw()});
  // Floats of near exponents, whose sums and quotients round.
  for (size_t i = 0; i < random_triples; ++i) {
    const auto near32 = [&] { return (random() & 0x807fffffu) | (120 + random() % 16) << 23; };
    const auto near64 = [&] { return (random() & 0x800fffffffffffffu) | (1016 + random() % 16) << 52; };
    if (i % 2 == 0) {
      in.insert(in.end(), {near32(), near32(), near32()});
    } else {
      in.insert(in.end(), {near64(), near64(), near64()});
    }
  }
  return in;
}

template <size_t N>
void compare(const std::string& code_object, const Operation (&operations)[N], const std::vector<u64>& in) {
  const LoadedModule module(code_object);
  const auto count = static_cast<u32>(in.size() / 3);
  const DeviceBuffer<u64> source(in);
  const DeviceBuffer<u64> result{std::vector<u64>(count)};
  for (const Operation& operation : operations) {
    INFO(operation.name << " of " << code_object);
    const std::string kernel = std::string("operation_") + operation.name;
    REQUIRE_HIP(launch(module.function(kernel.c_str()), (count + 255) / 256, 256, source.data, result.data, count));
    const std::vector<u64> out = result.read();
    size_t wrong = 0;
    for (u32 i = 0; i < count; ++i) {
      const u64 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
      const u64 expected = operation.host(a, b, c);
      if (out[i] != expected && wrong++ == 0) {
        CAPTURE(a, b, c, expected, out[i]);
        CHECK(out[i] == expected);
      }
    }
    CHECK(wrong == 0);
  }
}

std::vector<u32> random_words(size_t count) {
  std::mt19937 random(3);
  std::vector<u32> words(count);
  for (u32& word : words) word = static_cast<u32>(random());
  return words;
}

const auto code_objects = {"host_equivalence_O0.co", "host_equivalence_O2.co"};
constexpr size_t random_triples = 2000;

}  // namespace

TEST_CASE("integer functions give the host's bits") {
  const std::string code_object = GENERATE(values<std::string>({"host_equivalence_O0.co", "host_equivalence_O2.co"}));
  compare(code_object, integer_operations, inputs(integer_edges(), random_triples));
}

TEST_CASE("floating point functions give the host's bits") {
  const std::string code_object = GENERATE(values<std::string>({"host_equivalence_O0.co", "host_equivalence_O2.co"}));
  compare(code_object, float_operations, inputs(float_edges(), random_triples));
}

TEST_CASE("work through the LDS gives the host's results, under all checks") {
  REQUIRE(mlaforge_simulator_set_option("checks", "lds_races,uninitialized,wait_states,alignment") == 0);
  constexpr u32 groups = 5, threads = 256;
  const std::vector<u32> in = random_words(groups * threads);
  for (const char* code_object : code_objects) {
    for (const char* memory : {"lazy", "clobber", "eager", "random:3"}) {
      CAPTURE(code_object, memory);
      REQUIRE(mlaforge_simulator_set_option("memory", memory) == 0);
      const LoadedModule module(code_object);
      const DeviceBuffer<u32> source(in);
      const DeviceBuffer<u32> result(std::vector<u32>(in.size()));
      REQUIRE_HIP(launch(module.function("prefix_sums"), groups, threads, source.data, result.data));
      std::vector<u32> expected(in.size());
      for (u32 i = 0; i < in.size(); ++i) expected[i] = in[i] + (i % threads == 0 ? 0 : expected[i - 1]);
      CHECK(result.read() == expected);

      REQUIRE_HIP(launch(module.function("transpose"), groups, threads, source.data, result.data));
      for (u32 i = 0; i < in.size(); ++i) {
        const u32 tile = i / threads * threads, at = i % threads;
        expected[tile + 16 * (at % 16) + at / 16] = __builtin_bswap32(in[i]);
      }
      CHECK(result.read() == expected);

      const DeviceBuffer<u32> counts(std::vector<u32>(256));
      REQUIRE_HIP(launch(module.function("histogram"), groups, threads, source.data, counts.data));
      std::vector<u32> counted(256);
      for (const u32 word : in) ++counted[word & 255u];
      CHECK(counts.read() == counted);

      std::vector<u64> wide(in.size());
      for (u32 i = 0; i < in.size(); ++i) wide[i] = static_cast<u64>(in[i]) << 32 | in[in.size() - 1 - i];
      const DeviceBuffer<u64> wide_source(wide);
      const DeviceBuffer<u64> places(std::vector<u64>(2 * groups));
      REQUIRE_HIP(launch(module.function("maximum"), groups, threads, wide_source.data, places.data));
      const std::vector<u64> found = places.read();
      for (u32 group = 0; group < groups; ++group) {
        const auto begin = wide.begin() + group * threads;
        const auto largest = std::max_element(begin, begin + threads);
        CHECK(found[2 * group] == *largest);
        CHECK(found[2 * group + 1] == static_cast<u64>(largest - begin));
      }
    }
  }
  REQUIRE(mlaforge_simulator_set_option("memory", "lazy") == 0);
  REQUIRE(mlaforge_simulator_set_option("checks", "none") == 0);
}
