// generated/, the default config's kernels, in a server's build: all of them compile, embed and open.
#include "catch.h"
#include "tests/package/project.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

TEST_CASE("generated/ builds by add_subdirectory and opens with all its kernels") {
  const TemporaryFolder folder;
  const fs::path package = install_and_move(folder);
  fs::remove_all(package / "bin");  // no generator
  const fs::path source = folder / "server";
  fs::create_directory(source);
  fs::copy(fs::path(MLAFORGE_SOURCE) / "generated", source / "generated");
  write(source / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.25)
project(server LANGUAGES CXX)
set(MLAFORGE_INCLUDE_DIR ${PACKAGE}/include)
add_subdirectory(generated)
add_executable(server server.cpp)
target_link_libraries(server mlaforge_kernels_kimi_k3_tp8 ${PACKAGE}/lib/libmlaforge_runtime.a ${CMAKE_DL_LIBS})
)");
  write(source / "server.cpp", R"(#include <mlaforge_kernels_kimi_k3_tp8.h>
#include <cstdio>
int main() {
  const mlaforge_kernel_set* sets[] = {mlaforge_kernels_kimi_k3_tp8()};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.backend = MLAFORGE_BACKEND_SIMULATOR;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  mlaforge_library* library = nullptr;
  mlaforge_capability_info info = MLAFORGE_CAPABILITY_INFO_INIT;
  if (mlaforge_open(&options, &library) != MLAFORGE_SUCCESS || mlaforge_capabilities(library, &info) != MLAFORGE_SUCCESS) {
    std::printf("%s\n", mlaforge_last_error());
    return 1;
  }
  std::printf("%d kernels open\n", static_cast<int>(info.row_count));
  mlaforge_close(library);
}
)");
  const ProcessResult configured = configure(source, folder / "build", {"-DPACKAGE=" + package.string()});
  INFO(configured.output);
  REQUIRE(configured.exit_code == 0);
  const ProcessResult built = build(folder / "build");
  INFO(built.output);
  REQUIRE(built.exit_code == 0);
  const std::string simulator = "MLAFORGE_SIMULATOR_LIBRARY=" + (package / "lib/libmlaforge_simulator_hip.so").string();
  const ProcessResult opened = run({"env", simulator, (folder / "build/server").string()});
  CHECK(opened.output == "49 kernels open\n");
  CHECK(opened.exit_code == 0);
}
