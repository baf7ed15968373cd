// Moving bytes between registers and lane addresses: shared by global, flat, scratch, buffer and DS instructions.
#pragma once

#include <bit>
#include <cstring>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

/// What a load or store moves a lane, packed into OpEntry::detail.
enum class Element : uint8_t {
  dwords,  ///< 1 to 4 whole registers
  u8,      ///< zero-extended to 32 bits; stores the low byte
  i8,      ///< sign-extended
  u16,
  i16,
  u8_d16,     ///< to the low half
  u8_d16_hi,  ///< to the high half
  i8_d16,
  i8_d16_hi,
  b16_d16,
  b16_d16_hi,
};

struct Transfer {
  Element element = Element::dwords;
  uint8_t bytes = 4;  ///< a lane
};

constexpr uint32_t pack(Transfer t) { return static_cast<uint32_t>(t.element) | static_cast<uint32_t>(t.bytes) << 8; }
constexpr uint32_t pack_dwords(int count) { return pack({Element::dwords, static_cast<uint8_t>(4 * count)}); }
constexpr uint32_t pack_element(Element element, uint8_t bytes) { return pack({element, bytes}); }
constexpr Transfer unpack(uint32_t detail) {
  return {static_cast<Element>(detail & 0xff), static_cast<uint8_t>(detail >> 8 & 0xff)};
}

/// Calls f(lane) for every lane whose bit is set.
template <typename F>
void for_lanes(uint64_t mask, F&& f) {
  while (mask != 0) {
    f(std::countr_zero(mask));
    mask &= mask - 1;
  }
}

/// Registers a transfer fills or stores.
constexpr uint16_t registers_of(Transfer t) { return static_cast<uint16_t>(t.bytes <= 4 ? 1 : t.bytes / 4); }

/// op.address -> registers from op.first_register on; a null address reads 0.
void apply_load(Wave& wave, PendingOp& op);
/// op.data -> op.address; a null address drops the lane.
void apply_store(Wave& wave, PendingOp& op);
/// op.address (global) -> op.address2 (LDS), op.bytes a lane; a null source writes zeros. Less than a dword
/// is extended to one.
void apply_dma(Wave& wave, PendingOp& op);
/// The same with op.pieces, dword by dword.
void apply_load_pieces(Wave& wave, PendingOp& op);
void apply_store_pieces(Wave& wave, PendingOp& op);
void apply_dma_pieces(Wave& wave, PendingOp& op);

/// Copies a store's registers into op.data under EXEC.
void capture_data(const Wave& wave, PendingOp& op, const Operand& source, Transfer transfer);

/// Host bytes of base[lane] + offset in the LDS for every lane of `exec`, or a fault; `alignment` is the hardware's
/// rule.
void resolve_lds(Wave& wave, uint64_t exec, std::array<std::byte*, wave_lanes>& addresses, const uint32_t* base,
                 uint32_t offset, uint32_t bytes, uint32_t alignment = 1);

/// Raises FaultKind::misaligned unless `address` is a multiple of `alignment`.
void require_aligned(const Wave& wave, uint64_t address, uint32_t alignment, int lane);
/// The rule of Checks::alignment for plain loads and stores.
void check_alignment(const Wave& wave, uint64_t address, uint32_t bytes, int lane);

}  // namespace mlaforge::simulator
