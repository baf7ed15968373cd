// HIP: graphs, captured or built node by node.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "simulator/hip/copy.h"
#include "simulator/hip/error.h"
#include "simulator/hip/launch.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/stream.h"

namespace mlaforge::simulator {

HandleTable<Graph>& graphs() {
  static auto& table = *new HandleTable<Graph>;
  return table;
}

HandleTable<GraphExec>& graph_execs() {
  static auto& table = *new HandleTable<GraphExec>;
  return table;
}

namespace {

std::shared_ptr<Graph> find_graph(hipGraph_t handle) {
  auto graph = graphs().find(handle);
  if (!graph) fail(hipErrorInvalidValue, fmt::format("graph {} does not exist", static_cast<const void*>(handle)));
  return graph;
}

std::shared_ptr<GraphExec> find_exec(hipGraphExec_t handle) {
  auto exec = graph_execs().find(handle);
  if (!exec) fail(hipErrorInvalidValue, fmt::format("graph exec {} does not exist", static_cast<const void*>(handle)));
  return exec;
}

GraphNode* find_node(const Graph& graph, const void* handle) {
  const auto at = std::ranges::find(graph.nodes, handle, [](const auto& node) { return node.get(); });
  if (at == graph.nodes.end()) fail(hipErrorInvalidValue, fmt::format("node {} is not of this graph", handle));
  return at->get();
}

void add_node(hipGraphNode_t* handle, hipGraph_t graph_handle, const hipGraphNode_t* dependencies, size_t count,
              hipGraphNodeType type, Operation operation) {
  require(handle, "pGraphNode");
  const auto graph = find_graph(graph_handle);
  auto node = std::make_shared<GraphNode>(GraphNode{.type = type, .run = std::move(operation), .dependencies = {}});
  for (size_t i = 0; i < count; ++i) {
    require(dependencies, "pDependencies");
    node->dependencies.push_back(find_node(*graph, dependencies[i]));
  }
  *handle = reinterpret_cast<hipGraphNode_t>(node.get());
  graph->nodes.push_back(std::move(node));
}

// Nodes in an order that runs every node after what it depends on.
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

void instantiate(hipGraphExec_t* handle, hipGraph_t graph) {
  require(handle, "pGraphExec");
  auto exec = std::make_shared<GraphExec>();
  exec->sources = ordered_nodes(*find_graph(graph));
  for (const auto& node : exec->sources) exec->operations.push_back(node->run);
  *handle = reinterpret_cast<hipGraphExec_t>(graph_execs().add(std::move(exec)));
}

Operation kernel_operation(const hipKernelNodeParams* parameters) {
  require(parameters, "pNodeParams");
  require(parameters->func, "pNodeParams->func");
  const auto function = resolve_function(parameters->func, current_device());
  const LaunchShape shape{.grid = {parameters->gridDim.x, parameters->gridDim.y, parameters->gridDim.z},
                          .block = {parameters->blockDim.x, parameters->blockDim.y, parameters->blockDim.z},
                          .dynamic_lds_bytes = parameters->sharedMemBytes};
  check_shape(*function, shape);
  return [function, shape, arguments = pack_arguments(*function, parameters->kernelParams, parameters->extra)] {
    execute(*function, shape, arguments);
  };
}

Operation memset_operation(const hipMemsetParams* given) {
  require(given, "pMemsetParams");
  const hipMemsetParams p = *given;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) {
    fail(hipErrorInvalidValue, fmt::format("elementSize is {}; allowed: 1, 2, 4", p.elementSize));
  }
  return [p] {
    for (size_t row = 0; row < std::max<size_t>(p.height, 1); ++row) {
      auto* first = static_cast<std::byte*>(p.dst) + row * p.pitch;
      check_fill(first, p.width, p.elementSize);
      fill(first, p.value, p.width, p.elementSize);
    }
  };
}

Operation copy_operation(void* destination, const void* source, size_t bytes, hipMemcpyKind kind) {
  check_copy(destination, source, bytes, kind);
  return [=] {
    check_copy(destination, source, bytes, kind);
    if (bytes > 0) std::memmove(destination, source, bytes);
  };
}

// Writes up to *count nodes and says how many there are, as hipGraphGetNodes does.
void list_nodes(const std::vector<std::shared_ptr<GraphNode>>& nodes, hipGraphNode_t* out, size_t* count) {
  require(count, "numNodes");
  if (out != nullptr) {
    for (size_t i = 0; i < std::min(*count, nodes.size()); ++i)
      out[i] = reinterpret_cast<hipGraphNode_t>(nodes[i].get());
  }
  *count = nodes.size();
}

void set_exec_operation(hipGraphExec_t handle, hipGraphNode_t node, hipGraphNodeType type, Operation operation) {
  const auto exec = find_exec(handle);
  for (size_t i = 0; i < exec->sources.size(); ++i) {
    if (exec->sources[i].get() != reinterpret_cast<GraphNode*>(node)) continue;
    if (exec->sources[i]->type != type) fail(hipErrorInvalidValue, "the node is of another type");
    exec->operations[i] = std::move(operation);
    return;
  }
  fail(hipErrorInvalidValue, fmt::format("node {} is not of this graph exec", static_cast<const void*>(node)));
}

}  // namespace
}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

