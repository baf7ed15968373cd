#include "simulator/loader/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <optional>

#include "simulator/loader/target_id.h"

namespace mlaforge::simulator {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint8_t kOsAbiAmdgpuHsa = 64;
constexpr uint32_t kNoteAmdgpuMetadata = 32;
constexpr uint8_t kSymbolTypeAmdgpuKernel = 10;  // STT_AMDGPU_HSA_KERNEL of code objects v2
constexpr uint64_t kMaxSpanBytes = uint64_t{1} << 32;

struct Table {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

void check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    fail_load("not an ELF file: it begins with neither \\x7fELF nor __CLANG_OFFLOAD_BUNDLE__");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    fail_load("ELF class is " + std::to_string(header.e_ident[EI_CLASS]) + ", a code object has class 2 (64 bit)");
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) fail_load("ELF is big endian, a code object is little endian");
  if (header.e_machine != kMachineAmdgpu) {
    fail_load("ELF machine is " + std::to_string(header.e_machine) + ", a code object has 224 (AMDGPU)",
              LoadErrorKind::wrong_architecture);
  }
  if (header.e_ident[EI_OSABI] != kOsAbiAmdgpuHsa) {
    fail_load("ELF OS ABI is " + std::to_string(header.e_ident[EI_OSABI]) + ", a HIP code object has 64 (AMDGPU_HSA)");
  }
  if (header.e_type != ET_DYN) {
    fail_load("ELF type is " + std::to_string(header.e_type) +
              ", a linked code object has 3 (shared object); an unlinked object needs ld.lld -shared");
  }
  const uint8_t abi = header.e_ident[EI_ABIVERSION];
  if (abi < 2 || abi > 4) {
    fail_load(
        "code object ABI version is " + std::to_string(abi) + ", the loader knows 2, 3 and 4 (code objects v4, v5, v6)",
        LoadErrorKind::unsupported);
  }
  const std::string reason = why_target_not_runnable(target_id_of_flags(header.e_flags));
  if (!reason.empty()) fail_load(reason, LoadErrorKind::wrong_architecture);
}

// Headers of `count` entries of T; the count is bounded by the file, so no reservation can be absurd.
template <typename T>
std::vector<T> read_table(const ByteReader& file, uint64_t offset, uint64_t count, uint64_t entry_bytes,
                          std::string_view what) {
  std::vector<T> entries;
  if (count == 0) return entries;
  if (entry_bytes != sizeof(T)) {
    fail_load(std::string(what) + " has entries of " + std::to_string(entry_bytes) + " bytes, ELF64 has " +
              std::to_string(sizeof(T)));
  }
  const ByteReader table(file.range(offset, count * sizeof(T), what));
  entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) entries.push_back(table.read<T>(i * sizeof(T), what));
  return entries;
}

ElfSegment read_segment(const ByteReader& file, const Elf64_Phdr& header) {
  if (header.p_filesz > header.p_memsz) {
    fail_load("segment at address " + std::to_string(header.p_vaddr) + " has " + std::to_string(header.p_filesz) +
              " bytes in the file but only " + std::to_string(header.p_memsz) + " in memory");
  }
  file.range(header.p_offset, header.p_filesz, "segment");
  if (header.p_memsz > kMaxSpanBytes || header.p_vaddr > kMaxSpanBytes) {
    fail_load("segment at address " + std::to_string(header.p_vaddr) + " of " + std::to_string(header.p_memsz) +
              " bytes goes beyond the 4 GiB that a code object may span");
  }
  return {.address = header.p_vaddr,
          .file_offset = header.p_offset,
          .file_bytes = header.p_filesz,
          .memory_bytes = header.p_memsz,
          .alignment = std::max<uint64_t>(header.p_align, 1),
          .writable = (header.p_flags & PF_W) != 0,
          .executable = (header.p_flags & PF_X) != 0};
}

// The description of the AMDGPU metadata note among the notes in `notes`, if there.
std::optional<Bytes> find_metadata_note(Bytes notes) {
  const ByteReader reader(notes);
  uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= reader.size()) {
    const auto header = reader.read<Elf64_Nhdr>(at, "note header");
    const uint64_t name_at = at + sizeof(Elf64_Nhdr);
    const uint64_t description_at = name_at + ((uint64_t{header.n_namesz} + 3) & ~uint64_t{3});
    const Bytes name = reader.range(name_at, header.n_namesz, "note name");
    const Bytes description = reader.range(description_at, header.n_descsz, "note description");
    if (header.n_type == kNoteAmdgpuMetadata && name.size() == 7 && std::memcmp(name.data(), "AMDGPU", 7) == 0) {
      return description;
    }
    at = description_at + ((uint64_t{header.n_descsz} + 3) & ~uint64_t{3});
  }
  return std::nullopt;
}

ElfSymbolKind symbol_kind(uint8_t type) {
  switch (type) {
    case STT_NOTYPE:
      return ElfSymbolKind::none;
    case STT_OBJECT:
      return ElfSymbolKind::object;
    case STT_FUNC:
      return ElfSymbolKind::function;
    case STT_SECTION:
      return ElfSymbolKind::section;
    case kSymbolTypeAmdgpuKernel:
      return ElfSymbolKind::kernel;
    default:
      return ElfSymbolKind::other;
  }
}

