// Packed arithmetic: two 16-bit or two 32-bit elements a lane.
#include <algorithm>
#include <cmath>

#include "simulator/alu/float_math.h"
#include "simulator/alu/packed.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;

// f16 rounding and clamp of a row of floats, or plain 16-bit values, into the low halves.
void finish_element(const Wave& wave, const Instruction& instruction, bool is_float, Row& row) {
  if (!is_float) return;
  const Overflow overflow{(wave.mode & mode_bits::fp16_ovfl) != 0};
  const auto rounding = static_cast<Rounding>(wave.mode >> mode_bits::round_f64_f16_shift & 3);
  const bool usual = !overflow.saturate && rounding == Rounding::NearestEven;
  const bool flush = (wave.mode >> mode_bits::denorm_f64_f16_shift & 2) == 0;
  const bool dx10 = (wave.mode & mode_bits::dx10_clamp) != 0;
  for (u32& lane : row.lane) {
    float value = std::bit_cast<float>(lane);
    if (instruction.modifiers.clamp) value = is_nan(value) && !dx10 ? value : value > 0 ? std::min(value, 1.0f) : 0.0f;
    lane = usual ? f32_to_f16_nearest(value) : f32_to_f16(value, overflow, rounding);
    if (flush && (lane & 0x7c00) == 0) lane &= 0x8000;
  }
}

// Both halves by `function` on T (Half, u16 or i16).
template <auto function, class T, int count>
void packed16(Wave& wave, const Instruction& given) {
  const Instruction* instruction = &given;
  Instruction moved;
  if (relative_indexing(wave)) [[unlikely]]
    instruction = &(moved = with_relative_indices(wave, given));
  constexpr bool is_float = std::is_same_v<T, Half>;
  PackedRows rows[count], out;
  Source low[count], high[count];
  for (int i = 0; i < count; ++i) {
    fetch_packed16(wave, *instruction, i, is_float ? PackedType::f16 : PackedType::integer, rows[i]);
    low[i] = {rows[i].low.lane, nullptr};
    high[i] = {rows[i].high.lane, nullptr};
  }
  const auto run = [&](Row& destination, const Source* sources) {
    if constexpr (count == 1) detail::loop<function, false, T, T>(destination.lane, nullptr, sources, float_mode(wave));
    if constexpr (count == 2)
      detail::loop<function, false, T, T, T>(destination.lane, nullptr, sources, float_mode(wave));
    if constexpr (count == 3)
      detail::loop<function, false, T, T, T, T>(destination.lane, nullptr, sources, float_mode(wave));
    finish_element(wave, *instruction, is_float, destination);
  };
  run(out.low, low);
  run(out.high, high);
  for (int lane = 0; lane < wave_lanes; ++lane) out.low.lane[lane] |= out.high.lane[lane] << 16;
  blend(row(wave, instruction->operands[0]), out.low.lane, write_mask(wave, *instruction));
}

template <auto function, class T, int count>
constexpr OpEntry pk(std::string_view mnemonic) {
  return {mnemonic, packed16<function, T, count>};
}
template <auto function, auto clamped, class T, int count>
constexpr OpEntry pk_clamp(std::string_view mnemonic) {
  return {mnemonic, nullptr, [](const Instruction& i) -> Handler {
            return i.modifiers.clamp ? packed16<clamped, T, count> : packed16<function, T, count>;
          }};
}

// Two f32 elements.
template <auto function, int count>
void packed32(Wave& wave, const Instruction& given) {
  const Instruction* instruction = &given;
  Instruction moved;
  if (relative_indexing(wave)) [[unlikely]]
    instruction = &(moved = with_relative_indices(wave, given));
  PackedRows rows[count], out;
  Source low[count], high[count];
  for (int i = 0; i < count; ++i) {
    const PackedSources source = fetch_packed32(wave, *instruction, i, rows[i]);
    low[i] = {source.low, nullptr};
    high[i] = {source.high, nullptr};
  }
  {
    const HostRounding rounding(wave.mode, Kind::f32);
    const auto run = [&](Row& destination, const Source* sources) {
      if constexpr (count == 2)
        detail::loop<function, true, float, float, float>(destination.lane, nullptr, sources, float_mode(wave));
      else
        detail::loop<function, true, float, float, float, float>(destination.lane, nullptr, sources, float_mode(wave));
    };
    run(out.low, low);
    run(out.high, high);
  }
  const bool flush = (wave.mode >> mode_bits::denorm_f32_shift & 2) == 0;
  if (flush || instruction->modifiers.clamp) [[unlikely]] {
    for (Row* part : {&out.low, &out.high})
      for (u32& lane : part->lane) {
        const float value = std::bit_cast<float>(lane);
        if (instruction->modifiers.clamp)
          lane = std::bit_cast<u32>(is_nan(value) && (wave.mode & mode_bits::dx10_clamp) == 0 ? value
                                    : value > 0                                               ? std::min(value, 1.0f)
                                                                                              : 0.0f);
        if (flush && (lane & 0x7f800000) == 0) lane &= 0x80000000u;
      }
  }
  blend(row(wave, instruction->operands[0], 0), out.low.lane, wave.exec());
  blend(row(wave, instruction->operands[0], 1), out.high.lane, wave.exec());
}

