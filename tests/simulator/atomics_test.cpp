// Every integer atomic of memory (global, flat, buffer) and of the LDS against its formula (ISA, "Atomic operations"),
// on all pairs of edge values: the old value that comes back, and the new one that stays.
#include <fmt/format.h>

#include <functional>

#include "catch.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

constexpr size_t lanes = 64;

struct Function {
  std::string name;
  std::function<uint64_t(uint64_t old, uint64_t data, uint64_t second, unsigned bits)> formula;
};

uint64_t cut(uint64_t value, unsigned bits) { return bits == 64 ? value : value & 0xffffffff; }
int64_t as_signed(uint64_t value, unsigned bits) {
  return bits == 64 ? static_cast<int64_t>(value) : static_cast<int32_t>(value);
}

const std::vector<uint64_t>& edges() {
  static const std::vector<uint64_t> values{0,           1, 5, 0x7fffffff, 0x80000000, 0xffffffff, 0x8000000000000000,
                                            ~uint64_t{0}};
  return values;
}
uint64_t old_of(size_t lane, unsigned bits) { return cut(edges()[lane % 8], bits); }
uint64_t data_of(size_t lane, unsigned bits) { return cut(edges()[lane / 8], bits); }
/// What cmpswap compares with, or the second operand: the old value in every other lane.
uint64_t second_of(size_t lane, unsigned bits) {
  return lane % 2 == 0 ? old_of(lane, bits) : cut(0x1234567887654321, bits);
}

const Function swap{"swap", [](auto, auto d, auto, auto) { return d; }};
const Function compare_swap{"cmpswap", [](auto o, auto d, auto s, auto) { return o == s ? d : o; }};
const std::vector<Function> shared{
    {"add", [](auto o, auto d, auto, auto) { return o + d; }},
    {"sub", [](auto o, auto d, auto, auto) { return o - d; }},
    {"and", [](auto o, auto d, auto, auto) { return o & d; }},
    {"or", [](auto o, auto d, auto, auto) { return o | d; }},
    {"xor", [](auto o, auto d, auto, auto) { return o ^ d; }},
    {"inc", [](auto o, auto d, auto, auto) { return o >= d ? 0 : o + 1; }},
    {"dec", [](auto o, auto d, auto, auto) { return o == 0 || o > d ? d : o - 1; }},
};
const Function signed_min{"smin",
                          [](auto o, auto d, auto, auto b) { return as_signed(o, b) < as_signed(d, b) ? o : d; }};
const Function signed_max{"smax",
                          [](auto o, auto d, auto, auto b) { return as_signed(o, b) > as_signed(d, b) ? o : d; }};
const Function unsigned_min{"umin", [](auto o, auto d, auto, auto) { return o < d ? o : d; }};
const Function unsigned_max{"umax", [](auto o, auto d, auto, auto) { return o > d ? o : d; }};

/// An instruction, which works on v[4:5] (data), v[6:7] (second), v[8:9] (data and second of 32 bits), v[12:15] (of
/// 64), at v1 = 8 * lane bytes of the memory at s[8:9]; the old value goes to v[20:21].
struct Step {
  std::string text;
  std::function<uint64_t(uint64_t, uint64_t, uint64_t, unsigned)> formula;
  unsigned bits;
  bool returns;
};

