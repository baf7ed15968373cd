#include "simulator/alu/packed.h"

namespace mlaforge::simulator {
namespace {

// A constant in a packed 16-bit source: a float sits in the low half, an integer is sign-extended over both.
uint32_t packed_constant(const Operand& op) {
  return op.kind == OperandKind::inline_constant && op.float_constant ? op.value16 : op.value32;
}

}  // namespace

void fetch_packed16(const Wave& wave, const Instruction& instruction, int source, PackedType type, PackedRows& rows) {
  const bool is_float = type != PackedType::integer;
  const Operand& op = packed_operand(instruction, source);
  Row scratch;
  const uint32_t* lanes = op.is_constant() ? splat(packed_constant(op), scratch) : src32(wave, op, scratch);
  if (source == 0 && instruction.encoding == Encoding::dpp) {
    const Source moved = fetch(wave, instruction, op, 0, Kind::b32, rows.low, rows.high);
    scratch = *reinterpret_cast<const Row*>(moved.lo);
    lanes = scratch.lane;
  }
  const Modifiers& m = instruction.modifiers;
  const uint32_t low_shift = (m.op_sel >> source & 1) != 0 ? 16 : 0;
  const uint32_t high_shift = (op_sel_hi(instruction) >> source & 1) != 0 ? 16 : 0;
  const uint32_t low_sign = is_float && (m.neg_lo >> source & 1) != 0 ? 0x8000 : 0;
  const uint32_t high_sign = is_float && (m.neg_hi >> source & 1) != 0 ? 0x8000 : 0;
  const bool flush = type == PackedType::f16 && (wave.mode >> mode_bits::denorm_f64_f16_shift & 1) == 0;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    uint32_t low = (lanes[lane] >> low_shift & 0xffff) ^ low_sign;
    uint32_t high = (lanes[lane] >> high_shift & 0xffff) ^ high_sign;
    if (flush && (low & 0x7c00) == 0) low &= 0x8000;
    if (flush && (high & 0x7c00) == 0) high &= 0x8000;
    rows.low.lane[lane] = low;
    rows.high.lane[lane] = high;
  }
}

PackedSources fetch_packed32(const Wave& wave, const Instruction& instruction, int source, PackedRows& rows) {
  const Operand& op = packed_operand(instruction, source);
  const Modifiers& m = instruction.modifiers;
  const bool low_second = (m.op_sel >> source & 1) != 0;
  const bool high_second = (op_sel_hi(instruction) >> source & 1) != 0;
  const auto element = [&](bool second, Row& row) -> const uint32_t* {
    if (op.is_vector()) return wave.vgpr[static_cast<size_t>(op.index + (second ? 1 : 0))].lane;
    if (op.kind == OperandKind::sgpr) return splat(wave.sgpr[static_cast<size_t>(op.index + (second ? 1 : 0))], row);
    return splat(scalar32(wave, op), row);  // a constant fills both elements
  };
  const auto prepared = [&](bool second, uint32_t neg, Row& row) -> const uint32_t* {
    const uint32_t* lanes = element(second, row);
    const bool flush = (wave.mode >> mode_bits::denorm_f32_shift & 1) == 0;
    const uint32_t sign = (neg >> source & 1) != 0 ? 0x80000000u : 0u;
    if (sign == 0 && !flush) return lanes;
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const uint32_t value = lanes[lane] ^ sign;
      row.lane[lane] = flush && (value & 0x7f800000) == 0 ? value & 0x80000000u : value;
    }
    return row.lane;
  };
  return {prepared(low_second, m.neg_lo, rows.low), prepared(high_second, m.neg_hi, rows.high)};
}

}  // namespace mlaforge::simulator
