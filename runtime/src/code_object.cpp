#include "code_object.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace mlaforge {
namespace {

constexpr std::string_view elf_magic("\177ELF\002\001", 6);  // 64 bits, little endian
constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr uint64_t elf_header_bytes = 64;
constexpr uint16_t machine_amdgpu = 224;
constexpr uint32_t segment_load = 1;
constexpr uint64_t most_bundle_entries = 4096;

/// The low byte of e_flags, EF_AMDGPU_MACH_AMDGCN_*.
constexpr std::array machines = {std::pair{0x3fU, "gfx90a"}, std::pair{0x40U, "gfx940"}, std::pair{0x4bU, "gfx941"},
                                 std::pair{0x4cU, "gfx942"}, std::pair{0x4fU, "gfx950"}};

struct Bytes {
  const char* data;
  uint64_t size;

  bool holds(uint64_t offset, uint64_t count) const { return offset <= size && count <= size - offset; }
  bool starts_with(std::string_view magic) const {
    return size >= magic.size() && std::memcmp(data, magic.data(), magic.size()) == 0;
  }
  /// A number at a place that holds() it.
  template <typename Number>
  Number at(uint64_t offset) const {
    Number number;
    std::memcpy(&number, data + offset, sizeof(number));
    return number;
  }
};

mlaforge_status bad(std::string& problem, std::string what) {
  problem = std::move(what);
  return MLAFORGE_BAD_KERNEL_SET;
}

std::string machine_name(uint32_t machine) {
  for (const auto& [number, name] : machines) {
    if (number == machine) {
      return name;
    }
  }
  return "AMDGPU machine " + std::to_string(machine);
}

mlaforge_status check_elf(const Bytes& elf, const std::string& target, std::string& problem) {
  if (!elf.holds(0, elf_header_bytes)) {
    return bad(problem, "is an ELF of " + std::to_string(elf.size) + " bytes, less than its header");
  }
  if (const auto machine = elf.at<uint16_t>(18); machine != machine_amdgpu) {
    return bad(problem, "is an ELF for machine " + std::to_string(machine) + ", not AMDGPU (224)");
  }
  if (const std::string name = machine_name(elf.at<uint32_t>(48) & 0xff); name != target) {
    problem = "is for " + name + ", the device is " + target;
    return MLAFORGE_WRONG_DEVICE;
  }
  const auto segments = elf.at<uint64_t>(32);
  const auto segment_bytes = elf.at<uint16_t>(54);
  const auto segment_count = elf.at<uint16_t>(56);
  const auto sections = elf.at<uint64_t>(40);
  const uint64_t section_table = uint64_t{elf.at<uint16_t>(58)} * elf.at<uint16_t>(60);
  if ((segment_count != 0 && segment_bytes < 56) || !elf.holds(segments, uint64_t{segment_bytes} * segment_count) ||
      !elf.holds(sections, section_table)) {
    return bad(problem, "is an ELF whose tables lie beyond its " + std::to_string(elf.size) + " bytes");
  }
  for (uint64_t i = 0; i < segment_count; ++i) {
    const uint64_t header = segments + i * segment_bytes;
    if (elf.at<uint32_t>(header) == segment_load &&
        !elf.holds(elf.at<uint64_t>(header + 8), elf.at<uint64_t>(header + 32))) {
      return bad(problem, "is an ELF whose segment " + std::to_string(i) + " lies beyond its " +
                              std::to_string(elf.size) + " bytes");
    }
  }
  return MLAFORGE_SUCCESS;
}

/// Offset, size and triple of each entry; which of them the device takes is HIP's choice.
mlaforge_status check_bundle(const Bytes& bundle, std::string& problem) {
  uint64_t at = bundle_magic.size();
  if (!bundle.holds(at, 8) || bundle.at<uint64_t>(at) > most_bundle_entries) {
    return bad(problem, "is a bundle without a table");
  }
  const auto count = bundle.at<uint64_t>(at);
  at += 8;
  for (uint64_t i = 0; i < count; ++i) {
    if (!bundle.holds(at, 24) || !bundle.holds(at + 24, bundle.at<uint64_t>(at + 16)) ||
        !bundle.holds(bundle.at<uint64_t>(at), bundle.at<uint64_t>(at + 8))) {
      return bad(problem, "is a bundle whose entry " + std::to_string(i) + " lies beyond its " +
                              std::to_string(bundle.size) + " bytes");
    }
    at += 24 + bundle.at<uint64_t>(at + 16);
  }
  return MLAFORGE_SUCCESS;
}

}  // namespace

mlaforge_status check_code_object(const void* data, uint64_t bytes, const std::string& target, std::string& problem) {
  const Bytes image{static_cast<const char*>(data), bytes};
  if (image.starts_with(elf_magic)) {
    return check_elf(image, target, problem);
  }
  if (image.starts_with(bundle_magic)) {
    return check_bundle(image, problem);
  }
  return image.starts_with(compressed_magic) ? MLAFORGE_SUCCESS
                                             : bad(problem, "is neither an ELF nor an offload bundle");
}

}  // namespace mlaforge
