#include "simulator/hip/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"

namespace mlaforge::simulator {
namespace {

std::shared_ptr<Stream> make_stream(unsigned flags, int priority, bool is_null, int device) {
  auto stream = std::make_shared<Stream>();
  stream->flags = flags;
  stream->priority = priority;
  stream->is_null = is_null;
  stream->device = device;
  return stream;
}

std::shared_ptr<Stream> null_stream(int device) {
  using NullStreams = std::array<std::shared_ptr<Stream>, DeviceMemory::kMaxDevices>;
  static const NullStreams& streams = []() -> NullStreams& {
    auto& made = *new NullStreams;
    for (int id = 0; id < DeviceMemory::kMaxDevices; ++id) {
      made[static_cast<size_t>(id)] = make_stream(hipStreamDefault, 0, true, id);
    }
    return made;
  }();
  return streams[static_cast<size_t>(device)];
}

void append(Stream& stream, hipGraphNodeType type, Operation operation, NodeParameters parameters) {
  auto node = std::make_shared<GraphNode>(GraphNode{.type = type,
                                                    .run = std::move(operation),
                                                    .parameters = std::move(parameters),
                                                    .dependencies = std::move(stream.last_nodes)});
  stream.last_nodes = {node.get()};
  stream.capture->graph->nodes.push_back(std::move(node));
}

void create_stream(hipStream_t* handle, unsigned flags, int priority) {
  require(handle, "stream");
  if ((flags & ~hipStreamNonBlocking) != 0) {
    fail(hipErrorInvalidValue,
         fmt::format("flags is {:#x}; allowed: hipStreamDefault (0), hipStreamNonBlocking (1)", flags));
  }
  Stream* stream = streams().add(make_stream(flags, std::clamp(priority, -1, 1), false, current_device()));
  *handle = reinterpret_cast<hipStream_t>(stream);
}

void synchronize(const Stream& stream, const char* what) {
  if (stream.capture) fail(hipErrorStreamCaptureUnsupported, std::string(what) + " while the stream is capturing");
}

}  // namespace

HandleTable<Stream>& streams() {
  static auto& table = *new HandleTable<Stream>;
  return table;
}

HandleTable<Event>& events() {
  static auto& table = *new HandleTable<Event>;
  return table;
}

std::shared_ptr<Stream> find_stream(hipStream_t handle) {
  // Null, hipStreamLegacy and hipStreamPerThread.
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return null_stream(current_device());
  auto stream = streams().find(handle);
  if (!stream) fail(hipErrorInvalidHandle, fmt::format("stream {} does not exist", static_cast<const void*>(handle)));
  return stream;
}

std::shared_ptr<Event> find_event(hipEvent_t handle) {
  auto event = events().find(handle);
  if (!event) fail(hipErrorInvalidHandle, fmt::format("event {} does not exist", static_cast<const void*>(handle)));
  return event;
}

void record_event(Event& event, Stream& stream) {
  if (event.device != stream.device) {
    fail(hipErrorInvalidHandle,
         fmt::format("the event was created on device {}, the stream on device {}", event.device, stream.device));
  }
  if (stream.capture) {
    event.capture = stream.capture;
    event.nodes = stream.last_nodes;
    return;
  }
  event.capture = nullptr;
  event.recorded = std::chrono::steady_clock::now();
}

// The waiting stream joins the capture in which the event was recorded.
void wait_event(Stream& stream, const Event& event) {
  if (!event.capture) return;  // its work is done: streams run synchronously
  if (stream.is_null) fail(hipErrorStreamCaptureImplicit, "the null stream cannot join a capture");
  if (stream.capture && stream.capture != event.capture) {
    fail(hipErrorStreamCaptureMerge, "the event belongs to another capture than the stream");
  }
  // No node of its own: what the stream does next depends on the event's nodes too.
  if (!stream.capture) stream.last_nodes.clear();
  stream.capture = event.capture;
  for (const GraphNode* node : event.nodes) {
    if (std::ranges::find(stream.last_nodes, node) == stream.last_nodes.end()) stream.last_nodes.push_back(node);
  }
}

void submit(Stream& stream, hipGraphNodeType type, Operation operation, NodeParameters parameters) {
  if (stream.capture) {
    append(stream, type, std::move(operation), std::move(parameters));
  } else {
    operation();
  }
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

hipError_t hipStreamCreate(hipStream_t* stream) {
  return guarded(__func__, [&] { create_stream(stream, hipStreamDefault, 0); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return guarded(__func__, [&] { create_stream(stream, flags, 0); });
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return guarded(__func__, [&] { create_stream(stream, flags, priority); });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return guarded(__func__, [&] {
    if (least != nullptr) *least = 1;
    if (greatest != nullptr) *greatest = -1;
  });
}

hipError_t hipStreamDestroy(hipStream_t handle) {
  return guarded(__func__, [&] {
    if (!streams().remove(handle)) {
      fail(hipErrorInvalidHandle, fmt::format("stream {} does not exist", static_cast<const void*>(handle)));
    }
  });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  return guarded(__func__, [&] { synchronize(*find_stream(handle), "hipStreamSynchronize"); });
}

hipError_t hipStreamQuery(hipStream_t handle) {
  return guarded(__func__, [&] { synchronize(*find_stream(handle), "hipStreamQuery"); });
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned int* flags) {
  return guarded(__func__, [&] {
    require(flags, "flags");
    *flags = find_stream(handle)->flags;
  });
}

hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  return guarded(__func__, [&] {
    require(priority, "priority");
    *priority = find_stream(handle)->priority;
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* id) {
  return guarded(__func__, [&] {
    require(id, "device");
    *id = find_stream(handle)->device;
  });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned int) {
  return guarded(__func__, [&] { wait_event(*find_stream(handle), *find_event(event)); });
}

hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* user_data) {
  return guarded(__func__, [&] {
    require(reinterpret_cast<const void*>(function), "fn");
    submit(*find_stream(handle), hipGraphNodeTypeHost, [=] { function(user_data); });
  });
}

hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* user_data, unsigned int flags) {
  return guarded(__func__, [&] {
    require(reinterpret_cast<const void*>(callback), "callback");
    if (flags != 0) fail(hipErrorInvalidValue, fmt::format("flags is {}, only 0 is allowed", flags));
    submit(*find_stream(handle), hipGraphNodeTypeHost, [=] { callback(handle, hipSuccess, user_data); });
  });
}

hipError_t hipDeviceSynchronize() {
  return guarded(__func__, [&] {
    forbid_in_capture("hipDeviceSynchronize");
    const std::scoped_lock running(machine().execution);
  });
}

hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipDeviceReset() { return hipDeviceSynchronize(); }

hipError_t hipEventCreateWithFlags(hipEvent_t* handle, unsigned flags) {
  return guarded(__func__, [&] {
    require(handle, "event");
    auto event = std::make_shared<Event>();
    event->flags = flags;
    event->device = current_device();
    *handle = reinterpret_cast<hipEvent_t>(events().add(std::move(event)));
  });
}

hipError_t hipEventCreate(hipEvent_t* handle) { return hipEventCreateWithFlags(handle, 0); }

hipError_t hipEventDestroy(hipEvent_t handle) {
  return guarded(__func__, [&] {
    find_event(handle);
    events().remove(handle);
  });
}

hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream) {
  return guarded(__func__, [&] { record_event(*find_event(handle), *find_stream(stream)); });
}

MLAFORGE_HIP_EXPORT hipError_t hipEventRecordWithFlags(hipEvent_t handle, hipStream_t stream, unsigned int) {
  return hipEventRecord(handle, stream);
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  return guarded(__func__, [&] {
    if (find_event(handle)->capture) fail(hipErrorCapturedEvent, "the event was recorded in a capturing stream");
  });
}

hipError_t hipEventQuery(hipEvent_t handle) { return hipEventSynchronize(handle); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start_handle, hipEvent_t stop_handle) {
  return guarded(__func__, [&] {
    require(milliseconds, "ms");
    const auto start = find_event(start_handle);
    const auto stop = find_event(stop_handle);
    if (start->device != stop->device) {
      fail(hipErrorInvalidHandle, fmt::format("the events are of devices {} and {}", start->device, stop->device));
    }
    if (((start->flags | stop->flags) & hipEventDisableTiming) != 0) {
      fail(hipErrorInvalidHandle, "an event was created with hipEventDisableTiming");
    }
    if (!start->recorded || !stop->recorded) fail(hipErrorInvalidHandle, "an event was never recorded");
    *milliseconds = std::chrono::duration<float, std::milli>(*stop->recorded - *start->recorded).count();
  });
}
