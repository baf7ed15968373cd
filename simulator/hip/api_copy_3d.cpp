// HIP: copies and fills of boxes, and the driver API's copies described by structs. Arrays do not exist on the device.
#include <fmt/format.h>

#include "simulator/hip/copy.h"
#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/stream.h"

using namespace mlaforge::simulator;

namespace {

using mlaforge::simulator::copy_of;

void copy_box_in(hipStream_t stream, const BoxCopy& copy) {
  check_copy_box(copy);
  submit(*find_stream(stream), hipGraphNodeTypeMemcpy, [copy] {
    check_copy_box(copy);
    copy_box(copy);
  });
}

void fill_box_in(hipStream_t stream, const hipPitchedPtr& target, int value, const hipExtent& extent) {
  const Box box{.pointer = target.ptr, .pitch = target.pitch, .slice = target.pitch * target.ysize};
  const BoxCopy shape{.destination = box,
                      .source = box,
                      .width = extent.width,
                      .height = extent.height,
                      .depth = extent.depth,
                      .kind = hipMemcpyDeviceToDevice};
  check_copy_box(shape);
  submit(*find_stream(stream), hipGraphNodeTypeMemset, [=] {
    check_copy_box(shape);
    for_each_row(shape,
                 [&](std::byte* row, const std::byte*) { fill(row, static_cast<uint32_t>(value), shape.width, 1); });
  });
}

// One end of a copy as the driver API's structs describe it.
struct End {
  hipMemoryType type;
  const void* host;
  const void* device;
  const void* array;
  size_t x_bytes;
  size_t y;
  size_t z;
  size_t pitch;
  size_t height;
};

Box box_of(const End& end, const char* name) {
  // HIP 6 renumbered the types: host 0 and device 1 became 1 and 2, and managed 3 the unified address of either.
  const int type = static_cast<int>(end.type) + (machine().options().hip_abi == 5 ? 1 : 0);
  if (end.array != nullptr || type < 1 || type > 3) {
    fail(hipErrorNotSupported,
         fmt::format("{}MemoryType is {}; only host, device and managed memory is simulated, no arrays", name,
                     static_cast<int>(end.type)));
  }
  const void* pointer = type == 1 ? end.host : end.device;
  const size_t slice = end.pitch * end.height;
  auto* base = static_cast<std::byte*>(const_cast<void*>(pointer));
  if (base != nullptr) base += end.z * slice + end.y * end.pitch + end.x_bytes;
  return {.pointer = base, .pitch = end.pitch, .slice = slice};
}

BoxCopy copy_of(const HIP_MEMCPY3D& p) {
  const End source{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                   p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
  const End destination{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                        p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
  return {.destination = box_of(destination, "dst"),
          .source = box_of(source, "src"),
          .width = p.WidthInBytes,
          .height = p.Height,
          .depth = p.Depth,
          .kind = hipMemcpyDefault};
}

BoxCopy copy_of(const hip_Memcpy2D& p) {
  const End source{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, 0, p.srcPitch, p.Height};
  const End destination{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                        p.dstY,          0,         p.dstPitch,  p.Height};
  return {.destination = box_of(destination, "dst"),
          .source = box_of(source, "src"),
          .width = p.WidthInBytes,
          .height = p.Height,
          .depth = 1,
          .kind = hipMemcpyDefault};
}

template <typename Parameters>
hipError_t copy_described(const char* function, const Parameters* parameters, hipStream_t stream, bool synchronous) {
  return guarded(function, [&] {
    require(parameters, "pCopy");
    if (synchronous) forbid_in_capture(function);
    copy_box_in(stream, copy_of(*parameters));
  });
}

}  // namespace

hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return copy_described(__func__, parameters, nullptr, true);
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return copy_described(__func__, parameters, stream, false);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* parameters) {
  return copy_described(__func__, parameters, nullptr, true);
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* parameters, hipStream_t stream) {
  return copy_described(__func__, parameters, stream, false);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* parameters) {
  return copy_described(__func__, parameters, nullptr, true);
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream) {
  return copy_described(__func__, parameters, stream, false);
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters) {
  return copy_described(__func__, parameters, nullptr, true);
}

hipError_t hipMemset3D(hipPitchedPtr target, int value, hipExtent extent) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMemset3D");
    fill_box_in(nullptr, target, value, extent);
  });
}

hipError_t hipMemset3DAsync(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream) {
  return guarded(__func__, [&] { fill_box_in(stream, target, value, extent); });
}

hipError_t hipMalloc3D(hipPitchedPtr* target, hipExtent extent) {
  if (target == nullptr || (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth)) {
    return guarded(__func__, [&] {
      require(target, "pitchedDevPtr");
      fail(hipErrorOutOfMemory, fmt::format("{} slices of {} rows", extent.depth, extent.height));
    });
  }
  size_t pitch = 0;
  void* pointer = nullptr;
  const hipError_t result = hipMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  if (result == hipSuccess) *target = {.ptr = pointer, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
  return result;
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height, unsigned int) {
  return hipMallocPitch(pointer, pitch, width, height);
}