/// Runs the steps, each on 512 bytes of its own, and compares.
void check(const std::vector<Step>& steps, bool lds) {
  test::TestMemory memory;
  std::vector<uint64_t> words(steps.size() * lanes);
  for (size_t step = 0; step < steps.size(); ++step) {
    for (size_t lane = 0; lane < lanes; ++lane) words[step * lanes + lane] = edges()[lane % 8];
  }
  const uint64_t target = memory.upload(words), results = memory.upload(std::vector<uint64_t>(words.size()));
  std::string source =
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_load_dwordx4 s[16:19], s[0:1], 0x10\n"
      "v_lshlrev_b32 v1, 3, v0\ns_waitcnt lgkmcnt(0)\nglobal_load_dwordx2 v[4:5], v1, s[16:17]\n"
      "global_load_dwordx2 v[6:7], v1, s[18:19]\ns_waitcnt vmcnt(0)\nv_mov_b32 v8, v4\nv_mov_b32 v9, v6\n"
      "v_mov_b32 v12, v4\nv_mov_b32 v13, v5\nv_mov_b32 v14, v6\nv_mov_b32 v15, v7\n"
      "s_mov_b32 s14, -1\ns_mov_b32 s15, 0x20000\n";
  for (const Step& step : steps) {
    source +=
        "v_mov_b32 v20, v4\nv_mov_b32 v21, v5\nv_mov_b32 v22, v6\nv_mov_b32 v23, v7\nv_mov_b32 v24, v4\n"
        "v_mov_b32 v25, v6\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\nv_mov_b32 v3, s9\n"
        "v_add_co_u32 v2, vcc, s8, v1\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n";
    if (lds)
      source +=
          "global_load_dwordx2 v[26:27], v1, s[8:9]\ns_waitcnt vmcnt(0)\nds_write_b64 v1, v[26:27]\ns_waitcnt "
          "lgkmcnt(0)\n";
    source += step.text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
    if (lds) source += "ds_read_b64 v[26:27], v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dwordx2 v1, v[26:27], s[8:9]\n";
    source +=
        "global_store_dwordx2 v1, v[20:21], s[10:11]\ns_add_u32 s8, s8, 512\ns_addc_u32 s9, s9, 0\n"
        "s_add_u32 s10, s10, 512\ns_addc_u32 s11, s11, 0\n";
  }
  std::vector<uint64_t> data(lanes), second(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) {
    data[lane] = edges()[lane / 8];
    second[lane] = lane % 2 == 0 ? edges()[lane % 8] : 0x1234567887654321;
  }
  const LaunchResult run = test::run({.source = source + "s_endpgm", .lds_bytes = 512}, memory,
                                     {target, results, memory.upload(data), memory.upload(second)});
  if (!run.ok()) FAIL(format_fault(*run.fault));
  const auto after = memory.download<uint64_t>(target, words.size());
  const auto returned = memory.download<uint64_t>(results, words.size());
  for (size_t n = 0; n < steps.size(); ++n) {
    const Step& step = steps[n];
    for (size_t lane = 0; lane < lanes; ++lane) {
      CAPTURE(step.text, lane);
      const uint64_t old = old_of(lane, step.bits);
      const uint64_t expected =
          cut(step.formula(old, data_of(lane, step.bits), second_of(lane, step.bits), step.bits), step.bits);
      const uint64_t kept = step.bits == 64 ? 0 : words[n * lanes + lane] & ~uint64_t{0xffffffff};
      REQUIRE(after[n * lanes + lane] == (expected | kept));
      if (step.returns) REQUIRE(cut(returned[n * lanes + lane], step.bits) == old);
    }
  }
}

std::vector<Function> memory_functions() {
  std::vector<Function> all = shared;
  for (const Function& f : {swap, compare_swap, signed_min, signed_max, unsigned_min, unsigned_max}) all.push_back(f);
  return all;
}

}  // namespace

TEST_CASE("global and flat atomics") {
  for (const std::string space : {"global", "flat"}) {
    std::vector<Step> steps;
    for (const Function& f : memory_functions()) {
      for (const unsigned bits : {32u, 64u}) {
        const bool pair = f.name == "cmpswap";
        const std::string data = bits == 32 ? (pair ? "v[8:9]" : "v4") : (pair ? "v[12:15]" : "v[4:5]");
        const std::string name = fmt::format("{}_atomic_{}{}", space, f.name, bits == 64 ? "_x2" : "");
        const std::string address = space == "flat" ? "v[2:3]" : "v1", base = space == "flat" ? "" : ", s[8:9]";
        steps.push_back({fmt::format("{} {}, {}, {}{} sc0", name, bits == 64 ? "v[20:21]" : "v20", address, data, base),
                         f.formula, bits, true});
        steps.push_back({fmt::format("{} {}, {}{}", name, address, data, base), f.formula, bits, false});
      }
    }
    check(steps, false);
  }
}

