// The frame that every vector ALU instruction runs in: fetch operands as 64-lane rows, run one loop over the lanes,
// apply output modifiers, write under EXEC. An instruction is then one line: its types and a scalar function.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "simulator/alu/formats.h"
#include "simulator/core/instruction.h"
#include "simulator/core/wave.h"

// Scalar library calls (sine, frexp) do not vectorize; that is no warning here.
#pragma clang diagnostic ignored "-Wpass-failed"

namespace mlaforge::simulator {

// An f16 operand or result. Scalar functions see it as float; a float result is rounded once to f16, so it must be
// exact or rounded to odd (see half_of).
struct Half {};
// 32 raw bits that accept neg and abs as a float does but are never flushed or quieted (v_cndmask_b32, class tests).
struct RawF32 {};
struct RawF16 {};
struct RawF64 {};

enum class Kind : uint8_t { b16, f16, raw_f16, b32, f32, raw_f32, b64, f64, raw_f64 };

namespace detail {
template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, Half>)
    return Kind::f16;
  else if constexpr (std::is_same_v<T, RawF16>)
    return Kind::raw_f16;
  else if constexpr (std::is_same_v<T, RawF32>)
    return Kind::raw_f32;
  else if constexpr (std::is_same_v<T, RawF64>)
    return Kind::raw_f64;
  else if constexpr (std::is_same_v<T, float>)
    return Kind::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::f64;
  else if constexpr (sizeof(T) == 2)
    return Kind::b16;
  else if constexpr (sizeof(T) == 8)
    return Kind::b64;
  else
    return Kind::b32;
}
}  // namespace detail

constexpr bool is_wide(Kind kind) { return kind == Kind::b64 || kind == Kind::f64 || kind == Kind::raw_f64; }
constexpr bool is_narrow(Kind kind) { return kind == Kind::b16 || kind == Kind::f16 || kind == Kind::raw_f16; }
constexpr bool is_arithmetic_float(Kind kind) { return kind == Kind::f16 || kind == Kind::f32 || kind == Kind::f64; }

// MODE as the loops need it.
struct FloatMode {
  bool ieee;
};

// Rows of one operand; `hi` is the second dword of 64-bit kinds, else unused. 16-bit kinds: the low half of each lane.
struct Source {
  const uint32_t* lo;
  const uint32_t* hi;
};

// Values of OpEntry::detail.
namespace alu_detail {
inline constexpr uint32_t preserve_high = 1;    // a 16-bit result leaves the other half of the register as it was
inline constexpr uint32_t flush_denormals = 2;  // transcendental f32: denormals in and out are zero in any mode
}  // namespace alu_detail

// MODE differs from what the plain loops assume: nearest even, denormals kept.
inline bool unusual_float_mode(uint32_t mode, bool f32, bool f64_f16) {
  constexpr uint32_t f32_mask = (3u << mode_bits::round_f32_shift) | (3u << mode_bits::denorm_f32_shift);
  constexpr uint32_t f64_mask = (3u << mode_bits::round_f64_f16_shift) | (3u << mode_bits::denorm_f64_f16_shift);
  constexpr uint32_t f32_usual = 3u << mode_bits::denorm_f32_shift;
  constexpr uint32_t f64_usual = 3u << mode_bits::denorm_f64_f16_shift;
  return (f32 && (mode & f32_mask) != f32_usual) ||
         (f64_f16 && ((mode & f64_mask) != f64_usual || (mode & mode_bits::fp16_ovfl) != 0));
}

// No DPP, SDWA, neg, abs, clamp, omod or op_sel: the loop can read and write registers as they are.
bool is_plain(const Instruction& instruction);

// `instruction` with its VGPR numbers moved by M0 as s_set_gpr_idx asks; only while MODE.GPR_IDX_EN is set.
Instruction with_relative_indices(const Wave& wave, const Instruction& instruction);

inline bool relative_indexing(const Wave& wave) { return (wave.mode & mode_bits::gpr_idx_en) != 0; }

// Raw rows of an operand of `kind` without modifiers.
inline Source fetch_plain(const Wave& wave, const Operand& op, Kind kind, Row& lo, Row& hi) {
  if (is_wide(kind)) {
    const Source64 wide = src64(wave, op, lo, hi);
    return {wide.lo, wide.hi};
  }
  return {is_narrow(kind) ? src16(wave, op, lo) : src32(wave, op, lo), nullptr};
}

