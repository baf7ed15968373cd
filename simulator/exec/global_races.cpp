#include "simulator/exec/global_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simulator/exec/lanes_memory.h"

namespace mlaforge::simulator {
namespace {

constexpr uint64_t line_bytes = 64;

enum class Use : uint8_t { read, write, atomic };

/// The device address of a host byte that the wave just found, or 0.
uint64_t device_address(const Wave& wave, const std::byte* host) {
  for (const MemoryRegion& region : wave.group->regions) {
    const auto bytes = static_cast<std::ptrdiff_t>(region.end - region.begin);
    if (host >= region.host && host - region.host < bytes) {
      return region.begin + static_cast<uint64_t>(host - region.host);
    }
  }
  return 0;
}

void note_bytes(GlobalLog& log, const Wave& wave, const Instruction& instruction, Use use, const std::byte* host,
                uint32_t bytes) {
  for (auto first = reinterpret_cast<uint64_t>(host); bytes != 0;) {
    const auto here = static_cast<uint32_t>(std::min<uint64_t>(bytes, line_bytes - first % line_bytes));
    const uint64_t mask = (here == line_bytes ? ~uint64_t{0} : (uint64_t{1} << here) - 1) << first % line_bytes;
    LineUse& line = log[first / line_bytes];
    if (line.device == 0) {
      const uint64_t device = device_address(wave, host);
      if (device != 0) line.device = device + (first - reinterpret_cast<uint64_t>(host)) - first % line_bytes;
    }
    (use == Use::read ? line.read : use == Use::write ? line.written : line.atomic) |= mask;
    (use == Use::read ? line.reader : line.writer) = &instruction;
    first += here;
    bytes -= here;
  }
}

/// Bits of `mine` that race with `other`, of another workgroup.
uint64_t conflicts(const LineUse& mine, const LineUse& other) {
  return (mine.read & (other.written | other.atomic)) | (mine.written & (other.read | other.written | other.atomic)) |
         (mine.atomic & (other.read | other.written));
}

std::array<uint32_t, 3> id_of(const LaunchState& launch, uint64_t linear) {
  const auto& grid = launch.config.grid;
  return {static_cast<uint32_t>(linear % grid[0]), static_cast<uint32_t>(linear / grid[0] % grid[1]),
          static_cast<uint32_t>(linear / grid[0] / grid[1])};
}

Fault race(const LaunchState& launch, uint64_t workgroup, const LineUse& mine, uint64_t other_workgroup,
           const LineUse& other, uint64_t bits) {
  const uint64_t bit = bits & (~bits + 1);
  const bool i_write = ((mine.written | mine.atomic) & bit) != 0;
  const bool other_writes = ((other.written | other.atomic) & bit) != 0;
  const Instruction& here = i_write ? *mine.writer : *mine.reader;
  const Instruction& there = other_writes ? *other.writer : *other.reader;
  Fault fault;
  fault.kind = FaultKind::global_race;
  fault.kernel = launch.kernel.name;
  fault.pc = here.pc;
  fault.disassembly = here.text;
  fault.workgroup = id_of(launch, workgroup);
  const auto id = id_of(launch, other_workgroup);
  const uint64_t line_address = mine.device != 0 ? mine.device : other.device;
  const uint64_t address = line_address + static_cast<uint64_t>(std::countr_zero(bit));
  const std::string where = line_address == 0
                                ? std::string("a byte")
                                : fmt::format("the byte at 0x{:x} ({})", address, launch.memory.describe(address));
  fault.message = fmt::format(
      "workgroup ({}, {}, {}) {} {} that workgroup ({}, {}, {}) {} by '{}' at 0x{:x}: nothing orders a launch's "
      "workgroups",
      fault.workgroup[0], fault.workgroup[1], fault.workgroup[2], i_write ? "writes" : "reads", where, id[0], id[1],
      id[2], other_writes ? "writes" : "reads", there.text, there.pc);
  return fault;
}

}  // namespace

void note_global(GlobalLog& log, const Wave& wave, const PendingOp& op) {
  const Instruction& i = *op.instruction;
  if (op.kind == QueueKind::lds || i.mnemonic.starts_with("scratch_")) return;
  const bool atomic = i.mnemonic.find("_atomic_") != std::string::npos;
  if (op.kind == QueueKind::scalar && atomic) {
    if (op.address[0] != nullptr) note_bytes(log, wave, i, Use::atomic, op.address[0], op.bytes);
    return;
  }
  if (op.kind == QueueKind::scalar && op.registers == 0) {
    for (size_t d = 0; d < op.bytes / 4; ++d) {
      if (op.address[d] != nullptr) note_bytes(log, wave, i, Use::write, op.address[d], 4);
    }
    return;
  }
  if (op.kind == QueueKind::scalar) {
    if (op.apply == nullptr || !i.mnemonic.ends_with("time")) {
      for (size_t d = 0; d < op.registers; ++d) {
        if (op.address[d] != nullptr) note_bytes(log, wave, i, Use::read, op.address[d], 4);
      }
    }
    return;
  }
  const Use use = atomic ? Use::atomic : i.mnemonic.find("_store_") != std::string::npos ? Use::write : Use::read;
  const bool dma = op.lds == LdsAccess::dma;
  const bool wide = i.mnemonic.ends_with("_x2") || i.mnemonic.ends_with("64");
  const bool typed = i.mnemonic.find("_format_") != std::string::npos;
  const uint32_t bytes = dma || typed ? op.bytes : atomic ? (wide ? 8u : 4u) : unpack(op.detail).bytes;
  const bool pieces =
      typed || op.apply == apply_load_pieces || op.apply == apply_store_pieces || op.apply == apply_dma_pieces;
  const auto shared = [&](const std::byte* host) {
    const auto inside = [&](const std::vector<std::byte>& own) {
      return host >= own.data() && host < own.data() + own.size();
    };
    return host != nullptr && !inside(wave.group->lds) && !inside(wave.group->scratch);
  };
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    if (!pieces) {
      if (shared(op.address[lane])) note_bytes(log, wave, i, use, op.address[lane], bytes);
      return;
    }
    for (uint32_t d = 0; 4 * d < bytes; ++d) {
      if (op.pieces[d][lane] != nullptr) note_bytes(log, wave, i, use, op.pieces[d][lane], std::min(bytes - 4 * d, 4u));
    }
  });
}

