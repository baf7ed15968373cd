// Cases 23 and 24: many generators, killed generators, repeated generators and one folder.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "command_line.h"

using namespace mlaforge::test;
namespace fs = std::filesystem;

namespace {

/// A config of one query length and these splits.
fs::path make_config(const TemporaryFolder& folder, const std::string& file, const std::string& splits) {
  write(folder / file,
        R"({"name": "small", "model": {"num_heads": 12}, "kernels": [{"query_length": 4, "splits": )" + splits + "}]}");
  return folder / file;
}

std::map<std::string, std::string> generated(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<std::string> all = {"generate", "--out", folder.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Outcome outcome = mlaforge_command(all);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return read_all(folder);
}

}  // namespace

TEST_CASE("generating twice gives identical trees, and touches nothing") {
  const TemporaryFolder base;
  const auto first = generated({}, base / "a");
  const auto other = generated({}, base / "b");
  CHECK(first == other);
  CHECK(first.size() == 67 + 12 + 4);  // kernels, combine kernels; table, header, build file, manifest

  const auto past = fs::file_time_type::clock::now() - std::chrono::hours(10000);
  for (const auto& [name, text] : first) fs::last_write_time(base / "a" / name, past);
  const auto stored = fs::last_write_time(base / "a" / "manifest.json");
  CHECK(generated({}, base / "a") == first);
  for (const auto& [name, text] : first) CHECK(fs::last_write_time(base / "a" / name) == stored);
}

TEST_CASE("a variant that is removed from the config is gone, and nothing else") {
  const TemporaryFolder base;
  const auto config_of_three = make_config(base, "three.json", "[1, 8, 16]");
  const auto config_of_two = make_config(base, "two.json", "[1, 8]");
  const auto three = generated({"--config", config_of_three.string()}, base / "set");
  write(base / "set" / "notes.txt", "mine");
  auto two = generated({"--config", config_of_two.string()}, base / "set");
  CHECK(three.contains("mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950.hip"));
  CHECK_FALSE(two.contains("mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950.hip"));
  CHECK_FALSE(two.contains("mla_combine_bf16p_s16__gfx950.hip"));
  CHECK(two.at("notes.txt") == "mine");
  two.erase("notes.txt");
  CHECK(two == generated({"--config", config_of_two.string()}, base / "fresh"));
}

TEST_CASE("sixteen generators into one folder: all outputs whole and right") {
  const TemporaryFolder base;
  const auto expected = generated({}, base / "expected");
  std::vector<pid_t> processes;
  for (int i = 0; i < 16; ++i) processes.push_back(start_mlaforge({"generate", "--out", (base / "set").string()}));
  for (const pid_t process : processes) CHECK(wait_for(process) == 0);
  CHECK(read_all(base / "set") == expected);
}

TEST_CASE("sixteen generators of two configs into one folder leave one of the two sets") {
  const TemporaryFolder base;
  const auto a = make_config(base, "a.json", "[1, 8, 16]");
  const auto b = make_config(base, "b.json", "[2, 8, 32]");
  const auto set_a = generated({"--config", a.string()}, base / "expected_a");
  const auto set_b = generated({"--config", b.string()}, base / "expected_b");
  std::vector<pid_t> processes;
  for (int i = 0; i < 16; ++i) {
    processes.push_back(
        start_mlaforge({"generate", "--config", (i % 2 == 0 ? a : b).string(), "--out", (base / "set").string()}));
  }
  for (const pid_t process : processes) CHECK(wait_for(process) == 0);
  const auto result = read_all(base / "set");
  CHECK((result == set_a || result == set_b));
}

TEST_CASE("generators that are killed leave whole files only, and the next run is right") {
  const TemporaryFolder base;
  const auto small = make_config(base, "small.json", "[1, 8]");
  const auto expected_small = generated({"--config", small.string()}, base / "expected_small");
  const auto expected = generated({}, base / "expected");
  const fs::path set = base / "set";
  int killed = 0;
  // The delays sweep over a run's whole length, however fast the machine is.
  const auto start = std::chrono::steady_clock::now();
  generated({}, base / "timing");
  const auto length =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 5 == 0) fs::remove_all(set);
    const pid_t process = start_mlaforge({"generate", "--out", set.string()});
    ::usleep(static_cast<useconds_t>(length * (round + 1) / kRounds));
    ::kill(process, SIGKILL);
    killed += wait_for(process) == -SIGKILL ? 1 : 0;
    if (!fs::exists(set)) continue;
    for (const auto& [name, text] : read_all(set)) {
      if (name.starts_with(".mlaforge-tmp-") || name == "manifest.json") continue;
      const bool is_whole = (expected.contains(name) && text == expected.at(name)) ||
                            (expected_small.contains(name) && text == expected_small.at(name));
      INFO(name);
      CHECK(is_whole);
    }
    // Whatever is left, a smaller config's run removes all of it that is not its own.
    if (round % 3 == 0) CHECK(generated({"--config", small.string()}, set) == expected_small);
  }
  CHECK(killed > 0);
  CHECK(generated({}, set) == expected);
}
