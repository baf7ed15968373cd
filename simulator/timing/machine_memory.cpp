// LDS, scalar loads and vector memory: what they keep busy, and when their results are there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/timing/machine_state.h"

namespace mlaforge::simulator::timing {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

}  // namespace

double Machine::lds_clocks_of(const MemoryFacts& facts) const {
  double clocks = facts.lds_phases;
  // Phases are counted at 256 B a clock for wide reads and at 128 B for all else.
  if (facts.wide) {
    clocks *= 256 / p_.lds_read_wide_bytes_per_clk / p_.lds_wide_efficiency;
    if (facts.read2) clocks *= p_.lds_read2_factor;
  } else {
    const bool read = facts.kind == MemoryKind::lds_read;
    clocks *= 128 / (read ? p_.lds_read_narrow_bytes_per_clk : p_.lds_write_bytes_per_clk);
  }
  return clocks;
}

/// DMA data that has arrived takes its time of the LDS before what issues now.
void Machine::take_arrivals(Cu& cu, double time) {
  while (!cu.lds_arrivals.empty() && cu.lds_arrivals.top().time <= time) {
    const Pending arrival = cu.lds_arrivals.top();
    cu.lds_arrivals.pop();
    cu.lds_free = std::max(cu.lds_free, arrival.time) + arrival.amount;
  }
}

void Machine::issue_lds(WaveState& wave, const MemoryFacts& facts, double time) {
  Cu& cu = cus_[wave.cu];
  take_arrivals(cu, time);
  const double clocks = lds_clocks_of(facts);
  const double start = std::max(cu.lds_free, time);
  cu.lds_free = start + clocks;
  cu.counters.lds_clk += clocks;
  if (facts.lds_phases != 0) {
    cu.counters.lds_conflict_clk += clocks * (facts.lds_phases - facts.lds_ideal) / facts.lds_phases;
  }
  const double before = wave.lds_issued == 0 ? 0 : wave.lds_done[(wave.lds_issued - 1) % lds_counter];
  wave.lds_done[wave.lds_issued % lds_counter] = std::max(before, start + clocks + p_.lds_latency_clk);
  ++wave.lds_issued;
}

void Machine::issue_scalar_load(WaveState& wave, const MemoryFacts& facts, double time) {
  const std::span sectors(wave.sectors + facts.first_sector, facts.sector_count);
  wave.scalar_done = std::max(wave.scalar_done, memory_.read(time, sectors, p_.scalar_l2_clk));
}

void Machine::issue_vector_memory(WaveState& wave, const MemoryFacts& facts, double time) {
  Cu& cu = cus_[wave.cu];
  cu.address_free = time + p_.vmem_issue_clk;
  wave.vector_done[wave.vector_issued % vector_counter] = unknown;
  cu.requests.push_back({.wave = wave.index, .number = wave.vector_issued, .facts = &facts});
  ++wave.vector_issued;
  if (facts.kind == MemoryKind::dma) cu.counters.dma_bytes += facts.bytes;
  if (!cu.sending) {
    cu.sending = true;
    push(cu, {.time = std::max(time + p_.vmem_issue_clk, cu.path_free),
              .order = wave.cu,
              .index = wave.cu,
              .is_send = true});
  }
}