hipError_t hipGraphCreate(hipGraph_t* handle, unsigned int flags) {
  return guarded(__func__, [&] {
    require(handle, "pGraph");
    if (flags != 0) fail(hipErrorInvalidValue, fmt::format("flags is {}, only 0 is allowed", flags));
    *handle = reinterpret_cast<hipGraph_t>(graphs().add(std::make_shared<Graph>()));
  });
}

hipError_t hipGraphDestroy(hipGraph_t handle) {
  return guarded(__func__, [&] {
    find_graph(handle);
    graphs().remove(handle);
  });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* parameters) {
  return guarded(__func__, [&] {
    add_node(node, graph, dependencies, count, hipGraphNodeTypeKernel, kernel_operation(parameters));
  });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* destination, const void* source, size_t bytes,
                                   hipMemcpyKind kind) {
  return guarded(__func__, [&] {
    add_node(node, graph, dependencies, count, hipGraphNodeTypeMemcpy,
             copy_operation(destination, source, bytes, kind));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* parameters) {
  return guarded(__func__, [&] {
    add_node(node, graph, dependencies, count, hipGraphNodeTypeMemset, memset_operation(parameters));
  });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* parameters) {
  return guarded(__func__, [&] {
    require(parameters, "pNodeParams");
    require(reinterpret_cast<const void*>(parameters->fn), "pNodeParams->fn");
    add_node(node, graph, dependencies, count, hipGraphNodeTypeHost, [p = *parameters] { p.fn(p.userData); });
  });
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, hipGraphNodeTypeEmpty, [] {}); });
}

hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return guarded(__func__, [&] {
    const auto graph = find_graph(handle);
    for (size_t i = 0; i < count; ++i) {
      require(from, "from");
      require(to, "to");
      find_node(*graph, to[i])->dependencies.push_back(find_node(*graph, from[i]));
    }
  });
}

hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] { list_nodes(find_graph(handle)->nodes, nodes, count); });
}

hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] {
    std::vector<std::shared_ptr<GraphNode>> roots;
    std::ranges::copy_if(find_graph(handle)->nodes, std::back_inserter(roots),
                         [](const auto& node) { return node->dependencies.empty(); });
    list_nodes(roots, nodes, count);
  });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes) {
  return guarded(__func__, [&] {
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes > 0) log[0] = '\0';
    instantiate(exec, graph);
  });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long) {
  return guarded(__func__, [&] { instantiate(exec, graph); });
}

hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream) {
  return guarded(__func__, [&] {
    const auto exec = find_exec(handle);
    submit(*find_stream(stream), hipGraphNodeTypeGraph, [operations = exec->operations] {
      for (const Operation& operation : operations) operation();
    });
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipGraphUpload(hipGraphExec_t handle, hipStream_t stream) {
  return guarded(__func__, [&] {
    find_exec(handle);
    find_stream(stream);
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  return guarded(__func__, [&] {
    find_exec(handle);
    graph_execs().remove(handle);
  });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return guarded(__func__,
                 [&] { set_exec_operation(exec, node, hipGraphNodeTypeKernel, kernel_operation(parameters)); });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* destination,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
  return guarded(__func__, [&] {
    set_exec_operation(exec, node, hipGraphNodeTypeMemcpy, copy_operation(destination, source, bytes, kind));
  });
}
