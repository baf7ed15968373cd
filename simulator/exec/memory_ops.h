// The tables of the memory families.
#pragma once

#include "simulator/core/ops.h"
#include "simulator/exec/lanes_memory.h"

namespace mlaforge::simulator {

std::span<const OpEntry> smem_ops();
std::span<const OpEntry> vector_memory_ops();  // global, flat, scratch: loads, stores, LDS DMA
std::span<const OpEntry> buffer_ops();
std::span<const OpEntry> typed_buffer_ops();  // with format conversion
std::span<const OpEntry> global_atomic_ops();
std::span<const OpEntry> ds_ops();
std::span<const OpEntry> ds_cross_lane_ops();  // bpermute, permute, swizzle, transpose reads
std::span<const OpEntry> ds_atomic_ops();
std::span<const OpEntry> ds_exchange_ops();  // wrxchg2, condxchg32, append, consume

}  // namespace mlaforge::simulator
