#include "simulator/exec/lanes_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace mlaforge::simulator {
namespace {

/// With ECC, which the MI355X always has, a load of 16 bits writes the whole register: the other half is zero (ISA of
/// CDNA 4, 9.1.6).
uint32_t load_small(const std::byte* from, Element element) {
  uint8_t byte = 0;
  uint16_t half = 0;
  if (from != nullptr) {
    std::memcpy(&byte, from, 1);
    if (element == Element::u16 || element == Element::i16 || element == Element::b16_d16 ||
        element == Element::b16_d16_hi) {
      std::memcpy(&half, from, 2);
    }
  }
  const auto signed_byte = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(byte)));
  switch (element) {
    case Element::u8:
      return byte;
    case Element::i8:
      return signed_byte;
    case Element::u16:
      return half;
    case Element::i16:
      return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(half)));
    case Element::u8_d16:
      return byte;
    case Element::u8_d16_hi:
      return uint32_t{byte} << 16;
    case Element::i8_d16:
      return signed_byte & 0xffff;
    case Element::i8_d16_hi:
      return signed_byte << 16;
    case Element::b16_d16:
      return half;
    case Element::b16_d16_hi:
      return uint32_t{half} << 16;
    case Element::dwords:
      break;
  }
  return 0;
}

template <int Dwords>
void load_dwords(Wave& wave, const PendingOp& op) {
  Row* rows = &wave.vgpr[op.first_register];
  const auto move = [&](int lane) {
    uint32_t value[Dwords] = {};
    if (const std::byte* from = op.address[static_cast<size_t>(lane)]) std::memcpy(value, from, sizeof value);
    for (int d = 0; d < Dwords; ++d) rows[d].lane[lane] = value[d];
  };
  if (op.exec == ~uint64_t{0}) {
    for (int lane = 0; lane < wave_lanes; ++lane) move(lane);
  } else {
    for_lanes(op.exec, move);
  }
}

template <size_t Bytes>
void move_dma(const PendingOp& op) {
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    if (op.address[lane] != nullptr) {
      std::memcpy(op.address2[lane], op.address[lane], Bytes);
    } else {
      std::memset(op.address2[lane], 0, Bytes);
    }
  });
}

}  // namespace

void apply_load(Wave& wave, PendingOp& op) {
  const Transfer transfer = unpack(op.detail);
  if (transfer.element == Element::dwords) {
    switch (transfer.bytes) {
      case 4:
        load_dwords<1>(wave, op);
        return;
      case 8:
        load_dwords<2>(wave, op);
        return;
      case 12:
        load_dwords<3>(wave, op);
        return;
      default:
        load_dwords<4>(wave, op);
        return;
    }
  }
  uint32_t* row = wave.vgpr[op.first_register].lane;
  for_lanes(op.exec,
            [&](int lane) { row[lane] = load_small(op.address[static_cast<size_t>(lane)], transfer.element); });
}

void apply_store(Wave&, PendingOp& op) {
  const Transfer transfer = unpack(op.detail);
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    std::byte* to = op.address[lane];
    if (to == nullptr) return;
    if (transfer.bytes < 4) {
      std::memcpy(to, &op.data[0][lane], transfer.bytes);
      return;
    }
    for (size_t d = 0; d < transfer.bytes / 4u; ++d) std::memcpy(to + 4 * d, &op.data[d][lane], 4);
  });
}

void apply_dma(Wave&, PendingOp& op) {
  switch (op.bytes) {
    case 1:
    case 2:
      for_lanes(op.exec, [&](int lane_index) {
        const auto lane = static_cast<size_t>(lane_index);
        const uint32_t value = load_small(op.address[lane], unpack(op.detail).element);
        std::memcpy(op.address2[lane], &value, 4);
      });
      return;
    case 4:
      move_dma<4>(op);
      return;
    case 12:
      move_dma<12>(op);
      return;
    default:
      move_dma<16>(op);
      return;
  }
}

void apply_load_pieces(Wave& wave, PendingOp& op) {
  for_lanes(op.exec, [&](int lane) {
    for (size_t d = 0; d < op.registers; ++d) {
      uint32_t value = 0;
      if (const std::byte* from = op.pieces[d][static_cast<size_t>(lane)]) std::memcpy(&value, from, 4);
      wave.vgpr[op.first_register + d].lane[lane] = value;
    }
  });
}

void apply_store_pieces(Wave&, PendingOp& op) {
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (size_t d = 0; d < unpack(op.detail).bytes / 4u; ++d) {
      if (op.pieces[d][lane] != nullptr) std::memcpy(op.pieces[d][lane], &op.data[d][lane], 4);
    }
  });
}

void apply_dma_pieces(Wave&, PendingOp& op) {
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (size_t d = 0; d < op.bytes / 4; ++d) {
      uint32_t value = 0;
      if (op.pieces[d][lane] != nullptr) std::memcpy(&value, op.pieces[d][lane], 4);
      std::memcpy(op.address2[lane] + 4 * d, &value, 4);
    }
  });
}

void capture_data(const Wave& wave, PendingOp& op, const Operand& source, Transfer transfer) {
  const size_t rows = registers_of(transfer);
  for (size_t d = 0; d < rows; ++d) std::memcpy(op.data[d].data(), wave.vgpr[source.index + d].lane, sizeof(Row));
  const bool high = transfer.element == Element::b16_d16_hi || transfer.element == Element::u8_d16_hi;
  if (high) {
    for (uint32_t& value : op.data[0]) value >>= 16;
  }
}

void resolve_lds(Wave& wave, uint64_t exec, std::array<std::byte*, wave_lanes>& addresses, const uint32_t* base,
                 uint32_t offset, uint32_t bytes, uint32_t alignment) {
  std::byte* lds = wave.group->lds.data();
  if (wave.group->launch->config.checks.alignment) alignment = std::max(alignment, std::min(bytes, 4u));
  // All lanes at once when nothing can be wrong; the slow loop finds the lane that is.
  uint32_t highest = 0;
  uint32_t bits = 0;
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t address = base[lane] + offset;
    highest = std::max(highest, address);
    bits |= address;
  }
  if (uint64_t{highest} + bytes <= wave.group->lds.size() && bits % alignment == 0) {
    for (size_t lane = 0; lane < wave_lanes; ++lane) addresses[lane] = lds + (base[lane] + offset);
    return;
  }
  for_lanes(exec, [&](int lane) {
    const uint32_t address = base[lane] + offset;
    require_aligned(wave, address, alignment, lane);
    addresses[static_cast<size_t>(lane)] = find_lds(wave, address, bytes, lane);
  });
}

void require_aligned(const Wave& wave, uint64_t address, uint32_t alignment, int lane) {
  if (address % alignment == 0) return;
  raise_fault(wave, FaultKind::misaligned,
              fmt::format("address 0x{:x} is not a multiple of {} bytes", address, alignment), lane);
}

void check_alignment(const Wave& wave, uint64_t address, uint32_t bytes, int lane) {
  if (wave.group->launch->config.checks.alignment) require_aligned(wave, address, std::min(bytes, 4u), lane);
}

}  // namespace mlaforge::simulator
