// Graphs beyond capture and launch: what they consist of, new parameters, updates, children, clones, capture's rules.
#include <algorithm>
#include <span>

#include "hip_fixture.h"

using Catch::Matchers::Contains;

namespace {

struct TestStream {
  hipStream_t handle = nullptr;
  TestStream() { REQUIRE_HIP(hipStreamCreateWithFlags(&handle, hipStreamNonBlocking)); }
  ~TestStream() { (void)hipStreamDestroy(handle); }
};

// The parameters of store_at(pointer, index, value), kept as long as a call needs them.
struct Store {
  int* pointer;
  long index;
  int value;
  void* parameters[3];
  hipKernelNodeParams node{};

  Store(const LoadedModule& module, int* to, long at, int what) : pointer(to), index(at), value(what) {
    parameters[0] = &pointer;
    parameters[1] = &index;
    parameters[2] = &value;
    node.func = module.function("store_at");
    node.gridDim = dim3(1);
    node.blockDim = dim3(64);
    node.kernelParams = parameters;
  }
};

hipError_t store(const LoadedModule& module, hipStream_t stream, int* pointer, long index, int value) {
  Store s(module, pointer, index, value);
  return hipModuleLaunchKernel(module.function("store_at"), 1, 1, 1, 64, 1, 1, 0, stream, s.parameters, nullptr);
}

std::vector<hipGraphNode_t> nodes_of(hipGraph_t graph) {
  size_t count = 0;
  REQUIRE_HIP(hipGraphGetNodes(graph, nullptr, &count));
  std::vector<hipGraphNode_t> nodes(count);
  REQUIRE_HIP(hipGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

void launch_graph(hipGraph_t graph) {
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  REQUIRE_HIP(hipGraphExecDestroy(exec));
}

// A captured graph: clear the buffer, store `value` at 1.
hipGraph_t capture_store(const LoadedModule& module, int* buffer, int value) {
  const TestStream stream;
  hipGraph_t graph = nullptr;
  REQUIRE_HIP(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeRelaxed));
  REQUIRE_HIP(hipMemsetAsync(buffer, 0, 16, stream.handle));
  REQUIRE_HIP(store(module, stream.handle, buffer, 1, value));
  REQUIRE_HIP(hipStreamEndCapture(stream.handle, &graph));
  return graph;
}

}  // namespace

TEST_CASE("a captured kernel node tells its parameters and takes others") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  hipGraph_t graph = capture_store(module, buffer.data, 7);
  const auto nodes = nodes_of(graph);
  REQUIRE(nodes.size() == 2);
  hipGraphNodeType type{};
  REQUIRE_HIP(hipGraphNodeGetType(nodes[1], &type));
  CHECK(static_cast<int>(type) == 0);  // hipGraphNodeTypeKernel of HIP 6
  hipKernelNodeParams parameters{};
  REQUIRE_HIP(hipGraphKernelNodeGetParams(nodes[1], &parameters));
  CHECK(parameters.func == module.function("store_at"));
  CHECK((parameters.gridDim.x == 1 && parameters.blockDim.x == 64 && parameters.sharedMemBytes == 0));
  CHECK(*static_cast<int**>(parameters.kernelParams[0]) == buffer.data);
  CHECK(*static_cast<long*>(parameters.kernelParams[1]) == 1);
  CHECK(*static_cast<int*>(parameters.kernelParams[2]) == 7);
  CHECK(hipGraphKernelNodeGetParams(nodes[0], &parameters) == hipErrorInvalidValue);

  // As frameworks do: the same pointers, one value changed, in the instance alone.
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  int changed = 8;
  parameters.kernelParams[2] = &changed;
  REQUIRE_HIP(hipGraphExecKernelNodeSetParams(exec, nodes[1], &parameters));
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  CHECK(buffer.read() == std::vector<int>{0, 8, 0, 0});
  launch_graph(graph);
  CHECK(buffer.read() == std::vector<int>{0, 7, 0, 0});

  Store other(module, buffer.data, 2, 9);
  REQUIRE_HIP(hipGraphKernelNodeSetParams(nodes[1], &other.node));
  CHECK(hipGraphKernelNodeSetParams(nodes[0], &other.node) == hipErrorInvalidValue);
  launch_graph(graph);
  CHECK(buffer.read() == std::vector<int>{0, 0, 9, 0});
  other.node.gridDim = dim3(0);
  CHECK(hipGraphKernelNodeSetParams(nodes[1], &other.node) == hipErrorInvalidConfiguration);
  REQUIRE_HIP(hipGraphExecDestroy(exec));
  REQUIRE_HIP(hipGraphDestroy(graph));
  CHECK(hipGraphNodeGetType(nodes[1], &type) == hipErrorInvalidValue);
}

