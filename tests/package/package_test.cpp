// The install tree: it can be moved, the examples build from it alone and are right, parts can be left out.
#include <sstream>

#include "catch.h"
#include "tests/package/project.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

namespace {

/// The words of every line in a page's blocks of shell commands.
std::vector<std::vector<std::string>> commands_of(const fs::path& page) {
  std::vector<std::vector<std::string>> commands;
  std::istringstream lines(read(page));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside) {
      std::istringstream words(line);
      commands.emplace_back();
      for (std::string word; words >> word;) commands.back().push_back(word);
    }
  }
  return commands;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("the commands of docs/integration.md run: install, and from the moved tree alone build example servers") {
  const TemporaryFolder folder;
  fs::copy(fs::path(MLAFORGE_SOURCE) / "docs/examples", folder / "the examples");
  fs::path package = folder / "first";
  std::string output;
  int commands = 0;
  for (std::vector<std::string> words : commands_of(fs::path(MLAFORGE_SOURCE) / "docs/integration.md")) {
    INFO(words[0] << " " << words[1]);
    for (std::string& word : words) {
      word = replaced(word, "/opt/mlaforge", package.string());
      word = replaced(word, "build/release", MLAFORGE_BINARY);
      word = replaced(word, "docs/examples", (folder / "the examples").string());
      word = replaced(word, "build/examples", (folder / "build").string());
    }
    if (words[0] == "mlaforge") words[0] = (package / "bin/mlaforge").string();
    if (words[1] == "-S") {
      words.insert(words.end(), {"-G", MLAFORGE_CMAKE_GENERATOR, "-DCMAKE_C_COMPILER=" MLAFORGE_C_COMPILER,
                                 "-DCMAKE_CXX_COMPILER=" MLAFORGE_CXX_COMPILER});
    }
    const ProcessResult result = run(words);
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    if (words[1] == "--install") {
      package = folder / "moved to another place";
      fs::rename(folder / "first", package);
    }
    output += result.output;
    ++commands;
  }
  CHECK(commands == 1 + 3 + 2);
  size_t right = 0;
  for (size_t at = 0; (at = output.find(": right\n", at)) != std::string::npos; ++at) ++right;
  CHECK(right == 2 + 4 + 1);  // steps of the servers in C, C++ and Python
  CHECK(output.find("WRONG") == std::string::npos);
  // The installed command found the installed simulator.
  CHECK_THAT(output, Catch::Matchers::Contains((package / "lib/libmlaforge_simulator_hip.so").string()));
}

TEST_CASE("nothing in the install tree knows where it was built or first installed") {
  const TemporaryFolder folder;
  const fs::path package = install_and_move(folder);
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(package)) {
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || (extension != ".cmake" && extension != ".h" && extension != ".hpp")) continue;
    ++files;
    INFO(entry.path());
    const std::string text = read(entry.path());
    CHECK(text.find(MLAFORGE_BINARY) == std::string::npos);
    CHECK(text.find(MLAFORGE_SOURCE) == std::string::npos);
    CHECK(text.find((folder / "first").string()) == std::string::npos);
  }
  CHECK(files >= 12);
  // The names of AMD's library lead to the simulator.
  CHECK(fs::canonical(package / "lib/mlaforge/hip-simulator/libamdhip64.so.6") ==
        fs::canonical(package / "lib/libmlaforge_simulator_hip.so"));
}

TEST_CASE("the shared runtime exports the C ABI and nothing else") {
  const TemporaryFolder folder;
  const fs::path package = install_and_move(folder);
  const ProcessResult symbols =
      run({"nm", "--dynamic", "--defined-only", (package / "lib/libmlaforge_runtime.so").string()});
  REQUIRE(symbols.exit_code == 0);
  std::istringstream lines(symbols.output);
  int functions = 0;
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind != "T") continue;
    ++functions;
    CHECK_THAT(name, Catch::Matchers::StartsWith("mlaforge_"));
  }
  CHECK(functions >= 9);
}

TEST_CASE("generator and runtime configure without LLVM, the runtime without the generator's libraries") {
  const TemporaryFolder folder;
  const std::string without_llvm = "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON";
  const ProcessResult refused = configure(MLAFORGE_SOURCE, folder / "whole", {without_llvm});
  CHECK(refused.exit_code != 0);  // the switch does hide it
  const ProcessResult no_simulator =
      configure(MLAFORGE_SOURCE, folder / "no_simulator", {without_llvm, "-DMLAFORGE_BUILD_SIMULATOR=OFF"});
  INFO(no_simulator.output);
  CHECK(no_simulator.exit_code == 0);
  std::vector<std::string> least = {without_llvm, "-DMLAFORGE_BUILD_SIMULATOR=OFF", "-DMLAFORGE_BUILD_GENERATOR=OFF",
                                    "-DMLAFORGE_BUILD_TESTS=OFF"};
  for (const char* package : {"fmt", "CLI11", "valijson", "Catch2"}) {
    least.push_back(std::string("-DCMAKE_DISABLE_FIND_PACKAGE_") + package + "=ON");
  }
  const ProcessResult runtime_only = configure(MLAFORGE_SOURCE, folder / "runtime", least);
  INFO(runtime_only.output);
  CHECK(runtime_only.exit_code == 0);
}