TEST_CASE("buffer atomics") {
  std::vector<Step> steps;
  for (const Function& f : memory_functions()) {
    for (const unsigned bits : {32u, 64u}) {
      const bool pair = f.name == "cmpswap";
      // The old value comes back where the data were.
      const std::string data = bits == 32 ? (pair ? "v[24:25]" : "v20") : (pair ? "v[20:23]" : "v[20:21]");
      const std::string back = bits == 32 && pair ? "\ns_waitcnt vmcnt(0)\nv_mov_b32 v20, v24" : "";
      steps.push_back({fmt::format("buffer_atomic_{}{} {}, v1, s[12:15], 0 offen sc0{}", f.name,
                                   bits == 64 ? "_x2" : "", data, back),
                       f.formula, bits, true});
    }
  }
  check(steps, false);
}

TEST_CASE("LDS atomics") {
  std::vector<Step> steps;
  const auto add = [&](const std::string& name, const std::string& type, unsigned bits, const auto& formula,
                       const std::string& operands) {
    const std::string result = bits == 64 ? "v[20:21]" : "v20";
    steps.push_back(
        {fmt::format("ds_{}_rtn_{}{} {}, v1, {}", name, type, bits, result, operands), formula, bits, true});
    steps.push_back({fmt::format("ds_{}_{}{} v1, {}", name, type, bits, operands), formula, bits, false});
  };
  for (const unsigned bits : {32u, 64u}) {
    const std::string data = bits == 64 ? "v[4:5]" : "v4", second = bits == 64 ? "v[6:7]" : "v6";
    for (const Function& f : shared) {
      const bool logic = f.name == "and" || f.name == "or" || f.name == "xor";
      add(f.name, logic ? "b" : "u", bits, f.formula, data);
    }
    add("rsub", "u", bits, [](auto o, auto d, auto, auto) { return d - o; }, data);
    add("min", "i", bits, signed_min.formula, data);
    add("max", "i", bits, signed_max.formula, data);
    add("min", "u", bits, unsigned_min.formula, data);
    add("max", "u", bits, unsigned_max.formula, data);
    add("mskor", "b", bits, [](auto o, auto d, auto s, auto) { return (o & ~d) | s; }, data + ", " + second);
    // The compare value stands first.
    add("cmpst", "b", bits, compare_swap.formula, second + ", " + data);
    steps.push_back({fmt::format("ds_wrxchg_rtn_b{} {}, v1, {}", bits, bits == 64 ? "v[20:21]" : "v20", data),
                     swap.formula, bits, true});
  }
  check(steps, true);
}