// As fetch_plain, with SDWA selection, DPP lane moves (source 0), op_sel, neg, abs and input denormals flushed.
// `source` counts from 0 in the printed source list.
Source fetch(const Wave& wave, const Instruction& instruction, const Operand& op, int source, Kind kind, Row& lo,
             Row& hi);

// Lanes that the instruction writes: EXEC less what DPP masks or leaves without a source.
uint64_t write_mask(const Wave& wave, const Instruction& instruction);

// Applies omod, clamp and output denormal flushing of `kind`, f16 rounding, op_sel or SDWA placement, and writes.
// For f16, `lo` holds floats. `sources` is the number of printed sources (op_sel's destination bit follows them).
void finish(Wave& wave, const Instruction& instruction, Kind kind, Row& lo, Row& hi, int sources);

// The bits 0 of 64 lanes as a mask.
uint64_t pack_mask(const uint32_t* lanes);
// Writes values where the mask has a bit.
void blend(uint32_t* destination, const uint32_t* values, uint64_t mask);

// Sets the host's rounding mode while it lives, for MODE.FP_ROUND other than nearest.
class HostRounding {
 public:
  HostRounding(uint32_t mode, Kind kind);
  ~HostRounding();
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

namespace detail {

template <class T>
[[gnu::always_inline]] inline auto load(const Source& source, int lane) {
  if constexpr (std::is_same_v<T, Half>) {
    return f16_to_f32(static_cast<uint16_t>(source.lo[lane]));
  } else if constexpr (std::is_same_v<T, RawF16>) {
    return static_cast<uint16_t>(source.lo[lane]);
  } else if constexpr (std::is_same_v<T, RawF32>) {
    return source.lo[lane];
  } else if constexpr (std::is_same_v<T, RawF64>) {
    return source.lo[lane] | static_cast<uint64_t>(source.hi[lane]) << 32;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(source.lo[lane]);
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(source.lo[lane] | static_cast<uint64_t>(source.hi[lane]) << 32);
  } else {
    return std::bit_cast<T>(source.lo[lane]);
  }
}

// `final_half`: an f16 result is rounded to nearest here; else it is left as float for finish().
template <class T, bool final_half, class V>
[[gnu::always_inline]] inline void store(uint32_t* lo, uint32_t* hi, int lane, V value) {
  if constexpr (std::is_same_v<T, Half>) {
    lo[lane] = final_half ? f32_to_f16_nearest(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, RawF32>) {
    lo[lane] = value;
  } else if constexpr (sizeof(T) == 2) {
    lo[lane] = static_cast<uint16_t>(value);
  } else if constexpr (sizeof(T) == 8) {
    const uint64_t bits = std::bit_cast<uint64_t>(static_cast<T>(value));
    lo[lane] = static_cast<uint32_t>(bits);
    hi[lane] = static_cast<uint32_t>(bits >> 32);
  } else {
    lo[lane] = std::bit_cast<uint32_t>(static_cast<T>(value));
  }
}

template <auto function, class... S, size_t... I>
[[gnu::always_inline]] inline auto apply(const Source* sources, int lane, FloatMode mode, std::index_sequence<I...>) {
  if constexpr (std::is_invocable_v<decltype(function), FloatMode, decltype(load<S>(sources[0], 0))...>)
    return function(mode, load<S>(sources[I], lane)...);
  else
    return function(load<S>(sources[I], lane)...);
}

// The one loop of an instruction. Destination and source rows are equal or disjoint, so lanes are independent.
template <auto function, bool final_half, class D, class... S>
__attribute__((noinline)) void loop(uint32_t* lo, uint32_t* hi, const Source* sources, FloatMode mode) {
#pragma clang loop vectorize(assume_safety)
  for (int lane = 0; lane < wave_lanes; ++lane)
    store<D, final_half>(lo, hi, lane,
                         apply<function, S...>(sources, lane, mode, std::make_index_sequence<sizeof...(S)>{}));
}

}  // namespace detail

inline FloatMode float_mode(const Wave& wave) { return {(wave.mode & mode_bits::ieee) != 0}; }

// An instruction D = function(S...). Sources follow the destination; a source beyond the printed operands is the
// destination's old value (v_fmac and the like).
template <auto function, class D, class... S>
struct Lanewise {
  static constexpr int count = sizeof...(S);
  static constexpr Kind dst = detail::kind_of<D>();
  static constexpr std::array<Kind, sizeof...(S)> kinds{detail::kind_of<S>()...};

