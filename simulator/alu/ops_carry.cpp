// Integer instructions with a carry or overflow mask in a scalar register pair, and v_cndmask_b32.
// Mask bits of lanes that do not execute become 0, as for compares.
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

struct WithCarry {
  u64 value;
  u32 carry;
};

// The rows of source `index` (from 0), which is operand `first` + index.
template <bool plain>
Source source_of(const Wave& wave, const Instruction& instruction, int first, int index, Kind kind, Row& lo, Row& hi) {
  const Operand& op = instruction.operands[static_cast<size_t>(first + index)];
  if constexpr (plain) return fetch_plain(wave, op, kind, lo, hi);
  return fetch(wave, instruction, op, index, kind, lo, hi);
}

void unpack_mask(u64 mask, Row& row) {
  const auto low = static_cast<u32>(mask);
  const auto high = static_cast<u32>(mask >> 32);
  for (u32 lane = 0; lane < 32; ++lane) {
    row.lane[lane] = low >> lane & 1;
    row.lane[lane + 32] = high >> lane & 1;
  }
}

template <class F>
void with_indices(Wave& wave, const Instruction& instruction, F run) {
  if (relative_indexing(wave)) [[unlikely]]
    run(with_relative_indices(wave, instruction));
  else
    run(instruction);
}

// D, carry = function(a, b, carry in): operands D, mask out, a, b, and with `reads_carry` mask in.
template <auto function, bool reads_carry>
struct Carry {
  template <bool plain>
  static void handle(Wave& wave, const Instruction& given) {
    with_indices(wave, given, [&](const Instruction& instruction) {
      Row lo[2], unused, carry_in, out, carry_out;
      const Source a = source_of<plain>(wave, instruction, 2, 0, Kind::b32, lo[0], unused);
      const Source b = source_of<plain>(wave, instruction, 2, 1, Kind::b32, lo[1], unused);
      if constexpr (reads_carry) unpack_mask(scalar64(wave, instruction.operands[4]), carry_in);
      for (int lane = 0; lane < wave_lanes; ++lane) {
        const WithCarry result = function(a.lo[lane], b.lo[lane], reads_carry ? carry_in.lane[lane] : 0u);
        out.lane[lane] = static_cast<u32>(result.value);
        carry_out.lane[lane] = result.carry;
      }
      if (instruction.modifiers.clamp)  // saturates to all ones on carry out of an addition, to 0 on borrow
        for (int lane = 0; lane < wave_lanes; ++lane)
          if (carry_out.lane[lane] != 0) out.lane[lane] = instruction.mnemonic.starts_with("v_add") ? ~0u : 0u;
      const u64 mask = pack_mask(carry_out.lane) & wave.exec();
      finish(wave, instruction, Kind::b32, out, unused, 2);
      set_scalar64(wave, instruction.operands[1], mask);
    });
  }
  static Handler select(const Instruction& instruction) { return is_plain(instruction) ? handle<true> : handle<false>; }
};

// D (64 bits), overflow = a * b + c.
template <auto function>
void mad64(Wave& wave, const Instruction& given) {
  with_indices(wave, given, [&](const Instruction& instruction) {
    Row lo[3], hi, out_lo, out_hi, carry;
    const u32* a = src32(wave, instruction.operands[2], lo[0]);
    const u32* b = src32(wave, instruction.operands[3], lo[1]);
    const Source64 c = src64(wave, instruction.operands[4], lo[2], hi);
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const WithCarry result = function(a[lane], b[lane], c.lo[lane] | static_cast<u64>(c.hi[lane]) << 32);
      out_lo.lane[lane] = static_cast<u32>(result.value);
      out_hi.lane[lane] = static_cast<u32>(result.value >> 32);
      carry.lane[lane] = result.carry;
    }
    const u64 mask = pack_mask(carry.lane) & wave.exec();
    finish(wave, instruction, Kind::b64, out_lo, out_hi, 3);
    set_scalar64(wave, instruction.operands[1], mask);
  });
}

template <bool plain>
void cndmask(Wave& wave, const Instruction& given) {
  with_indices(wave, given, [&](const Instruction& instruction) {
    Row lo[2], unused;
    const Source a = source_of<plain>(wave, instruction, 1, 0, Kind::raw_f32, lo[0], unused);
    const Source b = source_of<plain>(wave, instruction, 1, 1, Kind::raw_f32, lo[1], unused);
    const u64 mask = scalar64(wave, instruction.operands[3]);
    Row out = *reinterpret_cast<const Row*>(a.lo);
    blend(out.lane, b.lo, mask);
    if constexpr (plain)
      blend(row(wave, instruction.operands[0]), out.lane, wave.exec());
    else
      finish(wave, instruction, Kind::raw_f32, out, unused, 2);
  });
}

constexpr auto add = [](u32 a, u32 b, u32 c) {
  const u64 sum = static_cast<u64>(a) + b + c;
  return WithCarry{sum, static_cast<u32>(sum >> 32)};
};
constexpr auto sub = [](u32 a, u32 b, u32 c) {
  const u64 difference = static_cast<u64>(a) - b - c;
  return WithCarry{difference, static_cast<u32>(difference >> 63)};
};
constexpr auto subrev = [](u32 a, u32 b, u32 c) { return sub(b, a, c); };
constexpr auto mad_unsigned = [](u32 a, u32 b, u64 c) {
  const u64 product = static_cast<u64>(a) * b;
  return WithCarry{product + c, product + c < product ? 1u : 0u};
};
constexpr auto mad_signed = [](u32 a, u32 b, u64 c) {
  const auto product = static_cast<int64_t>(static_cast<int32_t>(a)) * static_cast<int32_t>(b);
  int64_t sum = 0;
  const bool overflow = __builtin_add_overflow(product, static_cast<int64_t>(c), &sum);
  return WithCarry{static_cast<u64>(sum), overflow ? 1u : 0u};
};

constexpr OpEntry kOps[] = {
    {"v_add_co_u32", nullptr, Carry<add, false>::select},
    {"v_sub_co_u32", nullptr, Carry<sub, false>::select},
    {"v_subrev_co_u32", nullptr, Carry<subrev, false>::select},
    {"v_addc_co_u32", nullptr, Carry<add, true>::select},
    {"v_subb_co_u32", nullptr, Carry<sub, true>::select},
    {"v_subbrev_co_u32", nullptr, Carry<subrev, true>::select},
    {"v_mad_u64_u32", mad64<mad_unsigned>},
    {"v_mad_i64_i32", mad64<mad_signed>},
    {"v_cndmask_b32", nullptr,
     [](const Instruction& i) -> Handler { return is_plain(i) ? cndmask<true> : cndmask<false>; }},
};

}  // namespace

std::span<const OpEntry> carry_ops() { return kOps; }

}  // namespace mlaforge::simulator
