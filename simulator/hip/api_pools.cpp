// HIP: stream-ordered memory pools. Streams run synchronously and freed memory goes back at once, so a pool is its
// device and its settings.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <memory>

#include "simulator/hip/error.h"
#include "simulator/hip/handle_table.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/stream.h"

using namespace mlaforge::simulator;

namespace {

struct Pool {
  int device = 0;
  std::array<std::atomic<uint64_t>, hipMemPoolAttrReleaseThreshold + 1> attributes{};
};

HandleTable<Pool>& pools() {
  static auto& table = *new HandleTable<Pool>;
  return table;
}

struct DevicePools {
  std::array<std::shared_ptr<Pool>, DeviceMemory::kMaxDevices> defaults;
  std::array<std::atomic<Pool*>, DeviceMemory::kMaxDevices> current;
  DevicePools() {
    for (int id = 0; id < DeviceMemory::kMaxDevices; ++id) {
      auto pool = std::make_shared<Pool>();
      pool->device = id;
      for (const auto reuse : {hipMemPoolReuseFollowEventDependencies, hipMemPoolReuseAllowOpportunistic,
                               hipMemPoolReuseAllowInternalDependencies}) {
        pool->attributes[reuse] = 1;
      }
      defaults[static_cast<size_t>(id)] = pool;
      current[static_cast<size_t>(id)] = pools().add(std::move(pool));
    }
  }
};

DevicePools& device_pools() {
  static auto& made = *new DevicePools;
  return made;
}

hipMemPool_t default_pool(int id) {
  check_device(id);
  return reinterpret_cast<hipMemPool_t>(device_pools().defaults[static_cast<size_t>(id)].get());
}

std::shared_ptr<Pool> find_pool(hipMemPool_t handle) {
  device_pools();
  auto pool = pools().find(handle);
  if (!pool) fail(hipErrorInvalidValue, fmt::format("memory pool {} does not exist", static_cast<const void*>(handle)));
  return pool;
}

bool is_flag(hipMemPoolAttr attribute) { return attribute <= hipMemPoolReuseAllowInternalDependencies; }

void check_attribute(hipMemPoolAttr attribute) {
  if (attribute >= hipMemPoolReuseFollowEventDependencies && attribute <= hipMemPoolAttrReleaseThreshold) return;
  const bool count = attribute > hipMemPoolAttrReleaseThreshold && attribute <= hipMemPoolAttrUsedMemHigh;
  fail(count ? hipErrorNotSupported : hipErrorInvalidValue,
       fmt::format("attr is {}; allowed: 1 to 4{}", static_cast<int>(attribute),
                   count ? " (what a pool holds is not counted)" : ""));
}

void check_location(const hipMemLocation& location) {
  if (location.type != hipMemLocationTypeDevice) {
    fail(hipErrorInvalidValue,
         fmt::format("location.type is {}; allowed: hipMemLocationTypeDevice (1)", static_cast<int>(location.type)));
  }
  check_device(location.id);
}

}  // namespace

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int id) {
  return guarded(__func__, [&] {
    require(pool, "mem_pool");
    *pool = default_pool(id);
  });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int id) {
  return guarded(__func__, [&] {
    require(pool, "mem_pool");
    check_device(id);
    Pool* current = device_pools().current[static_cast<size_t>(id)];
    *pool = pools().find(current) ? reinterpret_cast<hipMemPool_t>(current) : default_pool(id);
  });
}

hipError_t hipDeviceSetMemPool(int id, hipMemPool_t handle) {
  return guarded(__func__, [&] {
    check_device(id);
    const auto pool = find_pool(handle);
    if (pool->device != id) {
      fail(hipErrorInvalidValue, fmt::format("the memory pool is of device {}, not {}", pool->device, id));
    }
    device_pools().current[static_cast<size_t>(id)] = pool.get();
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* handle, const hipMemPoolProps* properties) {
  return guarded(__func__, [&] {
    require(handle, "mem_pool");
    require(properties, "pool_props");
    check_location(properties->location);
    if (properties->handleTypes != hipMemHandleTypeNone) {
      fail(hipErrorNotSupported, "memory pools whose allocations are shared with other processes are not simulated");
    }
    auto pool = std::make_shared<Pool>();
    pool->device = properties->location.id;
    *handle = reinterpret_cast<hipMemPool_t>(pools().add(std::move(pool)));
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  return guarded(__func__, [&] {
    const auto pool = find_pool(handle);
    if (device_pools().defaults[static_cast<size_t>(pool->device)] == pool) {
      fail(hipErrorInvalidValue, "the default memory pool cannot be destroyed");
    }
    pools().remove(handle);
  });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return guarded(__func__, [&] {
    const auto pool = find_pool(handle);
    check_attribute(attribute);
    require(value, "value");
    const uint64_t number = is_flag(attribute) ? static_cast<uint64_t>(*static_cast<const int*>(value))
                                               : *static_cast<const uint64_t*>(value);
    pool->attributes[static_cast<size_t>(attribute)] = number;
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return guarded(__func__, [&] {
    const auto pool = find_pool(handle);
    check_attribute(attribute);
    require(value, "value");
    const uint64_t number = pool->attributes[static_cast<size_t>(attribute)];
    if (is_flag(attribute)) {
      *static_cast<int*>(value) = static_cast<int>(number);
    } else {
      *static_cast<uint64_t*>(value) = number;
    }
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t) {
  return guarded(__func__, [&] { find_pool(handle); });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* descriptions, size_t count) {
  return guarded(__func__, [&] {
    const auto pool = find_pool(handle);
    if (count > 0) require(descriptions, "desc_list");
    for (size_t i = 0; i < count; ++i) {
      check_location(descriptions[i].location);
      const int id = descriptions[i].location.id;
      if (id == pool->device) continue;
      machine().set_peer_access(id, pool->device, descriptions[i].flags == hipMemAccessFlagsProtReadWrite);
    }
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle, hipMemLocation* location) {
  return guarded(__func__, [&] {
    require(flags, "flags");
    require(location, "location");
    check_location(*location);
    const bool reachable = (machine().reachable_from(location->id) >> find_pool(handle)->device & 1) != 0;
    *flags = reachable ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
  });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t handle, hipStream_t stream) {
  const hipError_t result = guarded(__func__, [&] {
    const auto pool = find_pool(handle);
    if (pool->device != find_stream(stream)->device) {
      fail(hipErrorInvalidValue, fmt::format("the memory pool is of device {}, the stream is not", pool->device));
    }
  });
  return result == hipSuccess ? hipMallocAsync(pointer, bytes, stream) : result;
}
