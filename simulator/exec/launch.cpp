// run_kernel: checks the launch, lays out its arguments and hands workgroups to host threads.
#include "simulator/core/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "simulator/exec/dispatch.h"
#include "simulator/exec/observer.h"
#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

std::optional<std::string> launch_problem(const KernelCode& kernel, const LaunchConfig& config) {
  const auto& [gx, gy, gz] = config.grid;
  const auto& [bx, by, bz] = config.block;
  if (gx == 0 || gy == 0 || gz == 0) return fmt::format("the grid is {} x {} x {} workgroups", gx, gy, gz);
  if (bx == 0 || by == 0 || bz == 0) return fmt::format("the block is {} x {} x {} threads", bx, by, bz);
  const uint64_t threads = uint64_t{bx} * by * bz;
  const uint32_t most = std::min(kernel.max_workgroup_size, 1024u);
  if (bx > 1024 || by > 1024 || bz > 1024 || threads > most) {
    return fmt::format("the block is {} x {} x {} threads, but the kernel allows {}", bx, by, bz, most);
  }
  const uint64_t lds = uint64_t{kernel.descriptor.group_segment_fixed_size} + config.dynamic_lds_bytes;
  if (lds > max_lds_bytes) {
    return fmt::format("{} bytes of LDS ({} static, {} dynamic), but a workgroup has at most {}", lds,
                       kernel.descriptor.group_segment_fixed_size, config.dynamic_lds_bytes, max_lds_bytes);
  }
  const uint64_t grid = uint64_t{gx} * gy * gz;
  if (config.cooperative && grid > config.resident_workgroups) {
    return fmt::format("{} workgroups in a cooperative launch, but the device holds {} at once", grid,
                       config.resident_workgroups);
  }
  if (kernel.program == nullptr) return "the kernel has no code";
  if (kernel.descriptor.kernel_code_properties >> 10 & 1) return "the kernel is compiled for waves of 32 lanes";
  return std::nullopt;
}

uint64_t hidden_value(HiddenArgument kind, const LaunchConfig& config) {
  const auto k = static_cast<unsigned>(kind);
  const auto axis = [&](HiddenArgument first) { return k - static_cast<unsigned>(first); };
  switch (kind) {
    case HiddenArgument::block_count_x:
    case HiddenArgument::block_count_y:
    case HiddenArgument::block_count_z:
      return config.grid[axis(HiddenArgument::block_count_x)];
    case HiddenArgument::group_size_x:
    case HiddenArgument::group_size_y:
    case HiddenArgument::group_size_z:
      return config.block[axis(HiddenArgument::group_size_x)];
    case HiddenArgument::grid_dims:
      return config.grid[2] * config.block[2] > 1 ? 3 : config.grid[1] * config.block[1] > 1 ? 2 : 1;
    case HiddenArgument::private_base:
      return private_aperture >> 32;
    case HiddenArgument::shared_base:
      return shared_aperture >> 32;
    case HiddenArgument::dynamic_lds_size:
      return config.dynamic_lds_bytes;
    case HiddenArgument::hostcall_buffer:
    case HiddenArgument::printf_buffer:
    case HiddenArgument::heap:
      return absent_service(kind);
    case HiddenArgument::multigrid_sync:
      return config.cooperative ? grid_sync_address : 0;
    // HIP launches whole workgroups from thread 0, so there are no remainders and no offsets.
    case HiddenArgument::remainder_x:
    case HiddenArgument::remainder_y:
    case HiddenArgument::remainder_z:
    case HiddenArgument::global_offset_x:
    case HiddenArgument::global_offset_y:
    case HiddenArgument::global_offset_z:
    case HiddenArgument::null_pointer:
      return 0;
  }
  return 0;
}

