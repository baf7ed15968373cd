// Dot products of packed elements, and the mixed-precision fma (v_fma_mix*).
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/alu/float_math.h"
#include "simulator/alu/packed.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using i64 = int64_t;

// f16 and bf16 dot products add in order with an f32 rounding a step, as the ISA's pseudocode writes them; its order
// of terms differs between the two (C first for f16, last for bf16's VOP3P form).
enum class Format : uint8_t { f16, bf16 };

float widen(Format format, u32 bits) {
  return format == Format::f16 ? f16_to_f32(static_cast<uint16_t>(bits)) : bf16_to_f32(static_cast<uint16_t>(bits));
}

float clamp01(const Wave& wave, const Instruction& instruction, float value) {
  if (!instruction.modifiers.clamp) return value;
  if (is_nan(value)) return (wave.mode & mode_bits::dx10_clamp) != 0 ? 0.0f : value;
  return std::clamp(value, 0.0f, 1.0f);
}

// Source 2 (or the old destination) as 32-bit lanes with neg applied for floats.
const u32* third(const Wave& wave, const Instruction& instruction, bool is_float, Row& row) {
  const u32* lanes = src32(wave, packed_operand(instruction, 2), row);
  const bool vop3p = instruction.operand_count > 3;
  if (!is_float || !vop3p || (instruction.modifiers.neg_lo & 4) == 0) return lanes;
  for (int lane = 0; lane < wave_lanes; ++lane) row.lane[lane] = lanes[lane] ^ 0x80000000u;
  return row.lane;
}

template <Format format, bool c_last>
void dot2_float(Wave& wave, const Instruction& instruction) {
  PackedRows a, b;
  Row c_row, out;
  constexpr PackedType type = format == Format::f16 ? PackedType::f16 : PackedType::bf16;
  fetch_packed16(wave, instruction, 0, type, a);
  fetch_packed16(wave, instruction, 1, type, b);
  const u32* c = third(wave, instruction, true, c_row);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const float low = widen(format, a.low.lane[lane]) * widen(format, b.low.lane[lane]);
    const float high = widen(format, a.high.lane[lane]) * widen(format, b.high.lane[lane]);
    const float addend = std::bit_cast<float>(c[lane]);
    const float sum = c_last ? (low + high) + addend : (addend + low) + high;
    out.lane[lane] = std::bit_cast<u32>(clamp01(wave, instruction, sum));
  }
  blend(row(wave, instruction.operands[0]), out.lane, write_mask(wave, instruction));
}

template <int bits, bool is_signed>
i64 element(u32 value, int index) {
  const u32 up = value << (32 - bits * (index + 1));
  return is_signed ? static_cast<i64>(static_cast<int32_t>(up) >> (32 - bits)) : static_cast<i64>(up >> (32 - bits));
}

template <int bits, bool is_signed>
void dot_integer(Wave& wave, const Instruction& instruction) {
  Row a_row, b_row, unused, c_row, out;
  const Source a = fetch(wave, instruction, packed_operand(instruction, 0), 0, Kind::b32, a_row, unused);
  const u32* b = src32(wave, packed_operand(instruction, 1), b_row);
  const u32* c = third(wave, instruction, false, c_row);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    i64 sum = is_signed ? static_cast<i64>(static_cast<int32_t>(c[lane])) : static_cast<i64>(c[lane]);
    for (int i = 0; i < 32 / bits; ++i)
      sum += element<bits, is_signed>(a.lo[lane], i) * element<bits, is_signed>(b[lane], i);
    if (instruction.modifiers.clamp)
      sum = is_signed ? std::clamp<i64>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max())
                      : std::min<i64>(sum, std::numeric_limits<u32>::max());
    out.lane[lane] = static_cast<u32>(sum);
  }
  blend(row(wave, instruction.operands[0]), out.lane, write_mask(wave, instruction));
}

// v_fma_mix*: each source is f32, or the half that op_sel picks where op_sel_hi has its bit. neg_lo negates and
// neg_hi takes the magnitude; both are printed on the operand.
enum class MixResult : uint8_t { f32, low_half, high_half };

template <MixResult result>
void fma_mix(Wave& wave, const Instruction& instruction) {
  Row scratch, values[3], out;
  const Modifiers& m = instruction.modifiers;
  // Without op_sel_hi the text means all f32 here, unlike for the packed instructions.
  const u32 halves = m.has_op_sel_hi ? m.op_sel_hi : 0u;
  for (int i = 0; i < 3; ++i) {
    const Operand& op = instruction.operands[static_cast<size_t>(i + 1)];
    const bool half = (halves >> i & 1) != 0;
    const u32 shift = (m.op_sel >> i & 1) != 0 ? 16 : 0;
    const u32* lanes = half ? src16(wave, op, scratch) : src32(wave, op, scratch);
    for (int lane = 0; lane < wave_lanes; ++lane) {
      u32 bits = half ? std::bit_cast<u32>(f16_to_f32(static_cast<uint16_t>(lanes[lane] >> shift))) : lanes[lane];
      if (op.abs) bits &= 0x7fffffffu;
      if (op.neg) bits ^= 0x80000000u;
      values[i].lane[lane] = bits;
    }
  }
  const Overflow overflow{(wave.mode & mode_bits::fp16_ovfl) != 0};
  u32* destination = row(wave, instruction.operands[0]);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const float value =
        clamp01(wave, instruction,
                std::fma(std::bit_cast<float>(values[0].lane[lane]), std::bit_cast<float>(values[1].lane[lane]),
                         std::bit_cast<float>(values[2].lane[lane])));
    const u32 old = destination[lane];
    if constexpr (result == MixResult::f32) out.lane[lane] = std::bit_cast<u32>(value);
    if constexpr (result == MixResult::low_half) out.lane[lane] = (old & 0xffff0000u) | f32_to_f16(value, overflow);
    if constexpr (result == MixResult::high_half)
      out.lane[lane] = (old & 0xffffu) | static_cast<u32>(f32_to_f16(value, overflow)) << 16;
  }
  blend(destination, out.lane, wave.exec());
}

constexpr OpEntry kOps[] = {
    {"v_dot2_f32_f16", dot2_float<Format::f16, false>},
    {"v_dot2c_f32_f16", dot2_float<Format::f16, false>},
    {"v_dot2_f32_bf16", dot2_float<Format::bf16, true>},
    {"v_dot2c_f32_bf16", dot2_float<Format::bf16, false>},
    {"v_dot2_i32_i16", dot_integer<16, true>},
    {"v_dot2c_i32_i16", dot_integer<16, true>},
    {"v_dot2_u32_u16", dot_integer<16, false>},
    {"v_dot4_i32_i8", dot_integer<8, true>},
    {"v_dot4c_i32_i8", dot_integer<8, true>},
    {"v_dot4_u32_u8", dot_integer<8, false>},
    {"v_dot8_i32_i4", dot_integer<4, true>},
    {"v_dot8c_i32_i4", dot_integer<4, true>},
    {"v_dot8_u32_u4", dot_integer<4, false>},
    {"v_fma_mix_f32", fma_mix<MixResult::f32>},
    {"v_fma_mixlo_f16", fma_mix<MixResult::low_half>},
    {"v_fma_mixhi_f16", fma_mix<MixResult::high_half>},
};

}  // namespace

std::span<const OpEntry> dot_ops() { return kOps; }

}  // namespace mlaforge::simulator
