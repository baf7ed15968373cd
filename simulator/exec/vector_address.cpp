#include "simulator/exec/vector_address.h"

#include <algorithm>

#include "simulator/exec/buffer_resource.h"

namespace mlaforge::simulator {
namespace {

uint64_t lane_address64(const Wave& wave, const Operand& op, int lane) {
  return wave.vgpr[op.index].lane[lane] | uint64_t{wave.vgpr[op.index + 1].lane[lane]} << 32;
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
  const auto finish = [&](uint64_t address, int lane) {
    if (alignment > 1) {
      require_aligned(wave, address, alignment, lane);
    } else {
      check_alignment(wave, address, bytes, lane);
    }
    std::byte*& host = op.address[static_cast<size_t>(lane)];
    switch (operands.space) {
      case Space::global:
        host = find_global(wave, address, bytes, write, lane);
        break;
      case Space::flat:
        host = flat_lane(wave, address, bytes, write, lane);
        break;
      case Space::scratch:
        host = find_scratch(wave, address, bytes, lane);
        break;
    }
  };
  if (operands.space == Space::scratch) {
    const uint32_t scalar = has_scalar ? wave.sgpr[operands.scalar->index] : 0;
    for_lanes(op.exec, [&](int lane) {
      const uint32_t base = vector.is_vector() ? wave.vgpr[vector.index].lane[lane] : 0;
      finish(static_cast<uint32_t>(base + scalar + static_cast<uint32_t>(offset)), lane);
    });
  } else if (has_scalar) {
    const uint64_t scalar = wave.sgpr_pair(operands.scalar->index);
    for_lanes(op.exec, [&](int lane) { finish(scalar + wave.vgpr[vector.index].lane[lane] + offset, lane); });
  } else {
    for_lanes(op.exec, [&](int lane) { finish(lane_address64(wave, vector, lane) + offset, lane); });
  }
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
    BufferIndex at{.index = 0, .offset = static_cast<uint64_t>(m.offset), .soffset = soffset};
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
