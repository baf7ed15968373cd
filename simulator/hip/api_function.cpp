// HIP: what a kernel needs (hipFuncGetAttributes) and how many of its workgroups fit on a compute unit.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/module.h"
#include "simulator/hip/occupancy.h"
#include "simulator/loader/kernel_descriptor.h"

using namespace mlaforge::simulator;

namespace {

int function_attribute(const DeviceFunction& function, hipFunction_attribute attribute) {
  const KernelDescriptor& descriptor = function.code.descriptor;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(function.metadata.max_workgroup_size);
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(descriptor.group_segment_fixed_size);
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return 0;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(descriptor.private_segment_fixed_size);
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(allocated_vgprs(descriptor));
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 95;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(max_lds_bytes - descriptor.group_segment_fixed_size);
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return 0;
    default:
      fail(hipErrorInvalidValue, fmt::format("attribute {} is not known", static_cast<int>(attribute)));
  }
}

hipError_t count_workgroups(const char* name, int* count, const void* function, int block_threads, size_t lds_bytes) {
  return guarded(name, [&] {
    require(count, "numBlocks");
    *count = resident_workgroups(*resolve_function(function, current_device()), block_threads, lds_bytes);
  });
}

hipError_t choose_block(const char* name, int* grid, int* block, const void* function, size_t lds_bytes, int limit) {
  return guarded(name, [&] {
    require(grid, "gridSize");
    require(block, "blockSize");
    const auto resolved = resolve_function(function, current_device());
    const int most = static_cast<int>(resolved->metadata.max_workgroup_size);
    int best_threads = 0;
    for (int threads = kWaveLanes; threads <= (limit > 0 ? std::min(limit, most) : most); threads += kWaveLanes) {
      const int resident = resident_workgroups(*resolved, threads, lds_bytes);
      if (resident * threads < best_threads) continue;
      best_threads = resident * threads;
      *block = threads;
      *grid = resident * kComputeUnits;
    }
    if (best_threads == 0) fail(hipErrorLaunchOutOfResources, "no block of " + resolved->metadata.name + " fits");
  });
}

}  // namespace

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return guarded(__func__, [&] {
    require(value, "value");
    *value = function_attribute(*resolve_function(function, current_device()), attribute);
  });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return guarded(__func__, [&] {
    require(attributes, "attr");
    const auto resolved = resolve_function(function, current_device());
    const auto get = [&](hipFunction_attribute attribute) { return function_attribute(*resolved, attribute); };
    *attributes = {.binaryVersion = get(HIP_FUNC_ATTRIBUTE_BINARY_VERSION),
                   .cacheModeCA = get(HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA),
                   .constSizeBytes = 0,
                   .localSizeBytes = static_cast<size_t>(get(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)),
                   .maxDynamicSharedSizeBytes = get(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
                   .maxThreadsPerBlock = get(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                   .numRegs = get(HIP_FUNC_ATTRIBUTE_NUM_REGS),
                   .preferredShmemCarveout = 0,
                   .ptxVersion = get(HIP_FUNC_ATTRIBUTE_PTX_VERSION),
                   .sharedSizeBytes = static_cast<size_t>(get(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))};
  });
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  return guarded(__func__, [&] {
    const auto resolved = resolve_function(function, current_device());
    if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return;  // a hint
    const uint32_t fixed = resolved->code.descriptor.group_segment_fixed_size;
    if (value < 0 || fixed + static_cast<uint64_t>(value) > max_lds_bytes) {
      fail(hipErrorInvalidValue, fmt::format("dynamic LDS of {} is {}, at most {} are allowed beside its static {}",
                                             resolved->metadata.name, value, max_lds_bytes - fixed, fixed));
    }
  });
}

hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }

MLAFORGE_HIP_EXPORT hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol) {
  return guarded(__func__, [&] {
    require(function, "functionPtr");
    *function = reinterpret_cast<hipFunction_t>(resolve_function(symbol, current_device()).get());
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* count, hipFunction_t function, int block_threads,
                                                              size_t lds_bytes) {
  return count_workgroups(__func__, count, function, block_threads, lds_bytes);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, hipFunction_t function,
                                                                       int block_threads, size_t lds_bytes,
                                                                       unsigned int) {
  return count_workgroups(__func__, count, function, block_threads, lds_bytes);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* function, int block_threads,
                                                        size_t lds_bytes) {
  return count_workgroups(__func__, count, function, block_threads, lds_bytes);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* function, int block_threads,
                                                                 size_t lds_bytes, unsigned int) {
  return count_workgroups(__func__, count, function, block_threads, lds_bytes);
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function, size_t lds_bytes, int limit) {
  return choose_block(__func__, grid, block, function, lds_bytes, limit);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function, size_t lds_bytes,
                                                   int limit) {
  return choose_block(__func__, grid, block, function, lds_bytes, limit);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t lds_bytes, int limit, unsigned int) {
  return choose_block(__func__, grid, block, function, lds_bytes, limit);
}
