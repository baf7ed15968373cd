// Device code of the HIP tests: small kernels whose results can be told by hand.
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))

DEVICE int adjustable = 41;           // host code finds and changes it
DEVICE const int* pointed = nullptr;  // host code stores an address here
__attribute__((constant)) int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
DEVICE int* const adjustable_address = &adjustable;  // needs a relocation

DEVICE inline int thread_index(int block_threads) {
  return __builtin_amdgcn_workgroup_id_x() * block_threads + __builtin_amdgcn_workitem_id_x();
}

// out[i] = in[i] * scale + bias + small, for i < count; the arguments' sizes force padding between them.
KERNEL void scale_add(float* out, char small, double bias, int count, const float* in, float scale) {
  const int i = thread_index(64);
  if (i < count) out[i] = in[i] * scale + static_cast<float>(bias) + small;
}

KERNEL void store_at(int* pointer, long index, int value) {
  if (__builtin_amdgcn_workitem_id_x() == 0) pointer[index] = value;
}

KERNEL void read_variables(int* out) {
  const int i = __builtin_amdgcn_workitem_id_x();
  out[i] = squares[i & 7] + adjustable + (pointed != nullptr ? *pointed : 0);
}

KERNEL void read_by_address(int* out) { *out = **const_cast<int* const volatile*>(&adjustable_address); }

KERNEL void launch_shape(unsigned* out) {
  out[0] = __builtin_amdgcn_workgroup_size_x();
  out[1] = __builtin_amdgcn_workgroup_size_y();
  out[2] = __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
}

KERNEL __attribute__((amdgpu_flat_work_group_size(1, 128))) void reverse_block(int* data) {
  __attribute__((shared)) static int line[128];
  const int i = __builtin_amdgcn_workitem_id_x();
  line[i] = data[i];
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  data[i] = line[127 - i];
}

KERNEL void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

// All workgroups meet `times` times; out[i] counts the neighbours whose word was there each time.
KERNEL void meet(unsigned* counter, unsigned* words, unsigned* out, unsigned workgroups, unsigned times) {
  const unsigned me = __builtin_amdgcn_workgroup_id_x();
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  unsigned seen = 0;
  for (unsigned round = 1; round <= times; ++round) {
    __hip_atomic_store(&words[me], round, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < 2 * round * workgroups - workgroups) {
    }
    for (unsigned i = 0; i < workgroups; ++i) {
      seen += __hip_atomic_load(&words[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == round;
    }
    __hip_atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < 2 * round * workgroups) {
    }
  }
  out[me] = seen;
}

KERNEL void trap() { __builtin_trap(); }