TEST_CASE("an instance takes the operations of a graph of the same shape, and of no other") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  hipGraph_t first = capture_store(module, buffer.data, 1);
  hipGraph_t second = capture_store(module, buffer.data, 2);
  hipGraphExec_t exec = nullptr;
  REQUIRE_HIP(hipGraphInstantiate(&exec, first, nullptr, nullptr, 0));
  hipGraphNode_t differing = nullptr;
  hipGraphExecUpdateResult result{};
  REQUIRE_HIP(hipGraphExecUpdate(exec, second, &differing, &result));
  CHECK(result == hipGraphExecUpdateSuccess);
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));
  CHECK(buffer.read()[1] == 2);

  const auto nodes = nodes_of(second);
  REQUIRE_HIP(hipGraphRemoveDependencies(second, &nodes[0], &nodes[1], 1));
  CHECK(hipGraphRemoveDependencies(second, &nodes[0], &nodes[1], 1) == hipErrorInvalidValue);
  CHECK(hipGraphExecUpdate(exec, second, &differing, &result) == hipErrorGraphExecUpdateFailure);
  CHECK(result == hipGraphExecUpdateErrorTopologyChanged);
  CHECK(differing == nodes[1]);
  REQUIRE_HIP(hipGraphDestroyNode(nodes[0]));
  CHECK(hipGraphExecUpdate(exec, second, &differing, &result) == hipErrorGraphExecUpdateFailure);
  hipGraphNode_t empty = nullptr;
  REQUIRE_HIP(hipGraphAddEmptyNode(&empty, second, &nodes[1], 1));
  CHECK(hipGraphExecUpdate(exec, second, &differing, &result) == hipErrorGraphExecUpdateFailure);
  CHECK(result == hipGraphExecUpdateErrorNodeTypeChanged);
  REQUIRE_HIP(hipGraphLaunch(exec, nullptr));  // as it was
  CHECK(buffer.read()[1] == 2);
  REQUIRE_HIP(hipGraphExecDestroy(exec));
  REQUIRE_HIP(hipGraphDestroy(first));
  REQUIRE_HIP(hipGraphDestroy(second));
}

TEST_CASE("a graph built by hand: copies, fills, host functions, events, a child; edges and clones") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  const DeviceBuffer<int> copy(std::vector<int>(4));
  hipGraph_t graph = nullptr;
  hipGraph_t child = capture_store(module, buffer.data, 5);
  hipEvent_t event = nullptr;
  REQUIRE_HIP(hipEventCreate(&event));
  REQUIRE_HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t nodes[5] = {};
  REQUIRE_HIP(hipGraphAddChildGraphNode(&nodes[0], graph, nullptr, 0, child));
  hipMemsetParams fill{};
  fill.dst = buffer.data + 2;
  fill.elementSize = 4;
  fill.width = 2;
  fill.height = 1;
  fill.value = 6;
  REQUIRE_HIP(hipGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &fill));
  REQUIRE_HIP(hipGraphAddEventRecordNode(&nodes[2], graph, &nodes[1], 1, event));
  hipMemcpy3DParms parameters{};
  parameters.srcPtr = make_hipPitchedPtr(buffer.data, 16, 16, 1);
  parameters.dstPtr = make_hipPitchedPtr(copy.data, 16, 16, 1);
  parameters.extent = make_hipExtent(16, 1, 1);
  parameters.kind = hipMemcpyDeviceToDevice;
  REQUIRE_HIP(hipGraphAddMemcpyNode(&nodes[3], graph, &nodes[2], 1, &parameters));
  int calls = 0;
  hipHostNodeParams host{};
  host.fn = [](void* data) { ++*static_cast<int*>(data); };
  host.userData = &calls;
  REQUIRE_HIP(hipGraphAddHostNode(&nodes[4], graph, &nodes[3], 1, &host));
  launch_graph(graph);
  CHECK(copy.read() == std::vector<int>{0, 5, 6, 6});
  CHECK(calls == 1);
  REQUIRE_HIP(hipEventQuery(event));

  size_t count = 0;
  REQUIRE_HIP(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  REQUIRE(count == 4);
  std::vector<hipGraphNode_t> from(4);
  std::vector<hipGraphNode_t> to(4);
  REQUIRE_HIP(hipGraphGetEdges(graph, from.data(), to.data(), &count));
  CHECK((std::ranges::equal(from, std::span(nodes).first(4)) && std::ranges::equal(to, std::span(nodes).last(4))));
  hipGraphNode_t one = nullptr;
  count = 1;
  REQUIRE_HIP(hipGraphNodeGetDependencies(nodes[3], &one, &count));
  CHECK((count == 1 && one == nodes[2]));
  REQUIRE_HIP(hipGraphNodeGetDependentNodes(nodes[3], &one, &count));
  CHECK((count == 1 && one == nodes[4]));

  hipGraph_t clone = nullptr;
  hipGraphNode_t cloned = nullptr;
  REQUIRE_HIP(hipGraphClone(&clone, graph));
  REQUIRE_HIP(hipGraphNodeFindInClone(&cloned, nodes[1], clone));
  fill.value = 77;
  REQUIRE_HIP(hipGraphMemsetNodeSetParams(cloned, &fill));
  hipMemsetParams read_back{};
  REQUIRE_HIP(hipGraphMemsetNodeGetParams(nodes[1], &read_back));
  CHECK(read_back.value == 6);
  REQUIRE_HIP(hipGraphDestroy(graph));
  launch_graph(clone);
  CHECK(copy.read() == std::vector<int>{0, 5, 77, 77});
  CHECK(calls == 2);
  REQUIRE_HIP(hipGraphDestroy(clone));
  REQUIRE_HIP(hipGraphDestroy(child));
  REQUIRE_HIP(hipEventDestroy(event));
}

