#include "cli/run/launch_memory.h"

#include <cstring>

namespace mlaforge::run {
namespace {

/// Elements between heads and tokens that nobody may write.
constexpr int64_t o_head_gap = 64;
constexpr int64_t o_token_gap = 128;
constexpr int64_t lse_token_gap = 3;

Expected<DeviceBuffer> upload_query(const HipApi& hip, const reference::Inputs& inputs) {
  return inputs.q_fp8.empty() ? DeviceBuffer::copy_of<uint16_t>(hip, inputs.q)
                              : DeviceBuffer::copy_of<uint8_t>(hip, inputs.q_fp8);
}

/// A sparse pool is only written where its pages lie.
Expected<DeviceBuffer> upload_pool(const HipApi& hip, const reference::Inputs& inputs) {
  if (inputs.spec.pool_bytes == 0) {
    return DeviceBuffer::copy_of<uint8_t>(hip, inputs.kv);
  }
  Expected<DeviceBuffer> pool = DeviceBuffer::allocate(hip, inputs.spec.pool_bytes);
  for (const reference::Inputs::Piece& piece : inputs.pieces) {
    if (!pool) {
      break;
    }
    if (const int error = hip.memcpy(pool->as<void>(piece.pool_offset), inputs.kv.data() + piece.kv_offset, piece.bytes,
                                     hip_copy_host_to_device);
        error != hip_success) {
      return hip_error(hip, "hipMemcpy of a page", error);
    }
  }
  return pool;
}

template <typename Element>
std::string touched_canary(const char* name, std::span<const Element> buffer, const OutputLayout& layout,
                           const reference::InputSpec& spec) {
  constexpr bool is_o = sizeof(Element) == 2;
  const int64_t guard = guard_bytes / sizeof(Element);
  const int64_t token_stride = is_o ? layout.o_token_stride : layout.lse_token_stride;
  const int64_t head_stride = is_o ? layout.o_head_stride : 1;
  const int64_t width = is_o ? MLAFORGE_LATENT_DIM : 1;
  const int64_t end = int64_t{spec.requests} * spec.qlen * token_stride;
  Element canary;
  std::memset(&canary, canary_byte, sizeof(canary));
  for (int64_t i = 0; i < static_cast<int64_t>(buffer.size()); ++i) {
    const int64_t at = i - guard;
    const int64_t in_token = at % token_stride;
    const bool in_row = at >= 0 && at < end && in_token < spec.heads * head_stride && in_token % head_stride < width;
    if (!in_row && buffer[static_cast<size_t>(i)] != canary) {
      return std::string(name) + " was written outside its rows, at element " + std::to_string(at) + " of " +
             std::to_string(end);
    }
  }
  return {};
}

}  // namespace

OutputLayout output_layout(const reference::InputSpec& spec) {
  const int64_t tokens = int64_t{spec.requests} * spec.qlen;
  const int64_t head_stride = MLAFORGE_LATENT_DIM + o_head_gap;
  const int64_t token_stride = spec.heads * head_stride + o_token_gap;
  const int64_t lse_stride = spec.heads + lse_token_gap;
  return {head_stride, token_stride, lse_stride, static_cast<size_t>(tokens * token_stride),
          static_cast<size_t>(tokens * lse_stride)};
}

Expected<DeviceInputs> upload(const HipApi& hip, const reference::Inputs& inputs) {
  const float scales[] = {inputs.spec.k_scale.value_or(1.0F), inputs.spec.v_scale.value_or(1.0F),
                          inputs.spec.q_scale.value_or(1.0F)};
  Expected<DeviceBuffer> buffers[] = {
      upload_query(hip, inputs),
      upload_pool(hip, inputs),
      DeviceBuffer::copy_of<int32_t>(hip, inputs.page_table),
      DeviceBuffer::copy_of<int32_t>(hip, inputs.page_indptr),
      DeviceBuffer::copy_of<int32_t>(hip, inputs.seq_len),
      DeviceBuffer::copy_of<float>(hip, scales),
  };
  for (const auto& buffer : buffers) {
    if (!buffer) {
      return buffer.errors();
    }
  }
  return DeviceInputs{std::move(*buffers[0]), std::move(*buffers[1]), std::move(*buffers[2]),
                      std::move(*buffers[3]), std::move(*buffers[4]), std::move(*buffers[5])};
}

mlaforge_tensors make_tensors(const reference::Inputs& inputs, const DeviceInputs& device, const OutputLayout& layout,
                              const DeviceBuffer& o, const DeviceBuffer* lse) {
  mlaforge_tensors t = MLAFORGE_TENSORS_INIT;
  t.q = device.q.as<void>();
  t.kv = device.kv.as<void>();
  t.page_table = device.page_table.as<int32_t>();
  t.page_indptr = inputs.page_indptr.empty() ? nullptr : device.page_indptr.as<int32_t>();
  t.seq_len = device.seq_len.as<int32_t>();
  t.k_scale = inputs.spec.k_scale.has_value() ? device.scales.as<float>() : nullptr;
  t.v_scale = inputs.spec.v_scale.has_value() ? device.scales.as<float>(sizeof(float)) : nullptr;
  t.q_scale = inputs.spec.q_scale.has_value() ? device.scales.as<float>(2 * sizeof(float)) : nullptr;
  t.o = o.as<void>(guard_bytes);
  t.lse = lse != nullptr ? lse->as<float>(guard_bytes) : nullptr;
  t.q_token_stride = inputs.q_token_stride;
  t.q_head_stride = inputs.q_head_stride;
  t.kv_row_stride = inputs.spec.kv_row_stride;
  t.page_table_stride = inputs.page_table_stride;
  t.o_token_stride = layout.o_token_stride;
  t.o_head_stride = layout.o_head_stride;
  t.lse_token_stride = layout.lse_token_stride;
  t.lse_head_stride = 1;
  t.requests = inputs.spec.requests;
  t.softmax_scale = inputs.spec.softmax_scale;
  t.context_parallel_rank = inputs.spec.rank;
  return t;
}

std::string touched_canary_of_o(std::span<const uint16_t> o, const OutputLayout& layout,
                                const reference::InputSpec& spec) {
  return touched_canary<uint16_t>("o", o, layout, spec);
}

std::string touched_canary_of_lse(std::span<const uint32_t> lse, const OutputLayout& layout,
                                  const reference::InputSpec& spec) {
  return touched_canary<uint32_t>("lse", lse, layout, spec);
}

}  // namespace mlaforge::run
