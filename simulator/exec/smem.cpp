// Scalar loads and stores: s_load, s_buffer_load, s_store, the clocks and the cache controls. Results return out of
// order.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>

#include "simulator/exec/buffer_resource.h"
#include "simulator/exec/memory_ops.h"

namespace mlaforge::simulator {
namespace {

/// Result rows are dwords: op.address[i] is where dword i comes from; null reads 0.
void apply_scalar_load(Wave& wave, PendingOp& op) {
  for (size_t i = 0; i < op.registers; ++i) {
    uint32_t value = 0;
    if (op.address[i] != nullptr) std::memcpy(&value, op.address[i], 4);
    wave.sgpr[op.first_register + i] = value;
  }
}

PendingOp& prepare_scalar(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::scalar, i, 0);
  op.scalar_registers = true;
  op.first_register = i.operands[0].index;
  op.registers = i.operands[0].dwords;
  op.apply = apply_scalar_load;
  return op;
}

/// Operand 2 is an SGPR or an immediate; with both, the immediate is the offset modifier.
uint64_t scalar_offset(const Wave& wave, const Instruction& i) {
  const Operand& op = i.operands[2];
  const uint64_t offset = op.kind == OperandKind::sgpr ? wave.sgpr[op.index] : op.value64;
  return offset + static_cast<uint64_t>(i.modifiers.offset);
}

void s_load(Wave& wave, const Instruction& i) {
  // The hardware ignores the low two bits of every part.
  const uint64_t base = scalar64(wave, i.operands[1]) & ~uint64_t{3};
  const uint64_t address = base + (scalar_offset(wave, i) & ~uint64_t{3});
  PendingOp& op = prepare_scalar(wave, i);
  const uint32_t bytes = 4u * op.registers;
  std::byte* host = find_global(wave, address, bytes, false, -1);
  for (size_t d = 0; d < op.registers; ++d) op.address[d] = host + 4 * d;
  wave.queue->issue(wave, op);
}

void s_buffer_load(Wave& wave, const Instruction& i) {
  const BufferResource resource = read_resource(wave, i.operands[1]);
  const uint64_t offset = scalar_offset(wave, i) & ~uint64_t{3};
  PendingOp& op = prepare_scalar(wave, i);
  const uint64_t limit = resource.num_records;
  for (size_t d = 0; d < op.registers; ++d) {
    const uint64_t at = offset + 4 * d;
    op.address[d] = at + 4 <= limit ? find_global(wave, resource.base + at, 4, false, -1) : nullptr;
  }
  wave.queue->issue(wave, op);
}

/// op.data[dword][0] holds the SGPRs; null addresses are dropped.
void apply_scalar_store(Wave&, PendingOp& op) {
  for (size_t i = 0; i < op.bytes / 4; ++i) {
    if (op.address[i] != nullptr) std::memcpy(op.address[i], op.data[i].data(), 4);
  }
}

PendingOp& prepare_scalar_store(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::scalar, i, 0);
  const Operand& data = i.operands[0];
  op.apply = apply_scalar_store;
  op.bytes = 4u * data.dwords;
  for (size_t d = 0; d < data.dwords; ++d) op.data[d][0] = wave.sgpr[data.index + d];
  return op;
}

void s_store(Wave& wave, const Instruction& i) {
  const uint64_t base = scalar64(wave, i.operands[1]) & ~uint64_t{3};
  const uint64_t address = base + (scalar_offset(wave, i) & ~uint64_t{3});
  PendingOp& op = prepare_scalar_store(wave, i);
  std::byte* host = find_global(wave, address, op.bytes, true, -1);
  for (size_t d = 0; d < op.bytes / 4; ++d) op.address[d] = host + 4 * d;
  wave.queue->issue(wave, op);
}

void s_buffer_store(Wave& wave, const Instruction& i) {
  const BufferResource resource = read_resource(wave, i.operands[1]);
  const uint64_t offset = scalar_offset(wave, i) & ~uint64_t{3};
  PendingOp& op = prepare_scalar_store(wave, i);
  for (size_t d = 0; d < op.bytes / 4; ++d) {
    const uint64_t at = offset + 4 * d;
    op.address[d] = at + 4 <= resource.num_records ? find_global(wave, resource.base + at, 4, true, -1) : nullptr;
  }
  wave.queue->issue(wave, op);
}

/// The clocks count instructions of the wave, so that runs repeat exactly.
void apply_clock(Wave& wave, PendingOp& op) { wave.set_sgpr_pair(op.first_register, wave.instructions * 4); }
void clock(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_scalar(wave, i);
  op.apply = apply_clock;
  wave.queue->issue(wave, op);
}

constexpr std::array rows{
    OpEntry{"s_load_dword", s_load},
    OpEntry{"s_load_dwordx2", s_load},
    OpEntry{"s_load_dwordx4", s_load},
    OpEntry{"s_load_dwordx8", s_load},
    OpEntry{"s_load_dwordx16", s_load},
    OpEntry{"s_buffer_load_dword", s_buffer_load},
    OpEntry{"s_buffer_load_dwordx2", s_buffer_load},
    OpEntry{"s_buffer_load_dwordx4", s_buffer_load},
    OpEntry{"s_buffer_load_dwordx8", s_buffer_load},
    OpEntry{"s_buffer_load_dwordx16", s_buffer_load},
    OpEntry{"s_store_dword", s_store},
    OpEntry{"s_store_dwordx2", s_store},
    OpEntry{"s_store_dwordx4", s_store},
    OpEntry{"s_buffer_store_dword", s_buffer_store},
    OpEntry{"s_buffer_store_dwordx2", s_buffer_store},
    OpEntry{"s_buffer_store_dwordx4", s_buffer_store},
    OpEntry{"s_memtime", clock},
    OpEntry{"s_memrealtime", clock},
    OpEntry{"s_dcache_inv", nothing},
    OpEntry{"s_dcache_wb", nothing},
    OpEntry{"s_dcache_inv_vol", nothing},
    OpEntry{"s_dcache_wb_vol", nothing},
    OpEntry{"s_atc_probe", nothing},  // an address translation ahead of time
    OpEntry{"s_atc_probe_buffer", nothing},
};

}  // namespace

std::span<const OpEntry> smem_ops() { return rows; }

}  // namespace mlaforge::simulator