  static constexpr bool any(bool (*test)(Kind)) {
    bool found = test(dst);
    for (Kind kind : kinds) found = found || test(kind);
    return found;
  }
  static constexpr bool has_f32 = any([](Kind k) { return k == Kind::f32; });
  static constexpr bool has_f64_f16 = any([](Kind k) { return k == Kind::f16 || k == Kind::f64; });

  static const Operand& operand(const Instruction& instruction, int source) {
    return instruction.operands[source + 1 < instruction.operand_count ? source + 1 : 0];
  }

  static void plain(Wave& wave, const Instruction& instruction) {
    if (relative_indexing(wave)) [[unlikely]]
      return general(wave, instruction);
    if constexpr (has_f32 || has_f64_f16)
      if (unusual_float_mode(wave.mode, has_f32, has_f64_f16)) [[unlikely]]
        return general(wave, instruction);
    Row lo[count], hi[any(is_wide) ? count : 1];
    Source sources[count];
    for (int i = 0; i < count; ++i)
      sources[i] = fetch_plain(wave, operand(instruction, i), kinds[i], lo[i], hi[any(is_wide) ? i : 0]);
    uint32_t* low = row(wave, instruction.operands[0]);
    uint32_t* high = is_wide(dst) ? row(wave, instruction.operands[0], 1) : nullptr;
    if (wave.exec() == ~uint64_t{0}) {
      detail::loop<function, true, D, S...>(low, high, sources, float_mode(wave));
      return;
    }
    Row out_lo, out_hi;
    detail::loop<function, true, D, S...>(out_lo.lane, out_hi.lane, sources, float_mode(wave));
    blend(low, out_lo.lane, wave.exec());
    if constexpr (is_wide(dst)) blend(high, out_hi.lane, wave.exec());
  }

  static void general(Wave& wave, const Instruction& instruction) {
    if (relative_indexing(wave)) {
      const Instruction moved = with_relative_indices(wave, instruction);
      run_general(wave, moved);
    } else {
      run_general(wave, instruction);
    }
  }

  static void run_general(Wave& wave, const Instruction& instruction) {
    Row lo[count], hi[count], out_lo, out_hi;
    Source sources[count];
    for (int i = 0; i < count; ++i)
      sources[i] = fetch(wave, instruction, operand(instruction, i), i, kinds[i], lo[i], hi[i]);
    {
      const HostRounding rounding(wave.mode, has_f32 ? Kind::f32 : dst);
      detail::loop<function, false, D, S...>(out_lo.lane, out_hi.lane, sources, float_mode(wave));
    }
    finish(wave, instruction, dst, out_lo, out_hi, count);
  }

  static Handler select(const Instruction& instruction) {
    // A 16-bit result that keeps the other half, and a transcendental that flushes, need finish().
    const bool direct = (instruction.detail & (alu_detail::preserve_high | alu_detail::flush_denormals)) == 0;
    return is_plain(instruction) && direct ? plain : general;
  }
};

// Table row of a lanewise instruction.
template <auto function, class D, class... S>
constexpr OpEntry op(std::string_view mnemonic, uint32_t detail = 0) {
  return {mnemonic, nullptr, &Lanewise<function, D, S...>::select, detail};
}

// The same where the clamp bit asks for integer saturation: `clamped` is then the function.
template <auto function, auto clamped, class D, class... S>
constexpr OpEntry op_clamp(std::string_view mnemonic, uint32_t detail = 0) {
  return {mnemonic, nullptr,
          [](const Instruction& instruction) -> Handler {
            return instruction.modifiers.clamp ? &Lanewise<clamped, D, S...>::general
                                               : Lanewise<function, D, S...>::select(instruction);
          },
          detail};
}

}  // namespace mlaforge::simulator
