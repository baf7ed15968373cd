// HIP: copies and fills, between the host and the device and in streams.
#include <cstring>

#include "simulator/hip/copy.h"
#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/registration.h"
#include "simulator/hip/stream.h"

using namespace mlaforge::simulator;

namespace {

void copy_in(hipStream_t stream, void* destination, const void* source, size_t bytes, hipMemcpyKind kind) {
  check_copy(destination, source, bytes, kind);
  submit(*find_stream(stream), hipGraphNodeTypeMemcpy, [=] {
    check_copy(destination, source, bytes, kind);  // a graph may run long after its capture
    if (bytes > 0) std::memmove(destination, source, bytes);
  });
}

void copy_now(const char* function, void* destination, const void* source, size_t bytes, hipMemcpyKind kind) {
  forbid_in_capture(function);
  copy_in(nullptr, destination, source, bytes, kind);
}

void copy_2d_in(hipStream_t stream, Rectangle destination, Rectangle source, size_t width, size_t height,
                hipMemcpyKind kind) {
  check_copy_2d(destination, source, width, height, kind);
  submit(*find_stream(stream), hipGraphNodeTypeMemcpy, [=] {
    check_copy_2d(destination, source, width, height, kind);
    copy_2d(destination, source, width, height);
  });
}

void fill_in(hipStream_t stream, void* destination, uint32_t value, size_t count, unsigned value_bytes) {
  check_fill(destination, count, value_bytes);
  submit(*find_stream(stream), hipGraphNodeTypeMemset, [=] {
    check_fill(destination, count, value_bytes);
    fill(destination, value, count, value_bytes);
  });
}

void fill_now(const char* function, void* destination, uint32_t value, size_t count, unsigned value_bytes) {
  forbid_in_capture(function);
  fill_in(nullptr, destination, value, count, value_bytes);
}

void fill_2d_in(hipStream_t stream, Rectangle destination, int value, size_t width, size_t height) {
  const auto check = [=] { check_copy_2d(destination, destination, width, height, hipMemcpyDeviceToDevice); };
  check();
  submit(*find_stream(stream), hipGraphNodeTypeMemset, [=] {
    check();
    for (size_t row = 0; row < height; ++row) {
      fill(static_cast<std::byte*>(destination.pointer) + row * destination.pitch, static_cast<uint32_t>(value), width,
           1);
    }
  });
}

// Both ranges in the memory of the devices that the call names; what the host owns belongs to every device.
void check_peer(const void* pointer, int id, const char* name) {
  check_device(id);
  const auto region = machine().memory.lookup(reinterpret_cast<uint64_t>(pointer));
  if (!region || region->device == id || region->kind == RegionKind::managed || is_host(region->kind)) return;
  fail(hipErrorInvalidValue,
       std::string(name) + " is memory of device " + std::to_string(region->device) + ", not " + std::to_string(id));
}

void copy_peer_in(hipStream_t stream, void* destination, int destination_device, const void* source, int source_device,
                  size_t bytes) {
  check_peer(destination, destination_device, "dst");
  check_peer(source, source_device, "src");
  copy_in(stream, destination, source, bytes, hipMemcpyDeviceToDevice);
}

// The device address of `offset` bytes into a registered variable that has `bytes` more.
void* symbol_range(const void* symbol, size_t bytes, size_t offset) {
  const DeviceVariable variable = registered_variable(symbol, current_device());
  if (offset > variable.bytes || bytes > variable.bytes - offset) {
    fail(hipErrorInvalidValue, "offset " + std::to_string(offset) + " and " + std::to_string(bytes) +
                                   " bytes go past the symbol's " + std::to_string(variable.bytes));
  }
  return reinterpret_cast<void*>(variable.address + offset);
}

Rectangle rectangle(const void* pointer, size_t pitch) { return {const_cast<void*>(pointer), pitch}; }

}  // namespace

hipError_t hipMemcpy(void* destination, const void* source, size_t bytes, hipMemcpyKind kind) {
  return guarded(__func__, [&] { copy_now("hipMemcpy", destination, source, bytes, kind); });
}

hipError_t hipMemcpyWithStream(void* destination, const void* source, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, source, bytes, kind); });
}

hipError_t hipMemcpyAsync(void* destination, const void* source, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, source, bytes, kind); });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t destination, void* source, size_t bytes) {
  return guarded(__func__, [&] { copy_now("hipMemcpyHtoD", destination, source, bytes, hipMemcpyHostToDevice); });
}

