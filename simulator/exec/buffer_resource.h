// The 128-bit buffer resource of gfx9, and its address and range rules.
#pragma once

#include <optional>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

struct BufferResource {
  uint64_t base = 0;  ///< 48 bits
  uint32_t stride = 0;
  bool swizzle = false;
  uint32_t num_records = 0;
  uint32_t index_stride = 8;
  bool add_tid = false;
};

BufferResource read_resource(const Wave& wave, const Operand& op);

struct BufferIndex {
  uint64_t index = 0;   ///< vindex + thread id
  uint64_t offset = 0;  ///< voffset + instruction offset
  uint64_t soffset = 0;
  bool indexed = false;  ///< the instruction takes an index (idxen): records of a stride are counted, not bytes
};

/// Device address of the dword (or smaller element) at byte `piece` of the access; nullopt: out of range.
std::optional<uint64_t> buffer_address(const BufferResource& resource, const BufferIndex& at, uint32_t piece);

/// The same for `bytes` bytes at `offset` of a scalar instruction, which knows neither index nor swizzle.
std::optional<uint64_t> scalar_buffer_address(const BufferResource& resource, uint64_t offset, uint32_t bytes);

}  // namespace mlaforge::simulator
