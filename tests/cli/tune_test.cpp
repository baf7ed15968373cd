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
  CHECK_THAT(first.out, Contains("Predicted") && Contains("tried: 2 kernels at 1 point; 0 ruled out"));
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
