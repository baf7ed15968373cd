#include "simulator/hip/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "simulator/hip/copy.h"
#include "simulator/hip/error.h"
#include "simulator/hip/launch.h"
#include "simulator/hip/machine.h"

namespace mlaforge::simulator {
namespace {

void run_in_order(const Graph& graph) {
  for (const auto& node : ordered_nodes(graph)) node->run();
}

}  // namespace

HandleTable<Graph>& graphs() {
  static auto& table = *new HandleTable<Graph>;
  return table;
}

HandleTable<GraphExec>& graph_execs() {
  static auto& table = *new HandleTable<GraphExec>;
  return table;
}

std::shared_ptr<Graph> find_graph(hipGraph_t handle) {
  auto graph = graphs().find(handle);
  if (!graph) fail(hipErrorInvalidValue, fmt::format("graph {} does not exist", static_cast<const void*>(handle)));
  return graph;
}

GraphNode* find_node(const Graph& graph, const void* handle) {
  const auto at = std::ranges::find(graph.nodes, handle, [](const auto& node) { return node.get(); });
  if (at == graph.nodes.end()) fail(hipErrorInvalidValue, fmt::format("node {} is not of this graph", handle));
  return at->get();
}

std::shared_ptr<GraphNode> find_node(hipGraphNode_t handle) {
  std::shared_ptr<GraphNode> found;
  graphs().for_each([&](const Graph& graph) {
    for (const auto& node : graph.nodes) {
      if (node.get() == static_cast<const void*>(handle)) found = node;
    }
  });
  if (!found) fail(hipErrorInvalidValue, fmt::format("node {} is of no graph", static_cast<const void*>(handle)));
  return found;
}

std::shared_ptr<GraphExec> find_exec(hipGraphExec_t handle) {
  auto exec = graph_execs().find(handle);
  if (!exec) fail(hipErrorInvalidValue, fmt::format("graph exec {} does not exist", static_cast<const void*>(handle)));
  return exec;
}

std::vector<std::shared_ptr<GraphNode>> ordered_nodes(const Graph& graph) {
  std::vector<std::shared_ptr<GraphNode>> order;
  std::unordered_map<const GraphNode*, bool> placed;
  while (order.size() < graph.nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : graph.nodes) {
      const bool ready = std::ranges::all_of(node->dependencies, [&](const GraphNode* d) { return placed[d]; });
      if (placed[node.get()] || !ready) continue;
      placed[node.get()] = true;
      order.push_back(node);
    }
    if (order.size() == before) fail(hipErrorInvalidValue, "the graph's dependencies form a cycle");
  }
  return order;
}

std::shared_ptr<KernelParameters> describe_kernel(const hipKernelNodeParams& asked, const DeviceFunction& function,
                                                  std::vector<std::byte> arguments) {
  auto described = std::make_shared<KernelParameters>();
  described->arguments = std::move(arguments);
  for (const KernelArgument& argument : function.metadata.arguments) {
    if (argument.hidden() || argument.offset + uint64_t{argument.bytes} > described->arguments.size()) continue;
    described->pointers.push_back(described->arguments.data() + argument.offset);
  }
  described->asked = asked;
  described->asked.kernelParams = described->pointers.data();
  described->asked.extra = nullptr;
  return described;
}

NodeContents kernel_node(const hipKernelNodeParams* parameters) {
  require(parameters, "pNodeParams");
  require(parameters->func, "pNodeParams->func");
  const auto function = resolve_function(parameters->func, current_device());
  const LaunchShape shape{.grid = {parameters->gridDim.x, parameters->gridDim.y, parameters->gridDim.z},
                          .block = {parameters->blockDim.x, parameters->blockDim.y, parameters->blockDim.z},
                          .dynamic_lds_bytes = parameters->sharedMemBytes};
  check_shape(*function, shape);
  auto described =
      describe_kernel(*parameters, *function, pack_arguments(*function, parameters->kernelParams, parameters->extra));
  return {.type = hipGraphNodeTypeKernel,
          .run = [function, shape, described] { execute(*function, shape, described->arguments); },
          .parameters = described};
}

NodeContents memset_node(const hipMemsetParams* given) {
  require(given, "pMemsetParams");
  const hipMemsetParams p = *given;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) {
    fail(hipErrorInvalidValue, fmt::format("elementSize is {}; allowed: 1, 2, 4", p.elementSize));
  }
  return {.type = hipGraphNodeTypeMemset,
          .run =
              [p] {
                for (size_t row = 0; row < std::max<size_t>(p.height, 1); ++row) {
                  auto* first = static_cast<std::byte*>(p.dst) + row * p.pitch;
                  check_fill(first, p.width, p.elementSize);
                  fill(first, p.value, p.width, p.elementSize);
                }
              },
          .parameters = p};
}

