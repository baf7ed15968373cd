// `mlaforge mutate`: the words of the mutants against LLVM's encodings, and a kernel whose every mutant is accounted
// for.
#include <map>
#include <nlohmann/json.hpp>

#include "../generator/temporary_folder.h"
#include "catch.h"
#include "cli/mutate/mutants.h"
#include "command_line.h"

using namespace mlaforge::mutate;
using namespace mlaforge::test;

namespace {

// Words as clang-22 assembles them for gfx950.
constexpr uint32_t vmcnt_15 = 0xbf8c0f7f;
constexpr uint32_t vmcnt_16 = 0xbf8c4f70;
constexpr uint32_t lgkmcnt_0 = 0xbf8cc07f;
constexpr uint32_t lgkmcnt_1 = 0xbf8cc17f;
constexpr uint32_t vmcnt_0_lgkmcnt_0 = 0xbf8c0070;
constexpr uint32_t vmcnt_1_lgkmcnt_0 = 0xbf8c0071;
constexpr uint32_t vmcnt_0_lgkmcnt_1 = 0xbf8c0170;
constexpr uint32_t lgkmcnt_14 = 0xbf8cce7f;
constexpr uint32_t barrier = 0xbf8a0000;
constexpr uint32_t nop = 0xbf800000;

/// Of mutants that change one word.
std::vector<uint32_t> mutant_words(uint32_t word, unsigned vmcnt, unsigned lgkmcnt) {
  WaitPoint point;
  point.word = word;
  point.vmcnt = vmcnt;
  point.lgkmcnt = lgkmcnt;
  std::vector<uint32_t> words;
  for (const Mutant& mutant : mutants_of({point})) words.push_back(mutant.words.at(0));
  return words;
}

}  // namespace

TEST_CASE("each count of a wait is raised by one, and each wait and barrier is dropped") {
  CHECK(mutant_words(vmcnt_15, 15, no_lgkmcnt) == std::vector<uint32_t>{nop, vmcnt_16});
  CHECK(mutant_words(lgkmcnt_0, no_vmcnt, 0) == std::vector<uint32_t>{nop, lgkmcnt_1});
  CHECK(mutant_words(vmcnt_0_lgkmcnt_0, 0, 0) == std::vector<uint32_t>{nop, vmcnt_1_lgkmcnt_0, vmcnt_0_lgkmcnt_1});
  CHECK(mutant_words(barrier, no_vmcnt, no_lgkmcnt) == std::vector<uint32_t>{nop});
  // Raising lgkmcnt(14) would be no wait at all, which is the first mutant.
  CHECK(mutant_words(lgkmcnt_14, no_vmcnt, 14) == std::vector<uint32_t>{nop});
}

TEST_CASE("an s_nop loses one state, or all of them to the instruction behind it") {
  WaitPoint point;
  point.kind = PointKind::nop;
  point.word = 0xbf800001;  // s_nop 1
  point.next_words = {0x7e0802f9, 0x06050604};
  const std::vector<Mutant> mutants = mutants_of({point});
  REQUIRE(mutants.size() == 2);
  CHECK(mutants[0].words == std::vector<uint32_t>{0x7e0802f9, 0x06050604, 0xbf800001});
  CHECK(mutants[1].words == std::vector<uint32_t>{nop});
  // With one state and a branch behind it there is nothing to take away.
  point.word = nop;
  point.next_words.clear();
  CHECK(mutants_of({point}).empty());
}

TEST_CASE("every mutant of an attention and a combine kernel is caught or explained") {
  const Outcome outcome = mlaforge_command({"mutate", "--splits", "2", "--json"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto document = nlohmann::json::parse(outcome.out);
  REQUIRE(document.at("kernels").size() == 2);
  CHECK(document.at("kernels").at(0).at("nops") > 0);  // the lane swaps of the attention kernel need wait states
  for (const auto& kernel : document.at("kernels")) {
    const size_t caught = kernel.at("caught");
    const size_t explained = kernel.at("explained");
    CHECK(kernel.at("unexplained") == 0);
    CHECK(caught + explained == kernel.at("mutants").size());
    CHECK(caught > explained);
    for (const auto& mutant : kernel.at("mutants")) {
      CAPTURE(mutant.dump());
      CHECK_FALSE(mutant.at("evidence").get<std::string>().empty());
      // All barriers of the attention kernel separate writes of the LDS from reads by other waves.
      if (mutant.at("instruction") == "s_barrier") CHECK(mutant.at("verdict") == "caught");
    }
  }
}

TEST_CASE("a combine kernel's mutants are taken without those of the kernel whose splits it merges") {
  const Outcome outcome = mlaforge_command({"mutate", "--kernel", "mla_combine_bf16p_s4__gfx950", "--json"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto document = nlohmann::json::parse(outcome.out);
  REQUIRE(document.at("kernels").size() == 1);
  const auto& kernel = document.at("kernels").at(0);
  CHECK(kernel.at("kernel") == "mla_combine_bf16p_s4__gfx950");
  CHECK(kernel.at("caught") > 0);
  CHECK(document.at("unexplained") == 0);
}

TEST_CASE("a kernel that the config lacks is named, with the nearest") {
  const Outcome outcome =
      mlaforge_command({"mutate", "--kernel", "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s3_p1__gfx950"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err.find("--kernel") != std::string::npos);
  CHECK(outcome.err.find("h12_g1_q1_b128_s3_p1") != std::string::npos);
  CHECK(outcome.err.find("nearest: mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s") != std::string::npos);
}

TEST_CASE("a mutant that no launch reaches is not explained away") {
  // One token a request: no split runs its steady loop.
  const Outcome outcome = mlaforge_command({"mutate", "--splits", "1", "--context", "1", "--json"});
  CHECK(outcome.exit_code == 1);
  const auto document = nlohmann::json::parse(outcome.out);
  CHECK(document.at("unexplained") > 0);
}
