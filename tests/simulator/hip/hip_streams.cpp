// Streams, events and graphs.
#include <numeric>

#include "hip_fixture.h"

using Catch::Matchers::Contains;

extern "C" hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t);

namespace {

struct TestStream {
  hipStream_t handle = nullptr;
  TestStream() { REQUIRE_HIP(hipStreamCreateWithFlags(&handle, hipStreamNonBlocking)); }
  ~TestStream() { (void)hipStreamDestroy(handle); }
};

hipError_t store(const LoadedModule& module, hipStream_t stream, int* pointer, long index, int value) {
  void* parameters[] = {&pointer, &index, &value};
  return hipModuleLaunchKernel(module.function("store_at"), 1, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace

TEST_CASE("streams live until they are destroyed") {
  hipStream_t stream = nullptr;
  REQUIRE_HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -1));
  int priority = 0;
  unsigned flags = 0;
  REQUIRE_HIP(hipStreamGetPriority(stream, &priority));
  REQUIRE_HIP(hipStreamGetFlags(stream, &flags));
  CHECK(priority == -1);
  CHECK(flags == hipStreamNonBlocking);
  CHECK(hipStreamQuery(stream) == hipSuccess);
  REQUIRE_HIP(hipStreamSynchronize(stream));
  REQUIRE_HIP(hipStreamDestroy(stream));
  CHECK(hipStreamDestroy(stream) == hipErrorInvalidHandle);
  CHECK(hipStreamSynchronize(stream) == hipErrorInvalidHandle);
  CHECK_THAT(report(), Contains("does not exist"));
  CHECK(hipStreamCreateWithFlags(&stream, 8) == hipErrorInvalidValue);
  REQUIRE_HIP(hipStreamSynchronize(nullptr));
  REQUIRE_HIP(hipStreamSynchronize(hipStreamPerThread));
}

TEST_CASE("events order and time the work between them") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  const TestStream stream;
  const TestStream other;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  hipEvent_t untimed = nullptr;
  REQUIRE_HIP(hipEventCreate(&start));
  REQUIRE_HIP(hipEventCreate(&stop));
  REQUIRE_HIP(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipErrorInvalidHandle);
  CHECK_THAT(report(), Contains("never recorded"));
  REQUIRE_HIP(hipEventRecord(start, stream.handle));
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 1, 9));
  REQUIRE_HIP(hipEventRecord(stop, stream.handle));
  REQUIRE_HIP(hipStreamWaitEvent(other.handle, stop, 0));
  REQUIRE_HIP(hipEventSynchronize(stop));
  CHECK(hipEventQuery(stop) == hipSuccess);
  REQUIRE_HIP(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0);
  REQUIRE_HIP(hipEventElapsedTime(&milliseconds, stop, start));
  CHECK(milliseconds < 0);
  REQUIRE_HIP(hipEventRecord(untimed, stream.handle));
  CHECK(hipEventElapsedTime(&milliseconds, start, untimed) == hipErrorInvalidHandle);
  for (const hipEvent_t event : {start, stop, untimed}) REQUIRE_HIP(hipEventDestroy(event));
  CHECK(hipEventRecord(start, stream.handle) == hipErrorInvalidHandle);
  CHECK(buffer.read()[1] == 9);
}

TEST_CASE("callbacks run in order with the stream's work") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(1));
  const TestStream stream;
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 0, 21));
  struct Seen {
    int* device;
    int value = 0;
  } seen{buffer.data};
  REQUIRE_HIP(hipLaunchHostFunc(
      stream.handle,
      [](void* data) {
        auto* s = static_cast<Seen*>(data);
        (void)hipMemcpy(&s->value, s->device, 4, hipMemcpyDeviceToHost);
      },
      &seen));
  CHECK(seen.value == 21);
}

