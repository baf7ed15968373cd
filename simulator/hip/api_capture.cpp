// HIP: stream capture, which turns what a stream is given into the nodes of a graph.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <utility>

#include "simulator/hip/error.h"
#include "simulator/hip/stream.h"

namespace mlaforge::simulator {
namespace {

// Captures that forbid unsafe calls: global ones everywhere, thread-local ones in their thread.
std::atomic<int> global_captures{0};
thread_local int thread_captures = 0;
thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;
std::atomic<unsigned long long> next_capture_id{1};

void count_capture(const Capture& capture, int change) {
  if (capture.mode == hipStreamCaptureModeGlobal) global_captures += change;
  if (capture.mode == hipStreamCaptureModeThreadLocal) thread_captures += change;
}

void begin_capture(hipStream_t handle, std::shared_ptr<Graph> graph, std::vector<const GraphNode*> first,
                   hipStreamCaptureMode mode) {
  const auto stream = find_stream(handle);
  if (stream->is_null) fail(hipErrorStreamCaptureUnsupported, "the null stream cannot be captured");
  if (stream->capture) fail(hipErrorIllegalState, "the stream is capturing already");
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) {
    fail(hipErrorInvalidValue, fmt::format("mode is {}; allowed: 0 to 2", static_cast<int>(mode)));
  }
  stream->capture = std::make_shared<Capture>(
      Capture{.graph = std::move(graph), .origin = stream.get(), .mode = mode, .id = next_capture_id++});
  stream->last_nodes = std::move(first);
  count_capture(*stream->capture, 1);
}

// The nodes that some node of `last` waits for, themselves included.
std::unordered_set<const GraphNode*> reached_from(const std::vector<const GraphNode*>& last) {
  std::unordered_set<const GraphNode*> reached(last.begin(), last.end());
  std::vector<const GraphNode*> open = last;
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    for (const GraphNode* before : node->dependencies) {
      if (reached.insert(before).second) open.push_back(before);
    }
  }
  return reached;
}

std::shared_ptr<Graph> end_capture(Stream& stream) {
  if (!stream.capture) fail(hipErrorIllegalState, "the stream is not capturing");
  if (stream.capture->origin != &stream) fail(hipErrorStreamCaptureUnmatched, "the capture began in another stream");
  const auto capture = std::exchange(stream.capture, nullptr);
  const auto joined = reached_from(std::exchange(stream.last_nodes, {}));
  bool unjoined = false;
  streams().for_each([&](Stream& other) {
    if (other.capture != capture) return;
    unjoined |= std::ranges::any_of(other.last_nodes, [&](const GraphNode* node) { return !joined.contains(node); });
    other.capture = nullptr;
    other.last_nodes.clear();
  });
  count_capture(*capture, -1);
  if (unjoined) {
    graphs().remove(capture->graph.get());
    fail(hipErrorStreamCaptureUnjoined,
         "another stream's captured work is not waited for in the stream in which the capture began");
  }
  return capture->graph;
}

void capture_info(const Stream& stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  require(status, "pCaptureStatus");
  *status = stream.capture ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  if (id != nullptr && stream.capture) *id = stream.capture->id;
}

std::vector<const GraphNode*> nodes_of(const Graph& graph, const hipGraphNode_t* handles, size_t count) {
  std::vector<const GraphNode*> nodes;
  if (count > 0) require(handles, "dependencies");
  for (size_t i = 0; i < count; ++i) nodes.push_back(find_node(graph, handles[i]));
  return nodes;
}

}  // namespace

void forbid_in_capture(const char* what) {
  if (thread_mode == hipStreamCaptureModeRelaxed) return;
  if (thread_captures > 0 || (thread_mode == hipStreamCaptureModeGlobal && global_captures > 0)) {
    fail(hipErrorStreamCaptureUnsupported, std::string(what) + " while a stream is capturing");
  }
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return guarded(__func__, [&] {
    auto graph = std::make_shared<Graph>();
    begin_capture(handle, graph, {}, mode);
    graphs().add(std::move(graph));  // hipStreamGetCaptureInfo_v2 gives it away while it grows
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipStreamBeginCaptureToGraph(hipStream_t handle, hipGraph_t graph,
                                                            const hipGraphNode_t* dependencies, const void*,
                                                            size_t count, hipStreamCaptureMode mode) {
  return guarded(__func__, [&] {
    auto found = find_graph(graph);
    auto first = nodes_of(*found, dependencies, count);
    begin_capture(handle, std::move(found), std::move(first), mode);
  });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  return guarded(__func__, [&] {
    require(graph, "pGraph");
    *graph = nullptr;
    *graph = reinterpret_cast<hipGraph_t>(end_capture(*find_stream(handle)).get());
  });
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus* status) {
  return guarded(__func__, [&] { capture_info(*find_stream(handle), status, nullptr); });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus* status, unsigned long long* id) {
  return guarded(__func__, [&] { capture_info(*find_stream(handle), status, id); });
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return guarded(__func__, [&] {
    const auto stream = find_stream(handle);
    capture_info(*stream, status, id);
    if (!stream->capture) return;
    static_assert(sizeof(hipGraphNode_t) == sizeof(const GraphNode*));
    if (graph != nullptr) *graph = reinterpret_cast<hipGraph_t>(stream->capture->graph.get());
    if (dependencies != nullptr) {
      *dependencies = reinterpret_cast<const hipGraphNode_t*>(const_cast<GraphNode* const*>(stream->last_nodes.data()));
    }
    if (count != nullptr) *count = stream->last_nodes.size();
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t* dependencies, size_t count,
                                              unsigned int flags) {
  return guarded(__func__, [&] {
    const auto stream = find_stream(handle);
    if (!stream->capture) fail(hipErrorIllegalState, "the stream is not capturing");
    if (flags > hipStreamSetCaptureDependencies) {
      fail(hipErrorInvalidValue, fmt::format("flags is {}; allowed: 0 (add), 1 (set)", flags));
    }
    const auto nodes = nodes_of(*stream->capture->graph, dependencies, count);
    if (flags == hipStreamSetCaptureDependencies) stream->last_nodes.clear();
    stream->last_nodes.insert(stream->last_nodes.end(), nodes.begin(), nodes.end());
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return guarded(__func__, [&] {
    require(mode, "mode");
    if (*mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed) {
      fail(hipErrorInvalidValue, fmt::format("mode is {}; allowed: 0 to 2", static_cast<int>(*mode)));
    }
    std::swap(*mode, thread_mode);
  });
}
