// Every vector compare, in its VCC, SGPR and EXEC-writing forms, against the relation that its name says, on all pairs
// of edge values of its type.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "catch.h"
#include "simulator/alu/formats.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

using Values = std::vector<uint64_t>;
/// Less, equal, greater, or unordered, of two bit patterns.
enum class Order { less, equal, greater, unordered };
using Compare = std::function<Order(uint64_t, uint64_t)>;

template <typename T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a == b ? Order::equal : a > b ? Order::greater : Order::unordered;
}

struct Type {
  std::string name;
  unsigned dwords;
  bool floating;
  Values values;
  Compare compare;
};

const Values wide{0,
                  1,
                  2,
                  0x7fff,
                  0x8000,
                  0xffff,
                  0x7fffffff,
                  0x80000000,
                  0xffffffff,
                  0x00018000,
                  0x7fffffffffffffff,
                  0x8000000000000000,
                  ~uint64_t{0},
                  0x0000000100000000};
// +-0, denormals, +-1, the largest, infinities, quiet and signalling NaNs.
const Values halves{0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd01};
const Values singles{0,          0x80000000, 1,          0x80000001, 0x3f800000, 0xbf800000,
                     0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffa00001};
const Values doubles{0,
                     0x8000000000000000,
                     1,
                     0x8000000000000001,
                     0x3ff0000000000000,
                     0xbff0000000000000,
                     0x7fefffffffffffff,
                     0xffefffffffffffff,
                     0x7ff0000000000000,
                     0xfff0000000000000,
                     0x7ff8000000000000,
                     0xfff4000000000001};

std::vector<Type> types() {
  return {
      {"f16", 1, true, halves,
       [](uint64_t a, uint64_t b) {
         return order_of(decode(kF16, static_cast<uint16_t>(a)), decode(kF16, static_cast<uint16_t>(b)));
       }},
      {"f32", 1, true, singles,
       [](uint64_t a, uint64_t b) {
         return order_of(std::bit_cast<float>(static_cast<uint32_t>(a)),
                         std::bit_cast<float>(static_cast<uint32_t>(b)));
       }},
      {"f64", 2, true, doubles,
       [](uint64_t a, uint64_t b) { return order_of(std::bit_cast<double>(a), std::bit_cast<double>(b)); }},
      {"i16", 1, false, wide,
       [](uint64_t a, uint64_t b) { return order_of(static_cast<int16_t>(a), static_cast<int16_t>(b)); }},
      {"u16", 1, false, wide,
       [](uint64_t a, uint64_t b) { return order_of(static_cast<uint16_t>(a), static_cast<uint16_t>(b)); }},
      {"i32", 1, false, wide,
       [](uint64_t a, uint64_t b) { return order_of(static_cast<int32_t>(a), static_cast<int32_t>(b)); }},
      {"u32", 1, false, wide,
       [](uint64_t a, uint64_t b) { return order_of(static_cast<uint32_t>(a), static_cast<uint32_t>(b)); }},
      {"i64", 2, false, wide,
       [](uint64_t a, uint64_t b) { return order_of(static_cast<int64_t>(a), static_cast<int64_t>(b)); }},
      {"u64", 2, false, wide, [](uint64_t a, uint64_t b) { return order_of(a, b); }},
  };
}

struct Relation {
  std::string name;
  bool less, equal, greater, unordered;  ///< for which orders it holds
};
const std::vector<Relation> integer_relations{{"f", false, false, false, false}, {"lt", true, false, false, false},
                                              {"eq", false, true, false, false}, {"le", true, true, false, false},
                                              {"gt", false, false, true, false}, {"ne", true, false, true, false},
                                              {"ge", false, true, true, false},  {"t", true, true, true, false}};
const std::vector<Relation> float_relations{
    {"f", false, false, false, false}, {"lt", true, false, false, false}, {"eq", false, true, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"lg", true, false, true, false},
    {"ge", false, true, true, false},  {"o", true, true, true, false},    {"u", false, false, false, true},
    {"nge", true, false, false, true}, {"nlg", false, true, false, true}, {"ngt", true, true, false, true},
    {"nle", false, false, true, true}, {"neq", true, false, true, true},  {"nlt", false, true, true, true},
    {"tru", true, true, true, true}};

bool holds(const Relation& r, Order order) {
  switch (order) {
    case Order::less:
      return r.less;
    case Order::equal:
      return r.equal;
    case Order::greater:
      return r.greater;
    case Order::unordered:
      return r.unordered;
  }
  return false;
}

