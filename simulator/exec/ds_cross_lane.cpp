// DS instructions that move data between lanes: bpermute, permute, swizzle, and the transpose reads of gfx950.
#include <fmt/format.h>

#include <array>

#include "simulator/exec/memory_ops.h"

namespace mlaforge::simulator {
namespace {

/// op.data[0] holds the result, worked out at issue from registers only.
void apply_register_result(Wave& wave, PendingOp& op) {
  write_row(wave.vgpr[op.first_register].lane, op.data[0].data(), op.exec);
}

PendingOp& prepare_register_result(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_register_result;
  op.first_register = i.operands[0].index;
  op.registers = 1;
  return op;
}

/// Each lane takes the data of lane address / 4 (mod 64); a source lane that is off gives 0.
void bpermute(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_register_result(wave, i);
  const uint32_t* address = wave.vgpr[i.operands[1].index].lane;
  const uint32_t* data = wave.vgpr[i.operands[2].index].lane;
  const auto offset = static_cast<uint32_t>(i.modifiers.offset);
  for (size_t lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t source = (address[lane] + offset) / 4 % wave_lanes;
    op.data[0][lane] = op.exec >> source & 1 ? data[source] : 0;
  }
  wave.queue->issue(wave, op);
}

/// Each lane sends its data to lane address / 4; the highest sender wins, lanes that nobody sends to get 0.
void permute(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_register_result(wave, i);
  const uint32_t* address = wave.vgpr[i.operands[1].index].lane;
  const uint32_t* data = wave.vgpr[i.operands[2].index].lane;
  const auto offset = static_cast<uint32_t>(i.modifiers.offset);
  op.data[0].fill(0);
  for_lanes(op.exec, [&](int lane) { op.data[0][(address[lane] + offset) / 4 % wave_lanes] = data[lane]; });
  wave.queue->issue(wave, op);
}

uint32_t swizzle_source(uint32_t pattern, uint32_t lane) {
  if (pattern >= 0xe000) {  // FFT: reversed 5-bit lane number, then masked
    const uint32_t in = lane & 31;
    const uint32_t reversed = (in & 1) << 4 | (in & 2) << 2 | (in & 4) | (in & 8) >> 2 | (in & 16) >> 4;
    return (lane & 32) | (reversed & ~pattern & 31) | (in & pattern & 31);
  }
  if (pattern >= 0xc000) {  // rotate within 32 lanes; bit 10 is the direction
    const uint32_t amount = pattern >> 5 & 31;
    const uint32_t mask = pattern & 31;
    const uint32_t moved = pattern >> 10 & 1 ? lane - amount : lane + amount;
    return (lane & 32) | (lane & mask) | (moved & 31 & ~mask);
  }
  if (pattern & 0x8000) return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);  // within quads
  const uint32_t and_mask = pattern & 31;
  const uint32_t or_mask = pattern >> 5 & 31;
  const uint32_t xor_mask = pattern >> 10 & 31;
  return (lane & 32) | ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_register_result(wave, i);
  const uint32_t* data = wave.vgpr[i.operands[1].index].lane;
  const auto pattern = static_cast<uint32_t>(i.modifiers.offset);
  for (uint32_t lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t source = swizzle_source(pattern, lane);
    op.data[0][lane] = op.exec >> source & 1 ? data[source] : 0;
  }
  wave.queue->issue(wave, op);
}

// --- transpose reads ---
//
// In a group of 16 lanes every lane addresses a piece of a 16-column tile of elements; a row of the tile is
// `lanes_per_row` lanes' pieces. Result element n of lane l is row n, column l % 16: element (l % elements) of the
// piece of lane group + lanes_per_row * n + (l % 16) / elements, with elements = 16 / lanes_per_row a piece.

struct TransposeForm {
  uint32_t bits;  ///< an element
  uint32_t lanes_per_row;
  uint32_t piece_bytes;
};

template <TransposeForm Form>
void apply_transpose(Wave& wave, PendingOp& op) {
  constexpr uint32_t elements = 16 / Form.lanes_per_row;
  constexpr uint32_t words = Form.piece_bytes / 4;
  constexpr uint64_t mask = (uint64_t{1} << Form.bits) - 1;
  const auto element = [&](uint32_t lane, uint32_t n) {
    uint64_t word = 0;
    const uint32_t bit = n * Form.bits;
    // Six-bit elements cross bytes: three bytes hold any of them.
    const uint32_t first = bit / 8;
    std::memcpy(&word, op.address[lane] + first, std::min(Form.piece_bytes - first, 3u));
    return word >> (bit % 8) & mask;
  };
  for (uint32_t lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t group = lane & ~15u;
    std::array<uint32_t, 4> result{};
    for (uint32_t n = 0; n < elements; ++n) {
      const uint64_t value = element(group + Form.lanes_per_row * n + lane % 16 / elements, lane % elements);
      const uint32_t bit = n * Form.bits;
      result[bit / 32] |= static_cast<uint32_t>(value << (bit % 32));
      if (bit % 32 + Form.bits > 32) result[bit / 32 + 1] |= static_cast<uint32_t>(value >> (32 - bit % 32));
    }
    for (uint32_t w = 0; w < words; ++w) wave.vgpr[op.first_register + w].lane[lane] = result[w];
  }
}

/// The same for 8-bit and 16-bit elements, all tiles at once: a square block of elements is exchanged across its
/// diagonal by halves, then quarters. Row n of block (group, h) is the piece of lane group * 16 + n * lanes_per_row +
/// h.
template <TransposeForm Form>
void apply_square_transpose(Wave& wave, PendingOp& op) {
  constexpr uint32_t rows = 64 / Form.bits;
  constexpr uint32_t blocks = wave_lanes / rows;
  static_assert(rows == 16 / Form.lanes_per_row);
  const auto lane_of = [](uint32_t row, uint32_t block) {
    return static_cast<size_t>(block / Form.lanes_per_row * 16 + row * Form.lanes_per_row + block % Form.lanes_per_row);
  };
  alignas(64) uint64_t x[rows][blocks];
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t block = 0; block < blocks; ++block) std::memcpy(&x[row][block], op.address[lane_of(row, block)], 8);
  }
  uint64_t mask = 0xffffffff;
  for (uint32_t half = rows / 2; half > 0; half /= 2) {
    const uint32_t shift = half * Form.bits;
    for (uint32_t row = 0; row < rows; ++row) {
      if (row & half) continue;
      for (uint32_t block = 0; block < blocks; ++block) {
        const uint64_t swap = (x[row][block] >> shift ^ x[row + half][block]) & mask;
        x[row + half][block] ^= swap;
        x[row][block] ^= swap << shift;
      }
    }
    mask ^= mask << (shift / 2);
  }
  uint32_t* low = wave.vgpr[op.first_register].lane;
  uint32_t* high = wave.vgpr[op.first_register + 1u].lane;
  // Column c of block b belongs to lane b * rows + c.
  for (uint32_t block = 0; block < blocks; ++block) {
    for (uint32_t column = 0; column < rows; ++column) {
      low[block * rows + column] = static_cast<uint32_t>(x[column][block]);
      high[block * rows + column] = static_cast<uint32_t>(x[column][block] >> 32);
    }
  }
}

