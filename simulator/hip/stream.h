// Streams, events and graphs. Work given to a stream runs at once, in the caller, unless the stream is capturing: then
// it becomes a node of the capture's graph. A graph is its nodes in an order that respects their dependencies.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "simulator/hip/handle_table.h"
#include "simulator/hip/hip_types.h"

namespace mlaforge::simulator {

using Operation = std::function<void()>;  // throws ApiError

struct Graph;

// A kernel node as the host described it, with its arguments copied; `pointers` lead into `arguments`.
struct KernelParameters {
  hipKernelNodeParams asked{};
  std::vector<std::byte> arguments;
  std::vector<void*> pointers;
};

using NodeParameters = std::variant<std::monostate, std::shared_ptr<KernelParameters>, hipMemsetParams,
                                    hipHostNodeParams, hipMemcpy3DParms, hipEvent_t, std::shared_ptr<Graph>>;

struct GraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  Operation run;
  NodeParameters parameters{};  // as far as the host can ask for them again
  std::vector<const GraphNode*> dependencies;
  const GraphNode* original = nullptr;  // of a node of a cloned graph
};

struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;
};

struct GraphExec {
  std::vector<std::shared_ptr<GraphNode>> sources;  // the nodes it was made of, in order of execution
  std::vector<Operation> operations;                // theirs, or what a hipGraphExec*SetParams put in place
};

struct Stream;

struct Capture {
  std::shared_ptr<Graph> graph;
  const Stream* origin = nullptr;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  unsigned long long id = 0;
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  bool is_null = false;
  int device = 0;
  std::shared_ptr<Capture> capture;
  std::vector<const GraphNode*> last_nodes;  // of the capture, in this stream: what its next node depends on
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  std::shared_ptr<Capture> capture;  // if last recorded in a capturing stream
  std::vector<const GraphNode*> nodes;
};

HandleTable<Stream>& streams();
HandleTable<Event>& events();
HandleTable<Graph>& graphs();
HandleTable<GraphExec>& graph_execs();

// These throw ApiError with hipErrorInvalidHandle if there is no such object. The null stream is that of the thread's
// device.
std::shared_ptr<Stream> find_stream(hipStream_t handle);
std::shared_ptr<Event> find_event(hipEvent_t handle);

// hipErrorInvalidValue for these. A node of `graph`, or of whatever graph there is.
std::shared_ptr<Graph> find_graph(hipGraph_t handle);
GraphNode* find_node(const Graph& graph, const void* handle);
std::shared_ptr<GraphNode> find_node(hipGraphNode_t handle);

// Nodes in an order that runs every node after what it depends on. Throws ApiError for a cycle.
std::vector<std::shared_ptr<GraphNode>> ordered_nodes(const Graph& graph);

// Runs `operation`, or adds it to the graph that the stream captures.
void submit(Stream& stream, hipGraphNodeType type, Operation operation, NodeParameters parameters = {});

void record_event(Event& event, Stream& stream);
void wait_event(Stream& stream, const Event& event);

// For calls that a capture forbids (hipErrorStreamCaptureUnsupported): those that would wait, allocate or free while a
// capture that is not relaxed goes on.
void forbid_in_capture(const char* what);

}  // namespace mlaforge::simulator
