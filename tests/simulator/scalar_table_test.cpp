// Every two-operand scalar instruction, compare and one-operand bit instruction against its formula (ISA, "SOP2",
// "SOP1", "SOPC", "SOPK"), on all pairs of edge values.
#include <fmt/format.h>

#include <functional>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

const std::vector<uint64_t> edges{0,
                                  1,
                                  2,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  0x7fff,
                                  0x8000,
                                  0xffff,
                                  0x00050003,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x0123456789abcdef,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xffffffff00000000,
                                  ~uint64_t{0}};

struct Result {
  uint64_t value;
  bool scc;
};
using Formula = std::function<Result(uint64_t a, uint64_t b, bool scc)>;

struct ScalarRow {
  std::string mnemonic;
  unsigned result_words, a_words, b_words;  ///< b_words 0: one operand; result_words 0: scc only
  Formula formula;
};

std::string pair_or_one(int first, unsigned words) {
  return words == 2 ? fmt::format("s[{}:{}]", first, first + 1) : fmt::format("s{}", first);
}
uint64_t cut(uint64_t value, unsigned words) { return words == 2 ? value : value & 0xffffffff; }

/// a in s[10:11], b in s[12:13], the result in s[14:15].
void check_rows(const std::vector<ScalarRow>& rows) {
  std::string source;
  for (const ScalarRow& row : rows) {
    std::vector<std::string> operands;
    if (row.result_words != 0) operands.push_back(pair_or_one(14, row.result_words));
    operands.push_back(pair_or_one(10, row.a_words));
    if (row.b_words != 0) operands.push_back(pair_or_one(12, row.b_words));
    source += fmt::format("{} {}\n", row.mnemonic, fmt::join(operands, ", "));
  }
  const std::vector<Instruction> instructions = WaveRunner::decode(source);
  REQUIRE(instructions.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const ScalarRow& row = rows[i];
    INFO(row.mnemonic);
    size_t wrong = 0;
    for (const uint64_t a : edges) {
      for (const uint64_t b : edges) {
        for (const bool scc : {false, true}) {
          WaveRunner runner;
          runner.wave().set_sgpr_pair(10, a);
          runner.wave().set_sgpr_pair(12, b);
          runner.wave().set_sgpr_pair(14, 0x1111111122222222);
          runner.wave().scc = scc;
          runner.execute(instructions[i]);
          const Result expected = row.formula(cut(a, row.a_words), cut(b, row.b_words), scc);
          const uint64_t got = cut(runner.wave().sgpr_pair(14), row.result_words);
          const bool right = (row.result_words == 0 || got == cut(expected.value, row.result_words)) &&
                             runner.wave().scc == expected.scc;
          if (!right && wrong++ == 0) {
            CAPTURE(a, b, scc, got, expected.value);
            CHECK(runner.wave().scc == expected.scc);
            CHECK(got == cut(expected.value, row.result_words));
          }
        }
      }
    }
    CHECK(wrong == 0);
  }
}

uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
int32_t signed_low(uint64_t x) { return static_cast<int32_t>(x); }

}  // namespace

TEST_CASE("scalar logic, with scc telling whether the result is not 0") {
  std::vector<ScalarRow> rows;
  const auto add = [&](const std::string& name, uint64_t (*f)(uint64_t, uint64_t)) {
    rows.push_back(
        {name + "_b32", 1, 1, 1, [f](uint64_t a, uint64_t b, bool) -> Result { return {f(a, b), low(f(a, b)) != 0}; }});
    rows.push_back(
        {name + "_b64", 2, 2, 2, [f](uint64_t a, uint64_t b, bool) -> Result { return {f(a, b), f(a, b) != 0}; }});
  };
  add("s_and", [](uint64_t a, uint64_t b) { return a & b; });
  add("s_or", [](uint64_t a, uint64_t b) { return a | b; });
  add("s_xor", [](uint64_t a, uint64_t b) { return a ^ b; });
  add("s_andn2", [](uint64_t a, uint64_t b) { return a & ~b; });
  add("s_orn2", [](uint64_t a, uint64_t b) { return a | ~b; });
  add("s_nand", [](uint64_t a, uint64_t b) { return ~(a & b); });
  add("s_nor", [](uint64_t a, uint64_t b) { return ~(a | b); });
  add("s_xnor", [](uint64_t a, uint64_t b) { return ~(a ^ b); });
  check_rows(rows);
}

