#include <algorithm>
#include <array>

#include "simulator/core/launch.h"
#include "simulator/decode/program.h"
#include "tests/fuzz/entries.h"
#include "tests/simulator/assemble.h"

namespace mlaforge::fuzz {
namespace {

using namespace simulator;

constexpr uint64_t kCodeAddress = 0x6000'0000'0000;
constexpr size_t kMostCode = 4096;
constexpr uint64_t kMostInstructions = 2000;

/// The first 16 bytes of an input; the code is what follows. Seeds are made by tests/fuzz/README.md's recipe.
struct Header {
  uint8_t memory, checks, vgprs, accum_offset;
  uint32_t rsrc2;
  uint16_t properties, preload;
  uint8_t lds, scratch, threads, seed;
};
static_assert(sizeof(Header) == 16);

KernelCode kernel_of(const Header& header, std::span<const std::byte> code) {
  // The largest are rare: an input costs what it takes to fill them, and the checks' records of them.
  constexpr std::array<uint32_t, 16> lds_bytes = {0,    1024, 4100, 8192, 0,    1024, 4100, 8192,
                                                  1024, 4100, 8192, 1024, 4100, 8192, 8192, max_lds_bytes};
  constexpr std::array<uint32_t, 16> scratch_bytes = {0, 4, 256, 0, 4, 256, 0, 4, 256, 0, 4, 256, 0, 4, 256, 4096};
  KernelCode kernel;
  kernel.name = "fuzzed";
  kernel.program = make_program(code, kCodeAddress);
  kernel.entry = kCodeAddress;
  kernel.descriptor.group_segment_fixed_size = lds_bytes[header.lds % lds_bytes.size()];
  kernel.descriptor.private_segment_fixed_size = scratch_bytes[header.scratch % scratch_bytes.size()];
  kernel.descriptor.compute_pgm_rsrc1 = (header.vgprs & 0x3fu) | 15u << 16;
  kernel.descriptor.compute_pgm_rsrc3 = header.accum_offset & 0x3fu;
  kernel.descriptor.compute_pgm_rsrc2 = header.rsrc2;
  kernel.descriptor.kernel_code_properties = header.properties;
  kernel.descriptor.kernarg_preload = header.preload;
  kernel.kernarg_bytes = 64;
  return kernel;
}

Checks checks_of(uint8_t bits) {
  return {.lds_races = (bits & 1) != 0,
          .global_races = (bits & 2) != 0,
          .uninitialized = (bits & 4) != 0,
          .wait_states = (bits & 8) != 0,
          .alignment = (bits & 16) != 0,
          .dma_full_exec = (bits & 32) != 0,
          .barrier_exit = (bits & 64) != 0};
}

}  // namespace

void instructions(Input input) {
  Reader reader(input);
  const auto header = reader.take<Header>();
  const std::span<const std::byte> code = std::as_bytes(reader.rest()).first(std::min(reader.rest().size(), kMostCode));
  if (code.empty()) return;
  const KernelCode kernel = kernel_of(header, code);
  for (uint64_t at = 0; at < code.size(); at += 4) {
    const Instruction* instruction = kernel.program->at(kCodeAddress + at);
    require(instruction != nullptr && instruction->handler != nullptr, "code without an instruction");
  }
  test::TestMemory memory;
  const std::array<uint64_t, 8> arguments = {
      memory.allocate(4096), memory.allocate(256), memory.allocate(3), 1, 2, 3, 4, 5};
  LaunchConfig launch;
  launch.grid = {2, 1, 1};
  launch.block = {1u + header.threads % 128, 1, 1};
  launch.kernarg = std::as_bytes(std::span(arguments));
  launch.memory = static_cast<MemoryMode>(header.memory % 3);
  launch.seed = header.seed;
  launch.checks = checks_of(header.checks);
  launch.threads = 1;
  launch.max_wave_instructions = kMostInstructions;
  const LaunchResult result = run_kernel(kernel, launch, memory);
  if (!result.ok()) require(!format_fault(*result.fault).empty(), "a fault that says nothing");
  require(result.stats.instructions <= (kMostInstructions + 1) * 2 * 2, "more instructions than the bound");
}

}  // namespace mlaforge::fuzz
