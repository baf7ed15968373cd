// Issue: what an instruction needs, and what it keeps busy.
#include <algorithm>
#include <cmath>

#include "simulator/timing/machine_state.h"

namespace mlaforge::simulator::timing {

InstructionCost cost_of(const Parameters& p, const InstructionInfo& info) {
  InstructionCost cost;
  switch (info.port) {
    case Port::valu: {
      const double clk = info.speed == Speed::wide             ? p.valu_wide_clk
                         : info.speed == Speed::transcendental ? p.transcendental_clk
                         : info.speed == Speed::convert_fp8    ? p.convert_fp8_clk
                         : info.speed == Speed::permlane_swap  ? p.permlane_swap_clk
                                                               : p.valu_clk;
      cost.port_clk = clk;
      cost.result_clk = clk + (p.valu_latency_clk - p.valu_clk);
      if (info.scalar_result) cost.result_clk = std::max(cost.result_clk, p.vector_to_scalar_clk);
      cost.chain_clk = cost.result_clk;
      break;
    }
    case Port::mfma:
      cost.port_clk = info.passes * p.mfma_pass_clk;
      cost.chain_clk = cost.port_clk;
      cost.result_clk = cost.port_clk + p.mfma_result_extra_clk;
      break;
    case Port::salu:
      cost.port_clk = p.issue_clk;
      cost.result_clk = p.salu_latency_clk;
      break;
    case Port::none:
    case Port::scalar_memory:
    case Port::vector_memory:
    case Port::lds:
      break;
  }
  return cost;
}

void Machine::operand_block(const WaveState& wave, const InstructionInfo& info, Block& block) const {
  // An MFMA's result that is late shows as such: its chain time lies before its ready time.
  const auto cause_of = [&](uint16_t r) {
    return r < scalar_registers && wave.chain[r] != wave.ready[r] ? Cause::mfma_result : Cause::valu_result;
  };
  for (size_t k = 0; k < info.read_count; ++k) {
    const RegisterRange range = info.reads[k];
    for (uint16_t r = range.first; r < range.first + range.count; ++r) {
      if (wave.ready[r] > block.until) block.raise(wave.ready[r], cause_of(r));
    }
  }
  for (uint16_t r = info.addend.first; r < info.addend.first + info.addend.count; ++r) {
    const double time = r < scalar_registers ? wave.chain[r] : wave.ready[r];
    if (time > block.until) block.raise(time, cause_of(r));
  }
}

Block Machine::port_block(const WaveState& wave, const InstructionInfo& info, double time) {
  Cu& cu = cus_[wave.cu];
  const Simd& simd = cu.simds[wave.simd];
  Block block{.until = time};
  operand_block(wave, info, block);
  switch (info.port) {
    case Port::valu:
      block.raise(simd.valu_free, Cause::valu_busy);
      break;
    case Port::mfma:
      block.raise(simd.valu_free, Cause::valu_busy);
      block.raise(simd.mfma_free, Cause::mfma_busy);
      break;
    case Port::salu:
      block.raise(simd.salu_free, Cause::salu_busy);
      break;
    case Port::lds:
      take_arrivals(cu, time);
      block.raise(std::ceil(cu.lds_free - p_.lds_queue_clk), Cause::lds_busy);
      break;
    case Port::vector_memory:
      block.raise(cu.address_free, Cause::vector_memory_busy);
      break;
    case Port::scalar_memory:
    case Port::none:
      break;
  }
  if (block.until <= time && (info.port == Port::lds || info.port == Port::vector_memory)) {
    return counter_block(wave, info, time);
  }
  return block;
}

Cause Machine::issue(WaveState& wave, const InstructionInfo& info, const InstructionCost& cost, double time) {
  Cu& cu = cus_[wave.cu];
  Simd& simd = cu.simds[wave.simd];
  const auto results_at = [&](double ready, double chain) {
    for (size_t k = 0; k < info.write_count; ++k) {
      const RegisterRange range = info.writes[k];
      for (uint16_t r = range.first; r < range.first + range.count; ++r) {
        wave.ready[r] = ready;
        if (r < scalar_registers) wave.chain[r] = chain;
      }
    }
  };
  const MemoryFacts* facts = nullptr;
  if ((wave.stream->steps[wave.position] & has_memory) != 0) facts = &wave.stream->memory[wave.memory_position++];
  switch (info.port) {
    case Port::valu:
      simd.valu_free = time + cost.port_clk;
      cu.counters.valu_clk[wave.simd] += cost.port_clk;
      results_at(time + cost.result_clk, time + cost.chain_clk);
      return Cause::issue_valu;
    case Port::mfma:
      simd.mfma_free = time + cost.port_clk;
      simd.valu_free = std::max(simd.valu_free, time + p_.mfma_valu_blocked_clk);
      cu.counters.mfma_clk[wave.simd] += cost.port_clk;
      results_at(time + cost.result_clk, time + cost.chain_clk);
      return Cause::issue_mfma;
    case Port::salu:
      simd.salu_free = time + cost.port_clk;
      results_at(time + cost.result_clk, 0);
      return Cause::issue_salu;
    case Port::lds:
      if (facts != nullptr) issue_lds(wave, *facts, time);
      return Cause::issue_lds;
    case Port::vector_memory:
      if (facts != nullptr) issue_vector_memory(wave, *facts, time);
      return Cause::issue_vector_memory;
    case Port::scalar_memory:
      if (facts != nullptr) issue_scalar_load(wave, *facts, time);
      return Cause::issue_other;
    case Port::none:
      return Cause::issue_other;
  }
  return Cause::issue_other;
}

}  // namespace mlaforge::simulator::timing
