// A HIP program as users write them, for a real hipcc: ROCm's headers and device libraries, <<<>>> launches of kernels
// and templates, dynamic LDS, device variables, streams, events, asynchronous copies, atomics, graphs. It knows nothing
// of the simulator. Every section compares with values computed on the host; the exit code counts what was wrong.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

#define HIP_OK(call) expect((call) == hipSuccess, #call)

template <typename T>
struct Device {
  T* data = nullptr;
  size_t count;
  explicit Device(const std::vector<T>& values) : count(values.size()) {
    HIP_OK(hipMalloc(&data, count * sizeof(T)));
    HIP_OK(hipMemcpy(data, values.data(), count * sizeof(T), hipMemcpyHostToDevice));
  }
  ~Device() { HIP_OK(hipFree(data)); }
  std::vector<T> read() const {
    std::vector<T> values(count);
    HIP_OK(hipMemcpy(values.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }
};

__constant__ float weights[4];
__device__ int counter;
__device__ int table[16];

template <typename T, int kStep>
__global__ void scale(const T* in, T* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    out[i] = in[i] * static_cast<T>(kStep) + static_cast<T>(weights[i & 3]);
  }
}

// Sums a block's values by a tree in dynamic LDS.
__global__ void block_sums(const int* in, int* sums) {
  extern __shared__ int line[];
  line[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) line[threadIdx.x] += line[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = line[0];
}

__global__ void count_all(int* histogram, unsigned long long* total, float* sum, double* wide_sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&counter, 1);
  atomicAdd(&histogram[i % 8], 1);
  atomicAdd(total, 1ull << 33);
  atomicAdd(sum, 0.5f);
  atomicAdd(wide_sum, 0.25);
  atomicMax(&table[0], i);
  atomicCAS(&table[1], 0, 77);
}

// Library functions, shuffles, ballots and 64-bit division, as the device libraries have them.
__global__ void mathematics(const float* in, float* out, long long* divided, int* lanes) {
  const int i = threadIdx.x;
  out[i] = expf(in[i]) + sinf(in[i]) + powf(in[i], 1.5f) + __fdividef(1.0f, in[i]);
  divided[i] = (1234567890123456789ll - i) / (i * 1000003ll + 7);
  lanes[i] = __shfl_xor(i, 5) + 1000 * __popcll(__ballot(i % 3 == 0)) + 100000 * __shfl_down(i, 1);
}

// Recursion and an indexed local array: scratch and a stack.
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__global__ void deep(int* out) {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i] = i * i;
  out[threadIdx.x] = ackermann(2, threadIdx.x % 4) + local[(threadIdx.x * 7) % 32];
}

__global__ void place(uint3* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = {gridDim.x * gridDim.y * gridDim.z, block, thread};
}

__global__ void add_one(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

void templates_and_constants() {
  const float host_weights[4] = {1, 20, 300, 4000};
  HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(weights), host_weights, sizeof host_weights));
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  const Device<float> in(values);
  const Device<float> out(std::vector<float>(1000));
  scale<float, 3><<<4, 128>>>(in.data, out.data, 1000);
  HIP_OK(hipGetLastError());
  const std::vector<float> result = out.read();
  bool good = true;
  for (int i = 0; i < 1000; ++i) good &= result[i] == 3.0f * i + host_weights[i & 3];
  expect(good, "scale<float, 3>");

  const Device<double> wide_in(std::vector<double>{0.5, 1.5});
  const Device<double> wide_out(std::vector<double>(2));
  scale<double, 7><<<1, 64>>>(wide_in.data, wide_out.data, 2);
  expect(wide_out.read() == std::vector<double>{4.5, 30.5}, "scale<double, 7>");
  float back[4] = {};
  HIP_OK(hipMemcpyFromSymbol(back, HIP_SYMBOL(weights), sizeof back));
  expect(back[3] == 4000, "hipMemcpyFromSymbol");
}

void dynamic_lds() {
  std::vector<int> values(4 * 256);
  std::iota(values.begin(), values.end(), 1);
  const Device<int> in(values);
  const Device<int> sums(std::vector<int>(4));
  block_sums<<<4, 256, 256 * sizeof(int)>>>(in.data, sums.data);
  bool good = true;
  const std::vector<int> result = sums.read();
  for (int b = 0; b < 4; ++b) good &= result[b] == std::accumulate(&values[256 * b], &values[256 * b] + 256, 0);
  expect(good, "block_sums");
  block_sums<<<4, 256, 200000>>>(in.data, sums.data);
  expect(hipGetLastError() != hipSuccess, "200000 bytes of LDS are refused");
  block_sums<<<0, 256, 1024>>>(in.data, sums.data);
  expect(hipGetLastError() == hipErrorInvalidConfiguration, "a grid of 0 is refused");
}

void atomics() {
  const Device<int> histogram(std::vector<int>(8));
  const Device<unsigned long long> total(std::vector<unsigned long long>(1));
  const Device<float> sum(std::vector<float>(1));
  const Device<double> wide_sum(std::vector<double>(1));
  const int zero = 0;
  HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &zero, sizeof zero));
  count_all<<<10, 100>>>(histogram.data, total.data, sum.data, wide_sum.data);
  int counted = 0;
  int two[2] = {};
  HIP_OK(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(counter), sizeof counted));
  HIP_OK(hipMemcpyFromSymbol(two, HIP_SYMBOL(table), sizeof two));
  expect(counted == 1000, "counter");
  expect(histogram.read() == std::vector<int>(8, 125), "histogram");
  expect(total.read()[0] == 1000ull << 33, "64-bit atomics");
  expect(sum.read()[0] == 500.0f && wide_sum.read()[0] == 250.0, "floating-point atomics");
  expect(two[0] == 999 && two[1] == 77, "atomicMax and atomicCAS");
}

