// HIP: what a graph consists of, and new parameters for its nodes, in the graph or in its instance alone.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/hip/error.h"
#include "simulator/hip/graph.h"
#include "simulator/hip/machine.h"

using namespace mlaforge::simulator;

namespace {

hipGraphNode_t handle_of(const GraphNode* node) {
  return reinterpret_cast<hipGraphNode_t>(const_cast<GraphNode*>(node));
}

// Writes up to *count handles and says how many there are, as HIP's lists do.
void list(const std::vector<const GraphNode*>& nodes, hipGraphNode_t* out, size_t* count, const char* name) {
  require(count, name);
  if (out != nullptr) {
    const size_t room = std::min(*count, nodes.size());
    for (size_t i = 0; i < room; ++i) out[i] = handle_of(nodes[i]);
  }
  *count = nodes.size();
}

std::shared_ptr<Graph> graph_of(const GraphNode& node) {
  std::shared_ptr<Graph> found;
  graphs().for_each_shared([&](const std::shared_ptr<Graph>& graph) {
    for (const auto& other : graph->nodes) {
      if (other.get() == &node) found = graph;
    }
  });
  if (!found) fail(hipErrorInvalidValue, "the node is of no graph");
  return found;
}

template <typename Parameters>
const Parameters& parameters_of(const GraphNode& node) {
  const auto* parameters = std::get_if<Parameters>(&node.parameters);
  if (parameters == nullptr) {
    fail(hipErrorInvalidValue, fmt::format("a node of type {} has no such parameters", static_cast<int>(node.type)));
  }
  return *parameters;
}

template <typename Parameters>
hipError_t get_parameters(const char* function, hipGraphNode_t handle, Parameters* out) {
  return guarded(function, [&] {
    const auto node = find_node(handle);
    require(out, "pNodeParams");
    *out = parameters_of<Parameters>(*node);
  });
}

void check_type(const GraphNode& node, const NodeContents& contents) {
  if (node.type == contents.type) return;
  fail(hipErrorInvalidValue,
       fmt::format("the node is of type {}, not {}", static_cast<int>(node.type), static_cast<int>(contents.type)));
}

void set_node(hipGraphNode_t handle, NodeContents contents) {
  const auto node = find_node(handle);
  check_type(*node, contents);
  node->run = std::move(contents.run);
  node->parameters = std::move(contents.parameters);
}

void set_exec(hipGraphExec_t handle, hipGraphNode_t node, NodeContents contents) {
  const auto exec = find_exec(handle);
  const auto at =
      std::ranges::find(exec->sources, static_cast<const void*>(node), [](const auto& n) { return n.get(); });
  if (at == exec->sources.end()) {
    fail(hipErrorInvalidValue, fmt::format("node {} is not of this graph exec", static_cast<const void*>(node)));
  }
  check_type(**at, contents);
  exec->operations[static_cast<size_t>(at - exec->sources.begin())] = std::move(contents.run);
}

}  // namespace

hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] {
    std::vector<const GraphNode*> all;
    for (const auto& node : find_graph(handle)->nodes) all.push_back(node.get());
    list(all, nodes, count, "numNodes");
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] {
    std::vector<const GraphNode*> roots;
    for (const auto& node : find_graph(handle)->nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    list(roots, nodes, count, "pNumRootNodes");
  });
}

hipError_t hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return guarded(__func__, [&] {
    require(count, "numEdges");
    std::vector<const GraphNode*> first;
    std::vector<const GraphNode*> second;
    for (const auto& node : find_graph(handle)->nodes) {
      for (const GraphNode* before : node->dependencies) {
        first.push_back(before);
        second.push_back(node.get());
      }
    }
    if ((from == nullptr) != (to == nullptr)) fail(hipErrorInvalidValue, "one of from and to is null");
    size_t room = *count;
    list(first, from, &room, "numEdges");
    list(second, to, count, "numEdges");
  });
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

