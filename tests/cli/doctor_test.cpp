// `mlaforge doctor`: what it finds, and what it says when things are hidden from it.
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// Sets an environment variable for a scope; the commands that the test runs inherit it.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

void write_program(const fs::path& path, const std::string& text) {
  write(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

/// The report in an empty folder with this exit code.
Json doctor(int exit_code, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"doctor", "--json"});
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const Outcome outcome = mlaforge_command(arguments);
  fs::current_path(before);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == exit_code);
  return Json::parse(outcome.out);
}

std::vector<std::string> missing(const Json& report) {
  std::vector<std::string> names;
  for (const Json& item : report.at("missing")) {
    names.push_back(item.at("what"));
    CHECK_FALSE(item.at("get").get<std::string>().empty());
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("doctor finds no compiler where PATH has none, and says which package has one") {
  const TemporaryFolder folder;
  const Variable path("PATH", folder.path().string());
  const Json report = doctor(1);
  CHECK(report.at("can").at("compile") == false);
  CHECK(has(missing(report), "a HIP compiler for gfx950"));
  CHECK_THAT(report.at("missing").dump(), Contains("clang-22") && Contains("lld-22"));
  for (const Json& compiler : report.at("compilers")) {
    if (compiler.at("path") == "") CHECK(compiler.at("problem") == "no such program");
  }
  const Outcome text = mlaforge_command({"doctor"});
  CHECK(text.exit_code == 1);
  CHECK_THAT(text.out, Contains("to get it: Debian packages clang-22") && Contains("compile: no"));
}

TEST_CASE("doctor tells an old hipcc, and a compiler that does not compile, from one that does") {
  const TemporaryFolder folder;
  write_program(folder / "hipcc", "#!/bin/sh\necho clang version 17.0.0\n");
  write_program(folder / "clang++-22", "#!/bin/sh\necho clang version 22.1.8\n[ \"$1\" = --version ]\n");
  const Variable path("PATH", folder.path().string());
  const Json report = doctor(1);
  CHECK(report.at("compilers").at(0).at("problem") == "clang 17 does not know gfx950");
  CHECK(report.at("compilers").at(1).at("problem") == "");
  CHECK(report.at("compiler").at("path") == (folder / "clang++-22").string());
  CHECK_THAT(report.at("compiler").at("problem").get<std::string>(), Contains("exit code 1"));
  CHECK(has(missing(report), "a HIP compiler that works"));
}

TEST_CASE("doctor names every path where it looked for a simulator that is not there") {
  const Variable hidden("MLAFORGE_SIMULATOR_LIBRARY", "no_such_simulator.so");
  const Outcome outcome = mlaforge_command({"doctor", "--json"});
  const Json report = Json::parse(outcome.out);
  CHECK_THAT(report.at("simulator").at("problem").get<std::string>(), Contains("no_such_simulator.so"));
  CHECK(report.at("can").at("simulate") == false);
  CHECK(has(missing(report), "the simulator"));
  CHECK(outcome.exit_code == (report.at("can").at("run_on_gpu") == true ? 0 : 1));
}

TEST_CASE("doctor finds the cache where XDG_CACHE_HOME says, and counts it") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "mlaforge");
  write(folder / "mlaforge" / "a.co", "12345");
  write(folder / "mlaforge" / "b.sha256", "1");
  {
    const Variable cache("XDG_CACHE_HOME", folder.path().string());
    const Json found = Json::parse(mlaforge_command({"doctor", "--json"}).out).at("cache");
    CHECK(found ==
          Json{{"folder", (folder / "mlaforge").string()}, {"writable", true}, {"code_objects", 1}, {"bytes", 5}});
  }
  write(folder / "file", "x");
  const Variable cache("XDG_CACHE_HOME", (folder / "file").string());
  const Json report = Json::parse(mlaforge_command({"doctor", "--json"}).out);
  CHECK(report.at("cache").at("writable") == false);
  CHECK(has(missing(report), "a folder for the compile cache"));
}

TEST_CASE("doctor looks at kernel sets, and sees one that was changed") {
  const TemporaryFolder folder;
  write(folder / "config.json",
        R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 1, "splits": 2}]})");
  const std::string set = (folder / "set").string();
  REQUIRE(mlaforge_command({"generate", "--config", (folder / "config.json").string(), "--out", set}).exit_code == 0);
  const auto sets = [&] {
    return Json::parse(mlaforge_command({"doctor", "--json", "--kernels", set}).out).at("kernel_sets");
  };
  const auto of_folder = [&](const Json& found) {
    for (const Json& entry : found) {
      if (entry.at("folder") == set) return entry;
    }
    return Json();
  };
  CHECK(of_folder(sets()) == Json{{"folder", set},
                                  {"name", "small"},
                                  {"target", "gfx950"},
                                  {"kernels", 1},
                                  {"code_objects", 0},
                                  {"problem", ""}});
  write(folder / "set" / "mla_combine_bf16p_s2__gfx950.hip", "changed");
  CHECK(of_folder(sets()).at("problem") == "mla_combine_bf16p_s2__gfx950.hip is not what the manifest names");
}

TEST_CASE("with a compiler and the simulator doctor is content, and tells AMD's library from the simulator's") {
  if (std::string(MLAFORGE_HIP_SIMULATOR).empty()) return;
  const Json report = doctor(0);
  CHECK(report.at("can").at("compile") == true);
  CHECK(report.at("can").at("simulate") == true);
  CHECK(report.at("compiler").at("problem") == "");
  REQUIRE(report.at("simulator").at("devices").size() == 1);
  CHECK(report.at("simulator").at("devices").at(0).at("target") == "gfx950");
  CHECK(report.at("simulator").at("devices").at(0).at("compute_units") == 256);

  // The simulator under the name of AMD's library is no GPU.
  const Variable path("LD_LIBRARY_PATH", MLAFORGE_HIP_SIMULATOR);
  const Json under_its_name = doctor(0);
  CHECK(under_its_name.at("hip").at("is_simulator") == true);
  CHECK(under_its_name.at("can").at("run_on_gpu") == false);
  CHECK(has(missing(under_its_name), "an MI355X that answers"));
}
