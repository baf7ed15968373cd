// Scalar loads, stores and atomics, the clocks and the cache controls. Results return out of order.
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "simulator/exec/atomic_exchange.h"
#include "simulator/exec/buffer_resource.h"
#include "simulator/exec/built_table.h"
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

/// Operand 2 is an SGPR or an immediate; with both, the immediate is the offset modifier. The hardware ignores the low
/// two bits of every part. `unit`: bytes that an SGPR counts.
uint64_t scalar_offset(const Wave& wave, const Instruction& i, uint64_t unit = 1) {
  const Operand& op = i.operands[2];
  const uint64_t offset = op.kind == OperandKind::sgpr ? wave.sgpr[op.index] * unit : op.value64;
  return (offset & ~uint64_t{3}) + (static_cast<uint64_t>(i.modifiers.offset) & ~uint64_t{3});
}

/// Fills op.address for op's dwords: one range, checked as a whole.
void resolve_plain(Wave& wave, PendingOp& op, const Instruction& i, size_t dwords, bool write) {
  const uint64_t address = (scalar64(wave, i.operands[1]) & ~uint64_t{3}) + scalar_offset(wave, i, i.detail);
  std::byte* host = find_global(wave, address, static_cast<uint32_t>(4 * dwords), write, -1);
  for (size_t d = 0; d < dwords; ++d) op.address[d] = host + 4 * d;
}

/// The same by a buffer resource: dwords out of range are null.
void resolve_by_resource(Wave& wave, PendingOp& op, const Instruction& i, size_t dwords, bool write) {
  const BufferResource resource = read_resource(wave, i.operands[1]);
  const uint64_t offset = scalar_offset(wave, i);
  for (size_t d = 0; d < dwords; ++d) {
    const auto address = scalar_buffer_address(resource, offset + 4 * d, 4);
    op.address[d] = address ? find_global(wave, *address, 4, write, -1) : nullptr;
  }
}

template <auto Resolve>
void s_load(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_scalar(wave, i);
  Resolve(wave, op, i, op.registers, false);
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

template <auto Resolve>
void s_store(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_scalar_store(wave, i);
  Resolve(wave, op, i, op.bytes / 4, true);
  wave.queue->issue(wave, op);
}

/// op.data[0 .. 3][0]: data, then the compare value, 1 or 2 dwords each.
void apply_scalar_atomic(Wave& wave, PendingOp& op) {
  const AtomicForm form = form_of(op.detail);
  const auto pair = [&](size_t row) { return op.data[row][0] | uint64_t{op.data[row + 1][0]} << 32; };
  const bool wide = form.bytes == 8;
  const uint64_t old = exchange(op.address[0], form, wide ? pair(0) : op.data[0][0], wide ? pair(2) : op.data[1][0]);
  if (op.registers != 0) wave.sgpr[op.first_register] = static_cast<uint32_t>(old);
  if (op.registers == 2) wave.sgpr[op.first_register + 1u] = static_cast<uint32_t>(old >> 32);
}

/// Operands: data (the destination too with glc), base or resource, offset. An atomic is in range whole or not at all.
template <bool Buffer>
void s_atomic(Wave& wave, const Instruction& i) {
  const AtomicForm form = form_of(i.detail);
  PendingOp& op = wave.queue->prepare(QueueKind::scalar, i, 0);
  op.apply = apply_scalar_atomic;
  op.detail = i.detail;
  op.bytes = form.bytes;
  op.scalar_registers = true;
  const Operand& data = i.operands[0];
  if (i.modifiers.sc0) {
    op.first_register = data.index;
    op.registers = form.bytes / 4;
  }
  for (size_t d = 0; d < data.dwords; ++d) op.data[d][0] = wave.sgpr[data.index + d];
  std::optional<uint64_t> address;
  if constexpr (Buffer) {
    address = scalar_buffer_address(read_resource(wave, i.operands[1]), scalar_offset(wave, i), form.bytes);
  } else {
    address = (scalar64(wave, i.operands[1]) & ~uint64_t{3}) + scalar_offset(wave, i);
  }
  if (address) require_aligned(wave, *address, form.bytes, -1);
  op.address[0] = address ? find_global(wave, *address, form.bytes, true, -1) : nullptr;
  wave.queue->issue(wave, op);
}

/// The clocks count instructions of the wave, so that runs repeat exactly.
void apply_clock(Wave& wave, PendingOp& op) { wave.set_sgpr_pair(op.first_register, wave.instructions * 4); }
void clock(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_scalar(wave, i);
  op.apply = apply_clock;
  wave.queue->issue(wave, op);
}

/// OpEntry::detail of plain forms: bytes that an SGPR offset counts.
constexpr uint32_t byte_offsets = 1;
constexpr uint32_t scratch_offsets = 64;

constexpr std::array rows{
    OpEntry{"s_load_dword", s_load<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_load_dwordx2", s_load<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_load_dwordx4", s_load<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_load_dwordx8", s_load<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_load_dwordx16", s_load<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_scratch_load_dword", s_load<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_scratch_load_dwordx2", s_load<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_scratch_load_dwordx4", s_load<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_buffer_load_dword", s_load<resolve_by_resource>},
    OpEntry{"s_buffer_load_dwordx2", s_load<resolve_by_resource>},
    OpEntry{"s_buffer_load_dwordx4", s_load<resolve_by_resource>},
    OpEntry{"s_buffer_load_dwordx8", s_load<resolve_by_resource>},
    OpEntry{"s_buffer_load_dwordx16", s_load<resolve_by_resource>},
    OpEntry{"s_store_dword", s_store<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_store_dwordx2", s_store<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_store_dwordx4", s_store<resolve_plain>, nullptr, byte_offsets},
    OpEntry{"s_scratch_store_dword", s_store<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_scratch_store_dwordx2", s_store<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_scratch_store_dwordx4", s_store<resolve_plain>, nullptr, scratch_offsets},
    OpEntry{"s_buffer_store_dword", s_store<resolve_by_resource>},
    OpEntry{"s_buffer_store_dwordx2", s_store<resolve_by_resource>},
    OpEntry{"s_buffer_store_dwordx4", s_store<resolve_by_resource>},
    OpEntry{"s_memtime", clock},
    OpEntry{"s_memrealtime", clock},
    OpEntry{"s_dcache_inv", nothing},
    OpEntry{"s_dcache_wb", nothing},
    OpEntry{"s_dcache_inv_vol", nothing},
    OpEntry{"s_dcache_wb_vol", nothing},
    OpEntry{"s_atc_probe", nothing},  // an address translation ahead of time
    OpEntry{"s_atc_probe_buffer", nothing},
};

BuiltTable build() {
  BuiltTable table;
  table.entries.assign(rows.begin(), rows.end());
  for (const AtomicName& n : integer_atomic_names) {
    const std::string name(n.name);
    table.add("s_atomic_" + name, s_atomic<false>, pack_form({n.function, 4, false}));
    table.add("s_atomic_" + name + "_x2", s_atomic<false>, pack_form({n.function, 8, false}));
    table.add("s_buffer_atomic_" + name, s_atomic<true>, pack_form({n.function, 4, false}));
    table.add("s_buffer_atomic_" + name + "_x2", s_atomic<true>, pack_form({n.function, 8, false}));
  }
  return table;
}

}  // namespace

std::span<const OpEntry> smem_ops() {
  static const BuiltTable table = build();
  return table.entries;
}

}  // namespace mlaforge::simulator
