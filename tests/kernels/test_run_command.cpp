// `mlaforge run` as a user calls it: what it prints, and its exit codes.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"

namespace {

struct Finished {
  int exit_code;
  std::string output;
};

Finished run(const std::string& arguments) {
  const std::string command =
      std::string(MLAFORGE_COMMAND) + " run --device simulator --cache " MLAFORGE_TEST_CACHE " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Finished finished{};
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) != 0;) {
    finished.output.append(buffer, got);
  }
  finished.exit_code = WEXITSTATUS(pclose(pipe));
  return finished;
}

void expect_bad_input(const std::string& arguments, const std::string& message) {
  const Finished finished = run(arguments);
  INFO(finished.output);
  CHECK(finished.exit_code == 2);
  CHECK(finished.output.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("run reports the kernel, the device, the errors and the times") {
  const Finished finished = run("--batch 2 --context 200,7 --qlen 4 --splits 8 --memory random:5 --json");
  INFO(finished.output);
  REQUIRE(finished.exit_code == 0);
  const nlohmann::json report = nlohmann::json::parse(finished.output);
  CHECK(report["kernel"] == "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950_ws");
  CHECK(report["combine"] == "mla_combine_bf16p_s8__gfx950");
  CHECK(report["simulated"] == true);
  CHECK(report["passed"] == true);
  CHECK(report["failure"].is_null());
  CHECK(report["rel_l2"].get<double>() > 0);
  CHECK(report["rel_l2"].get<double>() <= 3e-3);
  CHECK(report["max_row_error"].get<double>() <= 0x1p-7);
  CHECK(report["lse_max_abs"].get<double>() <= 1e-4);
  CHECK(report["problem"]["context"] == nlohmann::json{200, 7});
  CHECK(report["problem"]["memory"] == "random:5");
  for (const char* phase : {"setup", "compile", "run", "reference"}) {
    CHECK(report["seconds"][phase].get<double>() >= 0);
  }
}

TEST_CASE("a run of no request says that nothing was launched") {
  const Finished finished = run("--batch 0 --qlen 1");
  CHECK(finished.exit_code == 0);
  CHECK(finished.output.find("passed: no request, so nothing was launched") != std::string::npos);
}

TEST_CASE("a kernel that does not compile, or computes something else, exits with 1") {
  const std::string path = MLAFORGE_TEST_CACHE "/not_a_kernel.hip";
  std::ofstream(path) << "this is no kernel\n";
  const Finished finished = run("--context 16 --qlen 1 --splits 1 --json --kernel-source " + path);
  INFO(finished.output);
  CHECK(finished.exit_code == 1);
  CHECK(finished.output.find("\"passed\": false") != std::string::npos);
}

TEST_CASE("bad input exits with 2 and says what is allowed") {
  expect_bad_input("--qlen 5", "qlen 5 is in no kernel with heads 12; available: 1, 2, 3, 4, 8");
  expect_bad_input("--qlen 4 --page-size 16", "page_size 16 is in no kernel");
  expect_bad_input("--qlen 4 --page-size 3", "not in {1,2,4,8,16,32,64,128,256}");
  expect_bad_input("--context 16000000 --splits 1", "wide_kv true is in no kernel");
  expect_bad_input("--splits 7", "splits 7 is in no kernel");
  expect_bad_input("--splits many", "auto, or 1 .. 256");
  expect_bad_input("--input nothing", "spike11");
  expect_bad_input("--memory sometimes", "lazy, clobber, eager, random:SEED");
  expect_bad_input("--context -1", "--context");
  expect_bad_input("--context 1,,2 --batch 2", "--context: \"\" of the list 1,,2 is no whole number of 0 .. 16777216");
  expect_bad_input("--v-scale 3e38", "--v-scale: value 3e38 is neither 0 nor of 1e-30 .. 1e+30, either sign");
  expect_bad_input("--v-scale -1e-38", "1e-30 .. 1e+30");
  // 288 GiB, of which a new process has used none.
  expect_bad_input("--context 16 --pool-bytes 400000000000", "more than the device has free");
  expect_bad_input("--context 16 --pool-bytes 400000000000", "309237645312");
  expect_bad_input("--kernel-source /nowhere.hip", "the file cannot be read");
  expect_bad_input("--config /nowhere.json", "/nowhere.json");
}

TEST_CASE("run takes every variant: fp8 query, ranks, pool size, pipeline, block, one kernel by name") {
  const std::string path = MLAFORGE_TEST_CACHE "/variants.json";
  std::ofstream(path) << R"({"name": "variants", "model": {"num_heads": 12}, "kernels": [
    {"query_length": 3, "splits": [1, 4], "context_parallel": [1, 4], "query_dtype": ["bf16", "fp8_e4m3"],
     "wide_kv": [false, true], "pipeline": ["uniform", "warp_specialized"]},
    {"query_length": 3, "splits": 1, "block_tokens": 64}]})";
  const auto report_of = [&](const std::string& arguments) {
    const Finished finished = run("--json --batch 2 --context 200,2 --config " + path + " " + arguments);
    INFO(arguments << "\n" << finished.output);
    REQUIRE(finished.exit_code == 0);
    return nlohmann::json::parse(finished.output);
  };
  const std::string prefix = "mla_decode_bf16q_fp8kv_h12_g3_q3_";
  CHECK(report_of("--query-dtype fp8_e4m3 --q-scale 1.5 --splits 1 --pipeline uniform")["kernel"] ==
        "mla_decode_fp8q_fp8kv_h12_g3_q3_b128_s1_p1__gfx950");
  const nlohmann::json ranks = report_of("--context-parallel 4 --splits 4 --pipeline warp_specialized");
  CHECK(ranks["kernel"] == prefix + "b128_s4_p1__gfx950_ws_cp4");
  CHECK(ranks["ranks"].size() == 4);
  CHECK(ranks["problem"]["rank"] == "all");
  CHECK(report_of("--context-parallel 4 --rank 2 --splits 1")["problem"]["rank"] == 2);
  CHECK(report_of("--pool-bytes 4294967296 --splits 1 --pipeline uniform --block-tokens 128")["kernel"] ==
        prefix + "b128_s1_p1__gfx950");
  CHECK(report_of("--pool-bytes 4294967872 --splits 1 --pipeline uniform")["kernel"] ==
        prefix + "b128_s1_p1__gfx950_wide");
  CHECK(report_of("--block-tokens 64 --splits 1")["kernel"] == prefix + "b64_s1_p1__gfx950");
  CHECK(report_of("--kernel " + prefix + "b128_s4_p1__gfx950_ws_wide_cp4")["problem"]["context_parallel"] == 4);

  const std::string config = "--config " + path + " ";
  expect_bad_input(config + "--kernel mla_decode_x", "not a kernel of the config");
  expect_bad_input(config + "--context-parallel 4 --rank 4", "all, or 0 .. 3");
  expect_bad_input(config + "--q-scale 2", "a bf16 query has no factor");
  expect_bad_input(config + "--pool-bytes 1000", "twice the pages");
  expect_bad_input(config + "--context-parallel 2 --splits 1", "context_parallel 2 is in no kernel");
}
