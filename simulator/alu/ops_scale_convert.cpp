// fp8, bf8, fp6, bf6 and fp4 conversions: the plain ones of gfx940 and gfx950's v_cvt_scalef32_* with a block scale.
//
// The scale is the exponent field of an f32 (2^(e - 127), as E8M0). Widening multiplies by it, narrowing divides: the
// ISA's pseudocode passes only the exponent; the direction is that of MLIR's arith.scaling_extf and scaling_truncf
// lowering (confidence C, see kNarrowingDivides).
#include <array>
#include <cmath>
#include <cstdint>

#include "simulator/alu/formats.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;

constexpr bool kNarrowingDivides = true;

// The wide side of a conversion.
enum class Wide : uint8_t { f32, f16, bf16 };

// What a row of the table fixes.
struct Conversion {
  MiniFloat narrow;
  Wide wide;
  int elements;     // a lane
  bool stochastic;  // random bits in source 1
  bool scaled;
  bool interleaved;  // 2xpk16: elements alternate between sources 0 and 1
};

double wide_value(Wide wide, u32 bits) {
  switch (wide) {
    case Wide::f32:
      return static_cast<double>(std::bit_cast<float>(bits));
    case Wide::f16:
      return static_cast<double>(f16_to_f32(static_cast<uint16_t>(bits)));
    case Wide::bf16:
      return static_cast<double>(bf16_to_f32(static_cast<uint16_t>(bits)));
  }
  return 0;
}

u32 wide_bits(Wide wide, double value, Overflow overflow) {
  switch (wide) {
    case Wide::f32:
      return std::bit_cast<u32>(static_cast<float>(value));
    case Wide::f16:
      return f64_to_f16(value, overflow);
    case Wide::bf16:
      return encode(kBf16, value);
  }
  return 0;
}

double scale_of(u32 bits) { return decode_e8m0(static_cast<uint8_t>(bits >> 23 & 0xff)); }

u32 next_random(u32 value) { return value << 1 ^ (value >> 31 != 0 ? 197u : 0u); }  // v_prng_b32

// OPSEL[3:0] as encoded; the printed list leaves out positions of sources that an instruction does not have.
u32 raw_op_sel(const Instruction& instruction) {
  return instruction.encoding == Encoding::e32 || instruction.encoding == Encoding::sdwa ||
                 instruction.encoding == Encoding::dpp
             ? 0
             : instruction.words[0] >> 11 & 0xf;
}

// Little-endian bit string of one lane over consecutive registers.
template <size_t dwords>
struct LaneBits {
  std::array<u32, dwords> words{};
  u32 get(int bit, int width) const {
    const auto word = static_cast<size_t>(bit / 32);
    uint64_t value = words[word];
    if (word + 1 < dwords) value |= static_cast<uint64_t>(words[word + 1]) << 32;
    return static_cast<u32>(value >> (bit % 32) & ((uint64_t{1} << width) - 1));
  }
  void put(int bit, int width, u32 value) {
    for (int i = 0; i < width; ++i)
      if ((value >> i & 1) != 0) words[static_cast<size_t>((bit + i) / 32)] |= 1u << ((bit + i) % 32);
  }
};
using Lane = LaneBits<32>;

Lane read_lane(const Wave& wave, const Operand& op, int lane, int dwords) {
  Lane bits;
  for (int i = 0; i < dwords; ++i)
    bits.words[static_cast<size_t>(i)] = op.is_vector() ? wave.vgpr[static_cast<size_t>(op.index + i)].lane[lane]
                                         : op.kind == OperandKind::sgpr ? wave.sgpr[static_cast<size_t>(op.index + i)]
                                                                        : scalar32(wave, op);
  return bits;
}

// neg and abs of a float source; they apply to every element.
double signed_value(const Operand& op, double value) {
  if (op.abs) value = std::fabs(value);
  return op.neg ? -value : value;
}

void write_lane(Wave& wave, const Operand& op, int lane, const Lane& bits, int dwords) {
  for (int i = 0; i < dwords; ++i)
    wave.vgpr[static_cast<size_t>(op.index + i)].lane[lane] = bits.words[static_cast<size_t>(i)];
}

int wide_width(const Conversion& c) { return c.wide == Wide::f32 ? 32 : 16; }