hipError_t hipGraphRemoveDependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return guarded(__func__, [&] {
    const auto graph = find_graph(handle);
    for (size_t i = 0; i < count; ++i) {
      require(from, "from");
      require(to, "to");
      if (std::erase(find_node(*graph, to[i])->dependencies, find_node(*graph, from[i])) == 0) {
        fail(hipErrorInvalidValue, fmt::format("edge {} is not of this graph", i));
      }
    }
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] { list(find_node(handle)->dependencies, nodes, count, "pNumDependencies"); });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t handle, hipGraphNode_t* nodes, size_t* count) {
  return guarded(__func__, [&] {
    const auto node = find_node(handle);
    std::vector<const GraphNode*> dependent;
    for (const auto& other : graph_of(*node)->nodes) {
      if (std::ranges::find(other->dependencies, node.get()) != other->dependencies.end()) {
        dependent.push_back(other.get());
      }
    }
    list(dependent, nodes, count, "pNumDependentNodes");
  });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType* type) {
  return guarded(__func__, [&] {
    require(type, "pType");
    // HIP 6 counts the types from 0.
    const int shift = machine().options().hip_abi == 5 ? 0 : 1;
    *type = static_cast<hipGraphNodeType>(static_cast<int>(find_node(handle)->type) - shift);
  });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t handle) {
  return guarded(__func__, [&] {
    const auto node = find_node(handle);
    const auto graph = graph_of(*node);
    for (const auto& other : graph->nodes) std::erase(other->dependencies, node.get());
    std::erase(graph->nodes, node);
  });
}

hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t original) {
  return guarded(__func__, [&] {
    require(clone, "pGraphClone");
    *clone = reinterpret_cast<hipGraph_t>(graphs().add(clone_graph(*find_graph(original))));
  });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t clone) {
  return guarded(__func__, [&] {
    require(node, "pNode");
    const auto graph = find_graph(clone);
    const auto at = std::ranges::find(graph->nodes, reinterpret_cast<const GraphNode*>(original),
                                      [](const auto& n) { return n->original; });
    if (original == nullptr || at == graph->nodes.end())
      fail(hipErrorInvalidValue, "the graph has no clone of the node");
    *node = handle_of(at->get());
  });
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t handle, hipGraph_t* graph) {
  return guarded(__func__, [&] {
    require(graph, "pGraph");
    *graph = reinterpret_cast<hipGraph_t>(parameters_of<std::shared_ptr<Graph>>(*find_node(handle)).get());
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t handle, hipKernelNodeParams* parameters) {
  return guarded(__func__, [&] {
    const auto node = find_node(handle);
    require(parameters, "pNodeParams");
    *parameters = parameters_of<std::shared_ptr<KernelParameters>>(*node)->asked;
  });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  return get_parameters(__func__, node, parameters);
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return get_parameters(__func__, node, parameters);
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  return get_parameters(__func__, node, parameters);
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return get_parameters(__func__, node, event);
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return get_parameters(__func__, node, event);
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return guarded(__func__, [&] { set_node(node, kernel_node(parameters)); });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return guarded(__func__, [&] { set_node(node, memset_node(parameters)); });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return guarded(__func__, [&] { set_node(node, copy_node(parameters)); });
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* destination, const void* source, size_t bytes,
                                         hipMemcpyKind kind) {
  return guarded(__func__, [&] { set_node(node, copy_node(destination, source, bytes, kind)); });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return guarded(__func__, [&] { set_node(node, host_node(parameters)); });
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return guarded(__func__, [&] { set_node(node, record_node(event)); });
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return guarded(__func__, [&] { set_node(node, wait_node(event)); });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return guarded(__func__, [&] { set_exec(exec, node, kernel_node(parameters)); });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return guarded(__func__, [&] { set_exec(exec, node, memset_node(parameters)); });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return guarded(__func__, [&] { set_exec(exec, node, copy_node(parameters)); });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* destination,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
  return guarded(__func__, [&] { set_exec(exec, node, copy_node(destination, source, bytes, kind)); });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return guarded(__func__, [&] { set_exec(exec, node, host_node(parameters)); });
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return guarded(__func__, [&] { set_exec(exec, node, child_node(child)); });
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return guarded(__func__, [&] { set_exec(exec, node, record_node(event)); });
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return guarded(__func__, [&] { set_exec(exec, node, wait_node(event)); });
}
