// docs/instructions.md is made here: every mnemonic that LLVM's disassembler has for gfx950, executed by the op tables
// or refused by a rule below, and the tests that execute it, as executed_mnemonics.sh measures.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "simulator/core/ops.h"
#include "tests/simulator/every_mnemonic.h"

using namespace mlaforge::simulator;

namespace {

struct Family {
  std::string_view prefix;  ///< the first that fits
  std::string_view title;
  std::vector<std::string_view> tests;  ///< below tests/simulator, listed first
};

const std::vector<Family>& families() {
  static const std::vector<Family> rows{
      {"v_mfma", "Matrix", {"alu/matrix_test.cpp"}},
      {"v_smfmac", "Matrix", {"alu/smfmac_test.cpp"}},
      {"v_cmp", "Vector compares", {"alu/compare_table_test.cpp"}},
      {"v_cvt", "Conversions", {"alu/convert_test.cpp", "alu/formats_test.cpp"}},
      {"v_div", "Division", {"alu/division_test.cpp"}},
      {"v_permlane", "Lane moves", {"alu/lane_test.cpp"}},
      {"v_readlane", "Lane moves", {"alu/lane_test.cpp"}},
      {"v_readfirstlane", "Lane moves", {"alu/lane_test.cpp"}},
      {"v_writelane", "Lane moves", {"alu/lane_test.cpp"}},
      {"v_swap", "Lane moves", {"alu/lane_test.cpp"}},
      {"v_mov", "Lane moves", {"alu/lane_test.cpp", "alu/modifiers_test.cpp"}},
      {"v_", "Vector arithmetic", {"alu/integer_test.cpp", "alu/float_test.cpp", "alu/modifiers_test.cpp"}},
      {"s_load", "Scalar memory", {"element_memory_test.cpp"}},
      {"s_store", "Scalar memory", {"memory_test.cpp"}},
      {"s_buffer_atomic", "Scalar memory", {"atomics_test.cpp"}},
      {"s_buffer", "Scalar memory", {"element_memory_test.cpp"}},
      {"s_scratch", "Scalar memory", {"memory_test.cpp"}},
      {"s_atomic", "Scalar memory", {"atomics_test.cpp"}},
      {"s_dcache", "Scalar memory", {"memory_test.cpp"}},
      {"s_atc", "Scalar memory", {"memory_test.cpp"}},
      {"s_mem", "Scalar memory", {"memory_test.cpp"}},
      {"s_", "Scalar arithmetic and control", {"scalar_table_test.cpp", "control_test.cpp"}},
      {"global_load_lds", "LDS DMA", {"dma_test.cpp"}},
      {"scratch_load_lds", "LDS DMA", {"dma_test.cpp"}},
      {"global_", "Global, flat and scratch", {"element_memory_test.cpp", "atomics_test.cpp"}},
      {"flat_", "Global, flat and scratch", {"element_memory_test.cpp", "atomics_test.cpp"}},
      {"scratch_", "Global, flat and scratch", {"element_memory_test.cpp", "atomics_test.cpp"}},
      {"buffer_load_format", "Buffer", {"typed_buffer_test.cpp"}},
      {"buffer_store_format", "Buffer", {"typed_buffer_test.cpp"}},
      {"buffer_", "Buffer", {"element_memory_test.cpp", "atomics_test.cpp"}},
      {"tbuffer_", "Buffer", {"typed_buffer_test.cpp"}},
      {"ds_", "LDS", {"lds_test.cpp", "element_memory_test.cpp", "atomics_test.cpp"}},
  };
  return rows;
}

constexpr std::string_view no_test = "no test executes it";

struct Refused {
  std::string_view pattern;  ///< the name, or up to a `*`
  std::string_view reason;
};

constexpr std::array refused{
    Refused{
        "ds_gws_*",
        "global wave sync: the ISA manual of CDNA 4 does not list it, and ROCm's device libraries avoid it on gfx950"},
    Refused{"s_dcache_discard*", "drops lines that were written: what memory then holds is undefined"},
    Refused{"s_rfe_b64", "trap handlers are not simulated; s_trap is a fault"},
    Refused{"s_rfe_restore_b64", "as s_rfe_b64"},
    Refused{"s_sendmsghalt", "halts the wave until a debugger wakes it"},
    Refused{"s_endpgm_ordered_ps_done", "pixel shaders only"},
    Refused{"v_screen_partition_4se_b32", "pixel shaders only"},
    Refused{"v_mfma_ld_scale_b32", "the first half of v_mfma_scale_*, which is executed whole"},
};

const Refused* refusal_of(std::string_view name) {
  const auto fits = [&](const Refused& row) {
    return row.pattern.ends_with('*') ? name.starts_with(row.pattern.substr(0, row.pattern.size() - 1))
                                      : name == row.pattern;
  };
  const auto found = std::find_if(refused.begin(), refused.end(), fits);
  return found == refused.end() ? nullptr : &*found;
}

std::filesystem::path tests_folder() { return std::filesystem::path(MLAFORGE_SOURCE_DIR) / "tests" / "simulator"; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// By mnemonic the tests that execute it, as executed_mnemonics.sh has measured: a list a test below `folder`.
std::map<std::string, std::set<std::string>> executed_by(const std::filesystem::path& folder) {
  std::map<std::string, std::set<std::string>> tests;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream list(entry.path());
    const std::string test = std::filesystem::relative(entry.path(), folder).generic_string();
    for (std::string name; std::getline(list, name);) tests[name].insert(test);
  }
  return tests;
}

const Family& family_of(std::string_view name) {
  const auto found =
      std::find_if(families().begin(), families().end(), [&](const Family& f) { return name.starts_with(f.prefix); });
  if (found == families().end()) FAIL("no family for " << name);
  return *found;
}

/// The tests of an executed mnemonic, as the page lists them: its family's, or up to three others.
std::string tests_of(std::string_view name, const std::map<std::string, std::set<std::string>>& executed) {
  const auto found = executed.find(std::string(name));
  if (found == executed.end()) return std::string(no_test);
  std::vector<std::string> tests;
  for (const std::string_view test : family_of(name).tests) {
    if (found->second.contains(std::string(test))) tests.emplace_back(test);
  }
  constexpr size_t most_others = 3;
  if (tests.empty()) {
    const auto last =
        std::next(found->second.begin(), static_cast<std::ptrdiff_t>(std::min(found->second.size(), most_others)));
    tests.assign(found->second.begin(), last);
  }
  return fmt::format("{}", fmt::join(tests, ", "));
}

/// The families' titles in their order, and the rows of each.
std::string make_text(const std::map<std::string, std::set<std::string>>& by_test) {
  std::map<std::string_view, std::string> rows;
  std::map<std::string_view, std::pair<size_t, size_t>> counts;  // executed, refused
  size_t executed = 0, tested = 0;
  for (const std::string& name : test::every_mnemonic()) {
    const std::string_view title = family_of(name).title;
    if (find_op(name) != nullptr) {
      ++executed;
      ++counts[title].first;
      tested += by_test.contains(name);
      rows[title] += fmt::format("| `{}` | yes | {} |\n", name, tests_of(name, by_test));
    } else if (const Refused* row = refusal_of(name)) {
      ++counts[title].second;
      rows[title] += fmt::format("| `{}` | no | {} |\n", name, row->reason);
    } else {
      FAIL(name << " is neither executed nor refused with a reason");
    }
  }
  std::string text = fmt::format(
      "# Instructions of gfx950\n\n"
      "Every mnemonic that LLVM 22's disassembler has for gfx950: {} executed, {} refused. "
      "`tests/simulator/instructions_doc_test.cpp` finds them by decoding every opcode and keeps this page current.\n"
      "Base names: the `_e32`, `_e64`, `_dpp` and `_sdwa` encodings of each are executed where the instruction has "
      "them. A refused instruction stops the launch with its name, address and kernel; nothing is skipped.\n\n"
      "The tests lie below `tests/simulator/`. Those listed execute the mnemonic, which is measured: "
      "`tests/simulator/executed_mnemonics.sh build/release/tests/simulator` runs them, each noting what it executes, "
      "and compares with this page (`ctest -R simulator_executed_mnemonics`), or writes it with "
      "`MLAFORGE_WRITE_DOCS=1`. {} of the executed mnemonics are in a test.\n",
      executed, test::every_mnemonic().size() - executed, tested);
  std::set<std::string_view> shown;
  for (const Family& family : families()) {
    if (!shown.insert(family.title).second) continue;
    const auto [yes, no] = counts[family.title];
    text += fmt::format(
        "\n## {} ({} executed, {} refused)\n\n| mnemonic | executed | tests, or why not |\n|---|---|---|\n{}",
        family.title, yes, no, rows[family.title]);
  }
  return text;
}

std::filesystem::path page_path() { return std::filesystem::path(MLAFORGE_SOURCE_DIR) / "docs" / "instructions.md"; }

/// The page's rows: mnemonic, yes or no, tests or reason.
std::map<std::string, std::pair<std::string, std::string>> rows_of(const std::string& page) {
  std::map<std::string, std::pair<std::string, std::string>> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t name_end = line.find("` | "), state_end = line.find(" | ", name_end + 4);
    REQUIRE(state_end != std::string::npos);
    REQUIRE(line.ends_with(" |"));
    rows[line.substr(3, name_end - 3)] = {line.substr(name_end + 4, state_end - name_end - 4),
                                          line.substr(state_end + 3, line.size() - state_end - 5)};
  }
  return rows;
}

}  // namespace

