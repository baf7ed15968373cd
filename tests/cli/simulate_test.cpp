// `mlaforge check --simulate`: every kernel of the config is launched under all checks and named.
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;

TEST_CASE("check --simulate runs every kernel of a config and of its generated sources") {
  const TemporaryFolder folder;
  write(folder / "config.json",
        R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 1, "splits": [1, 2]}]})");
  const std::string config = (folder / "config.json").string();
  const std::string sources = (folder / "sources").string();
  REQUIRE(mlaforge_command({"generate", "--config", config, "--out", sources}).exit_code == 0);
  const Outcome outcome = mlaforge_command({"check", "--config", config, "--kernels", sources, "--simulate", "--json"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto simulated = nlohmann::json::parse(outcome.out).at("simulated");
  REQUIRE(simulated.size() == 2);
  CHECK(simulated.at(0).at("kernel") == "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950");
  for (const auto& kernel : simulated) CHECK(kernel.at("passed") == true);
}
