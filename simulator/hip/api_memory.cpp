// HIP: allocation of device, managed and pinned host memory, and what is known of a pointer.
#include <fmt/format.h>

#include <array>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/stream.h"

using namespace mlaforge::simulator;

namespace {

constexpr size_t kPitchAlignment = 256;

void allocate(const char* function, void** pointer, size_t bytes, RegionKind kind, unsigned flags = 0,
              int id = current_device()) {
  require(pointer, "ptr");
  *pointer = nullptr;
  if (bytes == 0) return;
  const bool poison = machine().options().poison;
  const auto address = machine().memory.allocate(bytes, kind, function, flags, poison, id);
  if (!address) {
    fail(hipErrorOutOfMemory, fmt::format("{} bytes asked for, {} of device {}'s {} are free", bytes,
                                          DeviceMemory::kCapacityBytes - machine().memory.used_bytes(id),
                                          current_device(), DeviceMemory::kCapacityBytes));
  }
  *pointer = reinterpret_cast<void*>(*address);
}

AllocationInfo existing_region(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto region = machine().memory.lookup(address);
  if (!region) {
    fail(hipErrorInvalidValue,
         fmt::format("pointer {:#x} is in no allocation: {}", address, machine().memory.describe(address)));
  }
  return *region;
}

void release(const void* pointer, bool host_memory) {
  if (pointer == nullptr) return;
  const std::scoped_lock running(machine().execution);
  const AllocationInfo region = existing_region(pointer);
  if (region.begin != reinterpret_cast<uint64_t>(pointer)) {
    fail(hipErrorInvalidValue, fmt::format("pointer {} is not the beginning of an allocation: {}", pointer,
                                           machine().memory.describe(reinterpret_cast<uint64_t>(pointer))));
  }
  if (region.kind == RegionKind::module || region.kind == RegionKind::host_registered ||
      is_host(region.kind) != host_memory) {
    fail(hipErrorInvalidValue,
         fmt::format("pointer {} was made by {}, which this call does not free", pointer, region.label));
  }
  machine().memory.release(region.begin);
}

// Values of hipMemoryType: HIP 6 renumbered them as CUDA has them.
int memory_type(RegionKind kind) {
  const bool abi5 = machine().options().hip_abi == 5;
  if (is_host(kind)) return abi5 ? 0 : 1;
  if (kind == RegionKind::managed) return abi5 ? 4 : 3;
  return abi5 ? 1 : 2;
}

}  // namespace

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMalloc");
    allocate("hipMalloc", pointer, bytes, RegionKind::device);
  });
}

hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned int) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipExtMallocWithFlags");
    allocate("hipExtMallocWithFlags", pointer, bytes, RegionKind::device);
  });
}

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMallocManaged");
    allocate("hipMallocManaged", pointer, bytes, RegionKind::managed, flags);
  });
}

// Streams run synchronously, so memory is there, and gone, when the call returns.
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return guarded(__func__, [&] {
    allocate("hipMallocAsync", pointer, bytes, RegionKind::device, 0, find_stream(stream)->device);
  });
}

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipMallocPitch");
    require(pitch, "pitch");
    if (width > DeviceMemory::kCapacityBytes || height > DeviceMemory::kCapacityBytes / kPitchAlignment) {
      fail(hipErrorOutOfMemory, fmt::format("{} rows of {} bytes", height, width));
    }
    *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    allocate("hipMallocPitch", pointer, *pitch * height, RegionKind::device);
  });
}

hipError_t hipFree(void* pointer) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipFree");
    release(pointer, false);
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return guarded(__func__, [&] {
    // A captured free must wait for the graph's other work.
    submit(*find_stream(stream), hipGraphNodeTypeEmpty, [=] { release(pointer, false); });
  });
}

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned int flags) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipHostMalloc");
    allocate("hipHostMalloc", pointer, bytes, RegionKind::host_pinned, flags);
  });
}

hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
hipError_t hipMallocHost(void** pointer, size_t bytes) { return hipHostMalloc(pointer, bytes, 0); }
hipError_t hipMemAllocHost(void** pointer, size_t bytes) { return hipHostMalloc(pointer, bytes, 0); }

hipError_t hipHostFree(void* pointer) {
  return guarded(__func__, [&] {
    forbid_in_capture("hipHostFree");
    release(pointer, true);
  });
}

hipError_t hipFreeHost(void* pointer) { return hipHostFree(pointer); }

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return guarded(__func__, [&] {
    require(pointer, "hostPtr");
    if (bytes == 0) fail(hipErrorInvalidValue, "sizeBytes is 0");
    if (!machine().memory.register_host(reinterpret_cast<uint64_t>(pointer), bytes, flags)) {
      fail(hipErrorHostMemoryAlreadyRegistered, fmt::format("{} of {} bytes overlaps an allocation", pointer, bytes));
    }
  });
}

hipError_t hipHostUnregister(void* pointer) {
  return guarded(__func__, [&] {
    const std::scoped_lock running(machine().execution);
    const auto region = machine().memory.lookup(reinterpret_cast<uint64_t>(pointer));
    if (!region || region->kind != RegionKind::host_registered ||
        region->begin != reinterpret_cast<uint64_t>(pointer)) {
      fail(hipErrorHostMemoryNotRegistered, fmt::format("{} is not registered", pointer));
    }
    machine().memory.release(region->begin);
  });
}

hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int) {
  return guarded(__func__, [&] {
    require(device_pointer, "devPtr");
    existing_region(host_pointer);
    *device_pointer = host_pointer;
  });
}

hipError_t hipHostGetFlags(unsigned int* flags, void* pointer) {
  return guarded(__func__, [&] {
    require(flags, "flagsPtr");
    *flags = existing_region(pointer).flags;
  });
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return guarded(__func__, [&] {
    require(free_bytes, "free");
    require(total_bytes, "total");
    *total_bytes = DeviceMemory::kCapacityBytes;
    *free_bytes = DeviceMemory::kCapacityBytes - machine().memory.used_bytes(current_device());
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return guarded(__func__, [&] {
    const AllocationInfo region = existing_region(pointer);
    if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(region.begin);
    if (bytes != nullptr) *bytes = region.bytes;
  });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return guarded(__func__, [&] {
    require(bytes, "size");
    *bytes = existing_region(pointer).bytes;
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return guarded(__func__, [&] {
    require(attributes, "attributes");
    const AllocationInfo region = existing_region(pointer);
    auto* address = const_cast<void*>(pointer);
    *attributes = {.memoryType = static_cast<hipMemoryType>(memory_type(region.kind)),
                   .device = region.device,
                   .devicePointer = address,
                   .hostPointer = is_host(region.kind) || region.kind == RegionKind::managed ? address : nullptr,
                   .isManaged = region.kind == RegionKind::managed,
                   .allocationFlags = region.flags};
  });
}

hipError_t hipMemPrefetchAsync(const void* pointer, size_t, int, hipStream_t stream) {
  return guarded(__func__, [&] {
    find_stream(stream);
    existing_region(pointer);
  });
}

hipError_t hipMemAdvise(const void* pointer, size_t, hipMemoryAdvise, int) {
  return guarded(__func__, [&] { existing_region(pointer); });
}
