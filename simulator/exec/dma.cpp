#include "simulator/exec/dma.h"

#include <fmt/format.h>

namespace mlaforge::simulator {
namespace {

constexpr uint32_t m0_lds_mask = 0x3ffff;

}  // namespace

PendingOp& prepare_dma(Wave& wave, const Instruction& instruction, uint32_t bytes) {
  const uint64_t exec = wave.exec();
  if (exec != ~uint64_t{0} && wave.group->launch->config.checks.dma_full_exec) {
    raise_fault(wave, FaultKind::exec_not_full,
                fmt::format("LDS DMA with EXEC 0x{:016x}: the lanes off leave holes in the LDS", exec));
  }
  PendingOp& op = wave.queue->prepare(QueueKind::vector, instruction, exec);
  op.apply = apply_dma;
  op.bytes = bytes;
  const uint32_t step = bytes >= 12 ? 16 : 4;
  const uint32_t base = (wave.m0() & m0_lds_mask) + static_cast<uint32_t>(instruction.modifiers.offset);
  for_lanes(exec, [&](int lane) {
    const uint32_t address = base + static_cast<uint32_t>(lane) * step;
    require_aligned(wave, address, 4, lane);
    op.address2[static_cast<size_t>(lane)] = find_lds(wave, address, bytes, lane);
  });
  return op;
}

}  // namespace mlaforge::simulator