namespace {

/// Runs a scalar atomic on every pair of edges, one after another: s[20:23] holds data and second operand, of 32 bits
/// s20 and s22, and `text` works on the word at s[8:9], or by the resource s[12:15].
void check_scalar(const std::string& text, const Step& step) {
  test::TestMemory memory;
  std::vector<uint64_t> words(lanes), operands(2 * lanes);
  for (size_t n = 0; n < lanes; ++n) {
    words[n] = edges()[n % 8];
    operands[2 * n] = edges()[n / 8];
    operands[2 * n + 1] = n % 2 == 0 ? edges()[n % 8] : 0x1234567887654321;
  }
  const uint64_t target = memory.upload(words), results = memory.allocate(8 * lanes);
  const std::string source =
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_load_dwordx2 s[16:17], s[0:1], 0x10\ns_mov_b32 s14, 8\n"
      "s_mov_b32 s15, 0x20000\ns_mov_b32 s18, 0\ns_waitcnt lgkmcnt(0)\nmore:\n"
      "s_load_dwordx4 s[20:23], s[16:17], 0x0\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_waitcnt lgkmcnt(0)\n" +
      std::string(step.bits == 32 ? "s_mov_b32 s21, s22\n" : "") + text +
      "\ns_waitcnt lgkmcnt(0)\ns_store_dwordx2 s[20:21], s[10:11], 0x0\ns_add_u32 s8, s8, 8\ns_addc_u32 s9, s9, 0\n"
      "s_add_u32 s10, s10, 8\ns_addc_u32 s11, s11, 0\ns_add_u32 s16, s16, 16\ns_addc_u32 s17, s17, 0\n"
      "s_add_u32 s18, s18, 1\ns_cmp_lg_u32 s18, 64\ns_cbranch_scc1 more\ns_endpgm";
  const LaunchResult run = test::run({.source = source}, memory, {target, results, memory.upload(operands)});
  if (!run.ok()) FAIL(format_fault(*run.fault));
  const auto after = memory.download<uint64_t>(target, lanes);
  const auto returned = memory.download<uint64_t>(results, lanes);
  for (size_t n = 0; n < lanes; ++n) {
    CAPTURE(text, n);
    const uint64_t old = old_of(n, step.bits), data = data_of(n, step.bits), second = second_of(n, step.bits);
    const uint64_t kept = step.bits == 64 ? 0 : words[n] & ~uint64_t{0xffffffff};
    REQUIRE(after[n] == (cut(step.formula(old, data, second, step.bits), step.bits) | kept));
    // Without glc the registers stay.
    REQUIRE(cut(returned[n], step.bits) == (step.returns ? old : data));
  }
}

}  // namespace

TEST_CASE("scalar atomics, by address and by resource") {
  for (const Function& f : memory_functions()) {
    for (const unsigned bits : {32u, 64u}) {
      const bool pair = f.name == "cmpswap";
      const std::string data = bits == 32 ? (pair ? "s[20:21]" : "s20") : (pair ? "s[20:23]" : "s[20:21]");
      const std::string name = f.name + (bits == 64 ? "_x2" : "");
      check_scalar(fmt::format("s_atomic_{} {}, s[8:9], 0x0 glc", name, data), {"", f.formula, bits, true});
      check_scalar(fmt::format("s_atomic_{} {}, s[8:9], 0x0", name, data), {"", f.formula, bits, false});
      check_scalar(fmt::format("s_buffer_atomic_{} {}, s[12:15], 0x0 glc", name, data), {"", f.formula, bits, true});
    }
  }
}

TEST_CASE("scalar atomics out of a resource's range, misaligned, used before their wait") {
  test::TestMemory memory;
  const uint64_t word = memory.upload(std::vector<uint64_t>{7, 9});
  const std::string start =
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\n"
      "s_mov_b32 s14, 8\ns_mov_b32 s15, 0x20000\ns_mov_b32 s20, 5\ns_mov_b32 s21, 0\n";
  const auto run = [&](const std::string& text) {
    return test::run({.source = start + text + "\ns_endpgm"}, memory, {word});
  };
  CHECK(run("s_buffer_atomic_add_x2 s[20:21], s[12:15], 0x4").fault == std::nullopt);  // 12 bytes of 8
  CHECK(run("s_buffer_atomic_add s20, s[12:15], 0x8").fault == std::nullopt);
  CHECK(memory.download<uint64_t>(word, 2) == std::vector<uint64_t>{7, 9});
  CHECK(run("s_atomic_add_x2 s[20:21], s[8:9], 0x4").fault.value().kind == FaultKind::misaligned);
  CHECK(run("s_atomic_add s20, s[8:9], 0x0 glc\ns_mov_b32 s22, s20").fault.value().kind == FaultKind::register_pending);
}
