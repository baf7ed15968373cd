// new = F(old, data): the read-modify-write functions that global, buffer, flat and DS atomics share.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mlaforge::simulator {

enum class AtomicFunction : uint8_t {
  swap,
  cmpswap,
  add,
  sub,
  rsub,
  smin,
  umin,
  smax,
  umax,
  bit_and,
  bit_or,
  bit_xor,
  inc,
  dec,
  mskor,
  wrap,
  add_f32,
  min_f32,
  max_f32,
  cmpswap_f32,
  add_f64,
  min_f64,
  max_f64,
  cmpswap_f64,
  pk_add_f16,
  pk_add_bf16,
};

/// `data` is the operand, `compare` the compare value (cmpswap) or the second operand (mskor, wrap).
template <typename T>
T integer_atomic(AtomicFunction function, T old, T data, T compare) {
  using S = std::make_signed_t<T>;
  const auto less = [](T a, T b) { return static_cast<S>(a) < static_cast<S>(b); };
  switch (function) {
    case AtomicFunction::swap:
      return data;
    case AtomicFunction::cmpswap:
      return old == compare ? data : old;
    case AtomicFunction::add:
      return old + data;
    case AtomicFunction::sub:
      return old - data;
    case AtomicFunction::rsub:
      return data - old;
    case AtomicFunction::smin:
      return less(data, old) ? data : old;
    case AtomicFunction::smax:
      return less(old, data) ? data : old;
    case AtomicFunction::umin:
      return std::min(old, data);
    case AtomicFunction::umax:
      return std::max(old, data);
    case AtomicFunction::bit_and:
      return old & data;
    case AtomicFunction::bit_or:
      return old | data;
    case AtomicFunction::bit_xor:
      return old ^ data;
    case AtomicFunction::inc:
      return old >= data ? 0 : old + 1;
    case AtomicFunction::dec:
      return old == 0 || old > data ? data : old - 1;
    case AtomicFunction::wrap:
      return old >= data ? old - data : old + compare;
    case AtomicFunction::mskor:
      return (old & ~data) | compare;
    default:
      return old;
  }
}

uint32_t atomic32(AtomicFunction function, uint32_t old, uint32_t data, uint32_t compare);
uint64_t atomic64(AtomicFunction function, uint64_t old, uint64_t data, uint64_t compare);

}  // namespace mlaforge::simulator
