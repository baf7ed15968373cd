// docs/instructions.md is made here: every mnemonic that LLVM's disassembler has for gfx950, executed by the op tables
// or refused by a rule below, and the tests that name it. This test keeps the page current, and writes it where
// MLAFORGE_WRITE_DOCS is set.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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
  std::vector<std::string_view> tests;  ///< below tests/simulator: for mnemonics that no test spells out
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

struct Refused {
  std::string_view pattern;  ///< the name, or up to a `*`
  std::string_view reason;
};

constexpr std::array refused{
    Refused{"ds_gws_*", "global wave sync orders workgroups that run at the same time; here they run one by one"},
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

/// Words of the tests' sources, with the encodings' suffixes taken off, and the files that have them.
std::map<std::string, std::set<std::string>> words_of_tests() {
  std::map<std::string, std::set<std::string>> words;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests_folder())) {
    const std::string name = std::filesystem::relative(entry.path(), tests_folder()).generic_string();
    if (!name.ends_with("_test.cpp") || name.ends_with("instructions_doc_test.cpp")) continue;
    std::string word;
    for (const char c : read_file(entry.path()) + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
        continue;
      }
      // In "...\nv_add_f32" the escape's letter stands before the mnemonic.
      for (const std::string& shown : {word, word.empty() ? word : word.substr(1)}) {
        std::string base = shown;
        for (const std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
          if (base.ends_with(suffix)) base.resize(base.size() - suffix.size());
        }
        words[base].insert(name);
      }
      word.clear();
    }
  }
  return words;
}

const Family& family_of(std::string_view name) {
  const auto found =
      std::find_if(families().begin(), families().end(), [&](const Family& f) { return name.starts_with(f.prefix); });
  if (found == families().end()) FAIL("no family for " << name);
  return *found;
}

/// The tests of an executed mnemonic, as the page lists them.
std::string tests_of(std::string_view name, const std::map<std::string, std::set<std::string>>& words) {
  const auto found = words.find(std::string(name));
  if (found != words.end()) return fmt::format("{}", fmt::join(found->second, ", "));
  const Family& family = family_of(name);
  REQUIRE_FALSE(family.tests.empty());
  return fmt::format("family: {}", fmt::join(family.tests, ", "));
}

/// The families' titles in their order, and the rows of each.
std::string make_text() {
  const auto words = words_of_tests();
  std::map<std::string_view, std::string> rows;
  std::map<std::string_view, std::pair<size_t, size_t>> counts;  // executed, refused
  size_t executed = 0, spelled = 0;
  for (const std::string& name : test::every_mnemonic()) {
    const std::string_view title = family_of(name).title;
    if (find_op(name) != nullptr) {
      ++executed;
      ++counts[title].first;
      spelled += words.contains(name);
      rows[title] += fmt::format("| `{}` | yes | {} |\n", name, tests_of(name, words));
    } else if (const Refused* row = refusal_of(name)) {
      ++counts[title].second;
      rows[title] += fmt::format("| `{}` | no | {} |\n", name, row->reason);
    } else {
      FAIL(name << " is neither executed nor refused with a reason");
    }
  }
  std::string text = fmt::format(
      "# Instructions of gfx950\n\n"
      "Every mnemonic that LLVM 22's disassembler has for gfx950: {} executed, {} refused. Made by "
      "`tests/simulator/instructions_doc_test.cpp`, which finds them by decoding every opcode, keeps this page "
      "current, "
      "and writes it with `MLAFORGE_WRITE_DOCS=1`.\n"
      "Base names: the `_e32`, `_e64`, `_dpp` and `_sdwa` encodings of each are executed where the instruction has "
      "them. A refused instruction stops the launch with its name, address and kernel; nothing is skipped.\n\n"
      "Tests lie below `tests/simulator/`. {} of the executed mnemonics are spelled out in the tests listed beside "
      "them; "
      "\"family\" means that a test builds the name from parts, or tests others that share its code.\n",
      executed, test::every_mnemonic().size() - executed, spelled);
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

// A test that spells a mnemonic and is not listed yet makes the page no less true; all else must be as it is made.
TEST_CASE("the table of instructions is current") {
  const auto path = std::filesystem::path(MLAFORGE_SOURCE_DIR) / "docs" / "instructions.md";
  if (std::getenv("MLAFORGE_WRITE_DOCS") != nullptr) std::ofstream(path) << make_text();
  const auto stored = rows_of(read_file(path));
  const auto words = words_of_tests();
  CHECK(stored.size() == test::every_mnemonic().size());
  for (const auto& [name, made] : rows_of(make_text())) {
    CAPTURE(name);
    const auto row = stored.find(name);
    REQUIRE(row != stored.end());
    const auto& [executed, text] = row->second;
    CHECK(executed == made.first);
    if (executed == "no" || text.starts_with("family")) {
      CHECK((text == made.second || words.contains(name)));
      continue;
    }
    std::istringstream tests(text);
    for (std::string file; std::getline(tests >> std::ws, file, ',');) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(tests_folder() / file));
      CHECK((words.contains(name) && words.at(name).contains(file)));
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