TEST_CASE("a capture tells its graph and dependencies while it grows") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(2));
  const TestStream stream;
  hipStreamCaptureStatus status{};
  hipGraph_t growing = nullptr;
  const hipGraphNode_t* dependencies = nullptr;
  size_t count = 9;
  unsigned long long id = 0;
  REQUIRE_HIP(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeGlobal));
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 0, 1));
  REQUIRE_HIP(hipStreamGetCaptureInfo_v2(stream.handle, &status, &id, &growing, &dependencies, &count));
  REQUIRE((status == hipStreamCaptureStatusActive && count == 1 && id != 0));
  // A node added by hand, and what follows in the stream waits for it.
  Store by_hand(module, buffer.data, 1, 2);
  hipGraphNode_t added = nullptr;
  REQUIRE_HIP(hipGraphAddKernelNode(&added, growing, dependencies, count, &by_hand.node));
  REQUIRE_HIP(hipStreamUpdateCaptureDependencies(stream.handle, &added, 1, hipStreamSetCaptureDependencies));
  REQUIRE_HIP(store(module, stream.handle, buffer.data, 1, 3));
  hipGraph_t graph = nullptr;
  REQUIRE_HIP(hipStreamEndCapture(stream.handle, &graph));
  CHECK(graph == growing);
  const auto nodes = nodes_of(graph);
  REQUIRE(nodes.size() == 3);
  hipGraphNode_t before = nullptr;
  count = 1;
  REQUIRE_HIP(hipGraphNodeGetDependencies(nodes[2], &before, &count));
  CHECK(before == added);
  launch_graph(graph);
  CHECK(buffer.read() == std::vector<int>{1, 3});
  REQUIRE_HIP(hipGraphDestroy(graph));
}

TEST_CASE("a capture whose forked work is not joined is refused, and the next one works") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  const TestStream first;
  const TestStream second;
  hipEvent_t fork = nullptr;
  REQUIRE_HIP(hipEventCreate(&fork));
  REQUIRE_HIP(hipStreamBeginCapture(first.handle, hipStreamCaptureModeGlobal));
  REQUIRE_HIP(store(module, first.handle, buffer.data, 0, 1));
  REQUIRE_HIP(hipEventRecord(fork, first.handle));
  REQUIRE_HIP(hipStreamWaitEvent(second.handle, fork, 0));
  REQUIRE_HIP(store(module, second.handle, buffer.data, 1, 2));
  hipGraph_t graph = nullptr;
  CHECK(hipStreamEndCapture(first.handle, &graph) == hipErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);
  CHECK_THAT(report(), Contains("not waited for"));
  hipStreamCaptureStatus status{};
  REQUIRE_HIP(hipStreamIsCapturing(second.handle, &status));
  CHECK(status == hipStreamCaptureStatusNone);
  REQUIRE_HIP(hipGraphDestroy(capture_store(module, buffer.data, 1)));
  REQUIRE_HIP(hipEventDestroy(fork));
}
