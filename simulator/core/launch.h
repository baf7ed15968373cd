// What the HIP side calls: a kernel's facts, a launch's shape and modes, and run_kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/core/fault.h"
#include "simulator/core/global_memory.h"

namespace mlaforge::simulator {

/// The executable bytes of a code object at their device address; instructions are decoded when first reached, once.
class Program;
class ExecutionObserver;
/// `text` is copied. `address` is the device address of its first byte, a multiple of 4.
std::shared_ptr<const Program> make_program(std::span<const std::byte> text, uint64_t address);

/// Hidden arguments of code object v4, v5 and v6 (`.value_kind` of the metadata, without "hidden_").
enum class HiddenArgument {
  block_count_x,
  block_count_y,
  block_count_z,
  group_size_x,
  group_size_y,
  group_size_z,
  remainder_x,
  remainder_y,
  remainder_z,
  global_offset_x,
  global_offset_y,
  global_offset_z,
  grid_dims,
  private_base,
  shared_base,
  dynamic_lds_size,
  hostcall_buffer,  ///< of a service that is not simulated, see absent_service; so the next two
  printf_buffer,
  heap,
  multigrid_sync,  ///< of a cooperative launch: where its workgroups meet; else 0
  null_pointer,    ///< queues, completion action: 0
};

/// Services of the host are not simulated. Their hidden pointers lead to these addresses, where nothing ever lies: a
/// kernel may carry them unused, and one that uses them faults, with a report that names the service.
inline constexpr uint64_t absent_services_address = uint64_t{0x0bad} << 32;
inline constexpr uint64_t absent_service_bytes = uint64_t{1} << 28;

/// The pointer of hostcall_buffer, printf_buffer or heap.
constexpr uint64_t absent_service(HiddenArgument kind) {
  const auto index = static_cast<uint64_t>(kind) - static_cast<uint64_t>(HiddenArgument::hostcall_buffer);
  return absent_services_address + index * absent_service_bytes;
}

struct HiddenField {
  HiddenArgument kind{};
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// The 64 bytes of an amdhsa kernel descriptor, fields as LLVM's AMDGPUUsage names them.
struct KernelDescriptor {
  uint32_t group_segment_fixed_size = 0;    ///< static LDS bytes
  uint32_t private_segment_fixed_size = 0;  ///< scratch bytes a lane
  uint32_t kernarg_size = 0;                ///< 0: not known
  int64_t kernel_code_entry_byte_offset = 0;
  uint32_t compute_pgm_rsrc3 = 0;
  uint32_t compute_pgm_rsrc1 = 0;
  uint32_t compute_pgm_rsrc2 = 0;
  uint16_t kernel_code_properties = 0;
  uint16_t kernarg_preload = 0;  ///< bits 6:0 length in dwords, 15:7 offset in dwords
};

/// Reads the 64 bytes; `bytes` must have at least 64.
KernelDescriptor parse_kernel_descriptor(std::span<const std::byte> bytes);

struct KernelCode {
  std::string name;
  std::shared_ptr<const Program> program;
  uint64_t entry = 0;  ///< device address of the first instruction (descriptor's address + its entry offset)
  KernelDescriptor descriptor{};
  uint32_t kernarg_bytes = 0;              ///< `.kernarg_segment_size`, hidden arguments included
  std::vector<HiddenField> hidden_fields;  ///< of the metadata; empty: none
  uint32_t max_workgroup_size = 1024;      ///< `.max_flat_workgroup_size`
  bool uses_dynamic_stack = false;
};

/// When the bytes of memory operations move; see docs/simulator.md, "Memory modes".
enum class MemoryMode {
  lazy,     ///< writes and loads when a wait demands them, LDS reads at issue
  clobber,  ///< writes at issue, reads when a wait demands them
  eager,    ///< all at issue
  random    ///< in between, each counter with delays of its own
};

struct Checks {
  bool lds_races = false;      ///< see simulator/exec/lds_races.h
  bool global_races = false;   ///< see simulator/exec/global_races.h
  bool uninitialized = false;  ///< LDS bytes and registers never written
  bool wait_states = false;    ///< see simulator/exec/wait_states.h
  bool alignment = false;  ///< dwords not 4-byte aligned, shorts not 2-byte aligned; legal in amdhsa's unaligned mode
  bool dma_full_exec = false;  ///< an LDS DMA with lanes off (a transpose read with lanes off is a fault always)
  bool barrier_exit = false;   ///< a wave ends while others wait at a barrier; the hardware drops it from the barrier
};

struct LaunchConfig {
  std::array<uint32_t, 3> grid{1, 1, 1};   ///< workgroups
  std::array<uint32_t, 3> block{1, 1, 1};  ///< threads of a workgroup
  uint32_t dynamic_lds_bytes = 0;
  std::span<const std::byte> kernarg;  ///< as the host gave it: may be longer or shorter than the declared segment
  MemoryMode memory = MemoryMode::lazy;
  uint64_t seed = 0;  ///< of MemoryMode::random
  Checks checks{};
  unsigned threads = 0;                            ///< host threads; 0: all
  uint64_t max_wave_instructions = 2'000'000'000;  ///< beyond it the launch is an endless loop
  uint32_t scratch_bytes_per_lane = 0;   ///< more than the descriptor's, for dynamic stacks; 0: the descriptor's
  std::span<const uint64_t> workgroups;  ///< linear ids of those to run, ascending; empty: the whole grid
  /// Who watches a workgroup, by its linear id; called from the host thread that runs it. Empty: nobody.
  std::function<ExecutionObserver*(uint64_t)> observer;
  uint64_t resident_workgroups = 2048;  ///< that the device holds at once: 256 CUs of 8
  /// All workgroups are resident (the grid must fit) and may wait for each other; they share one host thread, so that
  /// such a launch repeats exactly, and global_races is not checked: the kernel orders its workgroups itself.
  bool cooperative = false;
};

struct LaunchStats {
  uint64_t workgroups = 0;
  uint64_t waves = 0;
  uint64_t instructions = 0;  ///< wave instructions
};

struct LaunchResult {
  std::optional<Fault> fault;
  LaunchStats stats;
  bool ok() const { return !fault.has_value(); }
};

/// Runs every workgroup of the grid. Never throws for what a kernel does: a fault stops the launch and is returned,
/// always that of the lowest workgroup, whatever the number of threads.
LaunchResult run_kernel(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory);

/// Most LDS bytes of a workgroup on gfx950.
inline constexpr uint32_t max_lds_bytes = 163840;

}  // namespace mlaforge::simulator
