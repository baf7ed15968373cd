// Tuning data: what the parser refuses, what becomes of rows, and how select uses the points.
#include <functional>

#include "catch.h"
#include "runtime/src/tuning.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

std::string row(int batch, int context, const std::string& kernel, const std::string& time = "1") {
  return R"({"problem": {"heads": 12, "qlen": 4, "page_size": 1, "q_dtype": "bf16", "kv_dtype": "fp8_e4m3",)"
         R"( "context_parallel": 1, "wide_kv": false, "batch": )" +
         std::to_string(batch) + R"(, "context": )" + std::to_string(context) + R"(}, "kernel": ")" + kernel +
         R"(", "time_us": {"low": )" + time + R"(, "nominal": )" + time + R"(, "high": )" + time + "}}";
}

std::string text(const std::string& rows, const std::string& source = "predicted", const std::string& target = "gfx950",
                 int compute_units = 256) {
  return R"({"schema_version": 1, "target": ")" + target + R"(", "compute_units": )" + std::to_string(compute_units) +
         R"(, "device": "MI355X", "source": ")" + source + R"(", "toolchain": "clang 22.1.8", "rows": [)" + rows + "]}";
}

/// 12 heads, qlen 4, with 1, 8 and 64 splits, opened with tuning texts.
struct Tuned {
  FakeHip hip;
  TestSet set;
  mlaforge_library* library = nullptr;
  mlaforge_status status{};

  explicit Tuned(const std::vector<std::string>& texts, const std::function<void(TestSet&)>& more = {}) {
    for (const int splits : {1, 8, 64}) {
      set.add(12, 4, 1, splits);
    }
    if (more) {
      more(set);
    }
    library = open_fake(hip, set, status, 0, texts);
  }
  ~Tuned() { mlaforge_close(library); }
  Tuned(const Tuned&) = delete;
  Tuned& operator=(const Tuned&) = delete;

  mlaforge_choice choose(int batch, int64_t context, int splits = 0, mlaforge_policy policy = MLAFORGE_TUNED) const {
    mlaforge_problem wanted = problem(12, 4, 1, splits);
    wanted.batch_capacity = batch;
    wanted.longest_context = context;
    wanted.policy = policy;
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    REQUIRE(mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS);
    return choice;
  }
  mlaforge_tuning_info info() const {
    mlaforge_tuning_info tuning = MLAFORGE_TUNING_INFO_INIT;
    REQUIRE(mlaforge_tuning(library, &tuning) == MLAFORGE_SUCCESS);
    return tuning;
  }
};

