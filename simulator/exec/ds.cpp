// LDS loads and stores: single, and two at once (read2, write2, with their strides of 64 elements).
#include <array>

#include "simulator/exec/memory_ops.h"

namespace mlaforge::simulator {
namespace {

void read(Wave& wave, const Instruction& i) {
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_load;
  op.lds = LdsAccess::read;
  op.lds_bytes = unpack(i.detail).bytes;
  op.detail = i.detail;
  op.first_register = i.operands[0].index;
  op.registers = registers_of(transfer);
  resolve_lds(wave, op.exec, op.address, wave.vgpr[i.operands[1].index].lane, static_cast<uint32_t>(i.modifiers.offset),
              transfer.bytes);
  wave.queue->issue(wave, op);
}

void write(Wave& wave, const Instruction& i) {
  const Transfer transfer = unpack(i.detail);
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_store;
  op.lds = LdsAccess::write;
  op.lds_bytes = unpack(i.detail).bytes;
  op.detail = i.detail;
  resolve_lds(wave, op.exec, op.address, wave.vgpr[i.operands[0].index].lane, static_cast<uint32_t>(i.modifiers.offset),
              transfer.bytes);
  capture_data(wave, op, i.operands[1], transfer);
  wave.queue->issue(wave, op);
}

/// The second of two elements goes to the registers behind the first's.
void apply_read2(Wave& wave, PendingOp& op) {
  const size_t words = op.bytes / 4;
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (size_t d = 0; d < words; ++d) {
      std::memcpy(&wave.vgpr[op.first_register + d].lane[lane], op.address[lane] + 4 * d, 4);
      std::memcpy(&wave.vgpr[op.first_register + words + d].lane[lane], op.address2[lane] + 4 * d, 4);
    }
  });
}

void apply_write2(Wave&, PendingOp& op) {
  const size_t words = op.bytes / 4;
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (size_t d = 0; d < words; ++d) std::memcpy(op.address[lane] + 4 * d, &op.data[d][lane], 4);
    for (size_t d = 0; d < words; ++d) std::memcpy(op.address2[lane] + 4 * d, &op.data[words + d][lane], 4);
  });
}

/// Packed into OpEntry::detail for the pair forms: element bytes, and what an offset counts.
constexpr uint32_t pair_form(uint32_t bytes, uint32_t stride) { return bytes | stride << 8; }

void resolve_pair(Wave& wave, PendingOp& op, const Instruction& i, const Operand& address) {
  op.bytes = i.detail & 0xff;
  op.lds_bytes = static_cast<uint8_t>(op.bytes);
  const uint32_t unit = op.bytes * (i.detail >> 8);
  const uint32_t* base = wave.vgpr[address.index].lane;
  resolve_lds(wave, op.exec, op.address, base, i.modifiers.offset0 * unit, op.bytes);
  resolve_lds(wave, op.exec, op.address2, base, i.modifiers.offset1 * unit, op.bytes);
}

void read2(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_read2;
  op.lds = LdsAccess::read_pair;
  op.first_register = i.operands[0].index;
  resolve_pair(wave, op, i, i.operands[1]);
  op.registers = static_cast<uint16_t>(op.bytes / 2);
  wave.queue->issue(wave, op);
}

void write2(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_write2;
  op.lds = LdsAccess::write_pair;
  resolve_pair(wave, op, i, i.operands[0]);
  const size_t words = op.bytes / 4;
  for (size_t d = 0; d < words; ++d) {
    std::memcpy(op.data[d].data(), wave.vgpr[i.operands[1].index + d].lane, sizeof(Row));
    std::memcpy(op.data[words + d].data(), wave.vgpr[i.operands[2].index + d].lane, sizeof(Row));
  }
  wave.queue->issue(wave, op);
}

/// LDS address = M0[15:0] + offset + lane * 4.
void resolve_by_lane(Wave& wave, PendingOp& op, const Instruction& i) {
  Row base;
  for (uint32_t lane = 0; lane < wave_lanes; ++lane) base.lane[lane] = (wave.m0() & 0xffff) + lane * 4;
  resolve_lds(wave, op.exec, op.address, base.lane, static_cast<uint32_t>(i.modifiers.offset), 4);
}

