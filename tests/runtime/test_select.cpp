// Select: the exact key, the split count, the pool's size, and what a miss says.
#include "runtime/src/explain.h"
#include "runtime/src/split_choice.h"
#include "runtime/src/table.h"
#include "tests/runtime/opened.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

/// The default config's shapes, added in a scrambled order.
TestSet kimi_set() {
  TestSet set;
  for (const int splits : {85, 1, 21, 8, 64, 2}) {
    for (const int qlen : {4, 1, 8, 3, 2}) {
      set.add(12, qlen, 1, splits, qlen == 8 ? 6 : qlen <= 1 ? 1 : 3);
    }
  }
  return set;
}

}  // namespace

TEST_CASE("every row of the table is found by its key, and no HIP call is made") {
  Opened opened(kimi_set());
  const size_t calls = opened.hip.calls.size();
  for (const mlaforge_kernel_row& row : opened.set.rows) {
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    REQUIRE(opened.select(problem(row.heads, row.qlen, row.page_size, row.splits), choice) == MLAFORGE_SUCCESS);
    CHECK(std::string(choice.row->name) == row.name);
    CHECK(choice.batch_capacity == 4);
    CHECK(choice.longest_context == 65536);
  }
  CHECK(opened.hip.calls.size() == calls);
}

TEST_CASE("a shape that was not generated is refused, never another kernel") {
  Opened opened(kimi_set());
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  CHECK(opened.select(problem(12, 5, 1), choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("qlen 5 is in no kernel with heads 12; available: 1, 2, 3, 4, 8"));
  CHECK(says("nearest: h12_g3_q4_"));
  CHECK(opened.select(problem(12, 4, 16), choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("page_size 16 is in no kernel with heads 12, qlen 4; available: 1"));
  CHECK(says("\"page_size\": 16"));
  CHECK(opened.select(problem(12, 4, 1, 7), choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("splits 7 is in no kernel"));
  CHECK(says("nearest: h12_g3_q4_s8_p1, h12_g3_q4_s2_p1, h12_g3_q4_s1_p1"));
  mlaforge_problem fp8_query = problem(12, 4, 1);
  fp8_query.q_dtype = MLAFORGE_FP8_E4M3;
  CHECK(opened.select(fp8_query, choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("q_dtype fp8_e4m3 is in no kernel"));
  CHECK(choice.row == nullptr);
}

TEST_CASE("an empty table says so") {
  Opened opened(TestSet{});
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  CHECK(opened.select(problem(12, 4, 1), choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("there are no kernels at all"));
}

TEST_CASE("fields out of range are named with what is allowed (FlashMLA#185, flashinfer#4299)") {
  Opened opened(kimi_set());
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  for (const int latent : {511, 96, 72}) {
    mlaforge_problem wanted = problem(12, 4, 1);
    wanted.latent_dim = latent;
    CHECK(opened.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
    CHECK(says("problem.latent_dim is " + std::to_string(latent) + "; allowed: 512 .. 512"));
  }
  for (const int rope : {0, 63}) {
    mlaforge_problem wanted = problem(12, 4, 1);
    wanted.rope_dim = rope;
    CHECK(opened.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
    CHECK(says("problem.rope_dim"));
  }
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.kv_dtype = 7;
  CHECK(opened.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("problem.kv_dtype is 7"));
  wanted = problem(12, 4, 1);
  wanted.pool_bytes = 0;
  CHECK(opened.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("problem.pool_bytes is 0"));
  wanted = problem(12, 4, 1);
  wanted.struct_size += 8;
  CHECK(opened.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("problem.struct_size"));
  CHECK(choice.row == nullptr);
}

TEST_CASE("pools beyond 32-bit offsets take the wide kernel, and are refused without one") {
  const uint64_t limit = uint64_t{1} << 32;
  TestSet both = kimi_set();
  both.add(12, 4, 1, 8, 3, true);
  Opened opened(std::move(both));
  Opened narrow_only(kimi_set());
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  for (const uint64_t bytes : {uint64_t{1} << 31, limit - 576, limit, limit + 576, uint64_t{1} << 40}) {
    const bool wide = bytes > limit;
    mlaforge_problem wanted = problem(12, 4, 1, 8);
    wanted.pool_bytes = bytes;
    INFO(bytes);
    REQUIRE(opened.select(wanted, choice) == MLAFORGE_SUCCESS);
    CHECK((choice.row->wide_kv == 1) == wide);
    CHECK(narrow_only.select(wanted, choice) == (wide ? MLAFORGE_NO_KERNEL : MLAFORGE_SUCCESS));
    if (wide) {
      CHECK(says("wide_kv true is in no kernel"));
      CHECK(says(std::to_string(bytes) + " bytes are beyond 32-bit offsets"));
    }
  }
  // Where there is only a wide kernel, it serves small pools too.
  TestSet wide_set;
  wide_set.add(12, 4, 1, 8, 3, true);
  Opened wide_only(std::move(wide_set));
  REQUIRE(wide_only.select(problem(12, 4, 1), choice) == MLAFORGE_SUCCESS);
  CHECK(choice.row->wide_kv == 1);
}

TEST_CASE("splits are chosen by capacity: rounds of the chip times blocks of a split") {
  Opened opened(kimi_set());
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  const auto chosen = [&](int batch, int64_t context) {
    mlaforge_problem wanted = problem(12, 4, 1);
    wanted.batch_capacity = batch;
    wanted.longest_context = context;
    REQUIRE(opened.select(wanted, choice) == MLAFORGE_SUCCESS);
    return choice.row->splits;
  };
  // 3 head groups. One request of 512 blocks: 64 splits are 24 CTAs an XCD, one round: 7500 + 8 x 2770; 85 are 33 CTAs
  // on the fullest XCD of 32 CUs, two rounds: 7500 + 3000 + 2 x 7 x 2770.
  CHECK(chosen(1, 65536) == 64);
  // 4 requests: 64 splits are 96 CTAs an XCD, 7500 + 2 x 3000 + 3 x 8 x 2770; 21 are 33, two rounds of 25 blocks.
  CHECK(chosen(4, 65536) == 64);
  // 85 requests: one split is 33 CTAs an XCD, 2 rounds of 512 blocks; 8 are 255, 8 rounds of 64 blocks.
  CHECK(chosen(85, 65536) == 8);
  // 8 blocks: no split is left without a block; 8 splits of one.
  CHECK(chosen(1, 1000) == 8);
  // One block, and none at all.
  CHECK(chosen(1, 128) == 1);
  CHECK(chosen(1, 0) == 1);
}

TEST_CASE(
    "of one key, the kernel with more parts of P is taken whatever the order, and the other where it is asked for") {
  for (const bool loose_first : {true, false}) {
    TestSet set;
    set.add(12, 4, 1, 1).probability_parts = loose_first ? 1 : 2;
    mlaforge_kernel_row& second = set.add(12, 4, 1, 1);
    second.probability_parts = loose_first ? 2 : 1;
    Opened opened(std::move(set));
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    for (const int parts : {0, 1, 2}) {
      mlaforge_problem wanted = problem(12, 4, 1);
      wanted.probability_parts = parts;
      REQUIRE(opened.select(wanted, choice) == MLAFORGE_SUCCESS);
      CHECK(choice.row->probability_parts == (parts == 0 ? 2 : parts));
    }
  }
  Opened accurate(kimi_set());
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.probability_parts = 1;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  CHECK(accurate.select(wanted, choice) == MLAFORGE_NO_KERNEL);
  CHECK(says("probability_parts 1 is in no kernel"));
  CHECK(says("\"probability_parts\": 1"));
  wanted.probability_parts = 3;
  CHECK(accurate.select(wanted, choice) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("problem.probability_parts is 3; allowed: 0 .. 2"));
}

TEST_CASE("splits that only the looser kernel has are served by it") {
  TestSet set;
  set.add(12, 4, 1, 1);
  set.add(12, 4, 1, 8).probability_parts = 1;
  Opened opened(std::move(set));
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  REQUIRE(opened.select(problem(12, 4, 1, 8), choice) == MLAFORGE_SUCCESS);
  CHECK(choice.row->splits == 8);
  REQUIRE(opened.select(problem(12, 4, 1), choice) == MLAFORGE_SUCCESS);
  CHECK(choice.row->splits == 1);
}

TEST_CASE("fixed_split chooses by the key and the longest context alone") {
  Opened opened(kimi_set());
  mlaforge_choice tuned = MLAFORGE_CHOICE_INIT;
  mlaforge_choice fixed = MLAFORGE_CHOICE_INIT;
  for (const int64_t context : {0, 1, 1000, 65536, 1 << 20}) {
    mlaforge_problem wanted = problem(12, 4, 1);
    wanted.longest_context = context;
    wanted.batch_capacity = MLAFORGE_FIXED_SPLIT_BATCH;
    REQUIRE(opened.select(wanted, tuned) == MLAFORGE_SUCCESS);
    wanted.policy = MLAFORGE_FIXED_SPLIT;
    for (const int batch : {0, 1, 7, 85, 512, INT32_MAX}) {
      wanted.batch_capacity = batch;
      REQUIRE(opened.select(wanted, fixed) == MLAFORGE_SUCCESS);
      CHECK(fixed.row == tuned.row);
      CHECK(fixed.batch_capacity == batch);
    }
  }
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.policy = 2;
  CHECK(opened.select(wanted, fixed) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("problem.policy is 2; allowed: 0 .. 1"));
}

TEST_CASE("each row is told why it does or does not serve") {
  TestSet set;
  set.add(12, 4, 1, 1);
  set.add(12, 4, 1, 8);
  set.add(12, 4, 1, 64).probability_parts = 1;
  set.add(12, 4, 1, 8, 3, true);
  set.add(16, 2, 1, 8);
  Opened opened(std::move(set));
  const auto reason = [](const std::vector<Verdict>& verdicts, const DispatchTable& table, const std::string& name) {
    for (const Verdict& verdict : verdicts) {
      if (table.rows[verdict.row].name == name) {
        return verdict;
      }
    }
    FAIL("no row " + name);
    return Verdict{};
  };
  const DispatchTable& table = opened.library->table;
  const std::vector<Verdict> verdicts = judge_rows(table, problem(12, 4, 1));
  REQUIRE(verdicts.size() == 5);
  const auto of = [&](const std::string& name) { return reason(verdicts, table, name); };
  CHECK(of("h12_g3_q4_s8_p1").chosen);
  CHECK(of("h12_g3_q4_s8_p1").reason == "least predicted time by the cost model");
  CHECK(of("h12_g3_q4_s1_p1").reason == "not the least predicted time, or a split without a block");
  CHECK(of("h12_g3_q4_s1_p1").predicted_clocks > of("h12_g3_q4_s8_p1").predicted_clocks);
  CHECK(of("h12_g3_q4_s64_p1").reason == "fewer probability_parts than the chosen kernel, so less accurate");
  CHECK(of("h12_g3_q4_s8_p1_wide").reason == "64-bit offsets, which this pool does not need");
  CHECK(of("h16_g3_q2_s8_p1").reason == "heads 16, not 12, qlen 2, not 4");
  CHECK_FALSE(of("h16_g3_q2_s8_p1").serves);
  CHECK(judge_rows(table, problem(12, 3, 1)).size() == 5);  // a miss: all rows say why
  CHECK(judge_rows(table, problem(0, 3, 1)).empty());
}
