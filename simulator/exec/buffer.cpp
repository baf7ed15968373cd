// MUBUF loads, stores and LDS DMA, without format conversion; cache controls.
#include <array>

#include "simulator/exec/dma.h"
#include "simulator/exec/memory_ops.h"
#include "simulator/exec/vector_address.h"

namespace mlaforge::simulator {
namespace {

/// Operands: address, resource, soffset; `lds` says that the data goes there.
void load_lds(Wave& wave, const Instruction& i) {
  PendingOp& op = prepare_dma(wave, i, unpack(i.detail));
  const uint32_t alignment = op.bytes >= 4 ? 4 : op.bytes;
  if (resolve_buffer(wave, op, 0, op.bytes, false, alignment)) op.apply = apply_dma_pieces;
  wave.queue->issue(wave, op);
}

/// Operands: destination, address, resource, soffset.
void load(Wave& wave, const Instruction& i) {
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(QueueKind::vector, i, wave.exec());
  op.apply = apply_load;
  op.detail = i.detail;
  op.first_register = i.operands[0].index;
  op.registers = registers_of(transfer);
  if (resolve_buffer(wave, op, 1, transfer.bytes, false)) op.apply = apply_load_pieces;
  wave.queue->issue(wave, op);
}

void store(Wave& wave, const Instruction& i) {
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(QueueKind::vector, i, wave.exec());
  op.apply = apply_store;
  op.detail = i.detail;
  if (resolve_buffer(wave, op, 1, transfer.bytes, true)) op.apply = apply_store_pieces;
  capture_data(wave, op, i.operands[0], transfer);
  wave.queue->issue(wave, op);
}

Handler select_load(const Instruction& i) { return i.modifiers.lds ? load_lds : load; }

/// Device memory is one coherent image here, so cache controls have nothing to do.
constexpr std::array rows{
    OpEntry{"buffer_load_dword", nullptr, select_load, pack_dwords(1)},
    OpEntry{"buffer_load_dwordx2", nullptr, select_load, pack_dwords(2)},
    OpEntry{"buffer_load_dwordx3", nullptr, select_load, pack_dwords(3)},
    OpEntry{"buffer_load_dwordx4", nullptr, select_load, pack_dwords(4)},
    OpEntry{"buffer_load_ubyte", nullptr, select_load, pack_element(Element::u8, 1)},
    OpEntry{"buffer_load_sbyte", nullptr, select_load, pack_element(Element::i8, 1)},
    OpEntry{"buffer_load_ushort", nullptr, select_load, pack_element(Element::u16, 2)},
    OpEntry{"buffer_load_sshort", nullptr, select_load, pack_element(Element::i16, 2)},
    OpEntry{"buffer_load_ubyte_d16", load, nullptr, pack_element(Element::u8_d16, 1)},
    OpEntry{"buffer_load_ubyte_d16_hi", load, nullptr, pack_element(Element::u8_d16_hi, 1)},
    OpEntry{"buffer_load_sbyte_d16", load, nullptr, pack_element(Element::i8_d16, 1)},
    OpEntry{"buffer_load_sbyte_d16_hi", load, nullptr, pack_element(Element::i8_d16_hi, 1)},
    OpEntry{"buffer_load_short_d16", load, nullptr, pack_element(Element::b16_d16, 2)},
    OpEntry{"buffer_load_short_d16_hi", load, nullptr, pack_element(Element::b16_d16_hi, 2)},
    OpEntry{"buffer_store_dword", store, nullptr, pack_dwords(1)},
    OpEntry{"buffer_store_dwordx2", store, nullptr, pack_dwords(2)},
    OpEntry{"buffer_store_dwordx3", store, nullptr, pack_dwords(3)},
    OpEntry{"buffer_store_dwordx4", store, nullptr, pack_dwords(4)},
    OpEntry{"buffer_store_byte", store, nullptr, pack_element(Element::u8, 1)},
    OpEntry{"buffer_store_short", store, nullptr, pack_element(Element::u16, 2)},
    OpEntry{"buffer_store_byte_d16_hi", store, nullptr, pack_element(Element::u8_d16_hi, 1)},
    OpEntry{"buffer_store_short_d16_hi", store, nullptr, pack_element(Element::b16_d16_hi, 2)},
    OpEntry{"buffer_wbl2", nothing},
    OpEntry{"buffer_inv", nothing},
};

}  // namespace

std::span<const OpEntry> buffer_ops() { return rows; }

}  // namespace mlaforge::simulator
