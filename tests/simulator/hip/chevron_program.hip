// A HIP program with <<<>>> launches and device variables, as hipcc compiles one: host stubs and registration code come
// from the compiler.
#include <hip/hip_runtime_api.h>

#include <cstdio>

__device__ int offset_value = 100;
__constant__ float weights[4];

__global__ void weigh(const float* in, float* out, int count) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < count) out[i] = in[i] * weights[i & 3] + offset_value;
}

int main() {
  constexpr int count = 200;
  float values[count];
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  const float host_weights[4] = {1, 2, 4, 8};
  const int offset = 7;
  float* in = nullptr;
  float* out = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&in), count * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc(reinterpret_cast<void**>(&out), count * sizeof(float)) != hipSuccess) return 2;
  if (hipMemcpy(in, values, count * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 3;
  if (hipMemcpyToSymbol(static_cast<const void*>(weights), host_weights, sizeof host_weights, 0,
                        hipMemcpyHostToDevice) != hipSuccess)
    return 4;
  if (hipMemcpyToSymbol(static_cast<const void*>(&offset_value), &offset, sizeof offset, 0, hipMemcpyHostToDevice) !=
      hipSuccess)
    return 5;
  weigh<<<4, 64>>>(in, out, count);
  if (hipGetLastError() != hipSuccess) return 6;
  if (hipDeviceSynchronize() != hipSuccess) return 7;
  if (hipMemcpy(values, out, count * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 8;
  for (int i = 0; i < count; ++i) {
    const float expected = static_cast<float>(i) * static_cast<float>(1 << (i & 3)) + 7;
    if (values[i] != expected) {
      std::printf("element %d is %g, not %g\n", i, values[i], expected);
      return 9;
    }
  }
  weigh<<<0, 64>>>(in, out, count);
  return hipGetLastError() == hipErrorInvalidConfiguration ? 0 : 10;
}
