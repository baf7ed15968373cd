// What each command prints, and how it exits: 0 done, 1 a check or a compilation failed, 2 bad input.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "command_line.h"
#include "generator/config/deployment_config.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("list names every kernel, as text and as JSON") {
  const Outcome text = mlaforge_command({"list"});
  CHECK(text.exit_code == 0);
  CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 67);
  CHECK_THAT(text.out, Contains("mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s42_p1__gfx950"));
  CHECK(text.err.empty());
  const Outcome json = mlaforge_command({"list", "--json"});
  const Json document = Json::parse(json.out);
  CHECK(document.at("config") == "kimi_k3_tp8");
  CHECK(document.at("kernels").size() == 67);
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
  const Outcome misspelt = mlaforge_command({"lisst"});
  CHECK(misspelt.exit_code == 2);
  CHECK_THAT(misspelt.err, Contains("lisst") && Contains("nearest: list"));
  CHECK(mlaforge_command({"list", "--config", "/nowhere.json"}).exit_code == 2);
  CHECK(mlaforge_command({"compile", "--config", "a", "--kernels", "b"}).exit_code == 2);
  CHECK(mlaforge_command({"--help"}).exit_code == 0);
  CHECK_THAT(mlaforge_command({"--version"}).out, Contains("mlaforge 0."));
}

TEST_CASE("numbers beyond their type are refused, not saturated") {
  const std::pair<const char*, const char*> bad[] = {{"--seed", "18446744073709551616"},
                                                     {"--seed", "-1"},
                                                     {"--seed", "0x10"},
                                                     {"--pool-bytes", "1e10"},
                                                     {"--k-scale", "nan"},
                                                     {"--v-scale", "inf"},
                                                     {"--k-scale", "1e39"},
                                                     {"--q-scale", "-infinity"}};
  for (const auto& [option, value] : bad) {
    INFO(option << " " << value);
    const Outcome outcome = mlaforge_command({"run", option, value});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(option) && Contains(value));
  }
}

TEST_CASE("an empty value is refused: it does not stand for the default") {
  const std::pair<const char*, const char*> empty[] = {
      {"list", "--config"},     {"generate", "--config"}, {"generate", "--out"}, {"check", "--kernels"},
      {"compile", "--kernels"}, {"explain", "--kernels"}, {"run", "--context"},  {"run", "--kernel"},
      {"run", "--checks"},      {"bench", "--batch"},     {"bench", "--tuning"}, {"tune", "--qlen"},
      {"compile", "--out"},     {"compile", "--cache"}};
  for (const auto& [command, option] : empty) {
    INFO(command << " " << option);
    const Outcome outcome = mlaforge_command({command, option, ""});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(option) && Contains("it is empty"));
  }
}

TEST_CASE("a problem that a filter has no kernel for names the filter") {
  const Outcome outcome = mlaforge_command({"run", "--qlen", "1", "--pipeline", "warp_specialized"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("among the kernels of --pipeline warp_specialized"));
}

TEST_CASE("a launch that did not come through reports no comparison") {
  const TemporaryFolder folder;
  write(folder / "config.json", R"({"name": "wide", "model": {"num_heads": 12}, "wide_kv": true,
                                    "kernels": [{"query_length": 1, "splits": 1}]})");
  // The pool leaves no room for the query.
  const Outcome outcome = mlaforge_command(
      {"run", "--config", (folder / "config.json").string(), "--context", "10", "--pool-bytes", "309237640000"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("out of memory") && !Contains("rel_l2"));
}

TEST_CASE("an option's bad value is named as the user wrote it") {
  const std::string nowhere = "/nonexistent/clang++";
  for (const char* command : {"run", "bench", "compile", "mutate", "trace", "explain"}) {
    INFO(command);
    const Outcome cache = mlaforge_command({command, "--cache", "/proc/nowhere"});
    CHECK(cache.exit_code == 2);
    CHECK_THAT(cache.err, Contains("--cache: the cache cannot be made"));
    const Outcome outcome = mlaforge_command({command, "--compiler", nowhere});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("--compiler: no such program") && Contains(nowhere));
  }
  const Outcome memory = mlaforge_command({"run", "--memory", "lazyy"});
  CHECK(memory.exit_code == 2);
  CHECK(memory.err ==
        "mlaforge: --memory: not a value of the simulator's option (value: lazyy; allowed: lazy, clobber, eager, "
        "random:SEED "
        "with a "
        "number of 64 bits)\n");
  const Outcome checks = mlaforge_command({"run", "--checks", "lds_race"});
  CHECK(checks.exit_code == 2);
  CHECK_THAT(checks.err, Contains("--checks: ") && Contains("lds_races, ") && !Contains("mlaforge_simulator"));
}

