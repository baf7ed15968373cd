// Kernels that call the host (device-side printf, assert, malloc), which the simulator does not serve: each must end
// with an error whose report names the service, and the next launch must work. For a real hipcc, as hipcc_program.hip.
#include <dlfcn.h>
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

namespace {

__global__ void print(int* out) {
  out[threadIdx.x] = 1;
  printf("thread %d\n", static_cast<int>(threadIdx.x));
}

__global__ void check(const int* in) { assert(in[threadIdx.x] > 1000); }

__global__ void allocate(int** out) { out[threadIdx.x] = static_cast<int*>(malloc(16)); }

// Carries the hidden pointers too, but never calls the host.
__global__ void print_never(int* out, int limit) {
  out[threadIdx.x] = 7;
  if (static_cast<int>(threadIdx.x) >= limit) printf("thread %d\n", static_cast<int>(threadIdx.x));
}

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

void expect_report(const char* named) {
  expect(hipGetLastError() == hipErrorIllegalAddress, named);
  const auto report = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "mlaforge_simulator_last_report"));
  expect(report != nullptr && std::strstr(report(), named) != nullptr, named);
  if (report != nullptr) std::printf("%s\n", report());
}

}  // namespace

int main() {
  int* data = nullptr;
  expect(hipMalloc(reinterpret_cast<void**>(&data), 512) == hipSuccess, "hipMalloc");
  print<<<1, 64>>>(data);
  expect_report("printf");
  check<<<1, 64>>>(data);
  expect_report("assert");
  allocate<<<1, 64>>>(reinterpret_cast<int**>(data));
  expect_report("malloc");
  print_never<<<1, 64>>>(data, 64);
  expect(hipGetLastError() == hipSuccess, "a kernel that carries the hidden pointers unused");
  int values[64] = {};
  expect(hipMemcpy(values, data, sizeof values, hipMemcpyDeviceToHost) == hipSuccess, "hipMemcpy");
  for (const int value : values) expect(value == 7, "the launch after refused ones");
  std::printf("%d wrong\n", failures);
  return failures;
}
