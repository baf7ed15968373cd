// gfx950's side: one kernel an operation, and kernels that work through the LDS.
#include "operations.h"

#define KERNEL extern "C" __attribute__((global))

__attribute__((device)) static u32 thread_of_grid() {
  return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

#define DEFINE_KERNEL(name, expression)                                                  \
  KERNEL void operation_##name(const u64* in, u64* out, u32 count) {                      \
    const u32 i = thread_of_grid();                                                      \
    if (i >= count) return;                                                              \
    [[maybe_unused]] const u64 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];      \
    out[i] = static_cast<u64>(expression);                                               \
  }
INTEGER_OPERATIONS(DEFINE_KERNEL)
FLOAT_OPERATIONS(DEFINE_KERNEL)

__attribute__((device)) static void synchronize() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__attribute__((shared)) u32 words[256];
__attribute__((shared)) u64 wide[256];

/// Inclusive prefix sums of 256 words, by doubling steps.
KERNEL void prefix_sums(const u32* in, u32* out) {
  const u32 i = __builtin_amdgcn_workitem_id_x(), at = thread_of_grid();
  words[i] = in[at];
  synchronize();
  for (u32 step = 1; step < 256; step *= 2) {
    const u32 add = i >= step ? words[i - step] : 0;
    synchronize();
    words[i] += add;
    synchronize();
  }
  out[at] = words[i];
}

/// 64-bit maximum and its place by a tree that halves the active threads.
KERNEL void maximum(const u64* in, u64* out) {
  const u32 i = __builtin_amdgcn_workitem_id_x();
  wide[i] = in[thread_of_grid()];
  words[i] = i;
  synchronize();
  for (u32 half = 128; half != 0; half /= 2) {
    if (i < half && wide[i + half] > wide[i]) {
      wide[i] = wide[i + half];
      words[i] = words[i + half];
    }
    synchronize();
  }
  if (i == 0) {
    out[2 * __builtin_amdgcn_workgroup_id_x()] = wide[0];
    out[2 * __builtin_amdgcn_workgroup_id_x() + 1] = words[0];
  }
}

/// Counts of the low bytes, by LDS atomics; then sums over workgroups by memory atomics.
KERNEL void histogram(const u32* in, u32* out) {
  const u32 i = __builtin_amdgcn_workitem_id_x();
  words[i] = 0;
  synchronize();
  __atomic_fetch_add(&words[in[thread_of_grid()] & 255u], 1u, __ATOMIC_RELAXED);
  synchronize();
  if (words[i] != 0) __atomic_fetch_add(&out[i], words[i], __ATOMIC_RELAXED);
}

/// A 16 x 16 tile transposed, bytes within words too.
KERNEL void transpose(const u32* in, u32* out) {
  const u32 i = __builtin_amdgcn_workitem_id_x(), at = thread_of_grid();
  u8* bytes = reinterpret_cast<u8*>(words);
  for (u32 byte = 0; byte < 4; ++byte) bytes[4 * (16 * (i % 16) + i / 16) + 3 - byte] = static_cast<u8>(in[at] >> (8 * byte));
  synchronize();
  out[at] = words[i];
}
