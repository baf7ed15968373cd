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
  CHECK(report["kernel"] == "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950");
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
  expect_bad_input("--splits 7", "splits 7 is in no kernel");
  expect_bad_input("--splits many", "auto, or 1 .. 256");
  expect_bad_input("--input nothing", "spike11");
  expect_bad_input("--memory sometimes", "lazy, eager, random:SEED");
  expect_bad_input("--context -1", "--context");
  expect_bad_input("--kernel-source /nowhere.hip", "the file cannot be read");
  expect_bad_input("--config /nowhere.json", "/nowhere.json");
}
