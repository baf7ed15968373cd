#include "simulator/exec/dma.h"

#include <fmt/format.h>

#include <algorithm>

namespace mlaforge::simulator {
namespace {

constexpr uint32_t m0_lds_mask = 0x3ffff;

}  // namespace

PendingOp& prepare_dma(Wave& wave, const Instruction& instruction, Transfer transfer) {
  const uint64_t exec = wave.exec();
  if (exec != ~uint64_t{0} && wave.group->launch->config.checks.dma_full_exec) {
    raise_fault(wave, FaultKind::exec_not_full,
                fmt::format("LDS DMA with EXEC 0x{:016x}: the lanes off leave holes in the LDS", exec));
  }
  PendingOp& op = wave.queue->prepare(QueueKind::vector, instruction, exec);
  op.apply = apply_dma;
  op.detail = pack(transfer);
  op.bytes = transfer.bytes;
  op.lds = LdsAccess::dma;
  const uint32_t bytes = std::max<uint32_t>(transfer.bytes, 4);
  op.lds_bytes = static_cast<uint8_t>(bytes);
  const uint32_t step = bytes >= 12 ? 16 : 4;
  Row lanes;
  for (uint32_t lane = 0; lane < wave_lanes; ++lane) lanes.lane[lane] = (wave.m0() & m0_lds_mask) + lane * step;
  resolve_lds(wave, exec, op.address2, lanes.lane, static_cast<uint32_t>(instruction.modifiers.offset), bytes, 4);
  return op;
}

}  // namespace mlaforge::simulator
