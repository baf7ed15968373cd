// The tables that alu_ops() joins, one a source file.
#pragma once

#include <span>

#include "simulator/core/instruction.h"

namespace mlaforge::simulator {

std::span<const OpEntry> int32_ops();
std::span<const OpEntry> int16_ops();
std::span<const OpEntry> carry_ops();
std::span<const OpEntry> compare_ops();
std::span<const OpEntry> f32_ops();
std::span<const OpEntry> f64_ops();
std::span<const OpEntry> f16_ops();
std::span<const OpEntry> packed_ops();
std::span<const OpEntry> dot_ops();
std::span<const OpEntry> smfmac_ops();
std::span<const OpEntry> convert_ops();
std::span<const OpEntry> scale_convert_ops();
std::span<const OpEntry> lane_ops();
std::span<const OpEntry> division_ops();
std::span<const OpEntry> mfma_ops();

}  // namespace mlaforge::simulator