// Wide to narrow. Results of under 32 bits go into the byte or half that OPSEL[3:2] names, the rest is preserved.
template <Conversion c>
void narrow(Wave& wave, const Instruction& instruction) {
  const Operand& destination = instruction.operands[0];
  const Overflow overflow{(wave.mode & mode_bits::fp16_ovfl) != 0};
  const Operand& first = instruction.operands[1];
  const Operand& second = instruction.operands[2];
  // Two f32 elements come from two sources, except in the stochastic packed form, whose source 0 is a pair.
  const bool two_sources = c.wide == Wide::f32 && c.elements == 2 && !c.stochastic;
  const int scale_operand = instruction.operand_count - 1;
  const int width = c.narrow.width();
  const int result_bits = width * c.elements;
  const u32 op_sel = raw_op_sel(instruction);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    if ((wave.exec() >> lane & 1) == 0) continue;
    const int wide_dwords = (wide_width(c) * (c.interleaved ? 16 : two_sources ? 1 : c.elements) + 31) / 32;
    const Lane a = read_lane(wave, first, lane, wide_dwords);
    const Lane b = two_sources || c.interleaved ? read_lane(wave, second, lane, wide_dwords) : Lane{};
    u32 random = c.stochastic ? read_lane(wave, second, lane, 1).words[0] : 0;
    double scale = 1.0;
    if (c.scaled) {
      scale = scale_of(read_lane(wave, instruction.operands[static_cast<size_t>(scale_operand)], lane, 1).words[0]);
      if (kNarrowingDivides) scale = 1.0 / scale;
    }
    Lane result;
    for (int i = 0; i < c.elements; ++i) {
      const bool from_b = (two_sources || c.interleaved) && (i & 1) != 0;
      const int index = c.interleaved ? i / 2 : two_sources ? 0 : i;
      const double value = signed_value(from_b ? second : first,
                                        wide_value(c.wide, (from_b ? b : a).get(index * wide_width(c), wide_width(c))));
      const u32 code = c.stochastic ? encode_stochastic(c.narrow, value * scale, random, overflow)
                                    : encode(c.narrow, value * scale, overflow);
      random = next_random(random);
      result.put(i * width, width, code);
    }
    if (result_bits >= 32) {
      write_lane(wave, destination, lane, result, result_bits / 32);
      continue;
    }
    const u32 shift = result_bits == 8 ? 8 * (op_sel >> 2 & 3) : 16 * (op_sel >> 3 & 1);
    const u32 mask = ((1u << result_bits) - 1) << shift;
    u32& target = wave.vgpr[destination.index].lane[lane];
    target = (target & ~mask) | result.words[0] << shift;
  }
}

// Narrow to wide. Sources of under 32 bits are picked by OPSEL[1:0], or by SDWA's src0_sel.
template <Conversion c>
void widen(Wave& wave, const Instruction& instruction) {
  const Operand& destination = instruction.operands[0];
  const Operand& source = instruction.operands[1];
  const int width = c.narrow.width();
  const int source_bits = width * c.elements;
  const Overflow overflow{(wave.mode & mode_bits::fp16_ovfl) != 0};
  const u32 op_sel = raw_op_sel(instruction);
  int offset = 0;
  if (source_bits == 8) offset = static_cast<int>(8 * (op_sel & 3));
  if (source_bits == 16) offset = static_cast<int>(16 * (op_sel & 1));
  Row moved, unused;
  const bool modified = instruction.encoding == Encoding::sdwa || instruction.encoding == Encoding::dpp;
  if (modified) fetch(wave, instruction, source, 0, Kind::b32, moved, unused);
  // OPSEL[3] picks the destination half of a single f16 result; its other half is preserved.
  const bool half_result = c.elements == 1 && c.wide != Wide::f32;
  const uint64_t mask = write_mask(wave, instruction);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    Lane narrow_bits = read_lane(wave, source, lane, (source_bits + 31) / 32);
    if (modified) narrow_bits.words[0] = moved.lane[lane];
    const double scale = c.scaled ? scale_of(read_lane(wave, instruction.operands[2], lane, 1).words[0]) : 1.0;
    Lane result;
    for (int i = 0; i < c.elements; ++i) {
      const double value = decode(c.narrow, narrow_bits.get(offset + i * width, width)) * scale;
      result.put(i * wide_width(c), wide_width(c), wide_bits(c.wide, value, overflow));
    }
    if (half_result) {
      const u32 shift = 16 * (op_sel >> 3 & 1);
      u32& target = wave.vgpr[destination.index].lane[lane];
      target = (target & ~(0xffffu << shift)) | result.words[0] << shift;
    } else {
      write_lane(wave, destination, lane, result, wide_width(c) * c.elements / 32);
    }
  }
}