std::string replaced(std::string all, const std::string& what, const std::string& by) {
  const size_t at = all.find(what);
  REQUIRE(at != std::string::npos);
  return all.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("a tuned point decides within a factor 5/4 of its batch and 2 of its context, the cost model beyond") {
  // By the cost model 64 splits serve (4, 65536): see test_select.cpp.
  const Tuned tuned({text(row(4, 65536, "h12_g3_q4_s1_p1"))});
  REQUIRE(tuned.status == MLAFORGE_SUCCESS);
  struct Place {
    int batch;
    int64_t context;
    bool near;
  };
  for (const Place& place :
       {Place{4, 65536, true}, Place{5, 65536, true}, Place{5, 131072, true}, Place{4, 32768, true},
        Place{3, 65536, false}, Place{6, 65536, false}, Place{4, 32767, false}, Place{4, 131073, false}}) {
    INFO(place.batch << ", " << place.context);
    const mlaforge_choice choice = tuned.choose(place.batch, place.context);
    CHECK((choice.basis == MLAFORGE_BY_PREDICTED_TUNING) == place.near);
    CHECK((choice.row->splits == 1) == place.near);
  }
}

TEST_CASE("of several points the nearest decides, and only one with the splits asked for") {
  const Tuned tuned({text(row(16, 4096, "h12_g3_q4_s8_p1") + "," + row(20, 4096, "h12_g3_q4_s1_p1") + "," +
                          row(20, 8192, "h12_g3_q4_s64_p1"))});
  REQUIRE(tuned.status == MLAFORGE_SUCCESS);
  CHECK(tuned.choose(16, 4096).row->splits == 8);
  CHECK(tuned.choose(17, 4096).row->splits == 8);   // log2 17/16 = 0.087, 20/17 = 0.234
  CHECK(tuned.choose(18, 4096).row->splits == 1);   // 0.170, 0.152
  CHECK(tuned.choose(20, 5700).row->splits == 1);   // 5700/4096: 0.477, 8192/5700: 0.523
  CHECK(tuned.choose(20, 5900).row->splits == 64);  // 0.527, 0.473
  CHECK(tuned.choose(20, 4096, 64).basis == MLAFORGE_BY_PREDICTED_TUNING);
  CHECK(tuned.choose(20, 4096, 8).row->splits == 8);  // (16, 4096) is a factor 5/4 away
  CHECK(tuned.choose(21, 4096, 8).basis == MLAFORGE_BY_COST_MODEL);
}

TEST_CASE("measured rows go before predicted ones of the same place, whatever the order of the texts") {
  const std::string predicted = text(row(4, 65536, "h12_g3_q4_s8_p1"));
  const std::string measured = text(row(4, 65536, "h12_g3_q4_s1_p1"), "measured");
  for (const auto& texts : {std::vector{predicted, measured}, std::vector{measured, predicted}}) {
    const Tuned tuned(texts);
    REQUIRE(tuned.status == MLAFORGE_SUCCESS);
    const mlaforge_choice choice = tuned.choose(4, 65536);
    CHECK(choice.row->splits == 1);
    CHECK(choice.basis == MLAFORGE_BY_MEASURED_TUNING);
    CHECK(tuned.info().rows == 2);
    CHECK(tuned.info().used == 1);
    CHECK(tuned.info().used_measured == 1);
    CHECK(tuned.info().skipped_superseded == 1);
  }
}

TEST_CASE("two kernels for one place are an error that names both rows; one kernel said twice is not") {
  const std::string once = row(4, 65536, "h12_g3_q4_s8_p1");
  const Tuned conflict({text(row(1, 64, "h12_g3_q4_s1_p1") + "," + once), text(row(4, 65536, "h12_g3_q4_s64_p1"))});
  CHECK(conflict.status == MLAFORGE_BAD_TUNING);
  CHECK(conflict.library == nullptr);
  CHECK(says("tuning.json rows[1] and tuning.json rows[0]: two kernels for batch 4, context 65536"));
  CHECK(says("h12_g3_q4_s8_p1 and h12_g3_q4_s64_p1"));
  CHECK(conflict.hip.unloaded() == static_cast<int>(conflict.hip.loaded.size()));
  const Tuned twice({text(once), text(once)});
  REQUIRE(twice.status == MLAFORGE_SUCCESS);
  CHECK(twice.info().used == 1);
  CHECK(twice.info().skipped_superseded == 1);
}

TEST_CASE("a row of a kernel that is not there, or that serves another problem, is an error at open") {
  const Tuned unknown({text(row(4, 64, "h12_g3_q4_s1_p1") + "," + row(4, 65536, "h12_g3_q4_s9_p1"))});
  CHECK(unknown.status == MLAFORGE_BAD_TUNING);
  CHECK(says("tuning.json rows[1]: kernel \"h12_g3_q4_s9_p1\" is in no opened set; nearest: h12_g3_q4_s1_p1"));
  const Tuned other({text(replaced(row(4, 65536, "h12_g3_q4_s8_p1"), "\"qlen\": 4", "\"qlen\": 2"))});
  CHECK(other.status == MLAFORGE_BAD_TUNING);
  CHECK(says("rows[0]: kernel h12_g3_q4_s8_p1 does not serve the row's problem: it has heads 12, qlen 4"));
}

TEST_CASE("texts for another chip are skipped, counted and explained, even with kernels that are not here") {
  const Tuned tuned({text(row(4, 65536, "unknown"), "measured", "gfx942", 304),
                     text(row(4, 64, "unknown") + "," + row(8, 64, "unknown"), "measured", "gfx950", 128)});
  REQUIRE(tuned.status == MLAFORGE_SUCCESS);
  CHECK(tuned.info().rows == 3);
  CHECK(tuned.info().used == 0);
  CHECK(tuned.info().skipped_target == 1);
  CHECK(tuned.info().skipped_compute_units == 2);
  CHECK(std::string(tuned.info().notes) ==
        "tuning.json: 1 rows skipped, they are for gfx942, the device is gfx950\n"
        "tuning.json: 2 rows skipped, they are for 128 compute units, the device has 256\n");
  CHECK(tuned.choose(4, 65536).basis == MLAFORGE_BY_COST_MODEL);
}

TEST_CASE("a looser kernel's point serves only who asks for one part") {
  const Tuned tuned({text(row(4, 65536, "loose"))}, [](TestSet& set) {
    mlaforge_kernel_row& loose = set.add(12, 4, 1, 8);
    loose.probability_parts = 1;
    loose.name = "loose";
    set.add_object("loose");
  });
  REQUIRE(tuned.status == MLAFORGE_SUCCESS);
  CHECK(tuned.choose(4, 65536).basis == MLAFORGE_BY_COST_MODEL);
  CHECK(tuned.choose(4, 65536).row->probability_parts == 2);
  mlaforge_problem wanted = problem(12, 4, 1);
  wanted.probability_parts = 1;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  REQUIRE(mlaforge_select(tuned.library, &wanted, &choice) == MLAFORGE_SUCCESS);
  CHECK(choice.basis == MLAFORGE_BY_PREDICTED_TUNING);
  CHECK(std::string(choice.row->name) == "loose");
}

TEST_CASE("fixed_split looks up its own batch, whatever the capacity") {
  const Tuned tuned({text(row(8, 65536, "h12_g3_q4_s8_p1") + "," + row(512, 65536, "h12_g3_q4_s1_p1"))});
  REQUIRE(tuned.status == MLAFORGE_SUCCESS);
  for (const int batch : {0, 1, 8, 512, 100000}) {
    INFO(batch);
    CHECK(tuned.choose(batch, 65536, 0, MLAFORGE_FIXED_SPLIT).row->splits == 8);
  }
  CHECK(tuned.choose(512, 65536).row->splits == 1);
}

TEST_CASE("each field of a text is checked, and named where it is wrong") {
  const std::string good = text(row(4, 65536, "h12_g3_q4_s8_p1"));
  TuningData data;
  REQUIRE(parse_tuning(good, data).empty());
  REQUIRE(data.rows.size() == 1);
  CHECK(data.rows[0].key.heads == 12);
  CHECK(data.rows[0].context == 65536);
  CHECK(data.toolchain == "clang 22.1.8");
  CHECK(data.rows[0].time_us.nominal == 1.0);

  struct Fault {
    const char *what, *by, *problem;
  };
  const Fault faults[] = {
      {"\"schema_version\": 1", "\"schema_version\": 2", "schema_version is 2; allowed: 1 .. 1"},
      {"\"schema_version\": 1, ", "", "schema_version is missing"},
      {"\"target\": \"gfx950\"", "\"target\": 950", "target is 950; allowed: a text"},
      {"\"compute_units\": 256", "\"compute_units\": 0", "compute_units is 0; allowed: 1 .. 65536"},
      {"\"compute_units\": 256", "\"compute_units\": 256.0", "compute_units is 256.0; allowed: 1 .. 65536"},
      {"\"predicted\"", "\"guessed\"", "source is \"guessed\"; allowed: predicted, measured"},
      {"\"device\"", "\"devices\"", "device is missing"},
      {"\"device\"", "\"x\": 1, \"device\"", "x is not a field; allowed: schema_version, target"},
      {"\"heads\": 12", "\"heads\": 0", "rows[0].problem.heads is 0; allowed: 1 .. 128"},
      {"\"heads\": 12", "\"heads\": -9223372036854775808", "rows[0].problem.heads is -9223372036854775808"},
      {"\"heads\": 12", "\"heads\": 18446744073709551615", "rows[0].problem.heads is 18446744073709551615"},
      {"\"heads\": 12", "\"heads\": \"12\"", "rows[0].problem.heads is \"12\"; allowed: 1 .. 128"},
      {"\"heads\": 12", "\"heads\": 12, \"heads\": 12", "the key heads stands twice"},
      {"\"bf16\"", "\"e4m3fnuz\"", "rows[0].problem.q_dtype is \"e4m3fnuz\"; allowed: bf16, fp8_e4m3"},
      {"\"wide_kv\": false", "\"wide_kv\": 0", "rows[0].problem.wide_kv is 0; allowed: true or false"},
      {"\"batch\": 4", "\"batch\": 0", "rows[0].problem.batch is 0; allowed: 1 .. 2147483647"},
      {"\"low\": 1", "\"low\": 2", "rows[0].time_us is not ordered; allowed: low <= nominal <= high"},
      {"\"low\": 1", "\"low\": 0", "rows[0].time_us.low is 0; allowed: a number above 0"},
      {"\"low\": 1", "\"low\": 1e999", "a number is out of range"},
      {"\"rows\": [", "\"rows\": [1, ", "rows[0] is 1; allowed: an object"},
      {"\"rows\": [{", "\"rows\": {\"a\": {", "not JSON: line 1, column"},
      {"\"kernel\": \"h12", "\"kernel\": [\"h12", "not JSON"},
  };
  for (const Fault& fault : faults) {
    INFO(fault.by);
    const std::string problem = parse_tuning(replaced(good, fault.what, fault.by), data);
    INFO(problem);
    CHECK(problem.find(fault.problem) != std::string::npos);
  }
  CHECK(parse_tuning(replaced(text(row(4, 64, "k"), "measured"), "\"low\": 1", "\"low\": 0.5"), data) ==
        "rows[0].time_us has low and high apart; allowed in measured data: the median in all three");
  for (const char* text : {"", "[]", "null", "1", "{}", "\"\xff\"", "{\"rows\": 1}"}) {
    INFO(text);
    CHECK_FALSE(parse_tuning(text, data).empty());
  }
  // Nesting without end is refused, not recursed into.
  CHECK_FALSE(parse_tuning(std::string(1 << 20, '['), data).empty());
}

TEST_CASE("a truncated text is refused at every length") {
  const std::string good = text(row(4, 65536, "h12_g3_q4_s8_p1"));
  TuningData data;
  for (size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK_FALSE(parse_tuning(good.substr(0, length), data).empty());
  }
}