TEST_CASE("a captured graph runs nothing until it is launched, and then every time") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  const DeviceBuffer<int> copy(std::vector<int>(4));
  const TestStream stream;
  REQUIRE_HIP(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeRelaxed));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  REQUIRE_HIP(hipStreamIsCapturing(stream.handle, &status));
  CHECK(status == hipStreamCaptureStatusActive);
  REQUIRE_HIP(hipMemsetAsync(buffer.data, 0, 16, stream.handle));
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 0, 5));
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 3, 6));
  REQUIRE_HIP(hipMemcpyAsync(copy.data, buffer.data, 16, hipMemcpyDeviceToDevice, stream.handle));
  CHECK(hipStreamSynchronize(stream.handle) == hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  REQUIRE_HIP(hipStreamEndCapture(stream.handle, &graph));
  CHECK(copy.read() == std::vector<int>(4));
  size_t nodes = 0;
  REQUIRE_HIP(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  REQUIRE_HIP(hipGraphDestroy(graph));
  REQUIRE_HIP(hipGraphUpload(exec, stream.handle));
  for (int round = 0; round < 2; ++round) {
    REQUIRE_HIP(hipMemsetD32(buffer.data, 99, 4));
    REQUIRE_HIP(hipGraphLaunch(exec, stream.handle));
    CHECK(copy.read() == std::vector<int>{5, 0, 0, 6});
  }
  REQUIRE_HIP(hipGraphExecDestroy(exec));
  CHECK(hipGraphLaunch(exec, stream.handle) == hipErrorInvalidValue);
}

TEST_CASE("a capture spreads to the streams that wait for its events") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(2));
  const TestStream first;
  const TestStream second;
  hipEvent_t fork = nullptr;
  hipEvent_t join = nullptr;
  REQUIRE_HIP(hipEventCreate(&fork));
  REQUIRE_HIP(hipEventCreate(&join));
  REQUIRE_HIP(hipStreamBeginCapture(first.handle, hipStreamCaptureModeThreadLocal));
  REQUIRE_HIP(store(module, first.handle, buffer.data, 0, 1));
  REQUIRE_HIP(hipEventRecord(fork, first.handle));
  REQUIRE_HIP(hipStreamWaitEvent(second.handle, fork, 0));
  REQUIRE_HIP(store(module, second.handle, buffer.data, 1, 2));
  REQUIRE_HIP(hipEventRecord(join, second.handle));
  REQUIRE_HIP(hipStreamWaitEvent(first.handle, join, 0));
  hipGraph_t graph = nullptr;
  CHECK(hipStreamEndCapture(second.handle, &graph) == hipErrorStreamCaptureUnmatched);
  REQUIRE_HIP(hipStreamEndCapture(first.handle, &graph));
  REQUIRE_HIP(hipStreamSynchronize(second.handle));
  CHECK(buffer.read() == std::vector<int>{0, 0});
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiateWithFlags(&exec, graph, 0));
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  CHECK(buffer.read() == std::vector<int>{1, 2});
  REQUIRE_HIP(hipGraphExecDestroy(exec));
  REQUIRE_HIP(hipGraphDestroy(graph));
  REQUIRE_HIP(hipEventDestroy(fork));
  REQUIRE_HIP(hipEventDestroy(join));
}

TEST_CASE("what a capture forbids is refused while it lasts") {
  const TestStream stream;
  void* pointer = nullptr;
  hipGraph_t graph = nullptr;
  CHECK(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) == hipErrorStreamCaptureUnsupported);
  CHECK(hipStreamEndCapture(stream.handle, &graph) == hipErrorIllegalState);
  REQUIRE_HIP(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeGlobal));
  CHECK(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
  CHECK(hipMalloc(&pointer, 16) == hipErrorStreamCaptureUnsupported);
  CHECK_THAT(report(), Contains("hipMalloc while a stream is capturing"));
  CHECK(hipDeviceSynchronize() == hipErrorStreamCaptureUnsupported);
  REQUIRE_HIP(hipStreamEndCapture(stream.handle, &graph));
  REQUIRE_HIP(hipMalloc(&pointer, 16));
  REQUIRE_HIP(hipFree(pointer));
  REQUIRE_HIP(hipGraphDestroy(graph));
}

TEST_CASE("a graph built by hand runs its nodes after what they depend on") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(2));
  int host = 0;
  int* pointer = buffer.data;
  long index = 1;
  int value = 8;
  void* arguments[] = {&pointer, &index, &value};
  hipKernelNodeParams kernel{};
  kernel.func = module.function("store_at");
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(64);
  kernel.kernelParams = arguments;
  hipMemsetParams clear{};
  clear.dst = buffer.data;
  clear.elementSize = 4;
  clear.width = 2;
  clear.height = 1;
  clear.value = 3;
  hipGraph_t graph = nullptr;
  REQUIRE_HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t read_node = nullptr;
  hipGraphNode_t kernel_node = nullptr;
  hipGraphNode_t clear_node = nullptr;
  // Added in the wrong order; the dependencies set it right.
  REQUIRE_HIP(hipGraphAddMemcpyNode1D(&read_node, graph, nullptr, 0, &host, buffer.data + 1, 4, hipMemcpyDeviceToHost));
  REQUIRE_HIP(hipGraphAddKernelNode(&kernel_node, graph, nullptr, 0, &kernel));
  REQUIRE_HIP(hipGraphAddMemsetNode(&clear_node, graph, nullptr, 0, &clear));
  REQUIRE_HIP(hipGraphAddDependencies(graph, &clear_node, &kernel_node, 1));
  REQUIRE_HIP(hipGraphAddDependencies(graph, &kernel_node, &read_node, 1));
  size_t roots = 0;
  REQUIRE_HIP(hipGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(roots == 1);
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  value = 1000;  // the node has its own copy
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  CHECK(host == 8);
  CHECK(buffer.read() == std::vector<int>{3, 8});
  REQUIRE_HIP(hipGraphExecKernelNodeSetParams(exec, kernel_node, &kernel));
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  CHECK(host == 1000);
  REQUIRE_HIP(hipGraphAddDependencies(graph, &read_node, &clear_node, 1));
  hipGraphExec_t cyclic = nullptr;
  CHECK(hipGraphInstantiate(&cyclic, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("cycle"));
  REQUIRE_HIP(hipGraphExecDestroy(exec));
  REQUIRE_HIP(hipGraphDestroy(graph));
}
