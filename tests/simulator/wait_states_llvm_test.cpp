// The wait-state table against LLVM's hazard recognizer, pair by pair: llc gets both instructions as machine IR and
// inserts s_nop where gfx950 needs it; the simulator is asked how many wait states keep it silent.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "catch.h"
#include "simulator/core/fault.h"
#include "simulator/exec/wait_state_checks.h"
#include "tests/simulator/alu/wave_runner.h"
#include "tests/simulator/wait_state_pairs.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

/// Wait states that llc-22 inserts before the second instruction of each pair.
std::vector<unsigned> states_by_llvm(const std::vector<WaitStatePair>& pairs) {
  const auto stem = std::filesystem::temp_directory_path() / fmt::format("mlaforge_wait_states_{}", getpid());
  const std::string input = stem.string() + ".mir", output = stem.string() + ".out", log = stem.string() + ".log";
  {
    std::ofstream file(input);
    for (size_t i = 0; i < pairs.size(); ++i) {
      file << fmt::format("---\nname: pair_{}\nbody: |\n  bb.0:\n    {}\n    {}\n    S_ENDPGM 0\n...\n", i,
                          pairs[i].first.machine_ir, pairs[i].second.machine_ir);
    }
  }
  const int status = std::system(fmt::format("llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 "
                                             "-run-pass=post-RA-hazard-rec -x mir {} -o {} 2> {}",
                                             input, output, log)
                                     .c_str());
  const auto read = [](const std::string& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const std::string text = read(output), problem = read(log);
  for (const std::string& path : {input, output, log}) std::filesystem::remove(path);
  if (status != 0) FAIL("llc-22 (package llvm-22) does not take the pairs:\n" << problem);
  std::vector<unsigned> states;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const size_t begin = text.find("bb.0", text.find(fmt::format("name:            pair_{}\n", i)));
    const std::string body = text.substr(begin, text.find("S_ENDPGM", begin) - begin);
    unsigned sum = 0;
    for (size_t at = body.find("S_NOP "); at != std::string::npos; at = body.find("S_NOP ", at + 1)) {
      sum += static_cast<unsigned>(std::atoi(body.c_str() + at + 6)) + 1;
    }
    states.push_back(sum);
  }
  return states;
}

/// Least wait states between the two at which the check is silent, and more of them do not bring it back.
unsigned states_by_simulator(const Instruction& first, const Instruction& second, const Instruction& nop) {
  const auto wave = std::make_unique<Wave>();
  const auto checks = std::make_unique<WaitStateChecks>();
  constexpr unsigned most = 24;
  unsigned needed = 0;
  for (unsigned states = 0; states <= most; ++states) {
    checks->start();
    checks->check(*wave, first);
    for (unsigned i = 0; i < states; ++i) checks->check(*wave, nop);
    try {
      checks->check(*wave, second);
    } catch (const FaultError& error) {
      REQUIRE(error.fault().kind == FaultKind::wait_states);
      needed = states + 1;
    }
  }
  return needed;
}

}  // namespace

TEST_CASE("every row of the wait-state table is what LLVM inserts") {
  const std::vector<WaitStatePair> pairs = wait_state_pairs();
  std::string source = "s_nop 0\n";
  for (const WaitStatePair& pair : pairs) source += pair.first.assembly + "\n" + pair.second.assembly + "\n";
  const std::vector<Instruction> instructions = WaveRunner::decode(source);
  REQUIRE(instructions.size() == 2 * pairs.size() + 1);
  const std::vector<unsigned> expected = states_by_llvm(pairs);
  size_t with_states = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    INFO(pairs[i].name << "\n  " << pairs[i].first.assembly << "\n  " << pairs[i].second.assembly);
    CHECK(states_by_simulator(instructions[2 * i + 1], instructions[2 * i + 2], instructions[0]) == expected[i]);
    with_states += expected[i] != 0;
  }
  // The list would prove nothing if LLVM saw no hazards in it.
  CHECK(with_states > 200);
}
