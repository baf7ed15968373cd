// Device, LDS and scratch addresses to host bytes, with the faults of those that have none.
#include <fmt/format.h>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

constexpr uint64_t internal_window = uint64_t{1} << 32;

MemoryLookup find_internal(const LaunchState& launch, uint64_t address) {
  if (address - kernarg_address < internal_window) {
    // Handing out const bytes as writable ones would let a kernel write its arguments: the region says it may not.
    auto* host = const_cast<std::byte*>(launch.kernarg.data());
    return {{kernarg_address, kernarg_address + launch.kernarg_valid_bytes, host, false}, MemoryMiss::none};
  }
  if (launch.config.cooperative && address - grid_sync_address < internal_window) {
    return {{grid_sync_address, grid_sync_address + launch.grid_sync.size(), launch.grid_sync.data(), true},
            MemoryMiss::none};
  }
  auto* host = const_cast<std::byte*>(launch.dispatch_packet.data());
  return {{dispatch_packet_address, dispatch_packet_address + launch.dispatch_packet.size(), host, false},
          MemoryMiss::none};
}

bool holds(const MemoryRegion& region, uint64_t address, uint32_t bytes) {
  return address >= region.begin && address < region.end && region.end - address >= bytes;
}

}  // namespace

std::byte* find_global_slow(Wave& wave, uint64_t address, uint32_t bytes, bool write, int lane) {
  Workgroup& group = *wave.group;
  auto& regions = group.regions;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (!holds(regions[i], address, bytes) || (write && !regions[i].writable)) continue;
    const MemoryRegion hit = regions[i];
    for (size_t j = i; j > 0; --j) regions[j] = regions[j - 1];
    regions[0] = hit;
    return hit.host + (address - hit.begin);
  }
  const bool internal = address >= kernarg_address && address < shared_aperture;
  const MemoryLookup found = internal ? find_internal(*group.launch, address) : group.launch->memory.find(address);
  const char* access = write ? "write" : "read";
  if (internal && !write && !holds(found.region, address, bytes)) {
    raise_fault(wave, FaultKind::kernarg_bounds,
                fmt::format("{} of {} bytes at byte {} of the kernel arguments, of which there are {}", access, bytes,
                            address - kernarg_address, group.launch->kernarg_valid_bytes),
                lane);
  }
  if (found.miss == MemoryMiss::freed) {
    raise_fault(
        wave, FaultKind::use_after_free,
        fmt::format("{} of {} bytes at 0x{:x}: {}", access, bytes, address, group.launch->memory.describe(address)),
        lane);
  }
  if (found.miss != MemoryMiss::none || !holds(found.region, address, bytes)) {
    raise_fault(wave, FaultKind::memory_bounds,
                fmt::format("{} of {} bytes at 0x{:x}: {}", access, bytes, address,
                            internal ? "the kernel arguments" : group.launch->memory.describe(address)),
                lane);
  }
  if (write && !found.region.writable) {
    raise_fault(wave, FaultKind::memory_bounds,
                fmt::format("write of {} bytes at 0x{:x}, which is read-only: {}", bytes, address,
                            internal ? "the kernel arguments" : group.launch->memory.describe(address)),
                lane);
  }
  for (size_t j = regions.size() - 1; j > 0; --j) regions[j] = regions[j - 1];
  regions[0] = found.region;
  return found.region.host + (address - found.region.begin);
}

std::byte* find_lds(Wave& wave, uint32_t address, uint32_t bytes, int lane) {
  auto& lds = wave.group->lds;
  if (address > lds.size() || lds.size() - address < bytes) {
    raise_fault(
        wave, FaultKind::memory_bounds,
        fmt::format("LDS access of {} bytes at byte {}, but the workgroup has {} bytes", bytes, address, lds.size()),
        lane);
  }
  return lds.data() + address;
}

std::byte* find_scratch(Wave& wave, uint64_t offset, uint32_t bytes, int lane) {
  const uint32_t size = wave.group->launch->scratch_bytes;
  if (offset > size || size - offset < bytes) {
    raise_fault(wave, FaultKind::memory_bounds,
                fmt::format("scratch access of {} bytes at byte {}, but a lane has {} bytes", bytes,
                            static_cast<int64_t>(offset), size),
                lane);
  }
  const size_t lane_index = static_cast<size_t>(wave.index) * wave_lanes + static_cast<size_t>(lane);
  return wave.group->scratch.data() + lane_index * size + offset;
}

}  // namespace mlaforge::simulator