NodeContents copy_node(const hipMemcpy3DParms* parameters) {
  require(parameters, "pCopyParams");
  const BoxCopy copy = copy_of(*parameters);
  check_copy_box(copy);
  return {.type = hipGraphNodeTypeMemcpy,
          .run =
              [copy] {
                check_copy_box(copy);
                copy_box(copy);
              },
          .parameters = *parameters};
}

NodeContents copy_node(void* destination, const void* source, size_t bytes, hipMemcpyKind kind) {
  hipMemcpy3DParms parameters{};
  parameters.dstPtr = {.ptr = destination, .pitch = bytes, .xsize = bytes, .ysize = 1};
  parameters.srcPtr = {.ptr = const_cast<void*>(source), .pitch = bytes, .xsize = bytes, .ysize = 1};
  parameters.extent = {.width = bytes, .height = 1, .depth = 1};
  parameters.kind = kind;
  return copy_node(&parameters);
}

NodeContents host_node(const hipHostNodeParams* parameters) {
  require(parameters, "pNodeParams");
  require(reinterpret_cast<const void*>(parameters->fn), "pNodeParams->fn");
  return {.type = hipGraphNodeTypeHost, .run = [p = *parameters] { p.fn(p.userData); }, .parameters = *parameters};
}

NodeContents record_node(hipEvent_t event) {
  find_event(event);
  return {.type = hipGraphNodeTypeEventRecord,
          .run = [event] { find_event(event)->recorded = std::chrono::steady_clock::now(); },
          .parameters = event};
}

// Streams run synchronously, so what was recorded is done.
NodeContents wait_node(hipEvent_t event) {
  find_event(event);
  return {.type = hipGraphNodeTypeWaitEvent, .run = [event] { find_event(event); }, .parameters = event};
}

NodeContents child_node(hipGraph_t handle) {
  auto child = clone_graph(*find_graph(handle));
  ordered_nodes(*child);  // no cycle
  graphs().add(child);
  return {.type = hipGraphNodeTypeGraph, .run = [child] { run_in_order(*child); }, .parameters = child};
}

std::shared_ptr<Graph> clone_graph(const Graph& graph) {
  auto clone = std::make_shared<Graph>();
  std::unordered_map<const GraphNode*, const GraphNode*> copies;
  for (const auto& node : graph.nodes) {
    clone->nodes.push_back(std::make_shared<GraphNode>(*node));
    clone->nodes.back()->original = node.get();
    copies[node.get()] = clone->nodes.back().get();
  }
  for (const auto& node : clone->nodes) {
    for (const GraphNode*& dependency : node->dependencies) dependency = copies.at(dependency);
  }
  return clone;
}

std::shared_ptr<GraphExec> make_exec(const Graph& graph) {
  auto exec = std::make_shared<GraphExec>();
  exec->sources = ordered_nodes(graph);
  for (const auto& node : exec->sources) exec->operations.push_back(node->run);
  return exec;
}

hipGraphExecUpdateResult update_exec(GraphExec& exec, const Graph& graph, const GraphNode*& differing) {
  const auto nodes = ordered_nodes(graph);
  differing = nullptr;
  if (nodes.size() != exec.sources.size()) return hipGraphExecUpdateErrorTopologyChanged;
  std::unordered_map<const GraphNode*, size_t> before;
  std::unordered_map<const GraphNode*, size_t> now;
  const auto places = [](const GraphNode& node, const auto& numbers) {
    std::vector<size_t> result;
    for (const GraphNode* dependency : node.dependencies) result.push_back(numbers.at(dependency));
    std::ranges::sort(result);
    return result;
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    differing = nodes[i].get();
    if (nodes[i]->type != exec.sources[i]->type) return hipGraphExecUpdateErrorNodeTypeChanged;
    if (places(*nodes[i], now) != places(*exec.sources[i], before)) return hipGraphExecUpdateErrorTopologyChanged;
    before[exec.sources[i].get()] = i;
    now[nodes[i].get()] = i;
  }
  differing = nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) exec.operations[i] = nodes[i]->run;
  return hipGraphExecUpdateSuccess;
}

}  // namespace mlaforge::simulator
