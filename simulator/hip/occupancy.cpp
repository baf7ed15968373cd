#include "simulator/hip/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/loader/kernel_descriptor.h"

namespace mlaforge::simulator {

// gfx950.md 4 and 5: registers by 8 of 512 a SIMD, LDS by 1280 bytes of 160 KB, 8 waves a SIMD.
int resident_workgroups(const DeviceFunction& function, int block_threads, size_t dynamic_lds_bytes) {
  if (block_threads <= 0 || block_threads > static_cast<int>(function.metadata.max_workgroup_size)) {
    fail(hipErrorInvalidValue, fmt::format("a block of {} threads; {} allows 1 to {}", block_threads,
                                           function.metadata.name, function.metadata.max_workgroup_size));
  }
  const int vgprs = static_cast<int>(allocated_vgprs(function.code.descriptor));
  const int waves_per_simd = std::min(kWavesPerSimd, kVgprsPerLane / vgprs);
  const int waves = (block_threads + kWaveLanes - 1) / kWaveLanes;
  const int by_registers = waves_per_simd * kSimdsPerCu / waves;
  const size_t lds_bytes = function.code.descriptor.group_segment_fixed_size + dynamic_lds_bytes;
  if (lds_bytes == 0) return by_registers;
  const size_t granules = (lds_bytes + kLdsGranuleBytes - 1) / kLdsGranuleBytes;
  return std::min(by_registers, static_cast<int>(max_lds_bytes / kLdsGranuleBytes / granules));
}

}  // namespace mlaforge::simulator
