// Pairs of instructions of which the second needs wait states behind the first, in gfx950's assembly and in LLVM's
// machine IR.
#pragma once

#include <string>
#include <vector>

namespace mlaforge::simulator::test {

struct WrittenInstruction {
  std::string assembly;
  std::string machine_ir;
};

struct WaitStatePair {
  std::string name;
  WrittenInstruction first;
  WrittenInstruction second;
};

std::vector<WaitStatePair> wait_state_pairs();

}  // namespace mlaforge::simulator::test
