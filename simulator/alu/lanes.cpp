#include "simulator/alu/lanes.h"

#include <cfenv>
#include <cmath>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "simulator/alu/dpp.h"

namespace mlaforge::simulator {
namespace {

constexpr uint32_t kF32Sign = 0x80000000u;

bool keeps_input_denormals(uint32_t mode, Kind kind) {
  const uint32_t shift = kind == Kind::f32 ? mode_bits::denorm_f32_shift : mode_bits::denorm_f64_f16_shift;
  return (mode >> shift & 1) != 0;
}

bool keeps_output_denormals(uint32_t mode, Kind kind) {
  const uint32_t shift = kind == Kind::f32 ? mode_bits::denorm_f32_shift : mode_bits::denorm_f64_f16_shift;
  return (mode >> shift & 2) != 0;
}

uint32_t select_bits(uint32_t value, SdwaSel sel, bool sext) {
  switch (sel) {
    case SdwaSel::byte0:
    case SdwaSel::byte1:
    case SdwaSel::byte2:
    case SdwaSel::byte3: {
      const uint32_t byte = value >> (8 * static_cast<uint32_t>(sel)) & 0xff;
      return sext ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
    }
    case SdwaSel::word0:
    case SdwaSel::word1: {
      const uint32_t word = sel == SdwaSel::word0 ? value & 0xffff : value >> 16;
      return sext ? static_cast<uint32_t>(static_cast<int16_t>(word)) : word;
    }
    case SdwaSel::dword:
      break;
  }
  return value;
}

// neg and abs on the sign bit, which for 64-bit kinds sits in the high dword.
void modify_sign(Row& row, uint32_t sign, bool abs, bool neg) {
  for (uint32_t& lane : row.lane) {
    if (abs) lane &= ~sign;
    if (neg) lane ^= sign;
  }
}

void flush_denormals(Kind kind, Row& lo, Row& hi) {
  for (int lane = 0; lane < wave_lanes; ++lane) {
    if (kind == Kind::f32) {
      if ((lo.lane[lane] & 0x7f800000) == 0) lo.lane[lane] &= kF32Sign;
    } else if (kind == Kind::f16) {
      if ((lo.lane[lane] & 0x7c00) == 0) lo.lane[lane] &= 0x8000;
    } else if ((hi.lane[lane] & 0x7ff00000) == 0) {
      hi.lane[lane] &= kF32Sign;
      lo.lane[lane] = 0;
    }
  }
}

template <class T>
T modified(T value, uint8_t omod, bool clamp, bool dx10_clamp) {
  if (omod != 0) value = value * (omod == 1 ? T{2} : omod == 2 ? T{4} : T{0.5}) + T{0};  // -0 becomes +0
  if (clamp) {
    if (value != value) return dx10_clamp ? T{0} : value;
    value = value > T{0} ? value : T{0};
    value = value < T{1} ? value : T{1};
  }
  return value;
}

// Output modifiers on finished numbers. f16 values are still floats here.
void modify_output(const Wave& wave, const Instruction& instruction, Kind kind, Row& lo, Row& hi) {
  const Modifiers& m = instruction.modifiers;
  // The ISA ignores omod while output denormals or IEEE mode are on.
  const bool scaled = m.omod != 0 && !keeps_output_denormals(wave.mode, kind) && (wave.mode & mode_bits::ieee) == 0;
  const uint8_t omod = scaled ? m.omod : uint8_t{0};
  if (omod == 0 && !m.clamp) return;
  const bool dx10 = (wave.mode & mode_bits::dx10_clamp) != 0;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    if (kind == Kind::f64) {
      const Source source{lo.lane, hi.lane};
      detail::store<double, true>(lo.lane, hi.lane, lane,
                                  modified(detail::load<double>(source, lane), omod, m.clamp, dx10));
    } else {
      lo.lane[lane] = std::bit_cast<uint32_t>(modified(std::bit_cast<float>(lo.lane[lane]), omod, m.clamp, dx10));
    }
  }
}

// Puts 16-bit results (or an SDWA selection of any result) where they go, the rest of the register by rule.
void place(uint32_t* lanes, const uint32_t* old, SdwaSel sel, SdwaUnused unused) {
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t value = lanes[lane];
    const int select = static_cast<int>(sel);
    if (sel == SdwaSel::dword) continue;
    const uint32_t shift = select < 4 ? 8u * static_cast<uint32_t>(select) : sel == SdwaSel::word1 ? 16u : 0u;
    const uint32_t mask = (select < 4 ? 0xffu : 0xffffu) << shift;
    uint32_t result = value << shift & mask;
    if (unused == SdwaUnused::preserve) {
      result |= old[lane] & ~mask;
    } else if (unused == SdwaUnused::sext && (result & (mask ^ (mask >> 1)) & mask) != 0) {
      const uint32_t top = mask & ~(mask >> 1);
      if ((result & top) != 0) result |= ~(mask | (shift != 0 ? (1u << shift) - 1 : 0u));
    }
    lanes[lane] = result;
  }
}

}  // namespace

