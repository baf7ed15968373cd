#include "generator/compile/code_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace mlaforge {
namespace {

using Json = nlohmann::json;
using Bytes = std::span<const std::byte>;

constexpr int kMetadataNote = 32;         // NT_AMDGPU_METADATA (AMDGPU code object v3 and later)
constexpr int kMaxVgprs = 256;            // two waves a SIMD share 512 registers a lane
constexpr int kMaxLdsBytes = 160 * 1024;  // of a gfx950 CU

/// A T at an offset, if it lies inside.
template <typename T>
std::optional<T> read_at(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Bytes [offset, offset + size), cut to what there is: nothing beyond the file is ever read.
Bytes slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

std::string_view text_at(Bytes bytes, uint64_t offset) {
  const Bytes rest = slice(bytes, offset, bytes.size());
  if (rest.empty()) return {};
  const auto* start = reinterpret_cast<const char*>(rest.data());
  return {start, strnlen(start, rest.size())};
}

/// Lets the JSON library read no deeper than metadata goes: it descends recursively, and a damaged note of nested
/// arrays would exhaust the stack.
class DepthLimit final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(size_t) override { return ++depth_ <= kDeepest; }
  bool start_array(size_t) override { return ++depth_ <= kDeepest; }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  static constexpr int kDeepest = 32;
  bool leave() {
    --depth_;
    return true;
  }
  int depth_ = 0;
};

/// The metadata's document among the notes of a PT_NOTE segment.
std::optional<Json> find_metadata(Bytes notes) {
  uint64_t offset = 0;
  while (const auto header = read_at<Elf64_Nhdr>(notes, offset)) {
    const uint64_t name_at = offset + sizeof(Elf64_Nhdr);
    const uint64_t text_at_offset = name_at + (uint64_t{header->n_namesz} + 3) / 4 * 4;
    if (header->n_type == kMetadataNote && text_at(slice(notes, name_at, header->n_namesz), 0) == "AMDGPU") {
      const Bytes pack = slice(notes, text_at_offset, header->n_descsz);
      const auto* start = reinterpret_cast<const uint8_t*>(pack.data());
      DepthLimit limit;
      if (!Json::sax_parse(start, start + pack.size(), &limit, Json::input_format_t::msgpack)) return std::nullopt;
      Json document = Json::from_msgpack(start, start + pack.size(), true, false);
      if (document.is_object()) return document;
      return std::nullopt;
    }
    offset = text_at_offset + (uint64_t{header->n_descsz} + 3) / 4 * 4;
  }
  return std::nullopt;
}

std::optional<Json> read_metadata(Bytes file, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type != PT_NOTE) continue;
    if (auto metadata = find_metadata(slice(file, segment->p_offset, segment->p_filesz))) return metadata;
  }
  return std::nullopt;
}

/// The size of a dynamic symbol: of a kernel, its instructions.
std::optional<int64_t> symbol_size(Bytes file, const Elf64_Ehdr& header, const std::string& name) {
  const auto section = [&](uint64_t index) {
    return read_at<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols) return std::nullopt;
    if (symbols->sh_type != SHT_DYNSYM) continue;
    const auto strings = section(symbols->sh_link);
    if (!strings) return std::nullopt;
    const Bytes table = slice(file, symbols->sh_offset, symbols->sh_size);
    const Bytes names = slice(file, strings->sh_offset, strings->sh_size);
    for (uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(table, at); at += sizeof(Elf64_Sym)) {
      if (text_at(names, symbol->st_name) == name) return static_cast<int64_t>(symbol->st_size);
    }
  }
  return std::nullopt;
}

int number(const Json& entry, const char* key) {
  const Json value = entry.value(key, Json());
  return value.is_number_integer() ? value.get<int>() : 0;
}

}  // namespace

Expected<KernelResources> read_resources(Bytes file, const std::string& kernel) {
  const auto broken = [&kernel](std::string problem) {
    return Diagnostic{.where = kernel, .problem = std::move(problem), .allowed = "an AMDGPU code object (ELF), whole"};
  };
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != EM_AMDGPU) {
    return broken("its code object is no AMDGPU ELF");
  }
  const std::optional<Json> metadata = read_metadata(file, *header);
  if (!metadata || !metadata->value("amdhsa.kernels", Json()).is_array()) {
    return broken("its code object has no metadata of kernels, or is cut short");
  }
  std::vector<std::string> names;
  for (const Json& entry : metadata->at("amdhsa.kernels")) {
    if (!entry.is_object()) return broken("its code object's metadata is damaged");
    names.push_back(entry.value(".name", Json()).dump(-1, ' ', false, Json::error_handler_t::replace));
    if (entry.value(".name", Json()) != kernel) continue;
    const auto code_bytes = symbol_size(file, *header, kernel);
    if (!code_bytes) return broken("its code object has no symbol of the kernel, or is cut short");
    return KernelResources{.vgprs = number(entry, ".vgpr_count"),
                           .agprs = number(entry, ".agpr_count"),
                           .sgprs = number(entry, ".sgpr_count"),
                           .vgpr_spills = number(entry, ".vgpr_spill_count"),
                           .sgpr_spills = number(entry, ".sgpr_spill_count"),
                           .lds_bytes = number(entry, ".group_segment_fixed_size"),
                           .private_bytes = number(entry, ".private_segment_fixed_size"),
                           .threads = number(entry, ".max_flat_workgroup_size"),
                           .code_bytes = *code_bytes};
  }
  return Diagnostic{.where = kernel,
                    .problem = "the code object has no kernel of that name",
                    .value = kernel,
                    .allowed = fmt::format("{}", fmt::join(names, ", "))};
}

Diagnostics check_limits(const KernelResources& resources, const std::string& kernel) {
  Diagnostics errors;
  const auto limit = [&](const char* what, int value, int most) {
    if (value <= most) return;
    errors.push_back({.where = kernel,
                      .problem = fmt::format("the compiled kernel exceeds a limit: {}", what),
                      .value = std::to_string(value),
                      .allowed = most == 0 ? "0" : fmt::format("at most {}", most)});
  };
  limit("spilled VGPRs", resources.vgpr_spills, 0);
  limit("spilled SGPRs", resources.sgpr_spills, 0);
  limit("bytes of private memory a lane", resources.private_bytes, 0);
  limit("VGPRs a wave", resources.vgprs, kMaxVgprs);
  limit("bytes of LDS a workgroup", resources.lds_bytes, kMaxLdsBytes);
  return errors;
}

Json to_json(const KernelResources& r) {
  return {{"vgprs", r.vgprs},
          {"agprs", r.agprs},
          {"sgprs", r.sgprs},
          {"vgpr_spills", r.vgpr_spills},
          {"sgpr_spills", r.sgpr_spills},
          {"lds_bytes", r.lds_bytes},
          {"private_bytes", r.private_bytes},
          {"threads", r.threads},
          {"code_bytes", r.code_bytes}};
}

}  // namespace mlaforge
