// HIP: initialization, versions, the device and its attributes, contexts (there is one).
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/hip/device_properties.h"
#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/loader/kernel_descriptor.h"

using namespace mlaforge::simulator;

namespace {

// HIP 7.0.0 as hipRuntimeGetVersion reports it: major * 10^7 + minor * 10^5 + patch.
constexpr int kHipVersion = 70000000;

// Attributes that HIP added after 5.2.
constexpr int kAttributeWallClockRate = 10017;
constexpr int kAttributeNumberOfXccs = 10018;

int attribute_value(int attribute, int device) {
  const DevicePropertiesR0600 p = device_properties_r0600(device);
  switch (attribute) {
    case hipDeviceAttributeEccEnabled:
      return p.ECCEnabled;
    case hipDeviceAttributeAsyncEngineCount:
      return p.asyncEngineCount;
    case hipDeviceAttributeCanMapHostMemory:
      return p.canMapHostMemory;
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
      return p.canUseHostPointerForRegisteredMem;
    case hipDeviceAttributeClockRate:
      return p.clockRate;
    case hipDeviceAttributeConcurrentKernels:
      return p.concurrentKernels;
    case hipDeviceAttributeCooperativeLaunch:
      return p.cooperativeLaunch;
    case hipDeviceAttributeL2CacheSize:
      return p.l2CacheSize;
    case hipDeviceAttributeComputeCapabilityMajor:
      return p.major;
    case hipDeviceAttributeComputeCapabilityMinor:
      return p.minor;
    case hipDeviceAttributeManagedMemory:
      return p.managedMemory;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor:
      return p.maxBlocksPerMultiProcessor;
    case hipDeviceAttributeMaxBlockDimX:
      return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxBlockDimY:
      return p.maxThreadsDim[1];
    case hipDeviceAttributeMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case hipDeviceAttributeMaxGridDimX:
      return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY:
      return p.maxGridSize[1];
    case hipDeviceAttributeMaxGridDimZ:
      return p.maxGridSize[2];
    case hipDeviceAttributeMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxPitch:
      return static_cast<int>(p.memPitch);
    case hipDeviceAttributeMemoryBusWidth:
      return p.memoryBusWidth;
    case hipDeviceAttributeMemoryClockRate:
      return p.memoryClockRate;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      return p.multiProcessorCount;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      return p.regsPerBlock;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(max_lds_bytes);
    case hipDeviceAttributePciBusId:
      return p.pciBusID;
    case hipDeviceAttributeStreamPrioritiesSupported:
      return p.streamPrioritiesSupported;
    case hipDeviceAttributeTextureAlignment:
      return static_cast<int>(p.textureAlignment);
    case hipDeviceAttributeTexturePitchAlignment:
      return static_cast<int>(p.texturePitchAlignment);
    case hipDeviceAttributeTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case hipDeviceAttributeUnifiedAddressing:
      return p.unifiedAddressing;
    case hipDeviceAttributeWarpSize:
      return p.warpSize;
    case hipDeviceAttributeMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    case hipDeviceAttributeClockInstructionRate:
      return p.clockInstructionRate;
    case hipDeviceAttributeGcnArch:
      return 950;
    case hipDeviceAttributeIsLargeBar:
      return p.isLargeBar;
    case hipDeviceAttributeFineGrainSupport:
      return 1;
    case kAttributeWallClockRate:
      return 100'000;
    case kAttributeNumberOfXccs:
      return kXccs;
    default:
      break;
  }
  // The rest of the known attributes are features that the device does not have.
  const bool known = (attribute >= 0 && attribute <= hipDeviceAttributeMemoryPoolsSupported + 3) ||
                     (attribute >= hipDeviceAttributeAmdSpecificBegin && attribute <= kAttributeNumberOfXccs + 2);
  if (!known) fail(hipErrorInvalidValue, fmt::format("attribute {} is not one of hipDeviceAttribute_t", attribute));
  return 0;
}

// Added after HIP 5.2.
constexpr auto kLimitStackSize = static_cast<hipLimit_t>(0);

void check_limit(hipLimit_t limit) {
  if (limit == kLimitStackSize || limit == hipLimitMallocHeapSize || limit == hipLimitPrintfFifoSize) return;
  fail(hipErrorUnsupportedLimit,
       fmt::format("limit {} is not known; allowed: stack size (0), printf buffer (1), heap (2)",
                   static_cast<int>(limit)));
}

// A context is a formality in HIP: one a device, and to make it current is to choose the device.
hipCtx_t context_of(int id) {
  static std::array<char, DeviceMemory::kMaxDevices> contexts;
  return reinterpret_cast<hipCtx_t>(&contexts[static_cast<size_t>(id)]);
}

int device_of(hipCtx_t context) {
  for (int id = 0; id < machine().device_count(); ++id) {
    if (context == context_of(id)) return id;
  }
  fail(hipErrorInvalidContext, fmt::format("context {} does not exist", static_cast<const void*>(context)));
}

std::vector<int>& context_stack() {
  thread_local std::vector<int> devices;
  return devices;
}

void set_peer_access(int peer, bool enabled) {
  check_device(peer);
  const int id = current_device();
  if (peer == id) fail(hipErrorInvalidDevice, fmt::format("device {} is no peer of itself", id));
  if (machine().set_peer_access(id, peer, enabled)) return;
  fail(enabled ? hipErrorPeerAccessAlreadyEnabled : hipErrorPeerAccessNotEnabled,
       fmt::format("access of device {} to device {} is {} already", id, peer, enabled ? "enabled" : "disabled"));
}

}  // namespace