TEST_CASE("a cache that no machine holds is refused before it is made") {
  const Outcome outcome = mlaforge_command({"run", "--batch", "65536", "--context", "16777216"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--context: the requests' cache does not fit") && Contains("a smaller --batch"));
}

TEST_CASE("errors about what is no UTF-8 are JSON all the same") {
  const TemporaryFolder folder;
  write(folder / "config.json", "\x9c{");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list", "--config", (folder / "config.json").string(), "--json"},
        {"check", "--kernels", "/nowhere\xff", "--json"}}) {
    const Outcome outcome = mlaforge_command(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(Json::parse(outcome.out).at("errors").size() == 1);
  }
}

TEST_CASE("one reason that refuses kernels of many splits is one error") {
  const TemporaryFolder folder;
  write(folder / "config.json",
        R"({"name": "x", "model": {"num_heads": 128},
            "kernels": [{"query_length": 8, "splits": [1, 2, 4, 8, 16], "head_groups": 1}]})");
  const Outcome outcome = mlaforge_command({"list", "--config", (folder / "config.json").string()});
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("a kernel set's bad manifest is named with its folder, and names no files elsewhere") {
  const TemporaryFolder folder;
  const std::string manifest = (folder / "manifest.json").string();
  write(manifest, "{}");
  const Outcome foreign = mlaforge_command({"compile", "--kernels", folder.path().string()});
  CHECK(foreign.exit_code == 2);
  CHECK_THAT(foreign.err, Contains(manifest));
  for (const char* place : {R"("name": "../k", "file": "k.hip")", R"("name": "k", "file": "../k.hip")"}) {
    write(manifest, std::string(R"({"generator": {"name": "mlaforge"}, "target": "gfx950", "files": ["k.hip"],)") +
                        R"("combine_kernels": [], "kernels": [{)" + place + R"(, "source_sha256": "")" + "}]}");
    const Outcome outside = mlaforge_command({"compile", "--kernels", folder.path().string()});
    CHECK(outside.exit_code == 2);
    CHECK_THAT(outside.err, Contains(manifest) && Contains("../k"));
  }
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
  const Outcome other = mlaforge_command({"check", "--kernels", set});
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.err, Contains("manifest.json#/config/name: is a kernel set of another config (value: small; "
                                 "allowed: kimi_k3_tp8"));
  CHECK(std::count(other.err.begin(), other.err.end(), '\n') == 1);
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
  const std::string config = small_config(folder);
  REQUIRE(mlaforge_command({"generate", "--config", config, "--out", set}).exit_code == 0);
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

  // check holds the code objects to the config: those that are not there, then all, then one that was changed.
  const std::vector<std::string> check = {"check", "--config", config, "--kernels", out};
  CHECK_THAT(mlaforge_command(check).err, Contains(attention + ".co: is not compiled") && !Contains(combine));
  CHECK(mlaforge_command(check).exit_code == 1);

  // Another kernel into the same folder leaves the first one there.
  outcome = mlaforge_command({"compile", "--kernels", set, "--out", out, "--cache", cache, "--only", attention});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(fs::exists(fs::path(out) / (combine + ".co")));
  CHECK(fs::exists(fs::path(out) / (attention + ".co")));
  CHECK(Json::parse(read(fs::path(out) / "manifest.json")).at("combine_kernels").at(0).contains("code_object"));

  REQUIRE(mlaforge_command({"compile", "--kernels", set, "--out", out, "--cache", cache}).exit_code == 0);
  outcome = mlaforge_command(check);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("small: 2 kernels and 1 combine kernel can be built; " + out + " is current"));
  write(fs::path(out) / (combine + ".co"), "changed");
  outcome = mlaforge_command(check);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains(combine + ".co: is not what the manifest names"));
  // Sources are not there to be simulated or compiled.
  outcome = mlaforge_command({"check", "--config", config, "--kernels", out, "--simulate"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--simulate: compiles sources"));
  outcome = mlaforge_command({"compile", "--kernels", out});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("holds the code objects of `mlaforge compile`, not the sources"));
}

TEST_CASE("a manifest that lists a kernel twice is refused by every command that reads it") {
  const TemporaryFolder folder;
  const std::string set = (folder / "set").string();
  REQUIRE(mlaforge_command({"generate", "--config", small_config(folder), "--out", set}).exit_code == 0);
  Json manifest = Json::parse(read(fs::path(set) / "manifest.json"));
  manifest["kernels"].push_back(manifest["kernels"][0]);
  write(fs::path(set) / "manifest.json", manifest.dump());
  const std::string twice = "manifest.json#/kernels/2/name: stands in /kernels/0 already";
  const std::string name = manifest["kernels"][0]["name"];
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"compile", "--kernels", set, "--only", name}, {"explain", "--kernels", set}}) {
    const Outcome outcome = mlaforge_command(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(twice) && Contains("allowed: each kernel once"));
  }
  CHECK_THAT(mlaforge_command({"doctor", "--kernels", set}).out, Contains(twice));
}

TEST_CASE("compile refuses what it cannot compile") {
  const TemporaryFolder folder;
  const std::string set = (folder / "set").string();
  REQUIRE(mlaforge_command({"generate", "--config", small_config(folder), "--out", set}).exit_code == 0);
  Outcome outcome = mlaforge_command({"compile", "--kernels", set, "--only", "mla_combine_bf16p_s3__gfx950"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("nearest: mla_combine_bf16p_s2__gfx950"));
  outcome = mlaforge_command({"compile", "--kernels", set, "--out", set});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--out: holds a kernel set's sources"));
  CHECK(fs::exists(fs::path(set) / "dispatch_table.cpp"));
  outcome = mlaforge_command({"compile", "--kernels", set, "--compiler", "/bin/true"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--compiler: ") && Contains("/bin/true"));
  outcome = mlaforge_command({"compile", "--kernels", set, "--cache", "/dev/null"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--cache: ") && Contains("/dev/null"));
  outcome = mlaforge_command({"compile", "--kernels", folder.path().string()});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("manifest.json"));
  write(fs::path(set) / "mla_combine_bf16p_s2__gfx950.hip", "#error changed");
  outcome = mlaforge_command({"compile", "--kernels", set});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("is not the source that the manifest names"));
}
