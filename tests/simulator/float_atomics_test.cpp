// Floating-point atomics of memory and of the LDS against the host's arithmetic in the same format.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

constexpr size_t lanes = 64;

struct Step {
  std::string text;  ///< on v[4:5] (data) and v[6:7] (compare), address v1 of s[8:9], s[12:15] or the LDS, or v[2:3]
  unsigned bits;
  bool returns;
  std::function<uint64_t(uint64_t old, uint64_t data, uint64_t compare)> formula;
};

template <typename T>
T value_of(uint64_t bits) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<uint32_t>(bits));
  if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<uint16_t>(bits));
}
template <typename T>
uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<uint64_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<uint16_t>(value);
}

template <typename T>
uint64_t add(uint64_t old, uint64_t data, uint64_t) {
  return bits_of<T>(static_cast<T>(value_of<T>(old) + value_of<T>(data)));
}
template <typename T>
uint64_t add_pair(uint64_t old, uint64_t data, uint64_t) {
  return add<T>(old & 0xffff, data & 0xffff, 0) | add<T>(old >> 16 & 0xffff, data >> 16 & 0xffff, 0) << 16;
}
/// -0 is less than 0.
template <typename T>
bool is_less(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <typename T>
uint64_t lesser(uint64_t old, uint64_t data, uint64_t) {
  return is_less(value_of<T>(data), value_of<T>(old)) ? data : old;
}
template <typename T>
uint64_t greater(uint64_t old, uint64_t data, uint64_t) {
  return is_less(value_of<T>(old), value_of<T>(data)) ? data : old;
}
template <typename T>
uint64_t swap_if_equal(uint64_t old, uint64_t data, uint64_t compare) {
  return value_of<T>(old) == value_of<T>(compare) ? data : old;
}

/// Numbers as old values, data and compare values; a swap with -0 happens where 0 is compared with.
template <typename T>
std::vector<T> numbers() {
  return {T(0), T(-0.0), T(1), T(-1.5), T(0.1), T(3e4), T(-7e-3), std::numeric_limits<T>::infinity()};
}
template <>
std::vector<_Float16> numbers() {
  return {0, -0.0f16, 1, -1.5f16, 0.1f16, 3e4f16, -7e-3f16, 65504};
}
uint64_t code(size_t n, unsigned bits, bool pair_of_halves, bool brain) {
  if (bits == 64) return bits_of(numbers<double>()[n % 8]);
  if (!pair_of_halves) return bits_of(numbers<float>()[n % 8]);
  if (brain) {
    const auto one = [](size_t i) { return uint64_t{std::bit_cast<uint32_t>(numbers<float>()[i % 8]) >> 16}; };
    return one(n) | one(n / 8 + 3) << 16;
  }
  return bits_of(numbers<_Float16>()[n % 8]) | bits_of(numbers<_Float16>()[(n / 8 + 3) % 8]) << 16;
}

void check(const Step& step, bool lds) {
  const bool halves = step.text.find("pk_add") != std::string::npos;
  const bool brain = step.text.find("bf16") != std::string::npos;
  std::vector<uint64_t> old(lanes), data(lanes), compare(lanes);
  for (size_t n = 0; n < lanes; ++n) {
    old[n] = code(n, step.bits, halves, brain);
    data[n] = code(n / 8, step.bits, halves, brain);
    compare[n] = n % 3 == 0 ? data[n] : code(n % 2, step.bits, halves, brain);
  }
  test::TestMemory memory;
  const uint64_t target = memory.upload(old), results = memory.allocate(8 * lanes);
  std::string source =
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_load_dwordx4 s[16:19], s[0:1], 0x10\nv_lshlrev_b32 v1, 3, v0\n"
      "s_waitcnt lgkmcnt(0)\nglobal_load_dwordx2 v[4:5], v1, s[16:17]\nglobal_load_dwordx2 v[6:7], v1, s[18:19]\n"
      "global_load_dwordx2 v[26:27], v1, s[8:9]\ns_waitcnt vmcnt(0)\nv_mov_b32 v20, v4\nv_mov_b32 v21, v5\n"
      "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, -1\ns_mov_b32 s15, 0x20000\nv_mov_b32 v3, s9\n"
      "v_add_co_u32 v2, vcc, s8, v1\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n";
  if (lds) source += "ds_write_b64 v1, v[26:27]\ns_waitcnt lgkmcnt(0)\n";
  source += step.text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  if (lds) source += "ds_read_b64 v[26:27], v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dwordx2 v1, v[26:27], s[8:9]\n";
  source += "global_store_dwordx2 v1, v[20:21], s[10:11]\ns_endpgm";
  const LaunchResult run = test::run({.source = source, .lds_bytes = 512}, memory,
                                     {target, results, memory.upload(data), memory.upload(compare)});
  if (!run.ok()) FAIL(format_fault(*run.fault));
  const auto after = memory.download<uint64_t>(target, lanes), returned = memory.download<uint64_t>(results, lanes);
  for (size_t n = 0; n < lanes; ++n) {
    CAPTURE(step.text, n, old[n], data[n]);
    CHECK(after[n] == step.formula(old[n], data[n], compare[n]));
    if (step.returns) CHECK((step.bits == 64 ? returned[n] : returned[n] & 0xffffffff) == old[n]);
  }
}

uint64_t add_brain_pair(uint64_t old, uint64_t data, uint64_t) {
  // The sum of two bf16 in double, rounded once to bf16 by its low 16 bits as f32: nearest even.
  const auto one = [](uint64_t a, uint64_t b) -> uint64_t {
    const auto wide = [](uint64_t c) {
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(c << 16)));
    };
    const double sum = wide(a & 0xffff) + wide(b & 0xffff);
    const auto near = static_cast<float>(sum);
    const auto below = std::bit_cast<float>(std::bit_cast<uint32_t>(near) & 0xffff0000);
    const auto above = std::bit_cast<float>((std::bit_cast<uint32_t>(near) & 0xffff0000) + 0x10000);
    if (static_cast<double>(below) == sum) return std::bit_cast<uint32_t>(below) >> 16;
    const double to_below = std::fabs(sum - static_cast<double>(below)),
                 to_above = std::fabs(static_cast<double>(above) - sum);
    const bool even = (std::bit_cast<uint32_t>(below) >> 16 & 1) == 0;
    return std::bit_cast<uint32_t>(to_below < to_above || (to_below == to_above && even) ? below : above) >> 16;
  };
  return one(old, data) | one(old >> 16, data >> 16) << 16;
}

