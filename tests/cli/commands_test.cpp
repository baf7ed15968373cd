// What each command prints, and how it exits: 0 done, 1 a check or a compilation failed, 2 bad input.
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"
#include "generator/config/deployment_config.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string small_config(const TemporaryFolder& folder) {
  write(folder / "config.json",
        R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 1, "splits": [1, 2]}]})");
  return (folder / "config.json").string();
}

}  // namespace

TEST_CASE("list names every kernel, as text and as JSON") {
  const Outcome text = mlaforge_command({"list"});
  CHECK(text.exit_code == 0);
  CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 49);
  CHECK_THAT(text.out, Contains("mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s42_p1__gfx950"));
  CHECK(text.err.empty());
  const Outcome json = mlaforge_command({"list", "--json"});
  const Json document = Json::parse(json.out);
  CHECK(document.at("config") == "kimi_k3_tp8");
  CHECK(document.at("kernels").size() == 49);
  CHECK(document.at("kernels").at(0).at("key").at("heads") == 12);
}

TEST_CASE("bad input is exit code 2, its place on stderr and in the JSON") {
  const TemporaryFolder folder;
  write(
      folder / "bad.json",
      R"({"name": "x", "model": {"num_heads": 96}, "tensor_parallel": 7, "kernels": [{"query_length": 1, "splits": 1}]})");
  const std::string bad = (folder / "bad.json").string();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"check", "--config", bad, "--json"},
        {"list", "--config", bad, "--json"},
        {"generate", "--config", bad, "--out", (folder / "out").string(), "--json"},
        {"compile", "--config", bad, "--json"}}) {
    INFO(arguments.front());
    const Outcome outcome = mlaforge_command(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(bad + "#/tensor_parallel") && Contains("nearest: 6 or 8"));
    const Json error = Json::parse(outcome.out).at("errors").at(0);
    CHECK(error.at("where") == bad + "#/tensor_parallel");
    CHECK(error.at("value") == "7");
    CHECK(error.at("nearest") == "6 or 8");
  }
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("a refused plan writes nothing at all") {
  const TemporaryFolder folder;
  write(folder / "config.json",
        R"({"name": "x", "model": {"num_heads": 128}, "kernels": [{"query_length": 1, "splits": 1},
            {"query_length": 8, "splits": 1, "head_groups": 1}]})");
  const Outcome outcome =
      mlaforge_command({"generate", "--config", (folder / "config.json").string(), "--out", (folder / "out").string()});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("mla_decode_bf16q_fp8kv_h128_g1_q8_b128_s1_p1__gfx950"));
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("usage errors are exit code 2, help is 0") {
  CHECK(mlaforge_command({}).exit_code == 2);
  CHECK(mlaforge_command({"generate"}).exit_code == 2);
  CHECK(mlaforge_command({"lisst"}).exit_code == 2);
  CHECK(mlaforge_command({"list", "--config", "/nowhere.json"}).exit_code == 2);
  CHECK(mlaforge_command({"compile", "--config", "a", "--kernels", "b"}).exit_code == 2);
  CHECK(mlaforge_command({"--help"}).exit_code == 0);
  CHECK_THAT(mlaforge_command({"--version"}).out, Contains("mlaforge 0."));
}

TEST_CASE("check says whether a kernel set is current") {
  const TemporaryFolder folder;
  const std::string set = (folder / "set").string();
  const std::string config = small_config(folder);
  REQUIRE(mlaforge_command({"generate", "--config", config, "--out", set}).exit_code == 0);
  CHECK(mlaforge_command({"check", "--config", config, "--kernels", set}).exit_code == 0);
  const fs::path kernel = fs::path(set) / "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s2_p1__gfx950.hip";
  write(kernel, read(kernel) + "// edited\n");
  const Outcome edited = mlaforge_command({"check", "--config", config, "--kernels", set});
  CHECK(edited.exit_code == 1);
  CHECK_THAT(edited.err, Contains(kernel.string()));
  CHECK(mlaforge_command({"check", "--kernels", set}).exit_code == 1);
  CHECK(mlaforge_command({"check", "--kernels", (folder / "absent").string()}).exit_code == 2);
  // generate puts it right again.
  const Outcome repaired = mlaforge_command({"generate", "--config", config, "--out", set, "--json"});
  CHECK(Json::parse(repaired.out).at("written") == Json::array({kernel.filename().string()}));
  CHECK(mlaforge_command({"check", "--config", config, "--kernels", set}).exit_code == 0);
}

TEST_CASE("compile writes code objects and a manifest with what each kernel uses") {
  const TemporaryFolder folder;
  const std::string set = (folder / "set").string();
  const std::string out = (folder / "out").string();
  const std::string cache = (folder / "cache").string();
  const std::string combine = "mla_combine_bf16p_s2__gfx950";
  const std::string attention = "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s2_p1__gfx950";
  REQUIRE(mlaforge_command({"generate", "--config", small_config(folder), "--out", set}).exit_code == 0);
  Outcome outcome =
      mlaforge_command({"compile", "--kernels", set, "--out", out, "--cache", cache, "--only", combine, "--json"});
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(fs::exists(fs::path(out) / (combine + ".co")));
  const Json manifest = Json::parse(read(fs::path(out) / "manifest.json"));
  const Json& code_object = manifest.at("combine_kernels").at(0).at("code_object");
  CHECK_THAT(code_object.at("compiler").get<std::string>(), Contains("clang") || Contains("HIP"));
  CHECK(code_object.at("vgpr_spills") == 0);
  CHECK(code_object.at("vgprs") > 0);
  CHECK(code_object.at("code_bytes") > 0);
  CHECK(Json::parse(outcome.out) == manifest);

  // Another kernel into the same folder leaves the first one there.
  outcome = mlaforge_command({"compile", "--kernels", set, "--out", out, "--cache", cache, "--only", attention});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(fs::exists(fs::path(out) / (combine + ".co")));
  CHECK(fs::exists(fs::path(out) / (attention + ".co")));
  CHECK(Json::parse(read(fs::path(out) / "manifest.json")).at("combine_kernels").at(0).contains("code_object"));
}

TEST_CASE("compile refuses what it cannot compile") {
  const TemporaryFolder folder;
  const std::string set = (folder / "set").string();
  REQUIRE(mlaforge_command({"generate", "--config", small_config(folder), "--out", set}).exit_code == 0);
  Outcome outcome = mlaforge_command({"compile", "--kernels", set, "--only", "mla_combine_bf16p_s3__gfx950"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("nearest: mla_combine_bf16p_s2__gfx950"));
  outcome = mlaforge_command({"compile", "--kernels", set, "--compiler", "/bin/true"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("/bin/true"));
  outcome = mlaforge_command({"compile", "--kernels", folder.path().string()});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("manifest.json"));
  write(fs::path(set) / "mla_combine_bf16p_s2__gfx950.hip", "#error changed");
  outcome = mlaforge_command({"compile", "--kernels", set});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("is not the source that the manifest names"));
}