TEST_CASE("scalar arithmetic") {
  const auto plain = [](uint64_t value, bool scc) -> Result { return {value, scc}; };
  check_rows({
      {"s_add_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return plain(a + b, a + b > 0xffffffff); }},
      {"s_sub_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return plain(a - b, b > a); }},
      {"s_addc_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool c) { return plain(a + b + c, a + b + c > 0xffffffff); }},
      {"s_subb_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool c) { return plain(a - b - c, b + c > a); }},
      {"s_min_i32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) {
         return plain(std::min(signed_low(a), signed_low(b)), signed_low(a) < signed_low(b));
       }},
      {"s_max_i32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) {
         return plain(std::max(signed_low(a), signed_low(b)), signed_low(a) > signed_low(b));
       }},
      {"s_min_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return plain(std::min(a, b), a < b); }},
      {"s_max_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return plain(std::max(a, b), a > b); }},
      {"s_mul_i32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool c) { return plain(a * b, c); }},
      {"s_lshl1_add_u32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) { return plain(2 * a + b, 2 * a + b > 0xffffffff); }},
      {"s_lshl2_add_u32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) { return plain(4 * a + b, 4 * a + b > 0xffffffff); }},
      {"s_lshl3_add_u32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) { return plain(8 * a + b, 8 * a + b > 0xffffffff); }},
      {"s_lshl4_add_u32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) { return plain(16 * a + b, 16 * a + b > 0xffffffff); }},
      {"s_pack_ll_b32_b16", 1, 1, 1, [&](uint64_t a, uint64_t b, bool c) { return plain((a & 0xffff) | b << 16, c); }},
      {"s_pack_lh_b32_b16", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool c) { return plain((a & 0xffff) | (b & 0xffff0000), c); }},
      {"s_pack_hh_b32_b16", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool c) { return plain(a >> 16 | (b & 0xffff0000), c); }},
      {"s_cselect_b32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool c) { return plain(c ? a : b, c); }},
      {"s_cselect_b64", 2, 2, 2, [&](uint64_t a, uint64_t b, bool c) { return plain(c ? a : b, c); }},
  });
}

TEST_CASE("scalar shifts and fields") {
  const auto by_result = [](uint64_t value, unsigned words) -> Result { return {value, cut(value, words) != 0}; };
  // A field: offset in the low bits of the second operand, width in its bits 22:16, cut at the register's end.
  const auto field = [](uint64_t a, uint64_t b, unsigned bits, bool is_signed) -> uint64_t {
    const uint64_t offset = b & (bits - 1);
    const uint64_t width = b >> 16 & 0x7f;
    if (width == 0) return 0;
    const uint64_t shifted = a >> offset;
    const uint64_t left = std::min<uint64_t>(width, bits - offset);
    if (left >= 64) return shifted;
    const uint64_t value = shifted & ((uint64_t{1} << left) - 1);
    const bool negative = is_signed && (value >> (left - 1) & 1) != 0;
    return negative ? value | ~uint64_t{0} << left : value;
  };
  check_rows({
      {"s_lshl_b32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(a << (b & 31), 1); }},
      {"s_lshr_b32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(a >> (b & 31), 1); }},
      {"s_ashr_i32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool) { return by_result(static_cast<uint64_t>(signed_low(a) >> (b & 31)), 1); }},
      {"s_lshl_b64", 2, 2, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(a << (b & 63), 2); }},
      {"s_lshr_b64", 2, 2, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(a >> (b & 63), 2); }},
      {"s_ashr_i64", 2, 2, 1,
       [&](uint64_t a, uint64_t b, bool) {
         return by_result(static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63)), 2);
       }},
      {"s_bfe_u32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(field(a, b, 32, false), 1); }},
      {"s_bfe_i32", 1, 1, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(field(a, b, 32, true), 1); }},
      {"s_bfe_u64", 2, 2, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(field(a, b, 64, false), 2); }},
      {"s_bfe_i64", 2, 2, 1, [&](uint64_t a, uint64_t b, bool) { return by_result(field(a, b, 64, true), 2); }},
      {"s_bfm_b32", 1, 1, 1,
       [&](uint64_t a, uint64_t b, bool c) -> Result { return {((1u << (a & 31)) - 1u) << (b & 31), c}; }},
      {"s_bfm_b64", 2, 1, 1,
       [&](uint64_t a, uint64_t b, bool c) -> Result { return {((uint64_t{1} << (a & 63)) - 1) << (b & 63), c}; }},
  });
}

TEST_CASE("scalar compares") {
  std::vector<ScalarRow> rows;
  const auto add = [&](const std::string& name, unsigned words, bool (*f)(uint64_t, uint64_t)) {
    rows.push_back({name, 0, words, words, [f](uint64_t a, uint64_t b, bool) -> Result { return {0, f(a, b)}; }});
  };
  add("s_cmp_eq_i32", 1, [](uint64_t a, uint64_t b) { return a == b; });
  add("s_cmp_lg_i32", 1, [](uint64_t a, uint64_t b) { return a != b; });
  add("s_cmp_gt_i32", 1, [](uint64_t a, uint64_t b) { return signed_low(a) > signed_low(b); });
  add("s_cmp_ge_i32", 1, [](uint64_t a, uint64_t b) { return signed_low(a) >= signed_low(b); });
  add("s_cmp_lt_i32", 1, [](uint64_t a, uint64_t b) { return signed_low(a) < signed_low(b); });
  add("s_cmp_le_i32", 1, [](uint64_t a, uint64_t b) { return signed_low(a) <= signed_low(b); });
  add("s_cmp_eq_u32", 1, [](uint64_t a, uint64_t b) { return a == b; });
  add("s_cmp_lg_u32", 1, [](uint64_t a, uint64_t b) { return a != b; });
  add("s_cmp_gt_u32", 1, [](uint64_t a, uint64_t b) { return a > b; });
  add("s_cmp_ge_u32", 1, [](uint64_t a, uint64_t b) { return a >= b; });
  add("s_cmp_lt_u32", 1, [](uint64_t a, uint64_t b) { return a < b; });
  add("s_cmp_le_u32", 1, [](uint64_t a, uint64_t b) { return a <= b; });
  add("s_cmp_eq_u64", 2, [](uint64_t a, uint64_t b) { return a == b; });
  add("s_cmp_lg_u64", 2, [](uint64_t a, uint64_t b) { return a != b; });
  add("s_bitcmp0_b32", 1, [](uint64_t a, uint64_t b) { return (a >> (b & 31) & 1) == 0; });
  add("s_bitcmp1_b32", 1, [](uint64_t a, uint64_t b) { return (a >> (b & 31) & 1) == 1; });
  rows.push_back(
      {"s_bitcmp0_b64", 0, 2, 1, [](uint64_t a, uint64_t b, bool) -> Result { return {0, (a >> (b & 63) & 1) == 0}; }});
  rows.push_back(
      {"s_bitcmp1_b64", 0, 2, 1, [](uint64_t a, uint64_t b, bool) -> Result { return {0, (a >> (b & 63) & 1) == 1}; }});
  check_rows(rows);
}

TEST_CASE("scalar compares with an immediate extend it by the type") {
  struct Compare {
    std::string name;
    bool (*holds)(int64_t, int64_t);
  };
  const std::vector<Compare> compares{
      {"eq", [](int64_t a, int64_t b) { return a == b; }}, {"lg", [](int64_t a, int64_t b) { return a != b; }},
      {"gt", [](int64_t a, int64_t b) { return a > b; }},  {"ge", [](int64_t a, int64_t b) { return a >= b; }},
      {"lt", [](int64_t a, int64_t b) { return a < b; }},  {"le", [](int64_t a, int64_t b) { return a <= b; }}};
  for (const Compare& compare : compares) {
    for (const int immediate : {0, 1, 0x7fff, 0x8000, 0xffff}) {
      const auto code = WaveRunner::decode(fmt::format("s_cmpk_{}_i32 s10, 0x{:x}\ns_cmpk_{}_u32 s10, 0x{:x}",
                                                       compare.name, immediate, compare.name, immediate));
      for (const uint64_t a : edges) {
        CAPTURE(compare.name, immediate, a);
        WaveRunner runner;
        runner.wave().set_sgpr_pair(10, a);
        runner.execute(code[0]);
        CHECK(runner.wave().scc == compare.holds(signed_low(a), static_cast<int16_t>(immediate)));
        runner.execute(code[1]);
        CHECK(runner.wave().scc == compare.holds(low(a), immediate));
      }
    }
  }
}

TEST_CASE("scalar one-operand bit instructions") {
  const auto count = [](uint64_t a, unsigned bits, bool ones) {
    uint64_t n = 0;
    for (unsigned i = 0; i < bits; ++i) n += (a >> i & 1) == (ones ? 1u : 0u);
    return n;
  };
  const auto first = [](uint64_t a, unsigned bits, bool ones) -> uint64_t {
    for (unsigned i = 0; i < bits; ++i) {
      if ((a >> i & 1) == (ones ? 1u : 0u)) return i;
    }
    return ~uint64_t{0};
  };
  const auto leading = [](uint64_t a, unsigned bits) -> uint64_t {  // of the highest one, from the top
    for (unsigned i = 0; i < bits; ++i) {
      if ((a >> (bits - 1 - i) & 1) != 0) return i;
    }
    return ~uint64_t{0};
  };
  const auto sign_run = [](uint64_t a, unsigned bits) -> uint64_t {  // the first bit below the top that differs from it
    for (unsigned i = 1; i < bits; ++i) {
      if ((a >> (bits - 1 - i) & 1) != (a >> (bits - 1) & 1)) return i;
    }
    return ~uint64_t{0};
  };
  const auto reversed = [](uint64_t a, unsigned bits) {
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; ++i) out |= (a >> i & 1) << (bits - 1 - i);
    return out;
  };
  // Every four bits: all ones if any is one (wqm); one bit a four (quadmask).
  const auto whole_quads = [](uint64_t a, unsigned bits) {
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i += 4) out |= (a >> i & 15) != 0 ? uint64_t{15} << i : 0;
    return out;
  };
  const auto quad_bits = [](uint64_t a, unsigned bits) {
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i += 4) out |= uint64_t{(a >> i & 15) != 0} << (i / 4);
    return out;
  };
  std::vector<ScalarRow> rows;
  const auto keeping = [&](const std::string& name, unsigned to, unsigned from, std::function<uint64_t(uint64_t)> f) {
    rows.push_back({name, to, from, 0, [f](uint64_t a, uint64_t, bool scc) -> Result { return {f(a), scc}; }});
  };
  const auto telling = [&](const std::string& name, unsigned to, unsigned from, std::function<uint64_t(uint64_t)> f) {
    rows.push_back(
        {name, to, from, 0, [f, to](uint64_t a, uint64_t, bool) -> Result { return {f(a), cut(f(a), to) != 0}; }});
  };
  keeping("s_mov_b32", 1, 1, [](uint64_t a) { return a; });
  keeping("s_mov_b64", 2, 2, [](uint64_t a) { return a; });
  telling("s_not_b32", 1, 1, [](uint64_t a) { return ~a; });
  telling("s_not_b64", 2, 2, [](uint64_t a) { return ~a; });
  telling("s_wqm_b32", 1, 1, [&](uint64_t a) { return whole_quads(a, 32); });
  telling("s_wqm_b64", 2, 2, [&](uint64_t a) { return whole_quads(a, 64); });
  telling("s_quadmask_b32", 1, 1, [&](uint64_t a) { return quad_bits(a, 32); });
  telling("s_quadmask_b64", 2, 2, [&](uint64_t a) { return quad_bits(a, 64); });
  keeping("s_brev_b32", 1, 1, [&](uint64_t a) { return reversed(a, 32); });
  keeping("s_brev_b64", 2, 2, [&](uint64_t a) { return reversed(a, 64); });
  telling("s_bcnt0_i32_b32", 1, 1, [&](uint64_t a) { return count(a, 32, false); });
  telling("s_bcnt0_i32_b64", 1, 2, [&](uint64_t a) { return count(a, 64, false); });
  telling("s_bcnt1_i32_b32", 1, 1, [&](uint64_t a) { return count(a, 32, true); });
  telling("s_bcnt1_i32_b64", 1, 2, [&](uint64_t a) { return count(a, 64, true); });
  keeping("s_ff0_i32_b32", 1, 1, [&](uint64_t a) { return first(a, 32, false); });
  keeping("s_ff0_i32_b64", 1, 2, [&](uint64_t a) { return first(a, 64, false); });
  keeping("s_ff1_i32_b32", 1, 1, [&](uint64_t a) { return first(a, 32, true); });
  keeping("s_ff1_i32_b64", 1, 2, [&](uint64_t a) { return first(a, 64, true); });
  keeping("s_flbit_i32_b32", 1, 1, [&](uint64_t a) { return leading(a, 32); });
  keeping("s_flbit_i32_b64", 1, 2, [&](uint64_t a) { return leading(a, 64); });
  keeping("s_flbit_i32", 1, 1, [&](uint64_t a) { return sign_run(a, 32); });
  keeping("s_flbit_i32_i64", 1, 2, [&](uint64_t a) { return sign_run(a, 64); });
  keeping("s_sext_i32_i8", 1, 1, [](uint64_t a) { return static_cast<uint64_t>(static_cast<int8_t>(a)); });
  keeping("s_sext_i32_i16", 1, 1, [](uint64_t a) { return static_cast<uint64_t>(static_cast<int16_t>(a)); });
  telling("s_abs_i32", 1, 1, [](uint64_t a) { return signed_low(a) < 0 ? 0 - a : a; });
  keeping("s_bitset0_b32", 1, 1, [](uint64_t a) { return 0x22222222 & ~(1u << (a & 31)); });
  keeping("s_bitset1_b32", 1, 1, [](uint64_t a) { return 0x22222222 | 1u << (a & 31); });
  keeping("s_bitset0_b64", 2, 1, [](uint64_t a) { return 0x1111111122222222 & ~(uint64_t{1} << (a & 63)); });
  keeping("s_bitset1_b64", 2, 1, [](uint64_t a) { return 0x1111111122222222 | uint64_t{1} << (a & 63); });
  rows.push_back(
      {"s_cmov_b32", 1, 1, 0, [](uint64_t a, uint64_t, bool c) -> Result { return {c ? a : 0x22222222, c}; }});
  rows.push_back(
      {"s_cmov_b64", 2, 2, 0, [](uint64_t a, uint64_t, bool c) -> Result { return {c ? a : 0x1111111122222222, c}; }});
  check_rows(rows);
}

TEST_CASE("saveexec gives the old mask and combines the new one") {
  struct Combine {
    std::string name;
    uint64_t (*f)(uint64_t source, uint64_t exec);
  };
  const std::vector<Combine> combines{
      {"s_and_saveexec_b64", [](uint64_t s, uint64_t e) { return s & e; }},
      {"s_or_saveexec_b64", [](uint64_t s, uint64_t e) { return s | e; }},
      {"s_xor_saveexec_b64", [](uint64_t s, uint64_t e) { return s ^ e; }},
      {"s_andn1_saveexec_b64", [](uint64_t s, uint64_t e) { return ~s & e; }},
      {"s_andn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s & ~e; }},
      {"s_orn1_saveexec_b64", [](uint64_t s, uint64_t e) { return ~s | e; }},
      {"s_orn2_saveexec_b64", [](uint64_t s, uint64_t e) { return s | ~e; }},
      {"s_nand_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s & e); }},
      {"s_nor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s | e); }},
      {"s_xnor_saveexec_b64", [](uint64_t s, uint64_t e) { return ~(s ^ e); }},
      {"s_andn1_wrexec_b64", [](uint64_t s, uint64_t e) { return ~s & e; }},
      {"s_andn2_wrexec_b64", [](uint64_t s, uint64_t e) { return s & ~e; }},
  };
  for (const Combine& combine : combines) {
    const Instruction instruction = WaveRunner::decode(combine.name + " s[14:15], s[10:11]").at(0);
    for (const uint64_t source : edges) {
      for (const uint64_t exec : edges) {
        CAPTURE(combine.name, source, exec);
        WaveRunner runner;
        runner.wave().set_sgpr_pair(10, source);
        runner.wave().set_exec(exec);
        runner.execute(instruction);
        const uint64_t mask = combine.f(source, exec);
        CHECK(runner.wave().exec() == mask);
        CHECK(runner.wave().sgpr_pair(14) == (combine.name.ends_with("wrexec_b64") ? mask : exec));
        CHECK(runner.wave().scc == (mask != 0));
      }
    }
  }
}
