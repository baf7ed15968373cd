// What graphs are made of: nodes of each type out of the parameters that HIP describes them by.
#pragma once

#include "simulator/hip/module.h"
#include "simulator/hip/stream.h"

namespace mlaforge::simulator {

// A node before it has a place in a graph. These throw ApiError for parameters that no launch could take.
struct NodeContents {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  Operation run;
  NodeParameters parameters{};
};

NodeContents kernel_node(const hipKernelNodeParams* parameters);
NodeContents memset_node(const hipMemsetParams* parameters);
NodeContents copy_node(const hipMemcpy3DParms* parameters);
NodeContents copy_node(void* destination, const void* source, size_t bytes, hipMemcpyKind kind);
NodeContents host_node(const hipHostNodeParams* parameters);
NodeContents record_node(hipEvent_t event);
NodeContents wait_node(hipEvent_t event);
NodeContents child_node(hipGraph_t graph);

// A graph with nodes of its own, which run the same.
std::shared_ptr<Graph> clone_graph(const Graph& graph);

std::shared_ptr<GraphExec> find_exec(hipGraphExec_t handle);
std::shared_ptr<GraphExec> make_exec(const Graph& graph);

// Puts the operations of `graph` in the place of those of `exec`, or says why their nodes do not correspond.
hipGraphExecUpdateResult update_exec(GraphExec& exec, const Graph& graph, const GraphNode*& differing);

// What the host can ask for again of a launch: its parameters, with its arguments copied.
std::shared_ptr<KernelParameters> describe_kernel(const hipKernelNodeParams& asked, const DeviceFunction& function,
                                                  std::vector<std::byte> arguments);

}  // namespace mlaforge::simulator
