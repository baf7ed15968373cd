// HIP: functions found by name, attributes of pointers and of pairs of devices, memory operations in streams, and the
// settings that change nothing on this device.
#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "simulator/hip/copy.h"
#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/stream.h"

using namespace mlaforge::simulator;

namespace {

// Functions whose signature HIP 6 changed: programs of HIP 6 and later mean the new one.
const char* newest_name(std::string_view name, int hip_version) {
  if (hip_version < 600) return nullptr;
  if (name == "hipGetDeviceProperties") return "hipGetDevicePropertiesR0600";
  if (name == "hipChooseDevice") return "hipChooseDeviceR0600";
  return nullptr;
}

void* own_symbol(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_symbol), &info) == 0) return nullptr;
  void* self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (self == nullptr) return nullptr;
  void* found = dlsym(self, name);
  Dl_info owner{};
  const bool own = found != nullptr && dladdr(found, &owner) != 0 && owner.dli_fbase == info.dli_fbase;
  dlclose(self);
  return own ? found : nullptr;
}

void get_pointer_attribute(void* out, int attribute, hipDeviceptr_t pointer) {
  require(out, "data");
  hipPointerAttribute_t known{};
  const bool mapped = hipPointerGetAttributes(&known, pointer) == hipSuccess;
  const auto put = [&](auto value) { std::memcpy(out, &value, sizeof value); };
  if (attribute == HIP_POINTER_ATTRIBUTE_MAPPED) return put(mapped);
  if (!mapped) fail(hipErrorInvalidValue, fmt::format("pointer {} is in no allocation", pointer));
  const auto region = machine().memory.lookup(reinterpret_cast<uint64_t>(pointer));
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(static_cast<unsigned>(known.memoryType));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(known.devicePointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return put(known.hostPointer);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put(false);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(region->begin);  // no two live allocations share it
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(known.isManaged != 0);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(known.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(region->bytes);
    default:
      fail(hipErrorNotSupported, fmt::format("pointer attribute {} is not simulated", attribute));
  }
}

template <typename Value>
void write_value(hipStream_t stream, void* pointer, Value value) {
  check_range(pointer, sizeof value, Place::any, "ptr");
  submit(*find_stream(stream), hipGraphNodeTypeMemcpy, [=] {
    check_range(pointer, sizeof value, Place::any, "ptr");
    std::memcpy(pointer, &value, sizeof value);
  });
}

// Streams run one operation after another in the caller, so a value that is not there never comes.
template <typename Value>
void wait_value(hipStream_t stream, void* pointer, Value value, unsigned flags, Value mask) {
  check_range(pointer, sizeof value, Place::any, "ptr");
  if (flags > hipStreamWaitValueNor) fail(hipErrorInvalidValue, fmt::format("flags is {}; allowed: 0 to 3", flags));
  submit(*find_stream(stream), hipGraphNodeTypeEmpty, [=] {
    check_range(pointer, sizeof value, Place::any, "ptr");
    Value seen{};
    std::memcpy(&seen, pointer, sizeof seen);
    seen &= mask;
    const Value wanted = value & mask;
    using Signed = std::make_signed_t<Value>;
    const bool there = flags == hipStreamWaitValueGte   ? static_cast<Signed>(seen - wanted) >= 0
                       : flags == hipStreamWaitValueEq  ? seen == wanted
                       : flags == hipStreamWaitValueAnd ? (seen & wanted) != 0
                                                        : static_cast<Value>(~(seen | wanted)) != 0;
    if (!there) {
      fail(hipErrorLaunchTimeOut, fmt::format("the value at {} is {:#x} and does not become {:#x} (flags {}): streams "
                                              "run one after another",
                                              pointer, seen, wanted, flags));
    }
  });
}

}  // namespace

