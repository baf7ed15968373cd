// Cases 23 and 24 of a folder's life, within one process; tests/cli has the many processes.
#include "generator/emit/write_tree.h"

#include <algorithm>
#include <thread>

#include "catch.h"
#include "temporary_folder.h"

using namespace mlaforge;
using namespace mlaforge::test;
namespace fs = std::filesystem;

namespace {

/// A small set: the named files and a manifest of ours that lists them.
std::vector<EmittedFile> make_set(const std::map<std::string, std::string>& texts) {
  std::vector<EmittedFile> files;
  nlohmann::json names = {"manifest.json"};
  for (const auto& [name, text] : texts) {
    files.push_back({name, text});
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  const nlohmann::json manifest = {{"generator", {{"name", "mlaforge"}}}, {"files", names}};
  files.push_back({"manifest.json", manifest.dump(2) + "\n"});
  return files;
}

WriteReport must_write(const fs::path& folder, const std::vector<EmittedFile>& files) {
  auto report = write_tree(folder, files);
  if (!report) FAIL(to_string(report.errors()));
  return *report;
}

}  // namespace

TEST_CASE("a set is written whole, into a folder that is made") {
  const TemporaryFolder base;
  const fs::path folder = base / "a/b";
  const auto files = make_set({{"x.hip", "one"}, {"y.hip", std::string(100'000, 'y')}});
  const auto report = must_write(folder, files);
  CHECK(report.removed.empty());
  CHECK(report.written.size() == 3);
  std::map<std::string, std::string> expected;
  for (const EmittedFile& file : files) expected[file.path] = file.text;
  CHECK(read_all(folder) == expected);
  CHECK(compare_tree(folder, files).empty());
}

TEST_CASE("unchanged files keep their times, changed ones are replaced") {
  const TemporaryFolder folder;
  must_write(folder.path(), make_set({{"x.hip", "one"}, {"y.hip", "two"}}));
  const auto old_time = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  for (const char* name : {"x.hip", "y.hip", "manifest.json"}) fs::last_write_time(folder / name, old_time);
  const auto stored = fs::last_write_time(folder / "x.hip");

  auto report = must_write(folder.path(), make_set({{"x.hip", "one"}, {"y.hip", "two"}}));
  CHECK(report.written.empty());
  CHECK(report.unchanged.size() == 3);
  for (const char* name : {"x.hip", "y.hip", "manifest.json"}) CHECK(fs::last_write_time(folder / name) == stored);

  report = must_write(folder.path(), make_set({{"x.hip", "one"}, {"y.hip", "changed"}}));
  CHECK(report.written == std::vector<std::string>{"y.hip"});
  CHECK(fs::last_write_time(folder / "x.hip") == stored);
  CHECK(fs::last_write_time(folder / "y.hip") != stored);
  CHECK(read(folder / "y.hip") == "changed");
}

TEST_CASE("orphans that the manifest lists are removed, foreign files never") {
  const TemporaryFolder folder;
  must_write(folder.path(), make_set({{"x.hip", "one"}, {"y.hip", "two"}}));
  write(folder / "mine.hip", "kept");
  const auto report = must_write(folder.path(), make_set({{"x.hip", "one"}}));
  CHECK(report.removed == std::vector<std::string>{"y.hip"});
  CHECK_FALSE(fs::exists(folder / "y.hip"));
  CHECK(read(folder / "mine.hip") == "kept");
}

TEST_CASE("a foreign file in the way is an error, and nothing is written") {
  const TemporaryFolder folder;
  write(folder / "CMakeLists.txt", "project(theirs)");
  const auto report = write_tree(folder.path(), make_set({{"CMakeLists.txt", "ours"}, {"x.hip", "one"}}));
  REQUIRE_FALSE(report.has_value());
  CHECK(report.errors().front().where == (folder / "CMakeLists.txt").string());
  CHECK(read_all(folder.path()) == std::map<std::string, std::string>{{"CMakeLists.txt", "project(theirs)"}});
}

TEST_CASE("a manifest that is not ours, or names files outside, is refused and obeyed in nothing") {
  const TemporaryFolder base;
  const fs::path folder = base / "set";
  fs::create_directory(folder);
  write(base / "precious", "kept");
  for (const char* text :
       {"not json", "[]", R"({"files": ["x.hip"]})", R"({"generator": {"name": "other"}, "files": []})",
        R"({"generator": {"name": "mlaforge"}, "files": ["../precious"]})",
        R"({"generator": {"name": "mlaforge"}, "files": ["/etc/passwd"]})",
        R"({"generator": {"name": "mlaforge"}, "files": [".."]})",
        R"({"generator": {"name": "mlaforge"}, "files": [7]})"}) {
    INFO(text);
    write(folder / "manifest.json", text);
    CHECK_FALSE(write_tree(folder, make_set({{"x.hip", "one"}})).has_value());
    CHECK(read_all(folder) == std::map<std::string, std::string>{{"manifest.json", text}});
    CHECK(read(base / "precious") == "kept");
  }
}

TEST_CASE("what a killed writer leaves is cleaned up by the next") {
  const TemporaryFolder folder;
  must_write(folder.path(), make_set({{"x.hip", "one"}}));
  // A writer announces the union of old and new names before it writes; it was killed after y.hip.
  auto manifest = nlohmann::json::parse(read(folder / "manifest.json"));
  manifest["files"] = {"manifest.json", "x.hip", "y.hip", "z.hip"};
  write(folder / "manifest.json", manifest.dump());
  write(folder / "y.hip", "two");
  write(folder / ".mlaforge-tmp-1-0", "half of z");
  const auto files = make_set({{"x.hip", "one"}});
  CHECK_FALSE(compare_tree(folder.path(), files).empty());
  CHECK(must_write(folder.path(), files).removed == std::vector<std::string>{"y.hip"});
  CHECK(read_all(folder.path()).size() == 2);
  CHECK(compare_tree(folder.path(), files).empty());
}

TEST_CASE("sixteen writers of one folder leave one of their sets, whole") {
  const TemporaryFolder folder;
  std::vector<std::vector<EmittedFile>> sets;
  for (int i = 0; i < 16; ++i) {
    sets.push_back(
        make_set({{"common.hip", std::to_string(i)}, {"own" + std::to_string(i) + ".hip", std::string(5000, 'o')}}));
  }
  {
    std::vector<std::jthread> writers;
    for (const auto& set : sets) {
      writers.emplace_back([&folder, &set] {
        for (int round = 0; round < 5; ++round) (void)write_tree(folder.path(), set);
      });
    }
  }
  const auto is_whole = [&folder](const auto& set) {
    return compare_tree(folder.path(), set).empty() && read_all(folder.path()).size() == set.size();
  };
  CHECK(std::count_if(sets.begin(), sets.end(), is_whole) == 1);
}

TEST_CASE("comparison names what is missing, different and orphaned") {
  const TemporaryFolder folder;
  must_write(folder.path(), make_set({{"a.hip", "1"}, {"b.hip", "2"}, {"c.hip", "3"}}));
  fs::remove(folder / "a.hip");
  write(folder / "b.hip", "edited");
  std::map<std::string, std::string> found;
  for (const Diagnostic& d : compare_tree(folder.path(), make_set({{"a.hip", "1"}, {"b.hip", "2"}}))) {
    found[fs::path(d.where).filename().string()] = d.problem;
  }
  CHECK(found.at("a.hip") == "is missing");
  CHECK_THAT(found.at("b.hip"), Catch::Matchers::Contains("not what"));
  CHECK_THAT(found.at("c.hip"), Catch::Matchers::Contains("no longer asked for"));
  CHECK(found.size() == 4);  // the manifest differs too
}

TEST_CASE("a folder that cannot be a folder is an error") {
  const TemporaryFolder base;
  write(base / "file", "x");
  CHECK_FALSE(write_tree(base / "file", make_set({{"x.hip", "one"}})).has_value());
  CHECK_FALSE(write_tree(base / "file/below", make_set({{"x.hip", "one"}})).has_value());
}
