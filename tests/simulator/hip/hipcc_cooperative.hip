// A cooperative launch whose workgroups meet at the device libraries' grid barrier. For a real hipcc, as
// hipcc_program.hip.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

namespace {

constexpr unsigned workgroups = 100, threads = 128, rounds = 4;

// Each round every workgroup adds what its left neighbour wrote in the round before.
__global__ void pass_on(unsigned* words) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned got = 0;
    if (threadIdx.x == 0) got = words[(blockIdx.x + workgroups - 1) % workgroups];
    grid.sync();
    if (threadIdx.x == 0) words[blockIdx.x] += got;
    grid.sync();
  }
}

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  std::vector<unsigned> expected(workgroups), got(workgroups);
  for (unsigned i = 0; i < workgroups; ++i) expected[i] = i * i;
  unsigned* words = nullptr;
  expect(hipMalloc(reinterpret_cast<void**>(&words), 4 * workgroups) == hipSuccess, "hipMalloc");
  expect(hipMemcpy(words, expected.data(), 4 * workgroups, hipMemcpyHostToDevice) == hipSuccess, "hipMemcpy");
  for (unsigned round = 0; round < rounds; ++round) {
    const std::vector<unsigned> before = expected;
    for (unsigned i = 0; i < workgroups; ++i) expected[i] += before[(i + workgroups - 1) % workgroups];
  }
  void* arguments[] = {&words};
  expect(hipLaunchCooperativeKernel(pass_on, dim3(workgroups), dim3(threads), arguments, 0, nullptr) == hipSuccess,
         "hipLaunchCooperativeKernel");
  expect(hipMemcpy(got.data(), words, 4 * workgroups, hipMemcpyDeviceToHost) == hipSuccess, "hipMemcpy");
  expect(got == expected, "the words after all rounds");
  expect(hipLaunchCooperativeKernel(pass_on, dim3(100'000), dim3(threads), arguments, 0, nullptr) ==
             hipErrorCooperativeLaunchTooLarge,
         "a grid that does not fit");
  std::printf("%d wrong\n", failures);
  return failures;
}