/// The CU's oldest request goes to L2, when there is room for its data.
void Machine::send(uint32_t index, double time) {
  Cu& cu = cus_[index];
  while (!cu.in_flight.empty() && cu.in_flight.top().time <= time) {
    cu.in_flight_bytes -= cu.in_flight.top().amount;
    cu.in_flight.pop();
  }
  const Request request = cu.requests.front();
  const MemoryFacts& facts = *request.facts;
  const double bytes = static_cast<double>(facts.sector_count) * sector_bytes;
  if (!cu.in_flight.empty() && cu.in_flight_bytes + bytes > p_.cu_outstanding_bytes) {
    push(cu, {.time = cu.in_flight.top().time, .order = index, .index = index, .is_send = true});
    return;
  }
  cu.requests.pop_front();
  WaveState& wave = *waves_[request.wave];
  const std::span sectors(wave.sectors + facts.first_sector, facts.sector_count);
  const double clocks = bytes / p_.cu_memory_bytes_per_clk;
  cu.path_free = time + clocks;
  cu.counters.vmem_clk += clocks;
  cu.counters.memory_bytes += bytes;
  double done = facts.kind == MemoryKind::store ? memory_.write(time + clocks, sectors)
                                                : memory_.read(time, sectors, p_.l2_latency_clk) + clocks;
  cu.in_flight.push({done, bytes});
  cu.in_flight_bytes += bytes;
  if (facts.kind == MemoryKind::dma) {
    const double lds = lds_clocks_of(facts);
    cu.lds_arrivals.push({done, lds});
    cu.counters.lds_clk += lds;
    done += lds;
  }
  done = std::ceil(std::max(done, wave.last_vector_done));
  wave.last_vector_done = done;
  wave.vector_done[request.number % vector_counter] = done;
  if (wave.ended) result_.clocks = std::max(result_.clocks, done);
  if (wave.parked && request.number == wave.parked_for) {
    wave.parked = false;
    const double until = std::max(done, wave.parked_since);
    hold(wave, wave.parked_since, until, Cause::wait_vmcnt);
    push_wave(wave, until);
  }
  cu.sending = !cu.requests.empty();
  if (cu.sending) push(cu, {.time = cu.path_free, .order = index, .index = index, .is_send = true});
}

Block Machine::wait_block(WaveState& wave, const InstructionInfo& info, double time) {
  Block block{.until = time};
  if (info.lgkmcnt < 15) {
    if (wave.lds_issued > info.lgkmcnt) {
      block.raise(std::ceil(wave.lds_done[(wave.lds_issued - info.lgkmcnt - 1) % lds_counter]), Cause::wait_lds);
    }
    // Scalar loads return out of order: only a wait for all of them tells.
    if (info.lgkmcnt == 0) block.raise(std::ceil(wave.scalar_done), Cause::wait_scalar_load);
  }
  if (info.vmcnt < vector_counter - 1 && wave.vector_issued > info.vmcnt) {
    const uint64_t number = wave.vector_issued - info.vmcnt - 1;
    const double done = wave.vector_done[number % vector_counter];
    if (done == unknown) {
      wave.parked = true;
      wave.parked_for = number;
      wave.parked_since = time;
      block.parked = true;
      return block;
    }
    block.raise(done, Cause::wait_vmcnt);
  }
  return block;
}

/// A full counter or a full queue stops the next instruction of its kind.
Block Machine::counter_block(const WaveState& wave, const InstructionInfo& info, double time) const {
  Block block{.until = time};
  if (info.port == Port::lds && wave.lds_issued >= lds_counter - 1) {
    block.raise(std::ceil(wave.lds_done[(wave.lds_issued - (lds_counter - 1)) % lds_counter]), Cause::wait_lds);
  }
  if (info.port == Port::vector_memory) {
    const Cu& cu = cus_[wave.cu];
    const auto waiting = static_cast<double>(cu.requests.size());
    // The queue's next departure is not known ahead; the wave looks again a little later.
    if (waiting >= p_.vmem_queue_instructions) block.raise(time + 4 * p_.issue_clk, Cause::vector_memory_busy);
    if (wave.vector_issued >= vector_counter - 1) {
      const double done = wave.vector_done[(wave.vector_issued - (vector_counter - 1)) % vector_counter];
      if (done == unknown) {
        block.raise(time + 4 * p_.issue_clk, Cause::wait_vmcnt);
      } else {
        block.raise(done, Cause::wait_vmcnt);
      }
    }
  }
  return block;
}

}  // namespace mlaforge::simulator::timing
