#include "simulator/loader/kernel_metadata.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace mlaforge::simulator {
namespace {

using nlohmann::json;

// The JSON library descends recursively, so a note of nested arrays could exhaust the stack: bound the depth first.
// The walk reads no more than lengths; what it accepts the library still checks.
void check_depth(Bytes bytes) {
  constexpr size_t kMaxDepth = 32;
  const ByteReader reader(bytes);
  std::vector<uint64_t> open;  // elements still to come at each level
  uint64_t at = 0;
  const auto big_endian = [&](uint64_t offset, uint64_t width) {
    uint64_t value = 0;
    for (const std::byte byte : reader.range(offset, width, "metadata"))
      value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  };
  do {
    const auto tag = reader.read<uint8_t>(at++, "metadata");
    uint64_t payload = 0;
    std::optional<uint64_t> elements;
    if (tag <= 0x7f || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) {
    } else if (tag <= 0x8f) {
      elements = 2 * (tag & 0x0f);
    } else if (tag <= 0x9f) {
      elements = tag & 0x0f;
    } else if (tag <= 0xbf) {
      payload = tag & 0x1f;
    } else if (tag >= 0xc4 && tag <= 0xc9) {  // bin 8..32, ext 8..32
      const uint64_t width = uint64_t{1} << ((tag - 0xc4) % 3);
      payload = width + big_endian(at, width) + (tag >= 0xc7 ? 1 : 0);
    } else if (tag == 0xca || tag == 0xcb) {
      payload = tag == 0xca ? 4 : 8;
    } else if (tag >= 0xcc && tag <= 0xd3) {
      payload = uint64_t{1} << ((tag - 0xcc) % 4);
    } else if (tag >= 0xd4 && tag <= 0xd8) {
      payload = 1 + (uint64_t{1} << (tag - 0xd4));
    } else if (tag >= 0xd9 && tag <= 0xdb) {
      const uint64_t width = uint64_t{1} << (tag - 0xd9);
      payload = width + big_endian(at, width);
    } else if (tag >= 0xdc) {  // array 16, array 32, map 16, map 32
      const uint64_t width = (tag & 1) == 0 ? 2 : 4;
      elements = big_endian(at, width) * (tag >= 0xde ? 2 : 1);
      at += width;
    } else {
      fail_load("metadata has the byte " + std::to_string(tag) + ", which MessagePack does not use");
    }
    reader.range(at, payload, "metadata");
    at += payload;
    while (!open.empty() && open.back() == 0) open.pop_back();
    if (!open.empty()) --open.back();
    if (elements.value_or(0) > 0) open.push_back(*elements);
    if (open.size() > kMaxDepth) fail_load("metadata is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    while (!open.empty() && open.back() == 0) open.pop_back();
  } while (!open.empty());
}

const json& member(const json& object, const std::string& key, const std::string& path) {
  if (!object.is_object()) fail_load("metadata " + path + " is no map");
  const auto at = object.find(key);
  if (at == object.end()) fail_load("metadata " + path + " has no " + key);
  return *at;
}

std::string text_member(const json& object, const std::string& key, const std::string& path) {
  const json& value = member(object, key, path);
  if (!value.is_string()) fail_load("metadata " + path + "/" + key + " is no string");
  return value.get<std::string>();
}

uint32_t number_member(const json& object, const std::string& key, const std::string& path) {
  const json& value = member(object, key, path);
  if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<uint32_t>::max()) {
    fail_load("metadata " + path + "/" + key + " is " + value.dump(-1, ' ', true, json::error_handler_t::replace) +
              ", not a number of 32 bits");
  }
  return value.get<uint32_t>();
}

uint32_t number_member_or(const json& object, const std::string& key, const std::string& path, uint32_t missing) {
  return object.contains(key) ? number_member(object, key, path) : missing;
}

KernelArgument read_argument(const json& node, const std::string& path) {
  return {.name = node.contains(".name") ? text_member(node, ".name", path) : std::string(),
          .value_kind = text_member(node, ".value_kind", path),
          .offset = number_member(node, ".offset", path),
          .bytes = number_member(node, ".size", path)};
}

KernelMetadata read_kernel(const json& node, const std::string& path) {
  KernelMetadata kernel{
      .name = text_member(node, ".name", path),
      .descriptor_symbol = text_member(node, ".symbol", path),
      .arguments = {},
      .kernarg_segment_bytes = number_member(node, ".kernarg_segment_size", path),
      .kernarg_segment_alignment = number_member_or(node, ".kernarg_segment_align", path, 8),
      .group_segment_bytes = number_member(node, ".group_segment_fixed_size", path),
      .private_segment_bytes = number_member(node, ".private_segment_fixed_size", path),
      .max_workgroup_size = number_member_or(node, ".max_flat_workgroup_size", path, 1024),
      .wavefront_size = number_member_or(node, ".wavefront_size", path, 64),
      .vgprs = number_member_or(node, ".vgpr_count", path, 0),
      .agprs = number_member_or(node, ".agpr_count", path, 0),
      .sgprs = number_member_or(node, ".sgpr_count", path, 0),
      .uses_dynamic_stack = node.contains(".uses_dynamic_stack") && node[".uses_dynamic_stack"] == true};
  constexpr uint32_t kMaxKernargBytes = 1 << 20;
  if (kernel.kernarg_segment_bytes > kMaxKernargBytes) {
    fail_load("metadata " + path + "/.kernarg_segment_size is " + std::to_string(kernel.kernarg_segment_bytes) +
              ", at most " + std::to_string(kMaxKernargBytes) + " is allowed");
  }
  if (!node.contains(".args")) return kernel;
  const json& arguments = node[".args"];
  if (!arguments.is_array()) fail_load("metadata " + path + "/.args is no array");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument_path = path + "/.args/" + std::to_string(i);
    KernelArgument argument = read_argument(arguments[i], argument_path);
    if (uint64_t{argument.offset} + argument.bytes > kernel.kernarg_segment_bytes) {
      fail_load("metadata " + argument_path + " ends at byte " +
                std::to_string(uint64_t{argument.offset} + argument.bytes) + " of a segment of " +
                std::to_string(kernel.kernarg_segment_bytes));
    }
    kernel.arguments.push_back(std::move(argument));
  }
  return kernel;
}

}  // namespace

CodeObjectMetadata read_metadata(Bytes message_pack) {
  if (message_pack.empty()) fail_load("the code object has no AMDGPU metadata note (NT_AMDGPU_METADATA)");
  check_depth(message_pack);
  const auto* first = reinterpret_cast<const uint8_t*>(message_pack.data());
  const json root = json::from_msgpack(first, first + message_pack.size(), /*strict=*/true, /*allow_exceptions=*/false);
  if (!root.is_object()) fail_load("the AMDGPU metadata note is no MessagePack map");
  CodeObjectMetadata metadata{.target = root.contains("amdhsa.target") ? text_member(root, "amdhsa.target", "") : "",
                              .kernels = {}};
  const json& kernels = member(root, "amdhsa.kernels", "root");
  if (!kernels.is_array()) fail_load("metadata amdhsa.kernels is no array");
  for (size_t i = 0; i < kernels.size(); ++i) {
    metadata.kernels.push_back(read_kernel(kernels[i], "amdhsa.kernels/" + std::to_string(i)));
  }
  return metadata;
}

}  // namespace mlaforge::simulator
