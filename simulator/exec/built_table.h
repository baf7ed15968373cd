// A table of mnemonics whose names are put together from parts.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

struct BuiltTable {
  std::deque<std::string> names;  // what the entries' views point into: it grows without moving them
  std::vector<OpEntry> entries;

  void add(std::string name, Handler handler, uint32_t detail, Handler (*select)(const Instruction&) = nullptr) {
    names.push_back(std::move(name));
    entries.push_back({names.back(), handler, select, detail});
  }
};

}  // namespace mlaforge::simulator
