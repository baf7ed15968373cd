// `mlaforge explain --problem`: the runtime's choice, what it lost to, and what does not serve.
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// 2 query lengths x 2 split counts, and one with two parts of P against one.
std::string make_config(const TemporaryFolder& folder) {
  write(folder / "config.json", R"({"name": "small", "model": {"num_heads": 12}, "kernels": [
      {"query_length": [1, 2], "splits": [1, 64]}, {"query_length": 1, "splits": 8, "probability_parts": 1}]})");
  return (folder / "config.json").string();
}

std::string kernel(int qlen, int splits) {
  return "mla_decode_bf16q_fp8kv_h12_g" + std::string(qlen == 1 ? "1" : "2") + "_q" + std::to_string(qlen) + "_b128_s" +
         std::to_string(splits) + "_p1__gfx950";
}

Json explain(const std::vector<std::string>& arguments, int exit_code) {
  std::vector<std::string> all = {"explain", "--json"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Outcome outcome = mlaforge_command(all);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == exit_code);
  return Json::parse(outcome.out);
}

std::map<std::string, Json> by_kernel(const Json& answer) {
  std::map<std::string, Json> found;
  for (const Json& candidate : answer.at("candidates")) found[candidate.at("kernel")] = candidate;
  return found;
}

}  // namespace

TEST_CASE("the choice follows batch and context, and every candidate has its reason") {
  const TemporaryFolder folder;
  const std::string config = make_config(folder);
  // One request of 131,072 tokens is 1,024 blocks: in 64 splits each workgroup has 16 of them, in one all.
  const Json longer = explain({"--config", config, "--problem", "qlen=1,batch=1,context=131072"}, 0);
  CHECK(longer.at("kernel") == kernel(1, 64));
  CHECK(longer.at("problem").at("heads") == 12);
  CHECK(longer.at("problem").at("pool_bytes") == 131072 * 576);
  CHECK(longer.at("workspace_bytes") == 1 * 64 * 12 * (512 * 2 + 4));
  auto candidates = by_kernel(longer);
  REQUIRE(candidates.size() == 5);
  CHECK(candidates.at(kernel(1, 64)).at("chosen") == true);
  CHECK(candidates.at(kernel(1, 1)).at("serves") == true);
  CHECK(candidates.at(kernel(1, 1)).at("predicted_clocks") > candidates.at(kernel(1, 64)).at("predicted_clocks"));
  CHECK_THAT(candidates.at(kernel(1, 1)).at("reason").get<std::string>(), Contains("not the least predicted time"));
  for (const int splits : {1, 64}) {
    CHECK(candidates.at(kernel(2, splits)).at("serves") == false);
    CHECK(candidates.at(kernel(2, splits)).at("reason") == "qlen 2, not 1");
    CHECK(candidates.at(kernel(2, splits)).at("predicted_clocks").is_null());
  }
  // The one with the looser P is never taken for its speed.
  int looser = 0;
  for (const auto& [name, candidate] : candidates) {
    looser += candidate.at("reason").get<std::string>().find("less accurate") != std::string::npos ? 1 : 0;
  }
  CHECK(looser == 1);

  // 512 requests of one block fill the chip: more splits would have nothing to do.
  CHECK(explain({"--config", config, "--problem", "qlen=1,batch=512,context=128"}, 0).at("kernel") == kernel(1, 1));
  const Outcome text = mlaforge_command({"explain", "--config", config, "--problem", "qlen=1,batch=512,context=128"});
  CHECK_THAT(text.out, Contains("serves     " + kernel(1, 1)) && Contains("lost       " + kernel(1, 64)) &&
                           Contains("rejected   " + kernel(2, 1) + ": qlen 2, not 1") && Contains("predicted"));
}

TEST_CASE("a problem without a kernel is exit code 1, with the field, the nearest and the config that helps") {
  const TemporaryFolder folder;
  const Json answer = explain({"--config", make_config(folder), "--problem", "qlen=4,page_size=16"}, 1);
  CHECK(answer.at("kernel").is_null());
  CHECK_THAT(answer.at("miss").get<std::string>(),
             Contains("qlen 4 is in no kernel") && Contains("\"query_length\": 4"));
  for (const Json& candidate : answer.at("candidates")) {
    CHECK(candidate.at("serves") == false);
    CHECK_THAT(candidate.at("reason").get<std::string>(), Contains("page_size 1, not 16"));
  }
}