struct Function {
  std::string name;
  unsigned bits;
  std::function<uint64_t(uint64_t, uint64_t, uint64_t)> formula;
};

}  // namespace

TEST_CASE("float atomics of memory") {
  const std::vector<Function> functions{
      {"add_f32", 32, add<float>},      {"add_f64", 64, add<double>},           {"min_f64", 64, lesser<double>},
      {"max_f64", 64, greater<double>}, {"pk_add_f16", 32, add_pair<_Float16>}, {"pk_add_bf16", 32, add_brain_pair},
  };
  for (const Function& f : functions) {
    const std::string data = f.bits == 64 ? "v[4:5]" : "v4", back = f.bits == 64 ? "v[20:21]" : "v20";
    check({fmt::format("global_atomic_{} {}, v1, {}, s[8:9] sc0", f.name, back, data), f.bits, true, f.formula}, false);
    check({fmt::format("global_atomic_{} v1, {}, s[8:9]", f.name, data), f.bits, false, f.formula}, false);
    check({fmt::format("flat_atomic_{} {}, v[2:3], {} sc0", f.name, back, data), f.bits, true, f.formula}, false);
    check({fmt::format("buffer_atomic_{} {}, v1, s[12:15], 0 offen sc0", f.name, back), f.bits, true, f.formula},
          false);
  }
}

TEST_CASE("float atomics of the LDS") {
  const std::vector<Function> functions{
      {"add_{}f32", 32, add<float>},
      {"add_{}f64", 64, add<double>},
      {"min_{}f32", 32, lesser<float>},
      {"min_{}f64", 64, lesser<double>},
      {"max_{}f32", 32, greater<float>},
      {"max_{}f64", 64, greater<double>},
      {"pk_add_{}f16", 32, add_pair<_Float16>},
      {"pk_add_{}bf16", 32, add_brain_pair},
      {"cmpst_{}f32", 32, swap_if_equal<float>},
      {"cmpst_{}f64", 64, swap_if_equal<double>},
  };
  for (const Function& f : functions) {
    std::string data = f.bits == 64 ? "v[4:5]" : "v4";
    // The compare value stands first.
    if (f.name.starts_with("cmpst")) data = f.bits == 64 ? "v[6:7], v[4:5]" : "v6, v4";
    const std::string with = fmt::format(fmt::runtime("ds_" + f.name), "rtn_");
    const std::string without = fmt::format(fmt::runtime("ds_" + f.name), "");
    check({fmt::format("{} {}, v1, {}", with, f.bits == 64 ? "v[20:21]" : "v20", data), f.bits, true, f.formula}, true);
    check({fmt::format("{} v1, {}", without, data), f.bits, false, f.formula}, true);
  }
}
