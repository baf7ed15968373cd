#include "simulator/loader/offload_bundle.h"

#include <elf.h>

#include <algorithm>

#include "simulator/loader/compressed_bundle.h"
#include "simulator/loader/target_id.h"

namespace mlaforge::simulator {
namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr uint64_t kMaxEntries = 4096;

struct EntryHeader {
  uint64_t offset;
  uint64_t bytes;
  uint64_t id_bytes;
};

bool begins_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

// "gfx950:sramecc+:xnack-" of "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"; empty for host entries.
std::string target_of_entry(const std::string& id) {
  if (!id.starts_with("hip")) return {};
  const size_t at = id.find("gfx");
  return at == std::string::npos ? std::string() : id.substr(at);
}

int stated_features(const TargetId& target) {
  return (target.xnack != FeatureSetting::any) + (target.sramecc != FeatureSetting::any) +
         (target.processor == "gfx950" ? 4 : 0);
}

// Sums that cannot wrap: headers are untrusted.
uint64_t end_of(uint64_t offset, uint64_t bytes) { return offset > ~bytes ? ~uint64_t{0} : offset + bytes; }

uint64_t bundle_extent(Bytes readable) {
  const ByteReader reader(readable);
  uint64_t at = kMagic.size();
  const auto count = reader.read<uint64_t>(at, "bundle entry count");
  at += sizeof count;
  uint64_t end = at;
  for (uint64_t i = 0; i < std::min(count, kMaxEntries); ++i) {
    const auto header = reader.read<EntryHeader>(at, "bundle entry");
    at = end_of(at + sizeof header, header.id_bytes);
    end = std::max({end, at, end_of(header.offset, header.bytes)});
  }
  return end;
}

uint64_t elf_extent(Bytes readable) {
  const ByteReader reader(readable);
  const auto header = reader.read<Elf64_Ehdr>(0, "ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return sizeof header;
  uint64_t end = std::max<uint64_t>(sizeof header, end_of(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
  end = std::max(end, end_of(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)));
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto program = reader.read<Elf64_Phdr>(end_of(header.e_phoff, i * sizeof(Elf64_Phdr)), "program header");
    end = std::max(end, end_of(program.p_offset, program.p_filesz));
  }
  return end;
}

}  // namespace

bool is_offload_bundle(Bytes file) { return begins_with(file, kMagic); }

std::vector<BundleEntry> read_offload_bundle(Bytes file) {
  const ByteReader reader(file);
  uint64_t at = kMagic.size();
  const auto count = reader.read<uint64_t>(at, "bundle entry count");
  at += sizeof count;
  if (count > kMaxEntries) {
    fail_load("offload bundle claims " + std::to_string(count) + " entries, at most " + std::to_string(kMaxEntries) +
              " are allowed");
  }
  std::vector<BundleEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    const auto header = reader.read<EntryHeader>(at, "bundle entry");
    at += sizeof header;
    const Bytes id = reader.range(at, header.id_bytes, "bundle entry id");
    at += header.id_bytes;
    entries.push_back({.id = std::string(reinterpret_cast<const char*>(id.data()), id.size()),
                       .bytes = reader.range(header.offset, header.bytes, "bundle code object")});
  }
  return entries;
}

Bytes choose_code_object(Bytes file) {
  if (!is_offload_bundle(file)) return file;
  const std::vector<BundleEntry> entries = read_offload_bundle(file);
  const BundleEntry* best = nullptr;
  int best_rank = -1;
  std::string targets;
  for (const BundleEntry& entry : entries) {
    const std::string target = target_of_entry(entry.id);
    if (target.empty()) continue;
    targets += (targets.empty() ? "" : ", ") + target;
    const TargetId id = parse_target_id(target);
    const int rank = stated_features(id);
    if (why_target_not_runnable(id).empty() && rank > best_rank) {
      best = &entry;
      best_rank = rank;
    }
  }
  if (best == nullptr) {
    fail_load("the offload bundle has no code object for " + std::string(kDeviceTargetId) + "; it has " +
                  (targets.empty() ? "none for a GPU" : targets) + "; compile with --offload-arch=gfx950",
              LoadErrorKind::wrong_architecture);
  }
  return best->bytes;
}

uint64_t image_extent(Bytes readable) {
  uint64_t end = 0;
  try {
    end = is_offload_bundle(readable)              ? bundle_extent(readable)
          : is_compressed_offload_bundle(readable) ? compressed_bundle_extent(readable)
                                                   : elf_extent(readable);
  } catch (const LoadFailure&) {
    return readable.size();  // the image claims more than there is: the loader will say what
  }
  return std::min<uint64_t>(end, readable.size());
}

}  // namespace mlaforge::simulator