void lay_out_kernarg(LaunchState& launch) {
  const auto given = launch.config.kernarg;
  const auto& hidden = launch.kernel.hidden_fields;
  uint64_t explicit_bytes = launch.kernel.kernarg_bytes;
  for (const HiddenField& field : hidden) explicit_bytes = std::min<uint64_t>(explicit_bytes, field.offset);
  const uint64_t size = std::max<uint64_t>(launch.kernel.kernarg_bytes, given.size());
  launch.kernarg.assign((size + 63) / 64 * 64, std::byte{0});
  if (!given.empty()) std::memcpy(launch.kernarg.data(), given.data(), given.size());
  for (const HiddenField& field : hidden) {
    if (field.offset + uint64_t{field.bytes} > launch.kernarg.size() || field.bytes > 8) continue;
    const uint64_t value = hidden_value(field.kind, launch.config);
    std::memcpy(launch.kernarg.data() + field.offset, &value, field.bytes);
  }
  // A compiler may load a 16-byte piece that ends in padding; what lies beyond that was never given. With all explicit
  // arguments there, the hidden ones behind them are valid too.
  const uint64_t padded = (given.size() + 15) / 16 * 16;
  launch.kernarg_valid_bytes = padded >= explicit_bytes ? (size + 15) / 16 * 16 : padded;
}

/// hsa_kernel_dispatch_packet_t: the fields that kernels read.
void lay_out_dispatch_packet(LaunchState& launch) {
  const LaunchConfig& config = launch.config;
  const auto put = [&](size_t offset, auto value) {
    std::memcpy(launch.dispatch_packet.data() + offset, &value, sizeof value);
  };
  put(2, uint16_t{3});  // dimensions
  for (size_t axis = 0; axis < 3; ++axis) {
    put(4 + 2 * axis, static_cast<uint16_t>(config.block[axis]));
    put(12 + 4 * axis, config.grid[axis] * config.block[axis]);
  }
  put(24, launch.scratch_bytes);
  put(28, launch.lds_bytes);
  put(40, kernarg_address);
}

void set_resources(LaunchState& launch) {
  const KernelDescriptor& descriptor = launch.kernel.descriptor;
  launch.lds_bytes = descriptor.group_segment_fixed_size + launch.config.dynamic_lds_bytes;
  launch.scratch_bytes = std::max(descriptor.private_segment_fixed_size, launch.config.scratch_bytes_per_lane);
  const int total = static_cast<int>(((descriptor.compute_pgm_rsrc1 & 0x3f) + 1) * 8);
  const int accum_offset = static_cast<int>(((descriptor.compute_pgm_rsrc3 & 0x3f) + 1) * 4);
  launch.arch_vgprs = std::min({total, accum_offset, 256});
  launch.agprs = std::clamp(total - accum_offset, 0, 256);
}

/// mg_info of ROCm's device libraries: two words that a grid barrier counts in, and the workgroups that it waits for.
void lay_out_grid_sync(LaunchState& launch) {
  const auto& grid = launch.config.grid;
  const auto workgroups = static_cast<uint32_t>(uint64_t{grid[0]} * grid[1] * grid[2]);
  std::memcpy(launch.grid_sync.data() + 40, &workgroups, sizeof workgroups);
}

// Far beyond what a workgroup of an attention kernel executes; one that runs on may wait for another.
constexpr uint64_t first_quantum = 1'000'000;
constexpr uint64_t later_quantum = 100'000;

/// What the host threads add up.
struct Totals {
  std::mutex mutex;
  LaunchStats stats;
  GlobalRaces races;
  std::exception_ptr problem;  ///< no fault of the kernel: no memory for a workgroup
};

void begin(Workgroup& group, const LaunchState& launch, uint64_t place) {
  const auto& chosen = launch.config.workgroups;
  const uint64_t id = chosen.empty() ? place : chosen[place];
  start_workgroup(group, launch, id);
  group.observer = launch.config.observer ? launch.config.observer(id) : nullptr;
  if (group.observer != nullptr) group.observer->start(group);
}

