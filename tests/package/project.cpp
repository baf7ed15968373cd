#include "tests/package/project.h"

#include "catch.h"

namespace mlaforge::test {

namespace fs = std::filesystem;

ProcessResult run(std::vector<std::string> argv) {
  const fs::path program = find_program(argv.front());
  INFO(argv.front());
  REQUIRE(!program.empty());
  argv.front() = program.string();
  const Expected<ProcessResult> result = run_process(argv);
  REQUIRE(result.has_value());
  return *result;
}

fs::path install_and_move(const TemporaryFolder& folder) {
  const ProcessResult installed =
      run({MLAFORGE_CMAKE, "--install", MLAFORGE_BINARY, "--prefix", (folder / "first").string()});
  INFO(installed.output);
  REQUIRE(installed.exit_code == 0);
  const fs::path moved = folder / "moved to another place";
  fs::rename(folder / "first", moved);
  return moved;
}

ProcessResult configure(const fs::path& source, const fs::path& build, const std::vector<std::string>& options) {
  std::vector<std::string> argv = {MLAFORGE_CMAKE,
                                   "-S",
                                   source.string(),
                                   "-B",
                                   build.string(),
                                   "-G",
                                   MLAFORGE_CMAKE_GENERATOR,
                                   "-DCMAKE_C_COMPILER=" MLAFORGE_C_COMPILER,
                                   "-DCMAKE_CXX_COMPILER=" MLAFORGE_CXX_COMPILER};
  argv.insert(argv.end(), options.begin(), options.end());
  return run(argv);
}

ProcessResult build(const fs::path& folder) { return run({MLAFORGE_CMAKE, "--build", folder.string()}); }

}  // namespace mlaforge::test
