// The ELF64 container of an AMDGPU code object as plain data: headers, loadable segments, symbols, relocations and the
// metadata note. All offsets and sizes are checked against the file; nothing is interpreted beyond the ELF itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/loader/byte_reader.h"

namespace mlaforge::simulator {

struct ElfSegment {
  uint64_t address = 0;  // virtual, relative to the code object's base
  uint64_t file_offset = 0;
  uint64_t file_bytes = 0;
  uint64_t memory_bytes = 0;  // the part beyond file_bytes is zero
  uint64_t alignment = 1;
  bool writable = false;
  bool executable = false;
};

enum class ElfSymbolKind { none, object, function, section, kernel, other };

struct ElfSymbol {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  ElfSymbolKind kind = ElfSymbolKind::none;
  bool defined = false;
  bool weak = false;
};

struct ElfRelocation {
  uint64_t address = 0;
  uint32_t type = 0;  // R_AMDGPU_*
  uint32_t symbol = 0;
  int64_t addend = 0;
};

struct ElfImage {
  uint32_t flags = 0;
  uint8_t abi_version = 0;  // 2, 3, 4 stand for code objects v4, v5, v6
  std::vector<ElfSegment> segments;
  std::vector<ElfSymbol> symbols;        // the dynamic symbols: what relocations and lookups refer to
  std::vector<ElfSymbol> local_symbols;  // of .symtab where the object is not stripped
  std::vector<ElfRelocation> relocations;
  Bytes metadata;  // MessagePack of NT_AMDGPU_METADATA; empty if there is none
};

// Throws LoadFailure (see byte_reader.h).
ElfImage read_elf_image(Bytes file);

}  // namespace mlaforge::simulator
