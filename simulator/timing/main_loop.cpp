#include "simulator/timing/main_loop.h"

#include <algorithm>
#include <unordered_map>

namespace mlaforge::simulator::timing {

uint32_t find_main_loop(const KernelStream& stream, const WaveStream& wave) {
  struct Head {
    uint64_t passes = 0;
    uint64_t instructions = 0;
    uint64_t last = 0;
  };
  std::unordered_map<uint32_t, Head> heads;
  for (uint64_t i = 1; i < wave.steps.size(); ++i) {
    const uint32_t here = wave.steps[i] & ~has_memory;
    const uint32_t before = wave.steps[i - 1] & ~has_memory;
    if (stream.instructions[here].pc > stream.instructions[before].pc) continue;
    Head& head = heads[here];
    if (head.passes++ != 0) head.instructions += i - head.last;
    head.last = i;
  }
  uint32_t best = ~0u;
  uint64_t most = 0;
  for (const auto& [instruction, head] : heads) {
    if (head.passes >= 4 && (head.instructions > most || (head.instructions == most && instruction < best))) {
      best = instruction;
      most = head.instructions;
    }
  }
  return best;
}

std::optional<SteadyLoop> steady_loop(const Parameters& p, const MachineResult& result, const MachineInput& input) {
  const size_t count = result.passes.size();
  if (count < 5) return std::nullopt;
  const size_t first = count / 4;
  const size_t last = count - 1 - count / 8;
  const LoopPass& a = result.passes[first];
  const LoopPass& b = result.passes[last];
  const auto n = static_cast<double>(last - first);
  const auto busiest = [](const std::array<double, 4>& from, const std::array<double, 4>& to) {
    double most = 0;
    for (size_t i = 0; i < 4; ++i) most = std::max(most, to[i] - from[i]);
    return most;
  };
  SteadyLoop loop;
  loop.passes = n;
  loop.clocks = (b.time - a.time) / n;
  loop.hbm_clk = static_cast<double>(b.hbm_bytes - a.hbm_bytes) / n / result.hbm_bytes_per_clk;
  loop.path_clk = (b.cu.memory_bytes - a.cu.memory_bytes) / n / p.cu_memory_bytes_per_clk;
  loop.lds_clk = (b.cu.lds_clk - a.cu.lds_clk) / n;
  loop.lds_conflict_clk = (b.cu.lds_conflict_clk - a.cu.lds_conflict_clk) / n;
  loop.mfma_clk = busiest(a.cu.mfma_clk, b.cu.mfma_clk) / n;
  loop.valu_clk = busiest(a.cu.valu_clk, b.cu.valu_clk) / n;
  const auto groups =
      static_cast<double>(std::min<size_t>(input.workgroups_per_cu, (input.order.size() + input.cus - 1) / input.cus));
  const double waves = static_cast<double>(input.stream.waves_per_workgroup) * groups;
  loop.issue_clk = (b.cu.instructions - a.cu.instructions) / n / waves * p.issue_clk;
  loop.dma_bytes = (b.cu.dma_bytes - a.cu.dma_bytes) / n / groups;
  for (size_t c = 0; c < cause_count; ++c) loop.causes[c] = (b.cu.causes[c] - a.cu.causes[c]) / n / waves;
  return loop;
}

}  // namespace mlaforge::simulator::timing
