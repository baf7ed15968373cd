// The README is true: its commands run and end as it says, its config is one.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "generator/config/deployment_config.h"
#include "tests/cli/command_line.h"
#include "tests/generator/temporary_folder.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

namespace {

// The text of every block fenced as ```LANGUAGE.
std::vector<std::string> blocks(const std::string& language) {
  std::ifstream file(fs::path(MLAFORGE_SOURCE) / "README.md");
  REQUIRE(file);
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (!inside && line == "```" + language) {
      inside = true;
      found.emplace_back();
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  return found;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

TEST_CASE("every command of the README runs") {
  const TemporaryFolder folder;
  fs::copy(fs::path(MLAFORGE_SOURCE) / "configs", folder.path() / "configs");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  int commands = 0;
  for (const std::string& block : blocks("sh")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> words = words_of(line);
      REQUIRE(words.size() >= 2);
      REQUIRE(words.front() == "mlaforge");
      words.erase(words.begin());
      INFO(line);
      const Outcome outcome = mlaforge_command(words);
      INFO(outcome.out << outcome.err);
      CHECK(outcome.exit_code == 0);
      ++commands;
    }
  }
  fs::current_path(before);
  CHECK(commands >= 9);
}

TEST_CASE("the README's config is one") {
  const std::vector<std::string> configs = blocks("json");
  REQUIRE(configs.size() == 1);
  CHECK(parse_config(configs.front()).has_value());
}
