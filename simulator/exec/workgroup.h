// A launch, a workgroup of it, and the memory that a workgroup sees. One host thread runs one workgroup at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "simulator/core/launch.h"
#include "simulator/core/wave.h"
#include "simulator/exec/global_races.h"
#include "simulator/exec/lds_races.h"
#include "simulator/exec/memory_queue.h"
#include "simulator/exec/register_checks.h"

namespace mlaforge::simulator {

/// Aperture bases, as SH_MEM_BASES has them on amdhsa: above every device address.
inline constexpr uint64_t shared_aperture = uint64_t{1} << 48;
inline constexpr uint64_t private_aperture = uint64_t{2} << 48;
/// Where a launch's kernel arguments and dispatch packet lie; device allocations stay below 0xf000'0000'0000.
inline constexpr uint64_t kernarg_address = 0xf000'0000'0000;
inline constexpr uint64_t dispatch_packet_address = 0xf100'0000'0000;
inline constexpr uint64_t grid_sync_address = 0xf200'0000'0000;

/// What is the same for every workgroup of a launch.
struct LaunchState {
  LaunchState(const KernelCode& code, const LaunchConfig& launch_config, GlobalMemory& global_memory)
      : kernel(code), config(launch_config), memory(global_memory) {}

  const KernelCode& kernel;
  const LaunchConfig& config;
  GlobalMemory& memory;
  std::vector<std::byte> kernarg;    ///< hidden arguments filled in
  uint64_t kernarg_valid_bytes = 0;  ///< reads at or past it are faults
  std::array<std::byte, 64> dispatch_packet{};
  /// What the device libraries' grid barrier counts in, of a cooperative launch. Workgroups write it.
  alignas(8) mutable std::array<std::byte, 48> grid_sync{};
  uint32_t lds_bytes = 0;
  uint32_t scratch_bytes = 0;  ///< a lane
  int arch_vgprs = 0;
  int agprs = 0;
};

struct Workgroup {
  const LaunchState* launch = nullptr;
  std::array<uint32_t, 3> id{};
  uint64_t linear_id = 0;
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<std::unique_ptr<MemoryQueue>> queues;
  int wave_count = 0;
  std::vector<std::byte> lds;                              ///< launch->lds_bytes long
  std::vector<std::byte> scratch;                          ///< [wave, lane, byte]
  std::array<MemoryRegion, 4> regions{};                   ///< regions that were hit, most recent first
  std::unique_ptr<LdsRaces> races;                         ///< null: not checked
  std::vector<std::unique_ptr<RegisterChecks>> registers;  ///< a wave; empty: not checked
  std::optional<GlobalLog> global_log;                     ///< nothing: not checked
  std::mt19937_64 random;
  ExecutionObserver* observer = nullptr;  ///< null: nobody watches
};

/// Host bytes of device address range [address, address + bytes), or a fault at `lane`.
std::byte* find_global_slow(Wave& wave, uint64_t address, uint32_t bytes, bool write, int lane);

inline std::byte* find_global(Wave& wave, uint64_t address, uint32_t bytes, bool write, int lane) {
  const MemoryRegion& region = wave.group->regions[0];
  const uint64_t offset = address - region.begin;
  const uint64_t size = region.end - region.begin;
  if (offset < size && size - offset >= bytes && (region.writable || !write)) [[likely]] {
    return region.host + offset;
  }
  return find_global_slow(wave, address, bytes, write, lane);
}

/// Host bytes of LDS, or a fault.
std::byte* find_lds(Wave& wave, uint32_t address, uint32_t bytes, int lane);
/// Host bytes of the lane's scratch, or a fault.
std::byte* find_scratch(Wave& wave, uint64_t offset, uint32_t bytes, int lane);

/// Sets up registers, LDS and scratch for one workgroup; reuses the memory of the last one.
void start_workgroup(Workgroup& group, const LaunchState& launch, uint64_t linear_id);
/// Runs it to its end, or for a quantum of about `instructions`, or until it does nothing but sleep. True: it has
/// ended. Throws FaultError.
bool run_workgroup(Workgroup& group, uint64_t instructions);

}  // namespace mlaforge::simulator