TEST_CASE("the table of instructions is current") {
  const auto stored = rows_of(read_file(page_path()));
  CHECK(stored.size() == test::every_mnemonic().size());
  for (const std::string& name : test::every_mnemonic()) {
    CAPTURE(name);
    const auto row = stored.find(name);
    REQUIRE(row != stored.end());
    const auto& [executed, text] = row->second;
    if (find_op(name) == nullptr) {
      CHECK(executed == "no");
      REQUIRE(refusal_of(name) != nullptr);
      CHECK(text == refusal_of(name)->reason);
      continue;
    }
    CHECK(executed == "yes");
    std::istringstream tests(text);
    for (std::string file; text != no_test && std::getline(tests >> std::ws, file, ',');) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(tests_folder() / file));
    }
  }
}

// Run by executed_mnemonics.sh, which measures first.
TEST_CASE("the tests that the table lists execute the mnemonic", "[.measured]") {
  const char* lists = std::getenv("MLAFORGE_EXECUTED_LISTS");
  REQUIRE(lists != nullptr);
  const auto executed = executed_by(lists);
  if (std::getenv("MLAFORGE_WRITE_DOCS") != nullptr) std::ofstream(page_path()) << make_text(executed);
  for (const auto& [name, row] : rows_of(read_file(page_path()))) {
    CAPTURE(name, row.second);
    if (row.first == "no") continue;
    std::istringstream tests(row.second);
    // A test that came later makes the page no less true; one that executes what none did belongs there.
    CHECK((row.second == no_test) == !executed.contains(name));
    for (std::string file; row.second != no_test && std::getline(tests >> std::ws, file, ',');) {
      CHECK(executed.at(name).contains(file));
    }
  }
}

TEST_CASE("the op tables have no mnemonic that gfx950 lacks, and none that is refused") {
  for (const std::string_view name : known_mnemonics()) {
    CAPTURE(name);
    CHECK(test::every_mnemonic().contains(std::string(name)));
    CHECK(refusal_of(name) == nullptr);
  }
}

TEST_CASE("every test that the families name exists") {
  for (const Family& family : families()) {
    for (const std::string_view name : family.tests) {
      CAPTURE(name);
      CHECK(std::filesystem::exists(tests_folder() / name));
    }
  }
}