bool is_plain(const Instruction& instruction) {
  const Modifiers& m = instruction.modifiers;
  if (instruction.encoding == Encoding::dpp || instruction.encoding == Encoding::sdwa) return false;
  if (m.clamp || m.omod != 0 || m.op_sel != 0) return false;
  for (int i = 0; i < instruction.operand_count; ++i)
    if (instruction.operands[i].neg || instruction.operands[i].abs) return false;
  return true;
}

Instruction with_relative_indices(const Wave& wave, const Instruction& instruction) {
  Instruction moved = instruction;
  const uint32_t index = wave.m0() & 0xff;
  const uint32_t enable = wave.m0() >> 12 & 0xf;  // src0, src1, src2, dst
  int source = 0;
  for (int i = 0; i < moved.operand_count; ++i) {
    Operand& op = moved.operands[i];
    const bool on = i == 0 ? (enable & 8) != 0 : (enable >> source & 1) != 0;
    if (i != 0) ++source;
    if (op.kind != OperandKind::vgpr || !on) continue;
    if (op.index + index + op.dwords > first_agpr_row)
      raise_fault(wave, FaultKind::register_bounds,
                  "relative index " + std::to_string(index) + " moves v" + std::to_string(op.index) + " past v255");
    op.index = static_cast<uint16_t>(op.index + index);
  }
  return moved;
}

Source fetch(const Wave& wave, const Instruction& instruction, const Operand& op, int source, Kind kind, Row& lo,
             Row& hi) {
  const Source plain = fetch_plain(wave, op, kind, lo, hi);
  const Modifiers& m = instruction.modifiers;
  const bool dpp = source == 0 && instruction.encoding == Encoding::dpp;
  if (dpp) {
    dpp_move(wave, m, plain.lo, lo);
    if (is_wide(kind)) dpp_move(wave, m, plain.hi, hi);
  } else {
    if (plain.lo != lo.lane) lo = *reinterpret_cast<const Row*>(plain.lo);
    if (is_wide(kind) && plain.hi != hi.lane) hi = *reinterpret_cast<const Row*>(plain.hi);
  }
  if (instruction.encoding == Encoding::sdwa && op.sel != SdwaSel::dword)
    for (uint32_t& lane : lo.lane) lane = select_bits(lane, op.sel, op.sext);
  if (is_narrow(kind)) {
    const bool high = (m.op_sel >> source & 1) != 0;
    for (uint32_t& lane : lo.lane) lane = (high ? lane >> 16 : lane) & 0xffff;
  }
  const bool is_float = kind != Kind::b16 && kind != Kind::b32 && kind != Kind::b64;
  if (is_float && (op.neg || op.abs))
    modify_sign(is_wide(kind) ? hi : lo, is_narrow(kind) ? 0x8000u : kF32Sign, op.abs, op.neg);
  if (is_arithmetic_float(kind) && (!keeps_input_denormals(wave.mode, kind) ||
                                    (kind == Kind::f32 && (instruction.detail & alu_detail::flush_denormals) != 0)))
    flush_denormals(kind, lo, hi);
  return {lo.lane, hi.lane};
}

