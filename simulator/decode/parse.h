// LLVM's text of an instruction to an Instruction.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

/// Splits "a, b mod:[1,2] flag" into its parts: brackets, parentheses and quotes hold a part together.
std::vector<std::string_view> split_parts(std::string_view text);

/// An operand; nullopt when `part` is none (it is a modifier, then). `mnemonic` decides what a literal means in 64
/// bits.
std::optional<Operand> parse_operand(std::string_view part, std::string_view mnemonic);

/// Fills encoding, unit, mnemonic, operands and modifiers from instruction.text and instruction.words.
/// False: a part of the text was not understood; `problem` then names it.
bool parse_instruction(Instruction& instruction, std::string& problem);

/// "0x12", "-7", "12"; nullopt: no integer.
std::optional<int64_t> parse_integer(std::string_view text);

}  // namespace mlaforge::simulator