/// a in v[2:3], b in v[4:5], 64 pairs at a time.
void fill(WaveRunner& runner, const Values& values, size_t first) {
  for (int lane = 0; lane < 64; ++lane) {
    const size_t n = (first + static_cast<size_t>(lane)) % (values.size() * values.size());
    for (int dword = 0; dword < 2; ++dword) {
      runner.v(2 + dword, lane) = static_cast<uint32_t>(values[n / values.size()] >> (32 * dword));
      runner.v(4 + dword, lane) = static_cast<uint32_t>(values[n % values.size()] >> (32 * dword));
    }
  }
}

}  // namespace

TEST_CASE("every compare of every type") {
  for (const Type& type : types()) {
    const std::string a = type.dwords == 2 ? "v[2:3]" : "v2", b = type.dwords == 2 ? "v[4:5]" : "v4";
    const auto& relations = type.floating ? float_relations : integer_relations;
    std::string source;
    for (const Relation& r : relations) {
      source += fmt::format(
          "v_cmp_{0}_{1}_e32 vcc, {2}, {3}\nv_cmp_{0}_{1}_e64 s[20:21], {2}, {3}\n"
          "v_cmpx_{0}_{1}_e64 s[22:23], {2}, {3}\n",
          r.name, type.name, a, b);
    }
    const std::vector<Instruction> code = WaveRunner::decode(source);
    REQUIRE(code.size() == 3 * relations.size());
    constexpr uint64_t running = 0xfffffffffffffff7;  // lane 3 is off and gives 0
    for (size_t n = 0; n < relations.size(); ++n) {
      for (size_t first = 0; first < type.values.size() * type.values.size(); first += 64) {
        WaveRunner runner;
        fill(runner, type.values, first);
        uint64_t expected = 0;
        for (int lane = 0; lane < 64; ++lane) {
          const uint64_t x = runner.u64(2, lane), y = runner.u64(4, lane);
          expected |= uint64_t{holds(relations[n], type.compare(x, y))} << lane;
        }
        expected &= running;
        CAPTURE(type.name, relations[n].name, first);
        for (size_t form = 0; form < 3; ++form) {
          runner.wave().set_exec(running);
          runner.execute(code[3 * n + form]);
          const int result[] = {vcc_lo, 20, 22};
          CHECK(runner.wave().sgpr_pair(static_cast<unsigned>(result[form])) == expected);
          CHECK(runner.wave().exec() == (form == 2 ? expected : running));
        }
      }
    }
  }
}

TEST_CASE("class compares of every type, class by class") {
  // Bits: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, 0, denormal, normal, inf.
  struct Case {
    std::string type;
    unsigned dwords;
    std::vector<uint64_t> of_class;
  };
  const std::vector<Case> cases{
      {"f16", 1, {0x7d00, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 1, 0x3c00, 0x7c00}},
      {"f32",
       1,
       {0x7fa00000, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001, 0x80000000, 0, 1, 0x3f800000, 0x7f800000}},
      {"f64",
       2,
       {0x7ff4000000000000, 0x7ff8000000000000, 0xfff0000000000000, 0xbff0000000000000, 0x8000000000000001,
        0x8000000000000000, 0, 1, 0x3ff0000000000000, 0x7ff0000000000000}}};
  for (const Case& c : cases) {
    const auto code =
        WaveRunner::decode(fmt::format("v_cmp_class_{0} s[20:21], {1}, v4\nv_cmpx_class_{0} s[22:23], {1}, v4", c.type,
                                       c.dwords == 2 ? "v[2:3]" : "v2"));
    for (size_t of = 0; of < 10; ++of) {
      WaveRunner runner;
      runner.set64(2, c.of_class[of]);
      for (int lane = 0; lane < 64; ++lane) runner.v(4, lane) = lane < 10 ? 1u << lane : 0x3ffu & ~(1u << (lane % 10));
      uint64_t expected = 0;
      for (int lane = 0; lane < 64; ++lane) expected |= uint64_t{runner.v(4, lane) >> of & 1} << lane;
      CAPTURE(c.type, of);
      runner.execute(code[0]);
      CHECK(runner.wave().sgpr_pair(20) == expected);
      runner.execute(code[1]);
      CHECK(runner.wave().exec() == expected);
    }
  }
}
