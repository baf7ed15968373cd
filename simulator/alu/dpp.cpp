#include "simulator/alu/dpp.h"

namespace mlaforge::simulator {
namespace {

// A lane without a valid, active source: its write is dropped, or with bound_ctrl it reads 0. A source lane that EXEC
// turns off counts as invalid, as the GCN3 manual has it; `fi` (where printed) reads it regardless.
bool has_source(const Wave& wave, const Modifiers& modifiers, int lane) {
  const int source = dpp_source_lane(modifiers, lane);
  return source >= 0 && (modifiers.fi || (wave.exec() >> source & 1) != 0);
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
  for (int lane = 0; lane < wave_lanes; ++lane)
    out.lane[lane] = has_source(wave, modifiers, lane) ? in[dpp_source_lane(modifiers, lane)] : 0;
}

uint64_t dpp_write_mask(const Wave& wave, const Modifiers& modifiers) {
  uint64_t mask = 0;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const bool row_on = (modifiers.row_mask >> (lane / 16) & 1) != 0;
    const bool bank_on = (modifiers.bank_mask >> (lane % 16 / 4) & 1) != 0;
    if (row_on && bank_on && (modifiers.bound_ctrl || has_source(wave, modifiers, lane))) mask |= uint64_t{1} << lane;
  }
  return mask;
}

}  // namespace mlaforge::simulator
