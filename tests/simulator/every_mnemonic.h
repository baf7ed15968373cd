// Every mnemonic that LLVM's disassembler has for gfx950: the list that the table of instructions is held against.
#pragma once

#include <set>
#include <string>

namespace mlaforge::simulator::test {

/// Base names, without _e32, _e64, _dpp and _sdwa; found by decoding every opcode of every encoding.
const std::set<std::string>& every_mnemonic();

}  // namespace mlaforge::simulator::test