// Fast forms of the two conversions that kernels use most: plain nearest v_cvt_pk_fp8_f32 and v_cvt_pk_f32_fp8.
u32 f32_to_fp8_nearest(float x, u32 overflow_code) {
  const u32 bits = std::bit_cast<u32>(x);
  const u32 sign = bits >> 24 & 0x80;
  const u32 magnitude = bits & 0x7fffffff;
  const u32 rebased = magnitude - (120u << 23);
  const u32 normal = (rebased + 0x7ffff + (rebased >> 20 & 1)) >> 20;
  // Denormal results: adding 2^14 makes the f32 unit in the last place 2^-9, the smallest E4M3 number.
  const float shifted = std::bit_cast<float>(magnitude < (121u << 23) ? magnitude : 0u) + 16384.0f;
  const u32 denormal = std::bit_cast<u32>(shifted) - std::bit_cast<u32>(16384.0f);
  u32 code = magnitude < (121u << 23) ? denormal : normal;
  code = magnitude > 0x43e80000 ? overflow_code : code;  // above 464, the midpoint of 448 and the missing 480
  code = magnitude == 0x7f800000 && !kFp8InfinitySaturates ? 0x7fu : code;
  code = magnitude > 0x7f800000 ? 0x7fu : code;
  return sign | code;
}

void cvt_pk_fp8_fast(Wave& wave, const Instruction& instruction) {
  if (relative_indexing(wave)) [[unlikely]] {
    const Instruction moved = with_relative_indices(wave, instruction);
    return narrow<Conversion{kFp8, Wide::f32, 2, false, false, false}>(wave, moved);
  }
  Row scratch[2], out;
  const u32* a = src32(wave, instruction.operands[1], scratch[0]);
  const u32* b = src32(wave, instruction.operands[2], scratch[1]);
  u32* destination = row(wave, instruction.operands[0]);
  const u32 overflow_code = (wave.mode & mode_bits::fp16_ovfl) != 0 ? 0x7e : 0x7f;
  const u32 shift = 16 * (raw_op_sel(instruction) >> 3 & 1);
  const u32 keep = ~(0xffffu << shift);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const u32 pair = f32_to_fp8_nearest(std::bit_cast<float>(a[lane]), overflow_code) |
                     f32_to_fp8_nearest(std::bit_cast<float>(b[lane]), overflow_code) << 8;
    out.lane[lane] = (destination[lane] & keep) | pair << shift;
  }
  blend(destination, out.lane, wave.exec());
}

float fp8_value(u32 code) {
  const u32 magnitude = code & 0x7f;
  const bool denormal = magnitude < 8;
  const float offset = denormal ? 0x1p-6f : 0.0f;
  const float value = std::bit_cast<float>((magnitude << 20) + ((denormal ? 121u : 120u) << 23)) - offset;
  const u32 bits = magnitude == 0x7f ? 0x7fc00000u : std::bit_cast<u32>(value);
  return std::bit_cast<float>(bits | (code & 0x80) << 24);
}

void cvt_pk_f32_fp8_fast(Wave& wave, const Instruction& instruction) {
  Row scratch, low, high;
  const u32* source = src32(wave, instruction.operands[1], scratch);
  const u32 shift = instruction.encoding == Encoding::sdwa && instruction.operands[1].sel == SdwaSel::word1 ? 16 : 0;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    low.lane[lane] = std::bit_cast<u32>(fp8_value(source[lane] >> shift & 0xff));
    high.lane[lane] = std::bit_cast<u32>(fp8_value(source[lane] >> (shift + 8) & 0xff));
  }
  blend(row(wave, instruction.operands[0], 0), low.lane, wave.exec());
  blend(row(wave, instruction.operands[0], 1), high.lane, wave.exec());
}

template <Conversion c, bool narrowing>
void indexed(Wave& wave, const Instruction& instruction) {
  if (relative_indexing(wave)) [[unlikely]] {
    const Instruction moved = with_relative_indices(wave, instruction);
    return narrowing ? narrow<c>(wave, moved) : widen<c>(wave, moved);
  }
  narrowing ? narrow<c>(wave, instruction) : widen<c>(wave, instruction);
}

