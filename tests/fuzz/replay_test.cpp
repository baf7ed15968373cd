// Every input of the corpora, through the entry function that its folder is named after: what the fuzzers reached and
// what they once broke keeps to its promises in every build, a sanitizer's or not.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/catch.h"
#include "tests/fuzz/entries.h"

namespace {

using namespace mlaforge::fuzz;

void replay(const char* name, void (*entry)(Input)) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(MLAFORGE_FUZZ_CORPUS) / name)) {
    files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  for (const auto& path : files) {
    INFO(path.string());
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK_NOTHROW(entry({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  }
}

}  // namespace

TEST_CASE("corpus of config") { replay("config", config); }
TEST_CASE("corpus of variant_name") { replay("variant_name", variant_name); }
TEST_CASE("corpus of manifest") { replay("manifest", manifest); }
TEST_CASE("corpus of resources") { replay("resources", resources); }
#ifdef MLAFORGE_FUZZ_SIMULATOR
TEST_CASE("corpus of code_object") { replay("code_object", code_object); }
TEST_CASE("corpus of instructions") { replay("instructions", instructions); }
#endif
TEST_CASE("corpus of select") { replay("select", mlaforge::fuzz::select); }
TEST_CASE("corpus of launch") { replay("launch", launch); }
TEST_CASE("corpus of tuning") { replay("tuning", tuning); }
TEST_CASE("corpus of open") { replay("open", mlaforge::fuzz::open); }
