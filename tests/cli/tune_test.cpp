// `mlaforge tune` as a user runs it, and `bench` choosing by what it wrote.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("tune writes data by which bench chooses; twice the same bytes") {
  const TemporaryFolder folder;
  const std::string config = small_config(folder, 8);
  const std::string out = (folder / "t.json").string();
  const std::vector<std::string> tune = {"tune", "--config", config, "--batch", "1", "--context", "2048", "--out", out};
  const Outcome first = mlaforge_command(tune);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK_THAT(first.out, Contains("Predicted") && Contains("at 1 point; not tried: "));
  CHECK(first.err.empty());
  const std::string data = read(out);
  const std::string kernel = Json::parse(data).at("rows").at(0).at("kernel");
  CHECK(mlaforge_command(tune).exit_code == 0);
  CHECK(read(out) == data);

  const Json by_tuning =
      Json::parse(mlaforge_command({"bench", "--config", config, "--context", "2048", "--tuning", out, "--json"}).out);
  CHECK(by_tuning.at("kernel") == kernel);
  CHECK(by_tuning.at("chosen_by") == "predicted_tuning");
  const Json by_model = Json::parse(
      mlaforge_command({"bench", "--config", config, "--context", "2048", "--tuning", "none", "--json"}).out);
  CHECK(by_model.at("chosen_by") == "cost_model");
  // Beside the config it is found without an option.
  fs::create_directory(folder / "tuning");
  fs::copy(out, folder / "tuning" / "small.json");
  const Json shipped = Json::parse(mlaforge_command({"bench", "--config", config, "--context", "2048", "--json"}).out);
  CHECK(shipped.at("chosen_by") == "predicted_tuning");
}

TEST_CASE("trace chooses as bench does, and tune takes a generated folder for its config") {
  const TemporaryFolder folder;
  const std::string config = small_config(folder);
  const std::string kernels = (folder / "kernels").string();
  REQUIRE(mlaforge_command({"generate", "--config", config, "--out", kernels}).exit_code == 0);
  const std::string of_config = (folder / "a.json").string(), of_folder = (folder / "b.json").string();
  const std::vector<std::string> grid = {"--batch", "1", "--context", "512"};
  const auto tune = [&](std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.end(), grid.begin(), grid.end());
    arguments.insert(arguments.end(), {"--out", out});
    const Outcome outcome = mlaforge_command(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
  };
  tune({"tune", "--config", config}, of_config);
  tune({"tune", "--kernels", kernels}, of_folder);
  CHECK(read(of_folder) == read(of_config));
  const Outcome none = mlaforge_command({"tune", "--kernels", (folder / "nowhere").string()});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("nowhere"));

  // Data that names the slower kernel: only who reads it takes that.
  std::string data = read(of_config);
  const std::string best = Json::parse(data).at("rows").at(0).at("kernel");
  const std::string other = best.find("_s1_") == std::string::npos
                                ? "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950"
                                : "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s8_p1__gfx950";
  data.replace(data.find(best), best.size(), other);
  write(folder / "other.json", data);
  const std::vector<std::string> trace = {"trace",
                                          "--config",
                                          config,
                                          "--context",
                                          "512",
                                          "-o",
                                          (folder / "trace.json").string(),
                                          "--tuning",
                                          (folder / "other.json").string()};
  const Outcome traced = mlaforge_command(trace);
  INFO(traced.err);
  CHECK(traced.exit_code == 0);
  CHECK_THAT(traced.out, Contains(other) && Contains("chosen by predicted_tuning"));
}

TEST_CASE("a table of bench names the kernel of each line") {
  const TemporaryFolder folder;
  const Outcome table = mlaforge_command({"bench", "--config", small_config(folder), "--context", "256,512"});
  INFO(table.err);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Contains("kernel") && Contains("mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s"));
  const Outcome gap = mlaforge_command({"bench", "--config", small_config(folder), "--context", "256,,512"});
  CHECK(gap.exit_code == 2);
  CHECK_THAT(gap.err, Contains("--context") && Contains("256,,512") && Contains("1 .. 16777216"));
}

TEST_CASE("tune and bench refuse what they cannot use before they work, and write nothing") {
  const TemporaryFolder folder;
  const std::string config = small_config(folder, 8);
  const Outcome no_folder =
      mlaforge_command({"tune", "--config", config, "--out", (folder / "missing" / "t.json").string()});
  CHECK(no_folder.exit_code == 2);
  CHECK_THAT(no_folder.err, Contains("--out") && Contains("a folder that exists"));
  const Outcome no_kernel =
      mlaforge_command({"tune", "--config", config, "--qlen", "3", "--out", (folder / "t.json").string()});
  CHECK(no_kernel.exit_code == 2);
  CHECK_THAT(no_kernel.err, Contains("--qlen") && Contains("value: 3"));
  CHECK_FALSE(fs::exists(folder / "t.json"));

  write(folder / "bad.json", R"({"schema_version": 1})");
  const Outcome bad = mlaforge_command({"bench", "--config", config, "--tuning", (folder / "bad.json").string()});
  CHECK(bad.exit_code == 2);
  CHECK_THAT(bad.err, Contains("bad.json"));
  const Outcome missing = mlaforge_command({"bench", "--config", config, "--tuning", (folder / "no.json").string()});
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.err, Contains("--tuning") && Contains("no.json"));
}
