// A code object as the device needs it: checked, with its kernels and variables found, and an image that can be placed
// at any base address. Parsing takes bytes and returns plain data; nothing here touches device memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/loader/elf_image.h"
#include "simulator/loader/kernel_metadata.h"
#include "simulator/loader/load_error.h"

namespace mlaforge::simulator {

struct LoadedKernel {
  KernelMetadata metadata;
  KernelDescriptor descriptor;
  uint64_t descriptor_address = 0;  // relative to the code object's base, as all addresses here
  uint64_t entry_address = 0;
};

struct GlobalVariable {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct CodeObject {
  std::string target;            // "gfx950:sramecc+:xnack-"
  int version = 5;               // 4, 5 or 6
  std::vector<std::byte> image;  // of all segments, from address 0
  std::vector<ElfSegment> segments;
  std::vector<ElfRelocation> relocations;
  std::vector<ElfSymbol> symbols;
  std::vector<LoadedKernel> kernels;
  std::vector<GlobalVariable> variables;

  const LoadedKernel* find_kernel(std::string_view name) const;  // NAME or NAME.kd
  const GlobalVariable* find_variable(std::string_view name) const;
};

// Accepts a plain code object or an offload bundle, compressed or not. Never throws for what the bytes say.
LoadResult<CodeObject> load_code_object(Bytes file);

// The image's bytes with all relocations applied for the base address `base`.
LoadResult<std::vector<std::byte>> relocate_image(const CodeObject& object, uint64_t base);

// The hidden arguments (`.value_kind` hidden_*) as run_kernel fills them in.
std::vector<HiddenField> hidden_fields(const KernelMetadata& metadata);

}  // namespace mlaforge::simulator