template <MiniFloat format, Wide wide, int elements, bool stochastic = false, bool interleaved = false>
constexpr OpEntry to_narrow(std::string_view mnemonic) {
  return {mnemonic, indexed<Conversion{format, wide, elements, stochastic, true, interleaved}, true>};
}
template <MiniFloat format, Wide wide, int elements>
constexpr OpEntry to_wide(std::string_view mnemonic) {
  return {mnemonic, indexed<Conversion{format, wide, elements, false, true, false}, false>};
}
template <MiniFloat format, int elements>
constexpr OpEntry plain_wide(std::string_view mnemonic) {
  return {mnemonic, indexed<Conversion{format, Wide::f32, elements, false, false, false}, false>};
}
template <MiniFloat format, int elements, bool stochastic>
constexpr OpEntry plain_narrow(std::string_view mnemonic) {
  return {mnemonic, indexed<Conversion{format, Wide::f32, elements, stochastic, false, false}, true>};
}

bool without_signs(const Instruction& i) {
  return !i.operands[1].neg && !i.operands[1].abs && !i.operands[2].neg && !i.operands[2].abs;
}

constexpr OpEntry kOps[] = {
    {"v_cvt_pk_fp8_f32", nullptr,
     [](const Instruction& i) -> Handler {
       return without_signs(i) ? cvt_pk_fp8_fast : indexed<Conversion{kFp8, Wide::f32, 2, false, false, false}, true>;
     }},
    {"v_cvt_pk_f32_fp8", nullptr,
     [](const Instruction& i) -> Handler {
       const SdwaSel sel = i.operands[1].sel;
       const bool word = i.encoding == Encoding::sdwa && (sel == SdwaSel::word0 || sel == SdwaSel::word1);
       const bool fast = word || i.encoding == Encoding::e32;
       return fast ? cvt_pk_f32_fp8_fast : indexed<Conversion{kFp8, Wide::f32, 2, false, false, false}, false>;
     }},
    plain_narrow<kBf8, 2, false>("v_cvt_pk_bf8_f32"),
    plain_narrow<kFp8, 1, true>("v_cvt_sr_fp8_f32"),
    plain_narrow<kBf8, 1, true>("v_cvt_sr_bf8_f32"),
    plain_wide<kFp8, 1>("v_cvt_f32_fp8"),
    plain_wide<kBf8, 1>("v_cvt_f32_bf8"),
    plain_wide<kBf8, 2>("v_cvt_pk_f32_bf8"),

    to_narrow<kFp8, Wide::f32, 2>("v_cvt_scalef32_pk_fp8_f32"),
    to_narrow<kBf8, Wide::f32, 2>("v_cvt_scalef32_pk_bf8_f32"),
    to_narrow<kFp4, Wide::f32, 2>("v_cvt_scalef32_pk_fp4_f32"),
    to_narrow<kFp8, Wide::f16, 2>("v_cvt_scalef32_pk_fp8_f16"),
    to_narrow<kBf8, Wide::f16, 2>("v_cvt_scalef32_pk_bf8_f16"),
    to_narrow<kFp4, Wide::f16, 2>("v_cvt_scalef32_pk_fp4_f16"),
    to_narrow<kFp8, Wide::bf16, 2>("v_cvt_scalef32_pk_fp8_bf16"),
    to_narrow<kBf8, Wide::bf16, 2>("v_cvt_scalef32_pk_bf8_bf16"),
    to_narrow<kFp4, Wide::bf16, 2>("v_cvt_scalef32_pk_fp4_bf16"),
    to_narrow<kFp8, Wide::f32, 1, true>("v_cvt_scalef32_sr_fp8_f32"),
    to_narrow<kBf8, Wide::f32, 1, true>("v_cvt_scalef32_sr_bf8_f32"),
    to_narrow<kFp8, Wide::f16, 1, true>("v_cvt_scalef32_sr_fp8_f16"),
    to_narrow<kBf8, Wide::f16, 1, true>("v_cvt_scalef32_sr_bf8_f16"),
    to_narrow<kFp8, Wide::bf16, 1, true>("v_cvt_scalef32_sr_fp8_bf16"),
    to_narrow<kBf8, Wide::bf16, 1, true>("v_cvt_scalef32_sr_bf8_bf16"),
    to_narrow<kFp4, Wide::f32, 2, true>("v_cvt_scalef32_sr_pk_fp4_f32"),
    to_narrow<kFp4, Wide::f16, 2, true>("v_cvt_scalef32_sr_pk_fp4_f16"),
    to_narrow<kFp4, Wide::bf16, 2, true>("v_cvt_scalef32_sr_pk_fp4_bf16"),
    to_narrow<kFp6, Wide::f32, 32, false, true>("v_cvt_scalef32_2xpk16_fp6_f32"),
    to_narrow<kBf6, Wide::f32, 32, false, true>("v_cvt_scalef32_2xpk16_bf6_f32"),
    to_narrow<kFp6, Wide::f16, 32>("v_cvt_scalef32_pk32_fp6_f16"),
    to_narrow<kBf6, Wide::f16, 32>("v_cvt_scalef32_pk32_bf6_f16"),
    to_narrow<kFp6, Wide::bf16, 32>("v_cvt_scalef32_pk32_fp6_bf16"),
    to_narrow<kBf6, Wide::bf16, 32>("v_cvt_scalef32_pk32_bf6_bf16"),
    to_narrow<kFp6, Wide::f32, 32, true>("v_cvt_scalef32_sr_pk32_fp6_f32"),
    to_narrow<kBf6, Wide::f32, 32, true>("v_cvt_scalef32_sr_pk32_bf6_f32"),
    to_narrow<kFp6, Wide::f16, 32, true>("v_cvt_scalef32_sr_pk32_fp6_f16"),
    to_narrow<kBf6, Wide::f16, 32, true>("v_cvt_scalef32_sr_pk32_bf6_f16"),
    to_narrow<kFp6, Wide::bf16, 32, true>("v_cvt_scalef32_sr_pk32_fp6_bf16"),
    to_narrow<kBf6, Wide::bf16, 32, true>("v_cvt_scalef32_sr_pk32_bf6_bf16"),

    to_wide<kFp8, Wide::f32, 1>("v_cvt_scalef32_f32_fp8"),
    to_wide<kBf8, Wide::f32, 1>("v_cvt_scalef32_f32_bf8"),
    to_wide<kFp8, Wide::f16, 1>("v_cvt_scalef32_f16_fp8"),
    to_wide<kBf8, Wide::f16, 1>("v_cvt_scalef32_f16_bf8"),
    to_wide<kFp8, Wide::f32, 2>("v_cvt_scalef32_pk_f32_fp8"),
    to_wide<kBf8, Wide::f32, 2>("v_cvt_scalef32_pk_f32_bf8"),
    to_wide<kFp4, Wide::f32, 2>("v_cvt_scalef32_pk_f32_fp4"),
    to_wide<kFp8, Wide::f16, 2>("v_cvt_scalef32_pk_f16_fp8"),
    to_wide<kBf8, Wide::f16, 2>("v_cvt_scalef32_pk_f16_bf8"),
    to_wide<kFp4, Wide::f16, 2>("v_cvt_scalef32_pk_f16_fp4"),
    to_wide<kFp8, Wide::bf16, 2>("v_cvt_scalef32_pk_bf16_fp8"),
    to_wide<kBf8, Wide::bf16, 2>("v_cvt_scalef32_pk_bf16_bf8"),
    to_wide<kFp4, Wide::bf16, 2>("v_cvt_scalef32_pk_bf16_fp4"),
    to_wide<kFp6, Wide::f32, 32>("v_cvt_scalef32_pk32_f32_fp6"),
    to_wide<kBf6, Wide::f32, 32>("v_cvt_scalef32_pk32_f32_bf6"),
    to_wide<kFp6, Wide::f16, 32>("v_cvt_scalef32_pk32_f16_fp6"),
    to_wide<kBf6, Wide::f16, 32>("v_cvt_scalef32_pk32_f16_bf6"),
    to_wide<kFp6, Wide::bf16, 32>("v_cvt_scalef32_pk32_bf16_fp6"),
    to_wide<kBf6, Wide::bf16, 32>("v_cvt_scalef32_pk32_bf16_bf6"),
};

}  // namespace

std::span<const OpEntry> scale_convert_ops() { return kOps; }

}  // namespace mlaforge::simulator
