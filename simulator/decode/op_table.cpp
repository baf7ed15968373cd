#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/core/ops.h"

namespace mlaforge::simulator {
namespace {

struct Table {
  std::unordered_map<std::string_view, const OpEntry*> rows;
  std::vector<std::string_view> names;
};

const Table& table() {
  static const Table joined = [] {
    Table made;
    for (const auto family : {alu_ops(), salu_ops(), memory_ops()}) {
      for (const OpEntry& entry : family) {
        if (made.rows.emplace(entry.mnemonic, &entry).second) made.names.push_back(entry.mnemonic);
      }
    }
    std::sort(made.names.begin(), made.names.end());
    return made;
  }();
  return joined;
}

}  // namespace

const OpEntry* find_op(std::string_view mnemonic) {
  const auto found = table().rows.find(mnemonic);
  return found == table().rows.end() ? nullptr : found->second;
}

std::span<const std::string_view> known_mnemonics() { return table().names; }

}  // namespace mlaforge::simulator