std::vector<ElfSymbol> read_symbols(const ByteReader& file, const Table& table, const Table& strings) {
  const auto entries =
      read_table<Elf64_Sym>(file, table.offset, table.bytes / sizeof(Elf64_Sym), sizeof(Elf64_Sym), "symbol table");
  const ByteReader names(file.range(strings.offset, strings.bytes, "string table"));
  std::vector<ElfSymbol> symbols;
  symbols.reserve(entries.size());
  for (const Elf64_Sym& entry : entries) {
    symbols.push_back({.name = std::string(entry.st_name == 0 ? "" : names.text(entry.st_name, "symbol name")),
                       .address = entry.st_value,
                       .bytes = entry.st_size,
                       .kind = symbol_kind(ELF64_ST_TYPE(entry.st_info)),
                       .defined = entry.st_shndx != SHN_UNDEF,
                       .weak = ELF64_ST_BIND(entry.st_info) == STB_WEAK});
  }
  return symbols;
}

void read_relocations(const ByteReader& file, const Table& table, ElfImage& image) {
  const auto entries =
      read_table<Elf64_Rela>(file, table.offset, table.bytes / sizeof(Elf64_Rela), sizeof(Elf64_Rela), "relocations");
  for (const Elf64_Rela& entry : entries) {
    image.relocations.push_back({.address = entry.r_offset,
                                 .type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)),
                                 .symbol = static_cast<uint32_t>(ELF64_R_SYM(entry.r_info)),
                                 .addend = entry.r_addend});
  }
}

// Where the loaded address `address` stands in the file.
uint64_t file_offset_of(const ElfImage& image, uint64_t address, std::string_view what) {
  for (const ElfSegment& segment : image.segments) {
    if (address >= segment.address && address - segment.address < segment.file_bytes) {
      return segment.file_offset + (address - segment.address);
    }
  }
  fail_load(std::string(what) + " at address " + std::to_string(address) + " lies in no loaded segment");
}

// The dynamic section is what a loader must rely on: section headers may be stripped.
void read_dynamic(const ByteReader& file, const Elf64_Phdr& header, ElfImage& image) {
  const auto entries = read_table<Elf64_Dyn>(file, header.p_offset, header.p_filesz / sizeof(Elf64_Dyn),
                                             sizeof(Elf64_Dyn), "dynamic section");
  const auto value = [&](int64_t tag) -> std::optional<uint64_t> {
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return std::nullopt;
  };
  const auto symbols = value(DT_SYMTAB);
  const auto strings = value(DT_STRTAB);
  const auto string_bytes = value(DT_STRSZ);
  const auto hash = value(DT_HASH);
  if (symbols && strings && string_bytes && hash) {
    // DT_HASH holds the number of symbols in its second word; nothing else in the dynamic section does.
    const auto count = file.read<uint32_t>(file_offset_of(image, *hash, "symbol hash") + 4, "symbol count");
    image.symbols = read_symbols(file, {file_offset_of(image, *symbols, "symbol table"), count * sizeof(Elf64_Sym)},
                                 {file_offset_of(image, *strings, "string table"), *string_bytes});
  }
  const auto relocations = value(DT_RELA);
  const auto relocation_bytes = value(DT_RELASZ);
  if (relocations && relocation_bytes && *relocation_bytes > 0) {
    read_relocations(file, {file_offset_of(image, *relocations, "relocations"), *relocation_bytes}, image);
  }
}

void read_section_symbols(const ByteReader& file, const Elf64_Ehdr& header, ElfImage& image) {
  if (header.e_shoff == 0) return;
  const auto sections =
      read_table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum, header.e_shentsize, "section headers");
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) {
      fail_load("symbol table refers to section " + std::to_string(section.sh_link) + " of " +
                std::to_string(sections.size()));
    }
    const Elf64_Shdr& strings = sections[section.sh_link];
    auto& target = section.sh_type == SHT_DYNSYM ? image.symbols : image.local_symbols;
    if (target.empty()) {
      target = read_symbols(file, {section.sh_offset, section.sh_size}, {strings.sh_offset, strings.sh_size});
    }
  }
}

}  // namespace

ElfImage read_elf_image(Bytes bytes) {
  const ByteReader file(bytes);
  const auto header = file.read<Elf64_Ehdr>(0, "ELF header");
  check_header(header);
  ElfImage image;
  image.flags = header.e_flags;
  image.abi_version = header.e_ident[EI_ABIVERSION];
  const auto programs =
      read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, header.e_phentsize, "program headers");
  for (const Elf64_Phdr& program : programs) {
    if (program.p_type == PT_LOAD) image.segments.push_back(read_segment(file, program));
    if (program.p_type == PT_NOTE && image.metadata.empty()) {
      image.metadata =
          find_metadata_note(file.range(program.p_offset, program.p_filesz, "note segment")).value_or(Bytes{});
    }
  }
  if (image.segments.empty()) fail_load("the code object has no loadable segment");
  std::ranges::sort(image.segments, {}, &ElfSegment::address);
  for (size_t i = 1; i < image.segments.size(); ++i) {
    const ElfSegment& before = image.segments[i - 1];
    if (before.address + before.memory_bytes > image.segments[i].address) {
      fail_load("segments overlap at address " + std::to_string(image.segments[i].address));
    }
  }
  for (const Elf64_Phdr& program : programs) {
    if (program.p_type == PT_DYNAMIC) read_dynamic(file, program, image);
  }
  read_section_symbols(file, header, image);
  return image;
}

}  // namespace mlaforge::simulator
