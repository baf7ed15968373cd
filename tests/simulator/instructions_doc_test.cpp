// docs/instructions.md is made from the simulator's op tables: this test keeps it current, and writes it where
// MLAFORGE_WRITE_DOCS is set.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "catch.h"
#include "simulator/core/ops.h"

using namespace mlaforge::simulator;

namespace {

struct Family {
  std::string_view prefix;  ///< the first that fits
  std::string_view title;
  std::string_view tests;  ///< below tests/simulator
};

constexpr std::array families{
    Family{"v_mfma", "Matrix", "alu/matrix_test.cpp"},
    Family{"v_smfmac", "Matrix", "alu/matrix_test.cpp"},
    Family{"v_cmp", "Vector compares", "alu/integer_test.cpp, alu/float_test.cpp"},
    Family{"v_cvt", "Conversions", "alu/convert_test.cpp, alu/formats_test.cpp"},
    Family{"v_div", "Division", "alu/division_test.cpp"},
    Family{"v_permlane", "Lane moves", "alu/lane_test.cpp"},
    Family{"v_readlane", "Lane moves", "alu/lane_test.cpp"},
    Family{"v_readfirstlane", "Lane moves", "alu/lane_test.cpp"},
    Family{"v_writelane", "Lane moves", "alu/lane_test.cpp"},
    Family{"v_swap", "Lane moves", "alu/lane_test.cpp"},
    Family{"v_mov", "Lane moves", "alu/lane_test.cpp, alu/modifiers_test.cpp"},
    Family{"v_", "Vector arithmetic", "alu/integer_test.cpp, alu/float_test.cpp, alu/modifiers_test.cpp"},
    Family{"s_load", "Scalar memory", "memory_test.cpp, waits_test.cpp"},
    Family{"s_buffer", "Scalar memory", "memory_test.cpp, waits_test.cpp"},
    Family{"s_dcache", "Scalar memory", "memory_test.cpp, waits_test.cpp"},
    Family{"s_mem", "Scalar memory", "memory_test.cpp, waits_test.cpp"},
    Family{"s_", "Scalar arithmetic and control", "scalar_test.cpp, control_test.cpp, waits_test.cpp"},
    Family{"global_load_lds", "LDS DMA", "dma_test.cpp, races_test.cpp"},
    Family{"scratch_load_lds", "LDS DMA", "dma_test.cpp, races_test.cpp"},
    Family{"global_", "Global, flat and scratch", "memory_test.cpp, waits_test.cpp"},
    Family{"flat_", "Global, flat and scratch", "memory_test.cpp, waits_test.cpp"},
    Family{"scratch_", "Global, flat and scratch", "memory_test.cpp, waits_test.cpp"},
    Family{"buffer_", "Buffer", "memory_test.cpp, dma_test.cpp"},
    Family{"ds_", "LDS", "lds_test.cpp, races_test.cpp"},
};

struct Refused {
  std::string_view mnemonics;
  std::vector<std::string_view> names;  ///< of these, none has a row
  std::string_view reason;
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> rows{
      {"tbuffer_*",
       {"tbuffer_load_format_x", "tbuffer_store_format_x"},
       "typed buffers: no compute compiler emits them"},
      {"ds_gws_*", {"ds_gws_init", "ds_gws_barrier"}, "global wave sync needs more than one workgroup at a time"},
      {"s_cbranch_g_fork, s_cbranch_i_fork, s_cbranch_join",
       {"s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join"},
       "the fork stack: unused by compilers"},
      {"s_rfe_b64", {"s_rfe_b64"}, "trap handlers are not simulated; s_trap is a fault"},
  };
  return rows;
}

std::string make_text() {
  std::vector<std::string_view> order;
  std::map<std::string_view, std::pair<std::string_view, std::vector<std::string_view>>> groups;
  for (const std::string_view name : known_mnemonics()) {
    const auto family =
        std::find_if(families.begin(), families.end(), [&](const Family& f) { return name.starts_with(f.prefix); });
    REQUIRE(family != families.end());
    groups[family->title].first = family->tests;
    groups[family->title].second.push_back(name);
  }
  for (const Family& family : families) {
    if (std::find(order.begin(), order.end(), family.title) == order.end()) order.push_back(family.title);
  }
  std::string text = fmt::format(
      "# Instructions of gfx950 that the simulator executes\n\n"
      "Made from the op tables by `tests/simulator/instructions_doc_test.cpp`, which keeps it current "
      "(`MLAFORGE_WRITE_DOCS=1` writes it).\n"
      "Base names: the `_e32`, `_e64`, `_dpp` and `_sdwa` encodings of each are executed where the instruction has "
      "them.\nTests lie below `tests/simulator/`.\n\n{} mnemonics are executed. Any other stops the launch with its "
      "name, address and kernel; nothing is skipped.\n",
      known_mnemonics().size());
  for (const std::string_view title : order) {
    const auto& [tests, names] = groups[title];
    if (names.empty()) continue;
    text += fmt::format("\n## {} ({})\n\nTests: {}\n\n| executed |\n|---|\n", title, names.size(), tests);
    for (const std::string_view name : names) text += fmt::format("| `{}` |\n", name);
  }
  text += "\n## Refused\n\n| mnemonics | why |\n|---|---|\n";
  for (const Refused& row : refused()) text += fmt::format("| {} | {} |\n", row.mnemonics, row.reason);
  text += "| all others | not met in the code objects that were looked at |\n";
  return text;
}

}  // namespace

TEST_CASE("the table of instructions is current") {
  const std::string path = std::string(MLAFORGE_SOURCE_DIR) + "/docs/instructions.md";
  const std::string text = make_text();
  if (std::getenv("MLAFORGE_WRITE_DOCS") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string stored{std::istreambuf_iterator<char>(file), {}};
  CHECK(stored == text);
}

TEST_CASE("what the table says is refused has no handler") {
  for (const Refused& row : refused()) {
    for (const std::string_view name : row.names) {
      CAPTURE(name);
      CHECK(find_op(name) == nullptr);
    }
  }
}