// v_pk_mov_b32: the low result from source 0 by op_sel[0], the high one from source 1 by op_sel[1].
void pk_mov(Wave& wave, const Instruction& instruction) {
  Row scratch[2], copy[2];
  for (int i = 0; i < 2; ++i) {
    const Operand& op = packed_operand(instruction, i);
    const int second = instruction.modifiers.op_sel >> i & 1;
    const u32* lanes = op.is_vector() ? wave.vgpr[static_cast<size_t>(op.index + second)].lane
                       : op.kind == OperandKind::sgpr
                           ? splat(wave.sgpr[static_cast<size_t>(op.index + second)], scratch[i])
                           : splat(scalar32(wave, op), scratch[i]);
    copy[i] = *reinterpret_cast<const Row*>(lanes);
  }
  for (int i = 0; i < 2; ++i) blend(row(wave, instruction.operands[0], i), copy[i].lane, wave.exec());
}

u16 wrap(u32 value) { return static_cast<u16>(value); }
u16 saturate_u(int value) { return static_cast<u16>(std::clamp(value, 0, 0xffff)); }
i16 saturate_i(int value) { return static_cast<i16>(std::clamp(value, -0x8000, 0x7fff)); }

constexpr OpEntry kOps[] = {
    pk<[](float a, float b) { return half_add(a, b); }, Half, 2>("v_pk_add_f16"),
    pk<[](float a, float b) { return a * b; }, Half, 2>("v_pk_mul_f16"),
    pk<[](float a, float b, float c) { return half_fma(a, b, c); }, Half, 3>("v_pk_fma_f16"),
    pk<[](float a, float b, float c) { return half_fma(a, b, c); }, Half, 3>("v_pk_fmac_f16"),
    pk<[](FloatMode m, float a, float b) { return max_num(m.ieee, a, b); }, Half, 2>("v_pk_max_f16"),
    pk<[](FloatMode m, float a, float b) { return min_num(m.ieee, a, b); }, Half, 2>("v_pk_min_f16"),
    pk<[](float a, float b, float c) { return maximum(maximum(a, b), c); }, Half, 3>("v_pk_maximum3_f16"),
    pk<[](float a, float b, float c) { return minimum(minimum(a, b), c); }, Half, 3>("v_pk_minimum3_f16"),

    pk_clamp<[](u16 a, u16 b) { return wrap(u32{a} + b); }, [](u16 a, u16 b) { return saturate_u(a + b); }, u16, 2>(
        "v_pk_add_u16"),
    pk_clamp<[](u16 a, u16 b) { return wrap(u32{a} - b); }, [](u16 a, u16 b) { return saturate_u(a - b); }, u16, 2>(
        "v_pk_sub_u16"),
    pk_clamp<[](i16 a, i16 b) { return static_cast<i16>(a + b); }, [](i16 a, i16 b) { return saturate_i(a + b); }, i16,
             2>("v_pk_add_i16"),
    pk_clamp<[](i16 a, i16 b) { return static_cast<i16>(a - b); }, [](i16 a, i16 b) { return saturate_i(a - b); }, i16,
             2>("v_pk_sub_i16"),
    pk<[](u16 a, u16 b) { return wrap(u32{a} * b); }, u16, 2>("v_pk_mul_lo_u16"),
    pk_clamp<[](u16 a, u16 b, u16 c) { return wrap(u32{a} * b + c); },
             [](u16 a, u16 b, u16 c) { return static_cast<u16>(std::min<uint64_t>(uint64_t{a} * b + c, 0xffff)); }, u16,
             3>("v_pk_mad_u16"),
    pk_clamp<[](i16 a, i16 b, i16 c) { return static_cast<i16>(a * b + c); },
             [](i16 a, i16 b, i16 c) { return saturate_i(a * b + c); }, i16, 3>("v_pk_mad_i16"),
    pk<[](u16 a, u16 b) { return wrap(u32{b} << (a & 15)); }, u16, 2>("v_pk_lshlrev_b16"),
    pk<[](u16 a, u16 b) { return wrap(u32{b} >> (a & 15)); }, u16, 2>("v_pk_lshrrev_b16"),
    pk<[](i16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }, i16, 2>("v_pk_ashrrev_i16"),
    pk<[](u16 a, u16 b) { return std::max(a, b); }, u16, 2>("v_pk_max_u16"),
    pk<[](u16 a, u16 b) { return std::min(a, b); }, u16, 2>("v_pk_min_u16"),
    pk<[](i16 a, i16 b) { return std::max(a, b); }, i16, 2>("v_pk_max_i16"),
    pk<[](i16 a, i16 b) { return std::min(a, b); }, i16, 2>("v_pk_min_i16"),

    {"v_pk_add_f32", packed32<[](float a, float b) { return a + b; }, 2>},
    {"v_pk_mul_f32", packed32<[](float a, float b) { return a * b; }, 2>},
    {"v_pk_fma_f32", packed32<[](float a, float b, float c) { return std::fma(a, b, c); }, 3>},
    {"v_pk_mov_b32", pk_mov},
};

}  // namespace

std::span<const OpEntry> packed_ops() { return kOps; }

}  // namespace mlaforge::simulator