MLAFORGE_HIP_EXPORT hipError_t hipGetProcAddress(const char* name, void** function, int hip_version, uint64_t flags,
                                                 int* status) {
  return guarded(__func__, [&] {
    require(name, "symbol");
    require(function, "pfn");
    *function = nullptr;
    if (flags > 2) fail(hipErrorInvalidValue, fmt::format("flags is {}; allowed: 0 to 2", flags));
    const char* newest = newest_name(name, hip_version);
    const bool per_thread = flags == 2;  // HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
    if (per_thread) *function = own_symbol((std::string(name) + "_spt").c_str());
    if (*function == nullptr) *function = own_symbol(newest != nullptr ? newest : name);
    if (status != nullptr) *status = *function == nullptr ? 1 : 0;  // HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    if (*function == nullptr) fail(hipErrorNotFound, fmt::format("{} is not exported", name));
  });
}

hipError_t hipPointerGetAttribute(void* out, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return guarded(__func__, [&] { get_pointer_attribute(out, static_cast<int>(attribute), pointer); });
}

hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* attributes, void** out,
                                      hipDeviceptr_t pointer) {
  return guarded(__func__, [&] {
    require(attributes, "attributes");
    require(out, "data");
    for (unsigned i = 0; i < count; ++i) get_pointer_attribute(out[i], static_cast<int>(attributes[i]), pointer);
  });
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int source, int destination) {
  return guarded(__func__, [&] {
    require(value, "value");
    check_device(source);
    check_device(destination);
    if (source == destination) fail(hipErrorInvalidDevice, fmt::format("device {} is no peer of itself", source));
    if (attribute < hipDevP2PAttrPerformanceRank || attribute > hipDevP2PAttrHipArrayAccessSupported) {
      fail(hipErrorInvalidValue, fmt::format("attr is {}; allowed: 0 to 3", static_cast<int>(attribute)));
    }
    *value = attribute == hipDevP2PAttrAccessSupported || attribute == hipDevP2PAttrNativeAtomicSupported ? 1 : 0;
  });
}

hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t* link_type, uint32_t* hops) {
  return guarded(__func__, [&] {
    require(link_type, "linktype");
    require(hops, "hopcount");
    check_device(first);
    check_device(second);
    if (first == second) fail(hipErrorInvalidValue, fmt::format("device {} has no link to itself", first));
    *link_type = 4;  // HSA_AMD_LINK_INFO_TYPE_XGMI
    *hops = 1;
  });
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned int) {
  return guarded(__func__, [&] { write_value(stream, pointer, value); });
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned int) {
  return guarded(__func__, [&] { write_value(stream, pointer, value); });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned int flags, uint32_t mask) {
  return guarded(__func__, [&] { wait_value(stream, pointer, value, flags, mask); });
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned int flags, uint64_t mask) {
  return guarded(__func__, [&] { wait_value(stream, pointer, value, flags, mask); });
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t, unsigned int) {
  return guarded(__func__, [&] {
    find_stream(stream);
    const auto region = machine().memory.lookup(reinterpret_cast<uint64_t>(pointer));
    if (region && region->kind == RegionKind::managed) return;
    fail(hipErrorInvalidValue, fmt::format("pointer {} is not managed memory", pointer));
  });
}

// A mask of compute units steers where workgroups run, which no result depends on.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t words, const uint32_t* mask) {
  const hipError_t result = guarded(__func__, [&] {
    require(mask, "cuMask");
    if (words == 0) fail(hipErrorInvalidValue, "cuMaskSize is 0");
  });
  return result == hipSuccess ? hipStreamCreateWithFlags(stream, hipStreamDefault) : result;
}

int hipGetStreamDeviceId(hipStream_t stream) {
  int id = -1;
  const hipError_t found = guarded(__func__, [&] { id = find_stream(stream)->device; });
  return found == hipSuccess ? id : -1;
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return guarded(__func__, [&] {
    require(config, "pConfig");
    *config = hipSharedMemBankSizeFourByte;
  });
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) { return hipDeviceGetSharedMemConfig(config); }
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) { return hipDeviceGetCacheConfig(config); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipCtxGetFlags(unsigned int* flags) { return hipGetDeviceFlags(flags); }
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t id, unsigned int* flags, int* active) {
  return guarded(__func__, [&] {
    check_device(id);
    require(flags, "flags");
    require(active, "active");
    *flags = 0;
    *active = 1;
  });
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t id, unsigned int) {
  return guarded(__func__, [&] { check_device(id); });
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t id) {
  return guarded(__func__, [&] { check_device(id); });
}
