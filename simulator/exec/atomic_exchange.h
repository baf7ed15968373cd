// The read-modify-write that vector and scalar atomics share, and the names of the integer functions.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "simulator/exec/atomic_functions.h"

namespace mlaforge::simulator {

/// Packed into OpEntry::detail: function, width and whether the old value comes back (DS: by mnemonic).
struct AtomicForm {
  AtomicFunction function;
  uint8_t bytes;
  bool returns;
};
constexpr uint32_t pack_form(AtomicForm f) {
  return static_cast<uint32_t>(f.function) | uint32_t{f.bytes} << 8 | static_cast<uint32_t>(f.returns) << 16;
}
constexpr AtomicForm form_of(uint32_t detail) {
  return {static_cast<AtomicFunction>(detail & 0xff), static_cast<uint8_t>(detail >> 8 & 0xff),
          (detail >> 16 & 1) != 0};
}

/// Workgroups on other host threads may touch the same word.
template <typename T, auto Compute>
T exchange(std::byte* address, AtomicFunction function, T data, T compare) {
  const std::atomic_ref<T> word(*reinterpret_cast<T*>(address));
  T old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, Compute(function, old, data, compare), std::memory_order_acq_rel)) {
  }
  return old;
}

/// The old value at `address`, in the width of `form`; null: nothing happens and 0 comes back.
inline uint64_t exchange(std::byte* address, AtomicForm form, uint64_t data, uint64_t compare) {
  if (address == nullptr) return 0;
  return form.bytes == 4 ? exchange<uint32_t, atomic32>(address, form.function, static_cast<uint32_t>(data),
                                                        static_cast<uint32_t>(compare))
                         : exchange<uint64_t, atomic64>(address, form.function, data, compare);
}

struct AtomicName {
  std::string_view name;
  AtomicFunction function;
};
/// As global_atomic_* and s_atomic_* have them; `_x2` behind them is the 64-bit form.
inline constexpr std::array integer_atomic_names{
    AtomicName{"swap", AtomicFunction::swap},   AtomicName{"cmpswap", AtomicFunction::cmpswap},
    AtomicName{"add", AtomicFunction::add},     AtomicName{"sub", AtomicFunction::sub},
    AtomicName{"smin", AtomicFunction::smin},   AtomicName{"umin", AtomicFunction::umin},
    AtomicName{"smax", AtomicFunction::smax},   AtomicName{"umax", AtomicFunction::umax},
    AtomicName{"and", AtomicFunction::bit_and}, AtomicName{"or", AtomicFunction::bit_or},
    AtomicName{"xor", AtomicFunction::bit_xor}, AtomicName{"inc", AtomicFunction::inc},
    AtomicName{"dec", AtomicFunction::dec},
};

}  // namespace mlaforge::simulator
