// Global, flat and scratch loads and stores.
#include <array>

#include "simulator/exec/built_table.h"
#include "simulator/exec/dma.h"
#include "simulator/exec/memory_ops.h"
#include "simulator/exec/vector_address.h"

namespace mlaforge::simulator {
namespace {

QueueKind queue_of(Space space) { return space == Space::flat ? QueueKind::flat : QueueKind::vector; }

/// Operands: destination, vector address, scalar address (absent for flat).
void load(Wave& wave, const Instruction& i) {
  const Space space = space_of(i);
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(queue_of(space), i, wave.exec());
  op.apply = apply_load;
  op.detail = i.detail;
  op.first_register = i.operands[0].index;
  op.registers = registers_of(transfer);
  if (space == Space::flat) {
    op.lds = LdsAccess::read;
    op.lds_bytes = transfer.bytes;
  }
  const Operand* scalar = space == Space::flat ? nullptr : &i.operands[2];
  resolve_lanes(wave, op, {space, &i.operands[1], scalar}, transfer.bytes, false);
  wave.queue->issue(wave, op);
}

/// Operands: vector address, data, scalar address (absent for flat).
void store(Wave& wave, const Instruction& i) {
  const Space space = space_of(i);
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(queue_of(space), i, wave.exec());
  op.apply = apply_store;
  op.detail = i.detail;
  if (space == Space::flat) {
    op.lds = LdsAccess::write;
    op.lds_bytes = transfer.bytes;
  }
  const Operand* scalar = space == Space::flat ? nullptr : &i.operands[2];
  resolve_lanes(wave, op, {space, &i.operands[0], scalar}, transfer.bytes, true);
  capture_data(wave, op, i.operands[1], transfer);
  wave.queue->issue(wave, op);
}

/// LDS DMA. Operands: vector address, scalar address.
void load_lds(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_dma(wave, i, unpack(i.detail));
  // Shared alignment rule of the DMA path: dwords from 4 bytes on.
  const uint32_t alignment = op.bytes >= 4 ? 4 : op.bytes;
  resolve_lanes(wave, op, {space_of(i), &i.operands[0], &i.operands[1]}, op.bytes, false, alignment);
  wave.queue->issue(wave, op);
}

struct Form {
  std::string_view name;
  uint32_t detail;
};
constexpr std::array load_forms{
    Form{"dword", pack_dwords(1)},
    Form{"dwordx2", pack_dwords(2)},
    Form{"dwordx3", pack_dwords(3)},
    Form{"dwordx4", pack_dwords(4)},
    Form{"ubyte", pack_element(Element::u8, 1)},
    Form{"sbyte", pack_element(Element::i8, 1)},
    Form{"ushort", pack_element(Element::u16, 2)},
    Form{"sshort", pack_element(Element::i16, 2)},
    Form{"ubyte_d16", pack_element(Element::u8_d16, 1)},
    Form{"ubyte_d16_hi", pack_element(Element::u8_d16_hi, 1)},
    Form{"sbyte_d16", pack_element(Element::i8_d16, 1)},
    Form{"sbyte_d16_hi", pack_element(Element::i8_d16_hi, 1)},
    Form{"short_d16", pack_element(Element::b16_d16, 2)},
    Form{"short_d16_hi", pack_element(Element::b16_d16_hi, 2)},
};
constexpr std::array store_forms{
    Form{"dword", pack_dwords(1)},
    Form{"dwordx2", pack_dwords(2)},
    Form{"dwordx3", pack_dwords(3)},
    Form{"dwordx4", pack_dwords(4)},
    Form{"byte", pack_element(Element::u8, 1)},
    Form{"short", pack_element(Element::u16, 2)},
    Form{"byte_d16_hi", pack_element(Element::u8_d16_hi, 1)},
    Form{"short_d16_hi", pack_element(Element::b16_d16_hi, 2)},
};
constexpr std::array dma_forms{
    Form{"ubyte", pack_element(Element::u8, 1)},
    Form{"sbyte", pack_element(Element::i8, 1)},
    Form{"ushort", pack_element(Element::u16, 2)},
    Form{"sshort", pack_element(Element::i16, 2)},
    Form{"dword", pack_dwords(1)},
    Form{"dwordx3", pack_dwords(3)},
    Form{"dwordx4", pack_dwords(4)},
};

BuiltTable build() {
  BuiltTable table;
  for (const std::string prefix : {"global_", "flat_", "scratch_"}) {
    for (const Form& form : load_forms) table.add(prefix + "load_" + std::string(form.name), load, form.detail);
    for (const Form& form : store_forms) table.add(prefix + "store_" + std::string(form.name), store, form.detail);
    if (prefix == "flat_") continue;
    for (const Form& form : dma_forms) {
      if (prefix == "scratch_" && unpack(form.detail).bytes > 4) continue;  // gfx950 widened the global forms only
      table.add(prefix + "load_lds_" + std::string(form.name), load_lds, form.detail);
    }
  }
  return table;
}

}  // namespace

std::span<const OpEntry> vector_memory_ops() {
  static const BuiltTable table = build();
  return table.entries;
}

std::span<const OpEntry> memory_ops() {
  static const std::vector<OpEntry> joined = [] {
    std::vector<OpEntry> all;
    for (const auto part : {smem_ops(), vector_memory_ops(), buffer_ops(), typed_buffer_ops(), global_atomic_ops(),
                            ds_ops(), ds_cross_lane_ops(), ds_atomic_ops(), ds_exchange_ops()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return joined;
}

}  // namespace mlaforge::simulator
