#include "simulator/loader/code_object.h"

#include <algorithm>
#include <array>

#include "simulator/loader/compressed_bundle.h"
#include "simulator/loader/kernel_descriptor.h"
#include "simulator/loader/offload_bundle.h"
#include "simulator/loader/target_id.h"

namespace mlaforge::simulator {
namespace {

// AMDGPU code objects are small; the bound keeps a damaged header from asking for all memory.
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

constexpr uint32_t kRelocAbs32Lo = 1;
constexpr uint32_t kRelocAbs32Hi = 2;
constexpr uint32_t kRelocAbs64 = 3;
constexpr uint32_t kRelocRel32 = 4;
constexpr uint32_t kRelocRel64 = 5;
constexpr uint32_t kRelocAbs32 = 6;
constexpr uint32_t kRelocRelative64 = 13;

std::vector<std::byte> build_image(Bytes file, const std::vector<ElfSegment>& segments) {
  const ElfSegment& last = segments.back();
  const uint64_t bytes = last.address + last.memory_bytes;
  if (bytes > kMaxImageBytes) {
    fail_load("the code object spans " + std::to_string(bytes) + " bytes of memory, at most " +
              std::to_string(kMaxImageBytes) + " are allowed");
  }
  std::vector<std::byte> image(bytes);
  const ByteReader reader(file);
  for (const ElfSegment& segment : segments) {
    const Bytes source = reader.range(segment.file_offset, segment.file_bytes, "segment");
    std::ranges::copy(source, image.begin() + static_cast<int64_t>(segment.address));
  }
  return image;
}

const ElfSymbol* find_symbol(const ElfImage& elf, std::string_view name) {
  for (const auto* symbols : {&elf.symbols, &elf.local_symbols}) {
    const auto at = std::ranges::find_if(*symbols, [&](const ElfSymbol& s) { return s.defined && s.name == name; });
    if (at != symbols->end()) return &*at;
  }
  return nullptr;
}

const ElfSegment* executable_segment(const std::vector<ElfSegment>& segments, uint64_t address) {
  for (const ElfSegment& segment : segments) {
    if (segment.executable && address >= segment.address && address - segment.address < segment.memory_bytes) {
      return &segment;
    }
  }
  return nullptr;
}

LoadedKernel find_loaded_kernel(const ElfImage& elf, const CodeObject& object, const KernelMetadata& metadata) {
  const ElfSymbol* symbol = find_symbol(elf, metadata.descriptor_symbol);
  if (symbol == nullptr) {
    fail_load("kernel " + metadata.name + " has no symbol " + metadata.descriptor_symbol + " in the code object");
  }
  if (metadata.wavefront_size != 64) {
    fail_load("kernel " + metadata.name + " has waves of " + std::to_string(metadata.wavefront_size) +
              " lanes, gfx950 has 64");
  }
  const Bytes bytes =
      ByteReader(object.image).range(symbol->address, kKernelDescriptorBytes, "kernel descriptor of " + metadata.name);
  LoadedKernel kernel{.metadata = metadata,
                      .descriptor = read_kernel_descriptor(bytes, metadata.name),
                      .descriptor_address = symbol->address};
  kernel.entry_address = symbol->address + static_cast<uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
  if (kernel.entry_address % 4 != 0 || executable_segment(object.segments, kernel.entry_address) == nullptr) {
    fail_load("kernel " + metadata.name + " begins at address " + std::to_string(kernel.entry_address) +
              ", which is in no executable segment");
  }
  return kernel;
}

void collect_variables(const ElfImage& elf, CodeObject& object) {
  for (const ElfSymbol& symbol : elf.symbols) {
    if (!symbol.defined || symbol.kind != ElfSymbolKind::object || symbol.name.ends_with(".kd")) continue;
    ByteReader(object.image).range(symbol.address, symbol.bytes, "variable " + symbol.name);
    object.variables.push_back({.name = symbol.name, .address = symbol.address, .bytes = symbol.bytes});
  }
}

CodeObject parse(Bytes file) {
  std::vector<std::byte> decompressed;
  if (is_compressed_offload_bundle(file)) {
    decompressed = decompress_bundle(file);
    file = decompressed;
  }
  const Bytes bytes = choose_code_object(file);
  ElfImage elf = read_elf_image(bytes);
  const CodeObjectMetadata metadata = read_metadata(elf.metadata);
  CodeObject object;
  object.target = format_target_id(target_id_of_flags(elf.flags));
  object.version = elf.abi_version + 2;
  object.image = build_image(bytes, elf.segments);
  object.segments = elf.segments;
  for (const KernelMetadata& kernel : metadata.kernels) {
    object.kernels.push_back(find_loaded_kernel(elf, object, kernel));
  }
  collect_variables(elf, object);
  object.relocations = std::move(elf.relocations);
  object.symbols = std::move(elf.symbols);
  return object;
}

uint64_t symbol_value(const CodeObject& object, const ElfRelocation& relocation, uint64_t base) {
  if (relocation.symbol == 0) return base;
  if (relocation.symbol >= object.symbols.size()) {
    fail_load("relocation at address " + std::to_string(relocation.address) + " refers to symbol " +
              std::to_string(relocation.symbol) + " of " + std::to_string(object.symbols.size()));
  }
  const ElfSymbol& symbol = object.symbols[relocation.symbol];
  if (symbol.defined) return base + symbol.address;
  if (symbol.weak) return 0;
  fail_load("undefined symbol " + symbol.name + ": the code object was linked without its definition");
}

void apply(const CodeObject& object, const ElfRelocation& relocation, uint64_t base, std::span<std::byte> image) {
  const auto store = [&](auto value) {
    ByteReader(image).range(relocation.address, sizeof value, "relocation");
    std::memcpy(image.data() + relocation.address, &value, sizeof value);
  };
  const uint64_t place = base + relocation.address;
  const auto addend = static_cast<uint64_t>(relocation.addend);
  const auto target = [&] { return symbol_value(object, relocation, base) + addend; };
  switch (relocation.type) {
    case kRelocRelative64:
      return store(base + addend);
    case kRelocAbs64:
      return store(target());
    case kRelocAbs32Lo:
    case kRelocAbs32:
      return store(static_cast<uint32_t>(target()));
    case kRelocAbs32Hi:
      return store(static_cast<uint32_t>(target() >> 32));
    case kRelocRel32:
      return store(static_cast<uint32_t>(target() - place));
    case kRelocRel64:
      return store(target() - place);
    default:
      fail_load("relocation type " + std::to_string(relocation.type) + " at address " +
                    std::to_string(relocation.address) + " is not one that a loader applies (1 to 6 and 13)",
                LoadErrorKind::unsupported);
  }
}

struct HiddenName {
  std::string_view value_kind;
  HiddenArgument argument;
};

constexpr std::array kHiddenNames = {
    HiddenName{"hidden_block_count_x", HiddenArgument::block_count_x},
    HiddenName{"hidden_block_count_y", HiddenArgument::block_count_y},
    HiddenName{"hidden_block_count_z", HiddenArgument::block_count_z},
    HiddenName{"hidden_group_size_x", HiddenArgument::group_size_x},
    HiddenName{"hidden_group_size_y", HiddenArgument::group_size_y},
    HiddenName{"hidden_group_size_z", HiddenArgument::group_size_z},
    HiddenName{"hidden_remainder_x", HiddenArgument::remainder_x},
    HiddenName{"hidden_remainder_y", HiddenArgument::remainder_y},
    HiddenName{"hidden_remainder_z", HiddenArgument::remainder_z},
    HiddenName{"hidden_global_offset_x", HiddenArgument::global_offset_x},
    HiddenName{"hidden_global_offset_y", HiddenArgument::global_offset_y},
    HiddenName{"hidden_global_offset_z", HiddenArgument::global_offset_z},
    HiddenName{"hidden_grid_dims", HiddenArgument::grid_dims},
    HiddenName{"hidden_private_base", HiddenArgument::private_base},
    HiddenName{"hidden_shared_base", HiddenArgument::shared_base},
    HiddenName{"hidden_dynamic_lds_size", HiddenArgument::dynamic_lds_size},
    HiddenName{"hidden_hostcall_buffer", HiddenArgument::hostcall_buffer},
    HiddenName{"hidden_printf_buffer", HiddenArgument::printf_buffer},
    HiddenName{"hidden_multigrid_sync_arg", HiddenArgument::multigrid_sync},
    HiddenName{"hidden_heap_v1", HiddenArgument::heap},
};

}  // namespace

const LoadedKernel* CodeObject::find_kernel(std::string_view name) const {
  const auto at = std::ranges::find_if(kernels, [&](const LoadedKernel& kernel) {
    return kernel.metadata.name == name || kernel.metadata.descriptor_symbol == name;
  });
  return at == kernels.end() ? nullptr : &*at;
}

const GlobalVariable* CodeObject::find_variable(std::string_view name) const {
  const auto at = std::ranges::find(variables, name, &GlobalVariable::name);
  return at == variables.end() ? nullptr : &*at;
}

LoadResult<CodeObject> load_code_object(Bytes file) {
  try {
    return parse(file);
  } catch (const LoadFailure& failure) {
    return failure.error;
  }
}

LoadResult<std::vector<std::byte>> relocate_image(const CodeObject& object, uint64_t base) {
  try {
    std::vector<std::byte> image = object.image;
    for (const ElfRelocation& relocation : object.relocations) {
      if (relocation.type != 0) apply(object, relocation, base, image);
    }
    return image;
  } catch (const LoadFailure& failure) {
    return failure.error;
  }
}

std::vector<HiddenField> hidden_fields(const KernelMetadata& metadata) {
  std::vector<HiddenField> fields;
  for (const KernelArgument& argument : metadata.arguments) {
    if (!argument.hidden()) continue;
    const auto known = std::ranges::find(kHiddenNames, argument.value_kind, &HiddenName::value_kind);
    fields.push_back({.kind = known == kHiddenNames.end() ? HiddenArgument::null_pointer : known->argument,
                      .offset = argument.offset,
                      .bytes = argument.bytes});
  }
  return fields;
}

}  // namespace mlaforge::simulator