void work(const LaunchState& launch, Dispatch& dispatch, Totals& totals) {
  std::unique_ptr<Workgroup> spare;
  LaunchStats stats;
  const uint64_t first = launch.config.cooperative ? later_quantum : first_quantum;
  while (auto resident = dispatch.take()) {
    std::unique_ptr<Workgroup>& group = resident->group;
    try {
      const bool starts = resident->quanta == 0;
      if (starts) {
        group = spare ? std::move(spare) : std::make_unique<Workgroup>();
        begin(*group, launch, resident->place);
      }
      if (!run_workgroup(*group, starts ? first : later_quantum)) {
        dispatch.give_way(std::move(*resident));
        continue;
      }
      dispatch.ended();
      for (int i = 0; i < group->wave_count; ++i)
        stats.instructions += group->waves[static_cast<size_t>(i)]->instructions;
      if (group->global_log) totals.races.add(group->linear_id, std::move(*group->global_log));
      stats.waves += static_cast<uint64_t>(group->wave_count);
      ++stats.workgroups;
    } catch (const FaultError& error) {
      dispatch.fail(*resident, error.fault());
    }
    spare = std::move(group);
  }
  const std::scoped_lock lock(totals.mutex);
  totals.stats.instructions += stats.instructions;
  totals.stats.waves += stats.waves;
  totals.stats.workgroups += stats.workgroups;
}

/// A host thread of the launch. What it throws is the caller's: leaving a helper thread it would end the process.
void work_or_abandon(const LaunchState& launch, Dispatch& dispatch, Totals& totals) {
  try {
    work(launch, dispatch, totals);
  } catch (...) {
    dispatch.abandon();
    const std::scoped_lock lock(totals.mutex);
    totals.problem = std::current_exception();
  }
}

}  // namespace

LaunchResult run_kernel(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory) {
  if (auto problem = launch_problem(kernel, config)) {
    Fault fault;
    fault.kind = FaultKind::bad_launch;
    fault.kernel = kernel.name;
    fault.message = std::move(*problem);
    return {std::move(fault), {}};
  }
  LaunchState launch(kernel, config, memory);
  set_resources(launch);
  lay_out_kernarg(launch);
  lay_out_dispatch_packet(launch);
  if (config.cooperative) lay_out_grid_sync(launch);
  const uint64_t grid = uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  const uint64_t workgroups = config.workgroups.empty() ? grid : config.workgroups.size();
  Dispatch dispatch(workgroups, config.resident_workgroups);
  Totals totals;
  const unsigned wanted = config.cooperative    ? 1
                          : config.threads != 0 ? config.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  const uint64_t threads = std::min<uint64_t>(wanted, workgroups);
  {
    std::vector<std::jthread> helpers;
    for (uint64_t i = 1; i < threads; ++i) helpers.emplace_back([&] { work_or_abandon(launch, dispatch, totals); });
    work_or_abandon(launch, dispatch, totals);
  }
  if (totals.problem) std::rethrow_exception(totals.problem);
  std::optional<Fault> fault = dispatch.take_fault();
  if (!fault && config.checks.global_races && !config.cooperative) fault = totals.races.find(launch);
  return {std::move(fault), totals.stats};
}

KernelDescriptor parse_kernel_descriptor(std::span<const std::byte> bytes) {
  KernelDescriptor d;
  const auto get = [&](size_t offset, auto& value) { std::memcpy(&value, bytes.data() + offset, sizeof value); };
  get(0, d.group_segment_fixed_size);
  get(4, d.private_segment_fixed_size);
  get(8, d.kernarg_size);
  get(16, d.kernel_code_entry_byte_offset);
  get(44, d.compute_pgm_rsrc3);
  get(48, d.compute_pgm_rsrc1);
  get(52, d.compute_pgm_rsrc2);
  get(56, d.kernel_code_properties);
  get(58, d.kernarg_preload);
  return d;
}

}  // namespace mlaforge::simulator