void read_addtid(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_load;
  op.lds = LdsAccess::read;
  op.lds_bytes = unpack(i.detail).bytes;
  op.detail = i.detail;
  op.first_register = i.operands[0].index;
  op.registers = 1;
  resolve_by_lane(wave, op, i);
  wave.queue->issue(wave, op);
}

void write_addtid(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_store;
  op.lds = LdsAccess::write;
  op.lds_bytes = unpack(i.detail).bytes;
  op.detail = i.detail;
  resolve_by_lane(wave, op, i);
  capture_data(wave, op, i.operands[0], unpack(i.detail));
  wave.queue->issue(wave, op);
}

constexpr std::array rows{
    OpEntry{"ds_read_b32", read, nullptr, pack_dwords(1)},
    OpEntry{"ds_read_b64", read, nullptr, pack_dwords(2)},
    OpEntry{"ds_read_b96", read, nullptr, pack_dwords(3)},
    OpEntry{"ds_read_b128", read, nullptr, pack_dwords(4)},
    OpEntry{"ds_read_u8", read, nullptr, pack_element(Element::u8, 1)},
    OpEntry{"ds_read_i8", read, nullptr, pack_element(Element::i8, 1)},
    OpEntry{"ds_read_u16", read, nullptr, pack_element(Element::u16, 2)},
    OpEntry{"ds_read_i16", read, nullptr, pack_element(Element::i16, 2)},
    OpEntry{"ds_read_u8_d16", read, nullptr, pack_element(Element::u8_d16, 1)},
    OpEntry{"ds_read_u8_d16_hi", read, nullptr, pack_element(Element::u8_d16_hi, 1)},
    OpEntry{"ds_read_i8_d16", read, nullptr, pack_element(Element::i8_d16, 1)},
    OpEntry{"ds_read_i8_d16_hi", read, nullptr, pack_element(Element::i8_d16_hi, 1)},
    OpEntry{"ds_read_u16_d16", read, nullptr, pack_element(Element::b16_d16, 2)},
    OpEntry{"ds_read_u16_d16_hi", read, nullptr, pack_element(Element::b16_d16_hi, 2)},
    OpEntry{"ds_write_b32", write, nullptr, pack_dwords(1)},
    OpEntry{"ds_write_b64", write, nullptr, pack_dwords(2)},
    OpEntry{"ds_write_b96", write, nullptr, pack_dwords(3)},
    OpEntry{"ds_write_b128", write, nullptr, pack_dwords(4)},
    OpEntry{"ds_write_b8", write, nullptr, pack_element(Element::u8, 1)},
    OpEntry{"ds_write_b16", write, nullptr, pack_element(Element::u16, 2)},
    OpEntry{"ds_write_b8_d16_hi", write, nullptr, pack_element(Element::u8_d16_hi, 1)},
    OpEntry{"ds_write_b16_d16_hi", write, nullptr, pack_element(Element::b16_d16_hi, 2)},
    OpEntry{"ds_read2_b32", read2, nullptr, pair_form(4, 1)},
    OpEntry{"ds_read2_b64", read2, nullptr, pair_form(8, 1)},
    OpEntry{"ds_read2st64_b32", read2, nullptr, pair_form(4, 64)},
    OpEntry{"ds_read2st64_b64", read2, nullptr, pair_form(8, 64)},
    OpEntry{"ds_write2_b32", write2, nullptr, pair_form(4, 1)},
    OpEntry{"ds_write2_b64", write2, nullptr, pair_form(8, 1)},
    OpEntry{"ds_write2st64_b32", write2, nullptr, pair_form(4, 64)},
    OpEntry{"ds_write2st64_b64", write2, nullptr, pair_form(8, 64)},
    OpEntry{"ds_read_addtid_b32", read_addtid, nullptr, pack_dwords(1)},
    OpEntry{"ds_write_addtid_b32", write_addtid, nullptr, pack_dwords(1)},
    OpEntry{"ds_nop", nothing},
};

}  // namespace

std::span<const OpEntry> ds_ops() { return rows; }

}  // namespace mlaforge::simulator