void GlobalRaces::add(uint64_t workgroup, GlobalLog log) {
  const std::scoped_lock lock(mutex_);
  logs_.emplace(workgroup, std::move(log));
}

std::optional<Fault> GlobalRaces::find(const LaunchState& launch) const {
  std::unordered_map<uint64_t, std::vector<uint64_t>> users;  // of the lines that anybody writes
  for (const auto& [workgroup, log] : logs_) {
    for (const auto& [line, use] : log) {
      if ((use.written | use.atomic) != 0) users[line];
    }
  }
  for (const auto& [workgroup, log] : logs_) {
    for (const auto& [line, use] : log) {
      if (const auto found = users.find(line); found != users.end()) found->second.push_back(workgroup);
    }
  }
  for (const auto& [workgroup, log] : logs_) {
    std::optional<Fault> lowest;
    uint64_t lowest_address = ~uint64_t{0};
    for (const auto& [line, use] : log) {
      const auto found = users.find(line);
      if (found == users.end() || use.device >= lowest_address) continue;
      for (const uint64_t other : found->second) {
        if (other == workgroup) continue;
        const LineUse& others = logs_.at(other).at(line);
        const uint64_t bits = conflicts(use, others);
        if (bits == 0) continue;
        lowest = race(launch, workgroup, use, other, others, bits);
        lowest_address = use.device;
        break;
      }
    }
    if (lowest) return lowest;
  }
  return std::nullopt;
}

}  // namespace mlaforge::simulator
