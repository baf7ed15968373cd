// The MessagePack metadata of a code object (NT_AMDGPU_METADATA): what the host must know of each kernel. Source:
// LLVM's AMDGPUUsage, "Code Object V5 Metadata".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/loader/byte_reader.h"

namespace mlaforge::simulator {

struct KernelArgument {
  std::string name;
  std::string value_kind;  // "by_value", "global_buffer", "dynamic_shared_pointer", "hidden_block_count_x", ...
  uint32_t offset = 0;
  uint32_t bytes = 0;
  bool hidden() const { return value_kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name;
  std::string descriptor_symbol;  // "NAME.kd"
  std::vector<KernelArgument> arguments;
  uint32_t kernarg_segment_bytes = 0;
  uint32_t kernarg_segment_alignment = 8;
  uint32_t group_segment_bytes = 0;
  uint32_t private_segment_bytes = 0;
  uint32_t max_workgroup_size = 1024;
  uint32_t wavefront_size = 64;
  uint32_t vgprs = 0;
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  bool uses_dynamic_stack = false;
};

struct CodeObjectMetadata {
  std::string target;  // "amdgcn-amd-amdhsa--gfx950"
  std::vector<KernelMetadata> kernels;
};

// Throws LoadFailure: not MessagePack, nested too deep, a field missing or of another type (named by its path).
CodeObjectMetadata read_metadata(Bytes message_pack);

}  // namespace mlaforge::simulator
