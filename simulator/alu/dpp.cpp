#include "simulator/alu/dpp.h"

#include <array>

namespace mlaforge::simulator {
namespace {

// A pattern over the whole wave: the lane each lane reads, and which lanes have one.
struct Pattern {
  std::array<uint8_t, wave_lanes> source{};
  uint64_t valid = 0;
};

Pattern make_pattern(const Modifiers& modifiers) {
  Pattern pattern;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const int source = dpp_source_lane(modifiers, lane);
    if (source < 0) continue;
    pattern.source[static_cast<size_t>(lane)] = static_cast<uint8_t>(source);
    pattern.valid |= uint64_t{1} << lane;
  }
  return pattern;
}

constexpr size_t kControls = static_cast<size_t>(DppControl::row_newbcast) + 1;
constexpr size_t kAmounts = 32;

using PatternTable = std::array<std::array<Pattern, kAmounts>, kControls>;

PatternTable make_table() {
  PatternTable table;
  for (size_t control = 0; control < kControls; ++control)
    for (size_t amount = 0; amount < kAmounts; ++amount) {
      Modifiers modifiers;
      modifiers.dpp = static_cast<DppControl>(control);
      modifiers.dpp_amount = static_cast<uint8_t>(amount);
      table[control][amount] = make_pattern(modifiers);
    }
  return table;
}

// All patterns but quad_perm's, which has 256 of its own, come from a table.
const Pattern& pattern_of(const Modifiers& modifiers, Pattern& scratch) {
  static const PatternTable table = make_table();
  if (modifiers.dpp == DppControl::quad_perm) return scratch = make_pattern(modifiers);
  return table[static_cast<size_t>(modifiers.dpp)][modifiers.dpp_amount % kAmounts];
}

// Lanes with a valid, active source: without one, the write is dropped, or with bound_ctrl it reads 0. A source lane
// that EXEC turns off counts as invalid, as the GCN3 manual has it; `fi` (where printed) reads it regardless.
uint64_t lanes_with_source(const Wave& wave, const Modifiers& modifiers, const Pattern& pattern) {
  const uint64_t exec = wave.exec();
  if (modifiers.fi || exec == ~uint64_t{0}) return pattern.valid;
  uint64_t active = 0;
  for (size_t lane = 0; lane < wave_lanes; ++lane) active |= (exec >> pattern.source[lane] & 1) << lane;
  return active & pattern.valid;
}

}  // namespace

int dpp_source_lane(const Modifiers& modifiers, int lane) {
  const int row_start = lane & ~15;
  const int in_row = lane & 15;
  const int amount = modifiers.dpp_amount;
  switch (modifiers.dpp) {
    case DppControl::none:
      return lane;
    case DppControl::quad_perm:
      return (lane & ~3) + modifiers.dpp_quad[static_cast<size_t>(lane & 3)];
    case DppControl::row_shl:
      return in_row + amount < 16 ? lane + amount : -1;
    case DppControl::row_shr:
      return in_row >= amount ? lane - amount : -1;
    case DppControl::row_ror:
      return row_start + ((in_row - amount) & 15);
    case DppControl::wave_shl:
      return lane + 1 < wave_lanes ? lane + 1 : -1;
    case DppControl::wave_rol:
      return (lane + 1) & 63;
    case DppControl::wave_shr:
      return lane - 1;
    case DppControl::wave_ror:
      return (lane - 1) & 63;
    case DppControl::row_mirror:
      return row_start + 15 - in_row;
    case DppControl::row_half_mirror:
      return (lane & ~7) + 7 - (lane & 7);
    case DppControl::row_bcast:
      // 15: lane 15 of each row to the next row; 31: lane 31 to the upper half.
      if (amount == 15) return row_start - 1;
      return lane >= 32 ? 31 : -1;
    case DppControl::row_newbcast:
      return row_start + amount;
  }
  return -1;
}

void dpp_move(const Wave& wave, const Modifiers& modifiers, const uint32_t* in, Row& out) {
  Row copy;
  if (in == out.lane) {
    copy = out;
    in = copy.lane;
  }
  Pattern scratch;
  const Pattern& pattern = pattern_of(modifiers, scratch);
  const uint64_t active = lanes_with_source(wave, modifiers, pattern);
  for (size_t lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t on = 0u - static_cast<uint32_t>(active >> lane & 1);
    out.lane[lane] = in[pattern.source[lane]] & on;
  }
}

uint64_t dpp_write_mask(const Wave& wave, const Modifiers& modifiers) {
  uint64_t mask = ~uint64_t{0};
  if (modifiers.row_mask != 0xf || modifiers.bank_mask != 0xf) {
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const bool row_on = (modifiers.row_mask >> (lane / 16) & 1) != 0;
      const bool bank_on = (modifiers.bank_mask >> (lane % 16 / 4) & 1) != 0;
      if (!row_on || !bank_on) mask &= ~(uint64_t{1} << lane);
    }
  }
  if (modifiers.bound_ctrl) return mask;
  Pattern scratch;
  return mask & lanes_with_source(wave, modifiers, pattern_of(modifiers, scratch));
}

}  // namespace mlaforge::simulator