hipError_t hipInit(unsigned int flags) {
  return guarded(__func__, [&] {
    if (flags != 0) fail(hipErrorInvalidValue, fmt::format("flags is {}, only 0 is allowed", flags));
    machine().options();
  });
}

hipError_t hipDriverGetVersion(int* version) {
  return guarded(__func__, [&] {
    require(version, "driverVersion");
    *version = kHipVersion;
  });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return guarded(__func__, [&] {
    require(version, "runtimeVersion");
    *version = kHipVersion;
  });
}

hipError_t hipGetDeviceCount(int* count) {
  return guarded(__func__, [&] {
    require(count, "count");
    *count = machine().device_count();
  });
}

hipError_t hipGetDevice(int* id) {
  return guarded(__func__, [&] {
    require(id, "deviceId");
    *id = current_device();
  });
}

hipError_t hipSetDevice(int id) {
  return guarded(__func__, [&] { set_current_device(id); });
}

hipError_t hipDeviceGet(hipDevice_t* handle, int ordinal) {
  return guarded(__func__, [&] {
    require(handle, "device");
    check_device(ordinal);
    *handle = ordinal;
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int id) {
  return guarded(__func__, [&] {
    require(properties, "prop");
    check_device(id);
    *properties = device_properties_r0000(id);
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* properties, int id) {
  return hipGetDeviceProperties(properties, id);
}

MLAFORGE_HIP_EXPORT hipError_t hipGetDevicePropertiesR0600(DevicePropertiesR0600* properties, int id) {
  return guarded(__func__, [&] {
    require(properties, "prop");
    check_device(id);
    *properties = device_properties_r0600(id);
  });
}

hipError_t hipChooseDevice(int* id, const hipDeviceProp_t* properties) {
  return guarded(__func__, [&] {
    require(id, "device");
    require(properties, "prop");
    *id = 0;
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipChooseDeviceR0600(int* id, const DevicePropertiesR0600* properties) {
  return guarded(__func__, [&] {
    require(id, "device");
    require(properties, "prop");
    *id = 0;
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int id) {
  return guarded(__func__, [&] {
    require(value, "pi");
    check_device(id);
    *value = attribute_value(static_cast<int>(attribute), id);
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(name, "name");
    check_device(id);
    if (length <= 0) fail(hipErrorInvalidValue, fmt::format("len is {}, at least 1 is needed", length));
    std::strncpy(name, kDeviceName, static_cast<size_t>(length) - 1);
    name[length - 1] = '\0';
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(uuid, "uuid");
    check_device(id);
    *uuid = device_properties_r0600(id).uuid;
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(major, "major");
    require(minor, "minor");
    check_device(id);
    *major = 9;
    *minor = 5;
  });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(bytes, "bytes");
    check_device(id);
    *bytes = DeviceMemory::kCapacityBytes;
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int length, int id) {
  return guarded(__func__, [&] {
    require(text, "pciBusId");
    check_device(id);
    if (length < 13) fail(hipErrorInvalidValue, fmt::format("len is {}, 13 are needed", length));
    std::strcpy(text, pci_bus_id(id).c_str());
  });
}

hipError_t hipDeviceCanAccessPeer(int* can, int id, int peer) {
  return guarded(__func__, [&] {
    require(can, "canAccessPeer");
    check_device(id);
    check_device(peer);
    *can = id == peer ? 0 : 1;
  });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return guarded(__func__, [&] {
    if (flags != 0) fail(hipErrorInvalidValue, fmt::format("flags is {}, only 0 is allowed", flags));
    set_peer_access(peer, true);
  });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return guarded(__func__, [&] { set_peer_access(peer, false); });
}

hipError_t hipDeviceGetByPCIBusId(int* id, const char* text) {
  return guarded(__func__, [&] {
    require(id, "device");
    require(text, "pciBusId");
    for (int other = 0; other < machine().device_count(); ++other) {
      if (pci_bus_id(other) != text) continue;
      *id = other;
      return;
    }
    fail(hipErrorInvalidValue, fmt::format("pciBusId is \"{}\"; device 0 has {}", text, pci_bus_id(0)));
  });
}

hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit) {
  return guarded(__func__, [&] {
    require(value, "pValue");
    check_limit(limit);
    // Device-side malloc and printf have no buffers here.
    *value = limit == kLimitStackSize ? machine().stack_bytes(current_device()).load() : 0;
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value) {
  return guarded(__func__, [&] {
    check_limit(limit);
    if (limit != kLimitStackSize) {
      fail(hipErrorUnsupportedLimit, "device-side printf and malloc are not simulated, so their buffers have no size");
    }
    if (value > kMaxScratchBytes) {
      fail(hipErrorInvalidValue,
           fmt::format("value of hipLimitStackSize is {}, at most {} bytes are allowed", value, kMaxScratchBytes));
    }
    machine().stack_bytes(current_device()) = static_cast<uint32_t>((value + 15) / 16 * 16);
  });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return guarded(__func__, [&] {
    require(config, "cacheConfig");
    *config = hipFuncCachePreferNone;
  });
}

hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return guarded(__func__, [&] {
    require(flags, "flags");
    *flags = 0;
  });
}

hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(context, "ctx");
    check_device(id);
    *context = context_of(id);
    set_current_device(id);
  });
}

hipError_t hipCtxDestroy(hipCtx_t context) {
  return guarded(__func__, [&] { device_of(context); });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return guarded(__func__, [&] { set_current_device(device_of(context)); });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return guarded(__func__, [&] {
    const int id = device_of(context);
    context_stack().push_back(current_device());
    set_current_device(id);
  });
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return guarded(__func__, [&] {
    if (context_stack().empty()) fail(hipErrorInvalidContext, "no context was pushed");
    if (context != nullptr) *context = context_of(current_device());
    set_current_device(context_stack().back());
    context_stack().pop_back();
  });
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return guarded(__func__, [&] {
    require(context, "ctx");
    *context = context_of(current_device());
  });
}

hipError_t hipCtxGetDevice(hipDevice_t* id) {
  return guarded(__func__, [&] {
    require(id, "device");
    *id = current_device();
  });
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t id) {
  return guarded(__func__, [&] {
    require(context, "pctx");
    check_device(id);
    *context = context_of(id);
  });
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t id) {
  return guarded(__func__, [&] { check_device(id); });
}