hipError_t hipMemcpyDtoH(void* destination, hipDeviceptr_t source, size_t bytes) {
  return guarded(__func__, [&] { copy_now("hipMemcpyDtoH", destination, source, bytes, hipMemcpyDeviceToHost); });
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t destination, hipDeviceptr_t source, size_t bytes) {
  return guarded(__func__, [&] { copy_now("hipMemcpyDtoD", destination, source, bytes, hipMemcpyDeviceToDevice); });
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t destination, void* source, size_t bytes, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, source, bytes, hipMemcpyHostToDevice); });
}

hipError_t hipMemcpyDtoHAsync(void* destination, hipDeviceptr_t source, size_t bytes, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, source, bytes, hipMemcpyDeviceToHost); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t destination, hipDeviceptr_t source, size_t bytes, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, source, bytes, hipMemcpyDeviceToDevice); });
}

hipError_t hipMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                         size_t bytes) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMemcpyPeer");
    copy_peer_in(nullptr, destination, destination_device, source, source_device, bytes);
  });
}

hipError_t hipMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                              size_t bytes, hipStream_t stream) {
  return guarded(__func__,
                 [&] { copy_peer_in(stream, destination, destination_device, source, source_device, bytes); });
}

hipError_t hipMemcpy2D(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                       size_t width, size_t height, hipMemcpyKind kind) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMemcpy2D");
    copy_2d_in(nullptr, rectangle(destination, destination_pitch), rectangle(source, source_pitch), width, height,
               kind);
  });
}

hipError_t hipMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return guarded(__func__, [&] {
    copy_2d_in(stream, rectangle(destination, destination_pitch), rectangle(source, source_pitch), width, height, kind);
  });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return guarded(__func__,
                 [&] { copy_now("hipMemcpyToSymbol", symbol_range(symbol, bytes, offset), source, bytes, kind); });
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, symbol_range(symbol, bytes, offset), source, bytes, kind); });
}

hipError_t hipMemcpyFromSymbol(void* destination, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return guarded(__func__, [&] {
    copy_now("hipMemcpyFromSymbol", destination, symbol_range(symbol, bytes, offset), bytes, kind);
  });
}

hipError_t hipMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t bytes, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream) {
  return guarded(__func__, [&] { copy_in(stream, destination, symbol_range(symbol, bytes, offset), bytes, kind); });
}

hipError_t hipMemset(void* destination, int value, size_t bytes) {
  return guarded(__func__, [&] { fill_now("hipMemset", destination, static_cast<uint32_t>(value), bytes, 1); });
}

hipError_t hipMemsetAsync(void* destination, int value, size_t bytes, hipStream_t stream) {
  return guarded(__func__, [&] { fill_in(stream, destination, static_cast<uint32_t>(value), bytes, 1); });
}

hipError_t hipMemsetD8(hipDeviceptr_t destination, unsigned char value, size_t count) {
  return guarded(__func__, [&] { fill_now("hipMemsetD8", destination, value, count, 1); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t destination, unsigned char value, size_t count, hipStream_t stream) {
  return guarded(__func__, [&] { fill_in(stream, destination, value, count, 1); });
}

hipError_t hipMemsetD16(hipDeviceptr_t destination, unsigned short value, size_t count) {
  return guarded(__func__, [&] { fill_now("hipMemsetD16", destination, value, count, 2); });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t destination, unsigned short value, size_t count, hipStream_t stream) {
  return guarded(__func__, [&] { fill_in(stream, destination, value, count, 2); });
}

hipError_t hipMemsetD32(hipDeviceptr_t destination, int value, size_t count) {
  return guarded(__func__, [&] { fill_now("hipMemsetD32", destination, static_cast<uint32_t>(value), count, 4); });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t destination, int value, size_t count, hipStream_t stream) {
  return guarded(__func__, [&] { fill_in(stream, destination, static_cast<uint32_t>(value), count, 4); });
}

hipError_t hipMemset2D(void* destination, size_t pitch, int value, size_t width, size_t height) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMemset2D");
    fill_2d_in(nullptr, {destination, pitch}, value, width, height);
  });
}

hipError_t hipMemset2DAsync(void* destination, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
  return guarded(__func__, [&] { fill_2d_in(stream, {destination, pitch}, value, width, height); });
}
