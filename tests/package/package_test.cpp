// The install tree: it can be moved, the examples build from it alone and are right, parts can be left out.
#include <fstream>

#include "catch.h"
#include "tests/package/project.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

TEST_CASE("the example servers build from a moved install tree and serve right answers") {
  const TemporaryFolder folder;
  const fs::path package = install_and_move(folder);
  fs::copy(fs::path(MLAFORGE_SOURCE) / "docs/examples", folder / "examples");

  const ProcessResult configured =
      configure(folder / "examples", folder / "build", {"-DCMAKE_PREFIX_PATH=" + package.string()});
  INFO(configured.output);
  REQUIRE(configured.exit_code == 0);
  const ProcessResult built = build(folder / "build");
  INFO(built.output);
  REQUIRE(built.exit_code == 0);
  const ProcessResult tested = run({"ctest", "--test-dir", (folder / "build").string(), "--verbose"});
  INFO(tested.output);
  CHECK(tested.exit_code == 0);
  size_t right = 0;
  for (size_t at = 0; (at = tested.output.find(": right\n", at)) != std::string::npos; ++at) ++right;
  CHECK(right == 2 + 4 + 1);  // steps of the servers in C, C++ and Python
  CHECK(tested.output.find("WRONG") == std::string::npos);
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
