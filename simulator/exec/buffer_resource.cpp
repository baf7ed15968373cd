#include "simulator/exec/buffer_resource.h"

namespace mlaforge::simulator {
namespace {

/// Bytes that stay together in a swizzled buffer; fixed on gfx9.
constexpr uint64_t swizzle_element_bytes = 4;

}  // namespace

BufferResource read_resource(const Wave& wave, const Operand& op) {
  const auto word = [&](unsigned i) { return wave.sgpr[op.index + i]; };
  BufferResource r;
  r.base = (word(0) | uint64_t{word(1)} << 32) & 0xffff'ffff'ffff;
  r.stride = word(1) >> 16 & 0x3fff;
  r.swizzle = word(1) >> 31 & 1;
  r.num_records = word(2);
  r.index_stride = 8u << (word(3) >> 21 & 3);
  r.add_tid = word(3) >> 23 & 1;
  // With the thread id added the data format's bits are the stride's high bits.
  if (r.add_tid) r.stride |= (word(3) >> 15 & 15) << 14;
  return r;
}

std::optional<uint64_t> buffer_address(const BufferResource& resource, const BufferIndex& at, uint32_t piece) {
  const uint64_t offset = at.offset + piece;
  const bool structured = resource.stride != 0 && (at.indexed || resource.swizzle);
  if (structured && at.index >= resource.num_records) return std::nullopt;
  if (resource.stride == 0 || !resource.swizzle) {
    const uint64_t buffer_offset = at.index * resource.stride + offset;
    // Raw: records are bytes, and every dword of an access is checked by its own offset.
    if (!structured && buffer_offset + at.soffset >= resource.num_records) return std::nullopt;
    return resource.base + at.soffset + buffer_offset;
  }
  const uint64_t index_high = at.index / resource.index_stride;
  const uint64_t index_low = at.index % resource.index_stride;
  const uint64_t offset_high = offset / swizzle_element_bytes;
  const uint64_t offset_low = offset % swizzle_element_bytes;
  return resource.base + at.soffset +
         (index_high * resource.stride + offset_high * swizzle_element_bytes) * resource.index_stride +
         index_low * swizzle_element_bytes + offset_low;
}

std::optional<uint64_t> scalar_buffer_address(const BufferResource& resource, uint64_t offset, uint32_t bytes) {
  const uint64_t size = resource.num_records * (resource.stride == 0 ? uint64_t{1} : resource.stride);
  if (offset + bytes > size) return std::nullopt;
  return (resource.base & ~uint64_t{3}) + offset;
}

}  // namespace mlaforge::simulator
