#include "simulator/exec/atomic_functions.h"

#include "simulator/alu/formats.h"

namespace mlaforge::simulator {
namespace {

/// The number, when one operand is NaN (IEEE 754-2008 minNum, maxNum); -0 is less than +0.
template <typename F>
F min_number(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename F>
F max_number(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <auto Add>
uint32_t packed_add(uint32_t a, uint32_t b) {
  const uint32_t low = Add(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
  const uint32_t high = Add(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16));
  return low | high << 16;
}

// A double holds the exact sum of two 16-bit numbers of either format closely enough that one rounding remains.
uint32_t add_f16(uint16_t a, uint16_t b) { return encode(kF16, decode(kF16, a) + decode(kF16, b)); }
uint32_t add_bf16(uint16_t a, uint16_t b) { return encode(kBf16, decode(kBf16, a) + decode(kBf16, b)); }

}  // namespace

uint32_t atomic32(AtomicFunction function, uint32_t old, uint32_t data, uint32_t compare) {
  const auto a = std::bit_cast<float>(old);
  const auto b = std::bit_cast<float>(data);
  switch (function) {
    case AtomicFunction::add_f32:
      return std::bit_cast<uint32_t>(a + b);
    case AtomicFunction::min_f32:
      return std::bit_cast<uint32_t>(min_number(a, b));
    case AtomicFunction::max_f32:
      return std::bit_cast<uint32_t>(max_number(a, b));
    case AtomicFunction::cmpswap_f32:
      return a == std::bit_cast<float>(compare) ? data : old;
    case AtomicFunction::pk_add_f16:
      return packed_add<add_f16>(old, data);
    case AtomicFunction::pk_add_bf16:
      return packed_add<add_bf16>(old, data);
    default:
      return integer_atomic<uint32_t>(function, old, data, compare);
  }
}

uint64_t atomic64(AtomicFunction function, uint64_t old, uint64_t data, uint64_t compare) {
  const auto a = std::bit_cast<double>(old);
  const auto b = std::bit_cast<double>(data);
  switch (function) {
    case AtomicFunction::add_f64:
      return std::bit_cast<uint64_t>(a + b);
    case AtomicFunction::min_f64:
      return std::bit_cast<uint64_t>(min_number(a, b));
    case AtomicFunction::max_f64:
      return std::bit_cast<uint64_t>(max_number(a, b));
    case AtomicFunction::cmpswap_f64:
      return a == std::bit_cast<double>(compare) ? data : old;
    default:
      return integer_atomic<uint64_t>(function, old, data, compare);
  }
}

}  // namespace mlaforge::simulator