template <TransposeForm Form>
void read_transposed(Wave& wave, const Instruction& i) {
  const uint64_t exec = wave.exec();
  if (exec != ~uint64_t{0}) {
    raise_fault(wave, FaultKind::exec_not_full,
                fmt::format("a transpose read needs all 64 lanes, EXEC is 0x{:016x}", exec));
  }
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, exec);
  if constexpr (Form.bits >= 8) {
    op.apply = apply_square_transpose<Form>;
  } else {
    op.apply = apply_transpose<Form>;
  }
  op.first_register = i.operands[0].index;
  op.registers = static_cast<uint16_t>(Form.piece_bytes / 4);
  op.lds = LdsAccess::read;
  op.lds_bytes = Form.piece_bytes;
  resolve_lds(wave, exec, op.address, wave.vgpr[i.operands[1].index].lane, static_cast<uint32_t>(i.modifiers.offset),
              Form.piece_bytes, Form.piece_bytes == 8 ? 8 : 4);
  wave.queue->issue(wave, op);
}

constexpr std::array rows{
    OpEntry{"ds_bpermute_b32", bpermute},
    OpEntry{"ds_permute_b32", permute},
    OpEntry{"ds_swizzle_b32", swizzle},
    OpEntry{"ds_read_b64_tr_b16", read_transposed<TransposeForm{16, 4, 8}>},
    OpEntry{"ds_read_b64_tr_b8", read_transposed<TransposeForm{8, 2, 8}>},
    OpEntry{"ds_read_b64_tr_b4", read_transposed<TransposeForm{4, 1, 8}>},
    OpEntry{"ds_read_b96_tr_b6", read_transposed<TransposeForm{6, 1, 12}>},
};

}  // namespace

std::span<const OpEntry> ds_cross_lane_ops() { return rows; }

}  // namespace mlaforge::simulator
