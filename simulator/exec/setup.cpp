// The state in which a wave starts: LLVM's AMDGPUUsage, "Initial Kernel Execution State", gfx942 column.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

// What registers, LDS and scratch hold before they are written: a signalling NaN in f32 and bf16; all ones is NaN in
// every 8-bit and 16-bit format.
constexpr uint32_t unwritten_register = 0x7fa5a5a5;
constexpr std::byte unwritten_byte{0xff};

uint32_t field(uint32_t word, unsigned shift, unsigned bits) { return word >> shift & ((1u << bits) - 1); }

/// Returns how many SGPRs are set.
unsigned set_user_sgprs(Wave& wave, const LaunchState& launch) {
  const KernelDescriptor& descriptor = launch.kernel.descriptor;
  const uint32_t properties = descriptor.kernel_code_properties;
  unsigned next = 0;
  const auto pair = [&](unsigned bit, uint64_t value) {
    if ((properties >> bit & 1) == 0) return;
    wave.set_sgpr_pair(next, value);
    next += 2;
  };
  if (properties & 1) next += 4;  // private segment buffer: scratch is reached by FLAT_SCRATCH on gfx950
  pair(1, dispatch_packet_address);
  pair(2, 0);  // queue pointer
  pair(3, kernarg_address);
  pair(4, 0);  // dispatch id
  pair(5, 0);  // flat scratch init: architected on gfx950
  if (properties >> 6 & 1) wave.sgpr[next++] = launch.scratch_bytes;
  const uint32_t user_sgprs = field(descriptor.compute_pgm_rsrc2, 1, 5);
  const uint32_t preload_dwords = descriptor.kernarg_preload & 0x7f;
  const uint32_t preload_offset = descriptor.kernarg_preload >> 7;
  for (uint32_t i = 0; i < preload_dwords && next < user_sgprs; ++i, ++next) {
    const size_t byte = size_t{4} * (preload_offset + i);
    uint32_t value = 0;
    if (byte + 4 <= launch.kernarg.size()) std::memcpy(&value, launch.kernarg.data() + byte, 4);
    wave.sgpr[next] = value;
  }
  next = user_sgprs;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (descriptor.compute_pgm_rsrc2 >> (7 + axis) & 1) wave.sgpr[next++] = wave.group->id[axis];
  }
  if (descriptor.compute_pgm_rsrc2 >> 10 & 1) wave.sgpr[next++] = static_cast<uint32_t>(wave.group->wave_count);
  return next;
}

void set_workitem_ids(Wave& wave, const LaunchConfig& config) {
  const uint32_t threads = config.block[0] * config.block[1] * config.block[2];
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t thread = static_cast<uint32_t>(wave.index) * wave_lanes + lane;
    if (thread >= threads) break;
    exec |= uint64_t{1} << lane;
    const uint32_t x = thread % config.block[0];
    const uint32_t y = thread / config.block[0] % config.block[1];
    const uint32_t z = thread / config.block[0] / config.block[1];
    wave.vgpr[0].lane[lane] = x | y << 10 | z << 20;
  }
  wave.set_exec(exec);
}

uint32_t initial_mode(const KernelDescriptor& descriptor) {
  const uint32_t rsrc1 = descriptor.compute_pgm_rsrc1;
  uint32_t mode = field(rsrc1, 12, 8);  // round and denormal modes
  if (field(rsrc1, 21, 1)) mode |= mode_bits::dx10_clamp;
  if (field(rsrc1, 23, 1)) mode |= mode_bits::ieee;
  if (field(rsrc1, 26, 1)) mode |= mode_bits::fp16_ovfl;
  return mode;
}

void start_wave(Wave& wave, MemoryQueue& queue, Workgroup& group, int index) {
  const LaunchState& launch = *group.launch;
  queue.reset();
  const auto fill = [&](int first, int count) {
    std::fill_n(&wave.vgpr[first].lane[0], size_t{wave_lanes} * static_cast<size_t>(count), unwritten_register);
  };
  fill(0, launch.arch_vgprs);
  fill(first_agpr_row, launch.agprs);
  wave.sgpr.fill(unwritten_register);
  wave.scc = false;
  wave.mode = initial_mode(launch.kernel.descriptor);
  wave.current = nullptr;
  wave.group = &group;
  wave.queue = &queue;
  wave.index = index;
  wave.instructions = 0;
  wave.ended = wave.at_barrier = wave.stop = false;
  wave.pending_vgpr.reset();
  wave.pending_sgpr.reset();
  wave.any_pending = false;
  const unsigned first_sgprs = set_user_sgprs(wave, launch);
  set_workitem_ids(wave, launch.config);
  wave.set_vcc(0);
  if (!group.registers.empty()) {
    group.registers[static_cast<size_t>(index)]->start(wave, launch.config.checks, first_sgprs);
  }
  wave.set_sgpr_pair(flat_scratch_lo, 0);
  // A kernel with preloaded arguments starts with 256 bytes that load them for firmware that does not preload.
  const bool preload = (launch.kernel.descriptor.kernarg_preload & 0x7f) != 0;
  wave.next_pc = wave.pc = launch.kernel.entry + (preload ? 256 : 0);
}

}  // namespace

void start_workgroup(Workgroup& group, const LaunchState& launch, uint64_t linear_id) {
  const auto& grid = launch.config.grid;
  const auto& block = launch.config.block;
  group.launch = &launch;
  group.linear_id = linear_id;
  group.id = {static_cast<uint32_t>(linear_id % grid[0]), static_cast<uint32_t>(linear_id / grid[0] % grid[1]),
              static_cast<uint32_t>(linear_id / grid[0] / grid[1])};
  group.wave_count = static_cast<int>((block[0] * block[1] * block[2] + wave_lanes - 1) / wave_lanes);
  while (group.waves.size() < static_cast<size_t>(group.wave_count)) {
    group.waves.push_back(std::make_unique<Wave>());
    group.queues.push_back(std::make_unique<MemoryQueue>());
  }
  group.lds.assign(launch.lds_bytes, unwritten_byte);
  group.scratch.assign(size_t{launch.scratch_bytes} * wave_lanes * static_cast<size_t>(group.wave_count),
                       unwritten_byte);
  const Checks& checks = launch.config.checks;
  group.races = checks.lds_races || checks.uninitialized
                    ? std::make_unique<LdsRaces>(launch.lds_bytes, checks.lds_races, checks.uninitialized)
                    : nullptr;
  group.global_log.reset();
  if (checks.global_races) group.global_log.emplace();
  group.registers.clear();
  while ((checks.uninitialized || checks.wait_states) &&
         group.registers.size() < static_cast<size_t>(group.wave_count)) {
    group.registers.push_back(std::make_unique<RegisterChecks>());
  }
  group.random.seed(launch.config.seed * 0x9e3779b97f4a7c15u + linear_id);
  for (int i = 0; i < group.wave_count; ++i) {
    const auto index = static_cast<size_t>(i);
    start_wave(*group.waves[index], *group.queues[index], group, i);
  }
}

}  // namespace mlaforge::simulator
