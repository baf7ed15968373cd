// The replay's state: waves, SIMDs, CUs, and the events that move them.
//
// CUs meet in the memory system and where workgroups are dispatched, nowhere else. Only events that touch these are in
// order over all CUs; between two of them a CU runs by itself.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "simulator/timing/machine.h"

namespace mlaforge::simulator::timing {

/// An instruction's costs with one evaluation's parameters.
struct InstructionCost {
  double port_clk = 0;    ///< it keeps its port busy
  double result_clk = 0;  ///< from issue to a reader of its result
  double chain_clk = 0;   ///< from an MFMA's issue to one that adds to its result
};
InstructionCost cost_of(const Parameters& parameters, const InstructionInfo& info);

inline constexpr size_t vector_counter = 64;  ///< vmcnt has 6 bits
inline constexpr size_t lds_counter = 16;     ///< lgkmcnt has 4

struct WaveState {
  const WaveStream* stream = nullptr;
  const uint32_t* sectors = nullptr;
  size_t position = 0;
  size_t memory_position = 0;
  uint32_t index = 0;   ///< in Machine::waves_
  uint32_t number = 0;  ///< in its workgroup
  uint32_t group = 0;
  uint32_t cu = 0;
  uint32_t simd = 0;
  uint32_t priority = 0;
  bool watched = false;
  bool ended = false;
  double next = 0;

  std::array<double, register_count> ready{};    ///< when a register may be read
  std::array<double, scalar_registers> chain{};  ///< when an MFMA may add to it

  // Outstanding operations, in rings by number; a time that is not known yet is infinite.
  uint64_t vector_issued = 0;
  uint64_t lds_issued = 0;
  std::array<double, vector_counter> vector_done{};
  std::array<double, lds_counter> lds_done{};
  double last_vector_done = 0;
  double scalar_done = 0;
  bool parked = false;  ///< waits for a vector operation whose end is not known yet
  uint64_t parked_for = 0;
  double parked_since = 0;

  uint32_t instruction() const { return stream->steps[position] & ~has_memory; }
};

struct Simd {
  double valu_free = 0;
  double mfma_free = 0;
  double salu_free = 0;
};

struct Pending {
  double time = 0;
  double amount = 0;
  bool operator>(const Pending& other) const { return time > other.time; }
};
using PendingHeap = std::priority_queue<Pending, std::vector<Pending>, std::greater<>>;

/// A vector memory instruction on its way from the wave to L2.
struct Request {
  uint32_t wave = 0;
  uint64_t number = 0;  ///< of the wave's vector operations
  const MemoryFacts* facts = nullptr;
};

struct Event {
  double time = 0;
  uint32_t order = 0;
  uint32_t index = 0;  ///< of a wave, or of a CU that sends
  bool is_send = false;
  /// Comes after `other`.
  bool operator<(const Event& other) const {
    if (time != other.time) return time > other.time;
    if (is_send != other.is_send) return other.is_send;
    return order > other.order;
  }
};

struct Cu {
  std::vector<Event> events;  ///< of its waves and its sending, the next one last: few, so that sorting in is cheap
  std::array<Simd, 4> simds;
  double lds_free = 0;
  double address_free = 0;
  double path_free = 0;  ///< to L2
  double scalar_memory_free = 0;
  std::deque<Request> requests;
  bool sending = false;
  PendingHeap in_flight;  ///< amount: bytes
  double in_flight_bytes = 0;
  PendingHeap lds_arrivals;  ///< of DMA; amount: LDS clocks
  CuCounters counters;
};

struct Arrival {
  uint32_t wave = 0;
  double time = 0;
};

struct Group {
  uint32_t place = 0;
  uint32_t cu = 0;
  uint32_t live = 0;
  std::vector<Arrival> waiting;
};

/// Until when an instruction cannot issue, and why.
struct Block {
  double until = 0;
  Cause cause = Cause::issue_other;
  bool parked = false;
  void raise(double time, Cause why) {
    if (time > until) {
      until = time;
      cause = why;
    }
  }
};

class Machine {
 public:
  Machine(const Parameters& parameters, const MachineInput& input);
  MachineResult run();

 private:
  // machine.cpp: events, and waves' lives
  void push(Cu& cu, const Event& event);
  bool is_shared(const Event& event) const;
  bool is_shared(const WaveState& wave) const;
  void run_alone(uint32_t cu);
  void dispatch(uint32_t cu, double time);
  void push_wave(const WaveState& wave, double time);
  void hold(WaveState& wave, double from, double until, Cause cause);
  void step(WaveState& wave, double time);
  bool takes_branch(const WaveState& wave) const;
  void arrive(WaveState& wave, double time);
  void open_barrier(Group& group);
  void finish(WaveState& wave, double time);

  // machine_issue.cpp: ports and registers
  Block port_block(const WaveState& wave, const InstructionInfo& info, double time);
  void operand_block(const WaveState& wave, const InstructionInfo& info, Block& block) const;
  Cause issue(WaveState& wave, const InstructionInfo& info, const InstructionCost& cost, double time);

  // machine_memory.cpp: LDS and vector memory
  Block wait_block(WaveState& wave, const InstructionInfo& info, double time);
  Block counter_block(const WaveState& wave, const InstructionInfo& info, double time) const;
  void issue_lds(WaveState& wave, const MemoryFacts& facts, double time);
  void issue_scalar_load(WaveState& wave, const MemoryFacts& facts, double time);
  void issue_vector_memory(WaveState& wave, const MemoryFacts& facts, double time);
  void send(uint32_t cu, double time);
  void take_arrivals(Cu& cu, double time);
  double lds_clocks_of(const MemoryFacts& facts) const;

  const Parameters& p_;
  const MachineInput& in_;
  MemorySystem memory_;
  std::vector<InstructionCost> costs_;
  std::vector<bool> is_shared_;  ///< instructions that touch what CUs share
  std::vector<Cu> cus_;
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<WaveState>> waves_;
  std::priority_queue<Event> shared_;  ///< of each CU that is not done, its next event: one that the XCD sees
  uint32_t next_workgroup_ = 0;
  double dispatch_free_ = 0;
  MachineResult result_;
};

}  // namespace mlaforge::simulator::timing
