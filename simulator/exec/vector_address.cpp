#include "simulator/exec/vector_address.h"

#include <algorithm>

#include "simulator/exec/buffer_resource.h"

namespace mlaforge::simulator {
namespace {

/// All lanes at once, when all lie in the region that was hit last and none is misaligned.
bool resolve_in_last_region(Wave& wave, PendingOp& op, const std::array<uint64_t, wave_lanes>& addresses,
                            uint32_t bytes, bool write, uint32_t alignment) {
  const MemoryRegion& region = wave.group->regions[0];
  if (op.exec != ~uint64_t{0} || (write && !region.writable)) return false;
  uint64_t lowest = ~uint64_t{0};
  uint64_t highest = 0;
  uint64_t bits = 0;
  for (const uint64_t address : addresses) {
    lowest = std::min(lowest, address);
    highest = std::max(highest, address);
    bits |= address;
  }
  if (lowest < region.begin || highest >= region.end || region.end - highest < bytes || bits % alignment != 0) {
    return false;
  }
  for (size_t lane = 0; lane < wave_lanes; ++lane) op.address[lane] = region.host + (addresses[lane] - region.begin);
  return true;
}

std::byte* flat_lane(Wave& wave, uint64_t address, uint32_t bytes, bool write, int lane) {
  const uint64_t aperture = address >> 32 << 32;
  if (aperture == shared_aperture) return find_lds(wave, static_cast<uint32_t>(address), bytes, lane);
  if (aperture == private_aperture) return find_scratch(wave, static_cast<uint32_t>(address), bytes, lane);
  return find_global(wave, address, bytes, write, lane);
}

}  // namespace

Space space_of(const Instruction& instruction) {
  if (instruction.mnemonic.starts_with("flat_")) return Space::flat;
  return instruction.mnemonic.starts_with("scratch_") ? Space::scratch : Space::global;
}

void resolve_lanes(Wave& wave, PendingOp& op, const AddressOperands& operands, uint32_t bytes, bool write,
                   uint32_t alignment) {
  const auto offset = static_cast<uint64_t>(op.instruction->modifiers.offset);
  const bool has_scalar = operands.scalar != nullptr && operands.scalar->kind == OperandKind::sgpr;
  const Operand& vector = *operands.vector;
  if (wave.group->launch->config.checks.alignment) alignment = std::max(alignment, std::min(bytes, 4u));
  if (operands.space == Space::scratch) {
    const uint32_t scalar = (has_scalar ? wave.sgpr[operands.scalar->index] : 0) + static_cast<uint32_t>(offset);
    for_lanes(op.exec, [&](int lane) {
      const uint32_t address = scalar + (vector.is_vector() ? wave.vgpr[vector.index].lane[lane] : 0);
      require_aligned(wave, address, alignment, lane);
      op.address[static_cast<size_t>(lane)] = find_scratch(wave, address, bytes, lane);
    });
    return;
  }
  std::array<uint64_t, wave_lanes> addresses;
  const uint32_t* low = wave.vgpr[vector.index].lane;
  if (has_scalar) {
    const uint64_t base = wave.sgpr_pair(operands.scalar->index) + offset;
    for (size_t lane = 0; lane < wave_lanes; ++lane) addresses[lane] = base + low[lane];
  } else {
    const uint32_t* high = wave.vgpr[vector.index + 1].lane;
    for (size_t lane = 0; lane < wave_lanes; ++lane)
      addresses[lane] = (low[lane] | uint64_t{high[lane]} << 32) + offset;
  }
  if (resolve_in_last_region(wave, op, addresses, bytes, write, alignment)) return;
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    require_aligned(wave, addresses[lane], alignment, lane_index);
    op.address[lane] = operands.space == Space::flat ? flat_lane(wave, addresses[lane], bytes, write, lane_index)
                                                     : find_global(wave, addresses[lane], bytes, write, lane_index);
  });
}

bool resolve_buffer(Wave& wave, PendingOp& op, size_t address_operand, uint32_t bytes, bool write, uint32_t alignment) {
  const Instruction& instruction = *op.instruction;
  const Modifiers& m = instruction.modifiers;
  const Operand& address = instruction.operands[address_operand];
  const BufferResource resource = read_resource(wave, instruction.operands[address_operand + 1]);
  const uint64_t soffset = scalar32(wave, instruction.operands[address_operand + 2]);
  const uint32_t piece = std::min(bytes, 4u);
  const auto index_of = [&](int lane) {
    const auto vector = [&](int row) { return wave.vgpr[address.index + row].lane[lane]; };
    BufferIndex at{.index = 0, .offset = static_cast<uint64_t>(m.offset), .soffset = soffset, .indexed = m.idxen};
    if (m.idxen) at.index += vector(0);
    if (m.offen) at.offset += vector(m.idxen ? 1 : 0);
    if (resource.add_tid) at.index += static_cast<uint64_t>(lane);
    return at;
  };
  bool cut = false;
  for_lanes(op.exec, [&](int lane) {
    const BufferIndex at = index_of(lane);
    const auto first = buffer_address(resource, at, 0);
    const auto last = buffer_address(resource, at, bytes - piece);
    std::byte*& host = op.address[static_cast<size_t>(lane)];
    host = nullptr;
    if (!first && !last) return;
    if (!first || !last || *last - *first != bytes - piece) {
      cut = true;
      return;
    }
    if (alignment > 1) {
      require_aligned(wave, *first, alignment, lane);
    } else {
      check_alignment(wave, *first, bytes, lane);
    }
    if (!cut) host = find_global(wave, *first, bytes, write, lane);
  });
  if (!cut) return false;
  for_lanes(op.exec, [&](int lane) {
    const BufferIndex at = index_of(lane);
    for (uint32_t d = 0; d < bytes / 4; ++d) {
      const auto dword = buffer_address(resource, at, 4 * d);
      op.pieces[d][static_cast<size_t>(lane)] = dword ? find_global(wave, *dword, 4, write, lane) : nullptr;
    }
  });
  return true;
}

}  // namespace mlaforge::simulator
