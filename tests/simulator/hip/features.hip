// Small kernels, each of which needs one thing of a code object: hidden arguments, dynamic LDS, scratch, a dynamic
// stack, AGPRs, many arguments (preloaded in one build). Compiled for code object versions 5 and 6, at -O0 and -O2.
#define KERNEL extern "C" __attribute__((global))

typedef const unsigned char __attribute__((address_space(4))) * HiddenBytes;

template <typename T>
__attribute__((device)) T hidden(int offset) {
  typedef const T __attribute__((address_space(4))) * Pointer;
  return *(Pointer)((HiddenBytes)__builtin_amdgcn_implicitarg_ptr() + offset);
}

// Offsets of code object version 5 (LLVM's AMDGPUUsage, "V5 implicit kernel arguments").
KERNEL void read_hidden(unsigned long* out) {
  // One workgroup: all of them would race for the same words.
  const int workgroup =
      __builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() | __builtin_amdgcn_workgroup_id_z();
  if (workgroup != 0 || __builtin_amdgcn_workitem_id_x() != 0) return;
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = hidden<unsigned>(4 * axis);                 // block counts
    out[3 + axis] = hidden<unsigned short>(12 + 2 * axis);  // group sizes
    out[6 + axis] = hidden<unsigned short>(18 + 2 * axis);  // remainders
    out[9 + axis] = hidden<unsigned long>(40 + 8 * axis);   // global offsets
  }
  out[12] = hidden<unsigned short>(64);  // dimensions of the grid
  out[13] = hidden<unsigned long>(88);   // multigrid synchronization: null
}

// Uses what it is told to: device-side services that the simulator does not have.
KERNEL void read_service(unsigned long* out, int offset) {
  out[0] = 1;
  out[0] = *(volatile unsigned long*)(hidden<unsigned long>(offset) + 8);
}

extern __attribute__((shared)) int dynamic_line[];

KERNEL __attribute__((amdgpu_flat_work_group_size(1, 256))) void rotate_dynamic(int* data, int count, int by,
                                                                                unsigned* lds_bytes) {
  __attribute__((shared)) static int fixed[3];
  const int i = __builtin_amdgcn_workitem_id_x();
  if (i < 3) fixed[i] = 100 * i;
  dynamic_line[i] = data[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (i == 0) *lds_bytes = hidden<unsigned>(120);  // there for kernels with dynamic LDS
  data[i] = dynamic_line[(i + by) % count] + fixed[i % 3];
}

KERNEL void sort_in_scratch(int* data) {
  volatile int local[16];  // else it becomes registers
  const int i = __builtin_amdgcn_workitem_id_x();
  for (int k = 0; k < 16; ++k) local[k] = data[16 * i + k];
  for (int k = 1; k < 16; ++k) {
    for (int j = k; j > 0 && local[j - 1] > local[j]; --j) {
      const int other = local[j];
      local[j] = local[j - 1];
      local[j - 1] = other;
    }
  }
  for (int k = 0; k < 16; ++k) data[16 * i + k] = local[k];
}

__attribute__((device, noinline)) int depth_sum(int n) {
  volatile int kept = n;
  return n == 0 ? 0 : depth_sum(n - 1) + kept;
}

KERNEL void recurse(int* out, int depth) {
  const int i = __builtin_amdgcn_workitem_id_x();
  out[i] = depth_sum(depth + i % 3);
}

// The accumulator file behind the vector registers: a value goes to its last register and back.
KERNEL void through_agprs(int* data) {
  const int i = __builtin_amdgcn_workitem_id_x();
  int value = data[i];
  asm volatile(
      "v_accvgpr_write_b32 a0, %0\n"
      "v_accvgpr_write_b32 a40, %0\n"
      "s_nop 7\n"
      "v_accvgpr_read_b32 %0, a40\n"
      "s_nop 7"
      : "+v"(value)
      :
      : "a0", "a40");
  data[i] = value + 1;
}

KERNEL void many_arguments(long* out, int a, long b, short c, int d, float e, long f, int g, long h, int i) {
  if (__builtin_amdgcn_workitem_id_x() == 0)
    out[0] = a + 10 * b + 100 * c + 1000 * d + (long)(10000 * e) + f + g + h + i;
}
