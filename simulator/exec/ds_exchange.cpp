// DS instructions that give back old values of more than one word, or of a counter: wrxchg2, condxchg32, append,
// consume.
#include <array>
#include <bit>

#include "simulator/exec/memory_ops.h"

namespace mlaforge::simulator {
namespace {

/// op.data holds the new dwords: those of address, then of address2.
void apply_exchange(Wave& wave, PendingOp& op) {
  const size_t words = op.bytes / 4;
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    const auto swap = [&](std::byte* at, size_t first) {
      for (size_t d = 0; d < words; ++d) {
        std::memcpy(&wave.vgpr[op.first_register + first + d].lane[lane], at + 4 * d, 4);
        std::memcpy(at + 4 * d, &op.data[first + d][lane], 4);
      }
    };
    swap(op.address[lane], 0);
    swap(op.address2[lane], words);
  });
}

/// Packed into OpEntry::detail: element bytes, and what an offset counts in elements.
constexpr uint32_t pair_form(uint32_t bytes, uint32_t stride) { return bytes | stride << 8; }

/// Operands: result, address, data of the first, data of the second.
void exchange_pair(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_exchange;
  op.lds = LdsAccess::write_pair;
  op.bytes = i.detail & 0xff;
  op.lds_bytes = static_cast<uint8_t>(op.bytes);
  op.first_register = i.operands[0].index;
  op.registers = static_cast<uint16_t>(op.bytes / 2);
  const uint32_t unit = op.bytes * (i.detail >> 8);
  const uint32_t* base = wave.vgpr[i.operands[1].index].lane;
  resolve_lds(wave, op.exec, op.address, base, i.modifiers.offset0 * unit, op.bytes);
  resolve_lds(wave, op.exec, op.address2, base, i.modifiers.offset1 * unit, op.bytes);
  const size_t words = op.bytes / 4;
  for (size_t d = 0; d < words; ++d) {
    std::memcpy(op.data[d].data(), wave.vgpr[i.operands[2].index + d].lane, sizeof(Row));
    std::memcpy(op.data[words + d].data(), wave.vgpr[i.operands[3].index + d].lane, sizeof(Row));
  }
  wave.queue->issue(wave, op);
}

/// Each dword of the data is written where its bit 31 is set, without that bit.
void apply_conditional(Wave& wave, PendingOp& op) {
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (size_t d = 0; d < 2; ++d) {
      std::byte* at = op.address[lane] + 4 * d;
      const uint32_t data = op.data[d][lane];
      std::memcpy(&wave.vgpr[op.first_register + d].lane[lane], at, 4);
      const uint32_t written = data & 0x7fffffff;
      if ((data >> 31) != 0) std::memcpy(at, &written, 4);
    }
  });
}

/// Operands: result, address, data.
void exchange_conditionally(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_conditional;
  op.lds = LdsAccess::atomic;
  op.bytes = 8;
  op.lds_bytes = 8;
  op.first_register = i.operands[0].index;
  op.registers = 2;
  resolve_lds(wave, op.exec, op.address, wave.vgpr[i.operands[1].index].lane, static_cast<uint32_t>(i.modifiers.offset),
              8);
  for (size_t d = 0; d < 2; ++d) {
    std::memcpy(op.data[d].data(), wave.vgpr[i.operands[2].index + d].lane, sizeof(Row));
  }
  wave.queue->issue(wave, op);
}

/// One counter of the wave's: it moves by the number of active lanes (op.data[0][0]), and each gets its old value.
void apply_counter(Wave& wave, PendingOp& op) {
  if (op.exec == 0) return;
  std::byte* at = op.address[static_cast<size_t>(std::countr_zero(op.exec))];
  uint32_t old = 0;
  std::memcpy(&old, at, 4);
  const uint32_t moved = old + op.data[0][0];
  std::memcpy(at, &moved, 4);
  for_lanes(op.exec, [&](int lane) { wave.vgpr[op.first_register].lane[lane] = old; });
}

/// LDS address = M0[15:0] + offset. Operand: result.
void move_counter(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::lds, i, wave.exec());
  op.apply = apply_counter;
  op.lds = LdsAccess::atomic;
  op.bytes = 4;
  op.lds_bytes = 4;
  op.first_register = i.operands[0].index;
  op.registers = 1;
  Row base;
  splat(wave.m0() & 0xffff, base);
  resolve_lds(wave, op.exec, op.address, base.lane, static_cast<uint32_t>(i.modifiers.offset), 4, 4);
  const auto lanes = static_cast<uint32_t>(std::popcount(op.exec));
  op.data[0][0] = i.mnemonic == "ds_append" ? lanes : 0 - lanes;
  wave.queue->issue(wave, op);
}

constexpr std::array rows{
    OpEntry{"ds_wrxchg2_rtn_b32", exchange_pair, nullptr, pair_form(4, 1)},
    OpEntry{"ds_wrxchg2_rtn_b64", exchange_pair, nullptr, pair_form(8, 1)},
    OpEntry{"ds_wrxchg2st64_rtn_b32", exchange_pair, nullptr, pair_form(4, 64)},
    OpEntry{"ds_wrxchg2st64_rtn_b64", exchange_pair, nullptr, pair_form(8, 64)},
    OpEntry{"ds_condxchg32_rtn_b64", exchange_conditionally},
    OpEntry{"ds_append", move_counter},
    OpEntry{"ds_consume", move_counter},
};

}  // namespace

std::span<const OpEntry> ds_exchange_ops() { return rows; }

}  // namespace mlaforge::simulator
