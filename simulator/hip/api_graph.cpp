// HIP: graphs, captured or built node by node, instantiated and launched.
#include <fmt/format.h>

#include "simulator/hip/error.h"
#include "simulator/hip/graph.h"

using namespace mlaforge::simulator;

namespace {

void add_node(hipGraphNode_t* handle, hipGraph_t graph_handle, const hipGraphNode_t* dependencies, size_t count,
              NodeContents contents) {
  require(handle, "pGraphNode");
  const auto graph = find_graph(graph_handle);
  auto node = std::make_shared<GraphNode>();
  node->type = contents.type;
  node->run = std::move(contents.run);
  node->parameters = std::move(contents.parameters);
  for (size_t i = 0; i < count; ++i) {
    require(dependencies, "pDependencies");
    node->dependencies.push_back(find_node(*graph, dependencies[i]));
  }
  *handle = reinterpret_cast<hipGraphNode_t>(node.get());
  graph->nodes.push_back(std::move(node));
}

void instantiate(hipGraphExec_t* handle, hipGraph_t graph) {
  require(handle, "pGraphExec");
  *handle = reinterpret_cast<hipGraphExec_t>(graph_execs().add(make_exec(*find_graph(graph))));
}

}  // namespace

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
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, kernel_node(parameters)); });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* destination, const void* source, size_t bytes,
                                   hipMemcpyKind kind) {
  return guarded(__func__,
                 [&] { add_node(node, graph, dependencies, count, copy_node(destination, source, bytes, kind)); });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* parameters) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, memset_node(parameters)); });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* parameters) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, host_node(parameters)); });
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return guarded(__func__,
                 [&] { add_node(node, graph, dependencies, count, {.type = hipGraphNodeTypeEmpty, .run = [] {}}); });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* parameters) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, copy_node(parameters)); });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipGraph_t child) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, child_node(child)); });
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t event) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, record_node(event)); });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, hipEvent_t event) {
  return guarded(__func__, [&] { add_node(node, graph, dependencies, count, wait_node(event)); });
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

hipError_t hipGraphExecUpdate(hipGraphExec_t handle, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return guarded(__func__, [&] {
    require(error_node, "hErrorNode_out");
    require(result, "updateResult_out");
    *result = hipGraphExecUpdateError;
    const GraphNode* differing = nullptr;
    *result = update_exec(*find_exec(handle), *find_graph(graph), differing);
    *error_node = reinterpret_cast<hipGraphNode_t>(const_cast<GraphNode*>(differing));
    if (*result != hipGraphExecUpdateSuccess) {
      fail(hipErrorGraphExecUpdateFailure, *result == hipGraphExecUpdateErrorNodeTypeChanged
                                               ? "a node is of another type than in the instantiated graph"
                                               : "the graph has other nodes or dependencies than the instantiated one");
    }
  });
}

// The parameters that HIP 6 added: a node that failed, flags, the result and a stream to upload in.
struct InstantiateParameters {
  hipGraphNode_t error_node;
  unsigned long long flags;
  int result;
  hipStream_t upload_stream;
};

MLAFORGE_HIP_EXPORT hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph,
                                                             InstantiateParameters* parameters) {
  return guarded(__func__, [&] {
    require(parameters, "instantiateParams");
    parameters->error_node = nullptr;
    parameters->result = 1;  // hipGraphInstantiateError
    instantiate(exec, graph);
    parameters->result = 0;
  });
}
