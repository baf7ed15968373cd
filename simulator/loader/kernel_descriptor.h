// Reading a kernel descriptor (symbol NAME.kd, 64 bytes; the struct itself is core/launch.h's) out of a file that may
// be damaged, and the register counts that its bit fields encode on gfx950. Source: LLVM's AMDGPUUsage, "Kernel
// Descriptor", the columns for gfx90a and gfx940 and later of GFX9.
#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/core/launch.h"
#include "simulator/loader/byte_reader.h"

namespace mlaforge::simulator {

inline constexpr uint64_t kKernelDescriptorBytes = 64;
inline constexpr uint32_t kMaxScratchBytes = (128 << 10) - 16;  ///< of a lane: 8191 KiB a wave

/// VGPRs that a wave gets, AGPRs included (granule 8).
constexpr uint32_t allocated_vgprs(const KernelDescriptor& descriptor) {
  return ((descriptor.compute_pgm_rsrc1 & 0x3f) + 1) * 8;
}

/// Index of the first AGPR in the unified register file (granule 4).
constexpr uint32_t accum_offset(const KernelDescriptor& descriptor) {
  return ((descriptor.compute_pgm_rsrc3 & 0x3f) + 1) * 4;
}

constexpr bool asks_for_wave32(const KernelDescriptor& descriptor) {
  return (descriptor.kernel_code_properties >> 10 & 1) != 0;
}

constexpr bool uses_dynamic_stack(const KernelDescriptor& descriptor) {
  return (descriptor.kernel_code_properties >> 11 & 1) != 0;
}

/// Throws LoadFailure if `bytes` is shorter than a descriptor or asks for what gfx950 does not have.
KernelDescriptor read_kernel_descriptor(Bytes bytes, std::string_view kernel_name);

}  // namespace mlaforge::simulator