uint64_t write_mask(const Wave& wave, const Instruction& instruction) {
  return instruction.encoding == Encoding::dpp ? wave.exec() & dpp_write_mask(wave, instruction.modifiers)
                                               : wave.exec();
}

void finish(Wave& wave, const Instruction& instruction, Kind kind, Row& lo, Row& hi, int sources) {
  const Modifiers& m = instruction.modifiers;
  if (is_arithmetic_float(kind)) {
    modify_output(wave, instruction, kind, lo, hi);
    if (kind == Kind::f16) {
      const Overflow overflow{(wave.mode & mode_bits::fp16_ovfl) != 0};
      const auto rounding = static_cast<Rounding>(wave.mode >> mode_bits::round_f64_f16_shift & 3);
      for (uint32_t& lane : lo.lane) lane = f32_to_f16(std::bit_cast<float>(lane), overflow, rounding);
    }
    if (!keeps_output_denormals(wave.mode, kind) ||
        (kind == Kind::f32 && (instruction.detail & alu_detail::flush_denormals) != 0))
      flush_denormals(kind, lo, hi);
  }
  uint32_t* destination = row(wave, instruction.operands[0]);
  if (instruction.encoding == Encoding::sdwa) {
    place(lo.lane, destination, m.dst_sel, m.dst_unused);
  } else if (is_narrow(kind)) {
    const bool high = (m.op_sel >> sources & 1) != 0;
    const bool preserve = high || (instruction.detail & alu_detail::preserve_high) != 0;
    place(lo.lane, destination, high ? SdwaSel::word1 : SdwaSel::word0,
          preserve ? SdwaUnused::preserve : SdwaUnused::pad);
  }
  const uint64_t mask = write_mask(wave, instruction);
  blend(destination, lo.lane, mask);
  if (is_wide(kind)) blend(row(wave, instruction.operands[0], 1), hi.lane, mask);
}

uint64_t pack_mask(const uint32_t* lanes) {
#if defined(__AVX512F__)
  uint64_t mask = 0;
  for (int part = 0; part < 4; ++part) {
    const __m512i values = _mm512_loadu_si512(lanes + 16 * part);
    mask |= static_cast<uint64_t>(_mm512_test_epi32_mask(values, _mm512_set1_epi32(1))) << (16 * part);
  }
  return mask;
#else
  uint64_t mask = 0;
  for (int lane = 0; lane < wave_lanes; ++lane) mask |= static_cast<uint64_t>(lanes[lane] & 1) << lane;
  return mask;
#endif
}

void blend(uint32_t* destination, const uint32_t* values, uint64_t mask) {
#if defined(__AVX512F__)
  for (int part = 0; part < 4; ++part)
    _mm512_mask_storeu_epi32(destination + 16 * part, static_cast<__mmask16>(mask >> (16 * part)),
                             _mm512_loadu_si512(values + 16 * part));
#else
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<uint32_t>(mask >> (32 * half));
    for (int i = 0; i < 32; ++i) {
      const uint32_t on = 0u - (bits >> i & 1);
      uint32_t& lane = destination[32 * half + i];
      lane = (lane & ~on) | (values[32 * half + i] & on);
    }
  }
#endif
}

HostRounding::HostRounding(uint32_t mode, Kind kind) {
  if (kind != Kind::f32 && kind != Kind::f64) return;
  const uint32_t shift = kind == Kind::f32 ? mode_bits::round_f32_shift : mode_bits::round_f64_f16_shift;
  static constexpr std::array<int, 4> directions{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const int wanted = directions[mode >> shift & 3];
  if (wanted == FE_TONEAREST) return;
  previous_ = std::fegetround();
  changed_ = true;
  std::fesetround(wanted);
}

HostRounding::~HostRounding() {
  if (changed_) std::fesetround(previous_);
}

}  // namespace mlaforge::simulator