void device_libraries() {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[i] = 0.25f + 0.1f * i;
  const Device<float> in(values);
  const Device<float> out(std::vector<float>(64));
  const Device<long long> divided(std::vector<long long>(64));
  const Device<int> lanes(std::vector<int>(64));
  mathematics<<<1, 64>>>(in.data, out.data, divided.data, lanes.data);
  HIP_OK(hipDeviceSynchronize());
  const auto result = out.read();
  const auto quotients = divided.read();
  const auto shuffled = lanes.read();
  bool close = true;
  bool exact = true;
  bool lane = true;
  for (int i = 0; i < 64; ++i) {
    const double x = values[i];
    const double expected = std::exp(x) + std::sin(x) + std::pow(x, 1.5) + 1 / x;
    close &= std::abs(result[i] - expected) <= 4e-6 * std::abs(expected);
    exact &= quotients[i] == (1234567890123456789ll - i) / (i * 1000003ll + 7);
    lane &= shuffled[i] == (i ^ 5) + 1000 * 22 + 100000 * (i == 63 ? 63 : i + 1);
  }
  expect(close, "expf, sinf, powf, __fdividef");
  expect(exact, "64-bit division");
  expect(lane, "shuffles and ballots");
}

void stacks() {
  const Device<int> out(std::vector<int>(64));
  deep<<<1, 64>>>(out.data);
  HIP_OK(hipDeviceSynchronize());
  const auto result = out.read();
  bool good = true;
  for (int i = 0; i < 64; ++i) good &= result[i] == 2 * (i % 4) + 3 + (i * 7 % 32) * (i * 7 % 32);  // A(2, n) = 2n + 3
  expect(good, "recursion and local arrays");
}

void shapes() {
  const dim3 grid(2, 3, 2);
  const dim3 block(4, 2, 3);
  const Device<uint3> out(std::vector<uint3>(12 * 24));
  place<<<grid, block>>>(out.data);
  HIP_OK(hipDeviceSynchronize());
  const auto result = out.read();
  bool good = true;
  for (unsigned i = 0; i < result.size(); ++i) {
    good &= result[i].x == 12 && result[i].y == i / 24 && result[i].z == i % 24;
  }
  expect(good, "three-dimensional grids");
}

void streams_and_events() {
  hipStream_t first;
  hipStream_t second;
  hipEvent_t start;
  hipEvent_t stop;
  HIP_OK(hipStreamCreate(&first));
  HIP_OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&start));
  HIP_OK(hipEventCreate(&stop));
  int* pinned = nullptr;
  HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 256 * sizeof(int), hipHostMallocDefault));
  for (int i = 0; i < 256; ++i) pinned[i] = i;
  const Device<int> data(std::vector<int>(256));
  HIP_OK(hipMemcpyAsync(data.data, pinned, 256 * sizeof(int), hipMemcpyHostToDevice, first));
  HIP_OK(hipEventRecord(start, first));
  add_one<<<4, 64, 0, first>>>(data.data);
  HIP_OK(hipEventRecord(stop, first));
  HIP_OK(hipStreamWaitEvent(second, stop, 0));
  add_one<<<4, 64, 0, second>>>(data.data);
  HIP_OK(hipMemcpyAsync(pinned, data.data, 256 * sizeof(int), hipMemcpyDeviceToHost, second));
  HIP_OK(hipStreamSynchronize(second));
  HIP_OK(hipEventSynchronize(stop));
  float milliseconds = -1;
  HIP_OK(hipEventElapsedTime(&milliseconds, start, stop));
  expect(milliseconds >= 0, "hipEventElapsedTime");
  bool good = true;
  for (int i = 0; i < 256; ++i) good &= pinned[i] == i + 2;
  expect(good, "two streams in order");

  hipGraph_t graph;
  hipGraphExec_t exec;
  HIP_OK(hipStreamBeginCapture(second, hipStreamCaptureModeGlobal));
  HIP_OK(hipMemsetAsync(data.data, 0, 256 * sizeof(int), second));
  for (int i = 0; i < 5; ++i) add_one<<<4, 64, 0, second>>>(data.data);
  HIP_OK(hipStreamEndCapture(second, &graph));
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 2; ++i) HIP_OK(hipGraphLaunch(exec, second));
  HIP_OK(hipStreamSynchronize(second));
  expect(data.read() == std::vector<int>(256, 5), "a captured graph");
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipHostFree(pinned));
  HIP_OK(hipEventDestroy(start));
  HIP_OK(hipEventDestroy(stop));
  HIP_OK(hipStreamDestroy(first));
  HIP_OK(hipStreamDestroy(second));
}

void the_device() {
  hipDeviceProp_t properties;
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  expect(properties.warpSize == 64 && properties.multiProcessorCount == 256, "properties");
  int blocks = 0;
  HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, block_sums, 256, 80 * 1024));
  expect(blocks == 2, "two workgroups of 80 KiB LDS fit a compute unit");
  hipFuncAttributes attributes;
  HIP_OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&block_sums)));
  expect(attributes.maxThreadsPerBlock == 1024, "hipFuncGetAttributes");
  hipPointerAttribute_t pointer;
  const Device<int> data(std::vector<int>(4));
  HIP_OK(hipPointerGetAttributes(&pointer, data.data));
  expect(pointer.type == hipMemoryTypeDevice && pointer.device == 0, "hipPointerGetAttributes");
}

}  // namespace

int main() {
  templates_and_constants();
  dynamic_lds();
  atomics();
  device_libraries();
  stacks();
  shapes();
  streams_and_events();
  the_device();
  std::printf("%d wrong\n", failures);
  return failures;
}