TEST_CASE("tuning data decides where it knows the place, and is said to") {
  const TemporaryFolder folder;
  const std::string config = make_config(folder);
  const auto tuning = [&](const std::string& name) {
    write(folder / "tuning.json",
          R"({"schema_version": 1, "target": "gfx950", "compute_units": 256, "device": "MI355X", "source": "measured",
              "toolchain": "clang 22.1.8", "rows": [{"problem": {"heads": 12, "qlen": 2, "page_size": 1, "q_dtype": "bf16",
              "kv_dtype": "fp8_e4m3", "context_parallel": 1, "wide_kv": false, "batch": 512, "context": 128},
              "kernel": ")" +
              name + R"(", "time_us": {"low": 9.0, "nominal": 9.0, "high": 9.0}}]})");
    return (folder / "tuning.json").string();
  };
  const std::vector<std::string> arguments = {"--config", config, "--problem", "qlen=2,batch=512,context=128"};
  CHECK(explain(arguments, 0).at("kernel") == kernel(2, 1));  // the cost model's
  auto tuned = arguments;
  tuned.insert(tuned.end(), {"--tuning", tuning(kernel(2, 64))});
  const Json answer = explain(tuned, 0);
  CHECK(answer.at("kernel") == kernel(2, 64));
  CHECK(answer.at("tuning").at("used") == 1);
  auto candidates = by_kernel(answer);
  CHECK(candidates.at(kernel(2, 64)).at("reason") == "the nearest tuning row names it, measured");
  CHECK(candidates.at(kernel(2, 1)).at("reason") == "the nearest tuning row names another kernel");

  tuning(kernel(1, 99));  // a row for a kernel that the set does not have
  CHECK_THAT(explain(tuned, 2).at("errors").dump(), Contains("--tuning") && Contains(kernel(1, 99)));
}

TEST_CASE("a generated folder explains as its config does") {
  const TemporaryFolder folder;
  const std::string config = make_config(folder);
  const std::string set = (folder / "set").string();
  REQUIRE(mlaforge_command({"generate", "--config", config, "--out", set}).exit_code == 0);
  const std::string problem = "qlen=2,batch=4,context=30000,pool_bytes=5000000000,policy=fixed_split";
  CHECK(explain({"--kernels", set, "--problem", problem}, 1) == explain({"--config", config, "--problem", problem}, 1));
  const Outcome none = mlaforge_command({"explain", "--kernels", folder.path().string(), "--problem", "qlen=1"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("manifest.json: cannot be read") && Contains("mlaforge generate"));
}

TEST_CASE("a word that is no field or no value of it is named, with what is allowed") {
  const auto refused = [](const std::string& problem) {
    const Outcome outcome = mlaforge_command({"explain", "--problem", problem});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK_THAT(refused("qlne=4"), Contains("qlne=4") && Contains("nearest: qlen"));
  CHECK_THAT(refused("qlen"), Contains("is not KEY=VALUE"));
  CHECK_THAT(refused("qlen=four"), Contains("--problem qlen") && Contains("four") && Contains("a whole number"));
  CHECK_THAT(refused("heads=4294967308"), Contains("--problem heads"));  // 2^32 + 12
  CHECK_THAT(refused("batch=99999999999"), Contains("--problem batch") && Contains("0 .. 2147483647"));
  CHECK_THAT(refused("qlen=4,qlen=2"), Contains("--problem qlen") && Contains("twice"));
  CHECK_THAT(refused("kv_dtype=fp8"), Contains("bf16, fp8_e4m3"));
  CHECK_THAT(refused("qlen=9"), Contains("problem.qlen is 9") && Contains("1 .. 8"));
}

TEST_CASE(
    "the config behind a miss, pasted, makes the kernel: every field of a problem, and what run was told to take") {
  const TemporaryFolder folder;
  const std::string config = make_config(folder);
  const auto names_when_pasted = [&](const std::string& miss) {
    const std::string marker = "to generate it: ";
    INFO(miss);
    REQUIRE(miss.find(marker) != std::string::npos);
    const size_t start = miss.find(marker) + marker.size();
    write(folder / "pasted.json", miss.substr(start, miss.find('\n', start) - start));
    const Outcome listed = mlaforge_command({"list", "--config", (folder / "pasted.json").string()});
    INFO(listed.err);
    REQUIRE(listed.exit_code == 0);
    return listed.out.substr(0, listed.out.find(' '));
  };
  const Json miss = explain({"--config", config, "--problem",
                             "qlen=5,page_size=64,q_dtype=fp8_e4m3,context_parallel=2,splits=33,probability_parts=1,"
                             "pool_bytes=9000000000"},
                            1);
  CHECK(names_when_pasted(miss.at("miss")) == "mla_decode_fp8q_fp8kv_h12_g4_q5_b128_s33_p64__gfx950_wide_cp2_pp1");
  if (std::string(MLAFORGE_HIP_SIMULATOR).empty()) return;
  const auto run = [&](const std::string& pipeline, const std::string& block) {
    const Outcome outcome = mlaforge_command({"run", "--config", config, "--qlen", "2", "--context", "100", "--splits",
                                              "8", "--pipeline", pipeline, "--block-tokens", block});
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK(names_when_pasted(run("warp_specialized", "128")) == kernel(2, 8) + "_ws");
  CHECK(names_when_pasted(run("uniform", "64")) == "mla_decode_bf16q_fp8kv_h12_g2_q2_b64_s8_p1__gfx950");
  // What no config gives is not proposed.
  CHECK_THAT(run("warp_specialized", "64"), Contains("it cannot be generated") && Contains("nearest: 128"));
}
