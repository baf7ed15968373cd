// A launch's device memory: inputs as they are uploaded, outputs between canaries, and the tensors that name them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cli/run/device_buffer.h"
#include "mlaforge/mlaforge.h"
#include "reference/inputs.h"

namespace mlaforge::run {

/// Guard bytes before and behind each output, and the pattern that outputs are filled with: no NaN and no zero in bf16
/// or float, so that a row that was not stored does not pass for one.
inline constexpr size_t guard_bytes = 4096;
inline constexpr uint8_t canary_byte = 0xa5;
/// Strides and sizes of the outputs, in elements.
struct OutputLayout {
  int64_t o_head_stride, o_token_stride, lse_token_stride;
  size_t o_elements, lse_elements;
};

/// Rows with gaps between heads and tokens that nobody may write.
OutputLayout output_layout(const reference::InputSpec& spec);

/// A launch's inputs on the device.
struct DeviceInputs {
  DeviceBuffer q, kv, page_table, page_indptr, seq_len, scales;
};

Expected<DeviceInputs> upload(const HipApi& hip, const reference::Inputs& inputs);

/// lse null: not wanted.
mlaforge_tensors make_tensors(const reference::Inputs& inputs, const DeviceInputs& device, const OutputLayout& layout,
                              const DeviceBuffer& o, const DeviceBuffer* lse);

/// The first element outside the rows that is no longer the canary, as text; empty when all are. `o` and `lse` with
/// their guards.
std::string touched_canary_of_o(std::span<const uint16_t> o, const OutputLayout& layout,
                                const reference::InputSpec& spec);
std::string touched_canary_of_lse(std::span<const uint32_t> lse, const OutputLayout& layout,
                                  const reference::InputSpec& spec);

}  // namespace mlaforge::run
