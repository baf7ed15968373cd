// Reads what a compiled kernel uses from its code object (an AMDGPU ELF), and checks it against the GPU's limits.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "generator/result.h"

namespace mlaforge {

/// From the kernel's entry in the code object's metadata (note NT_AMDGPU_METADATA, MessagePack).
struct KernelResources {
  int vgprs = 0;  ///< a wave's registers, AGPRs included
  int agprs = 0;
  int sgprs = 0;
  int vgpr_spills = 0;
  int sgpr_spills = 0;
  int lds_bytes = 0;       ///< of a workgroup, static
  int private_bytes = 0;   ///< scratch of a lane
  int threads = 0;         ///< largest workgroup
  int64_t code_bytes = 0;  ///< of the kernel's instructions
};

/// Error: not an AMDGPU ELF, cut short, or without a kernel of that name (those it has are named).
Expected<KernelResources> read_resources(std::span<const std::byte> code_object, const std::string& kernel);

/// One diagnostic a limit exceeded: no spills, no private memory, 256 VGPRs (two waves a SIMD), 163,840 B of LDS.
Diagnostics check_limits(const KernelResources& resources, const std::string& kernel);

nlohmann::json to_json(const KernelResources& resources);

}  // namespace mlaforge
