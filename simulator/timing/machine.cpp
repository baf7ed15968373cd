#include "simulator/timing/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/timing/machine_state.h"

namespace mlaforge::simulator::timing {

std::string_view to_string(Cause cause) {
  constexpr std::array<std::string_view, cause_count> names{
      "issue_valu",       "issue_mfma",  "issue_salu", "issue_lds",   "issue_vector_memory",
      "issue_other",      "mfma_result", "mfma_busy",  "valu_result", "valu_busy",
      "salu_busy",        "lds_busy",    "vmem_busy",  "wait_vmcnt",  "wait_lds",
      "wait_scalar_load", "barrier",     "nop",        "sleep",       "branch"};
  return names[static_cast<size_t>(cause)];
}

Machine::Machine(const Parameters& parameters, const MachineInput& input)
    : p_(parameters),
      in_(input),
      memory_(parameters, input.share, input.stream.sectors, input.recent),
      cus_(input.cus) {
  costs_.reserve(input.stream.instructions.size());
  for (const InstructionInfo& info : input.stream.instructions) {
    costs_.push_back(cost_of(p_, info));
    is_shared_.push_back(info.port == Port::scalar_memory || info.control == Control::end);
  }
}

MachineResult Machine::run() {
  for (uint32_t slot = 0; slot < in_.workgroups_per_cu; ++slot) {
    for (uint32_t cu = 0; cu < in_.cus; ++cu) dispatch(cu, 0);
  }
  for (uint32_t cu = 0; cu < in_.cus; ++cu) run_alone(cu);
  while (!shared_.empty()) {
    const uint32_t index = shared_.top().index;
    shared_.pop();
    Cu& cu = cus_[index];
    const Event event = cu.events.back();
    cu.events.pop_back();
    if (event.is_send) {
      send(index, event.time);
    } else {
      step(*waves_[event.index], event.time);
    }
    run_alone(index);
  }
  result_.hbm_bytes = memory_.hbm_bytes();
  result_.l2_bytes = memory_.l2_bytes();
  result_.hbm_bytes_per_clk = memory_.hbm_bytes_per_clk();
  result_.l2_bytes_per_clk = memory_.l2_bytes_per_clk();
  for (const Cu& cu : cus_) result_.cus.push_back(cu.counters);
  return std::move(result_);
}

void Machine::push(Cu& cu, const Event& event) {
  cu.events.insert(std::upper_bound(cu.events.begin(), cu.events.end(), event), event);
}

/// Whether the wave's next instruction touches what CUs share, or looks at it.
bool Machine::is_shared(const WaveState& wave) const {
  const uint32_t instruction = wave.instruction();
  return is_shared_[instruction] || (wave.watched && instruction == in_.loop_head);
}

bool Machine::is_shared(const Event& event) const { return event.is_send || is_shared(*waves_[event.index]); }

/// Runs the CU until its next event is one that all CUs have to be in order for.
void Machine::run_alone(uint32_t index) {
  Cu& cu = cus_[index];
  while (!cu.events.empty()) {
    Event event = cu.events.back();
    if (is_shared(event)) {
      event.index = index;
      shared_.push(event);
      return;
    }
    cu.events.pop_back();
    step(*waves_[event.index], event.time);
  }
}

/// The next workgroup of the order starts on `cu`: its waves one after another, SIMDs in turn.
void Machine::dispatch(uint32_t cu, double time) {
  if (next_workgroup_ == in_.order.size()) return;
  const uint32_t place = next_workgroup_++;
  const WorkgroupStream& stream = in_.stream.workgroups[in_.order[place]];
  const auto group = static_cast<uint32_t>(groups_.size());
  groups_.push_back({.place = place, .cu = cu, .live = static_cast<uint32_t>(stream.waves.size()), .waiting = {}});
  for (uint32_t w = 0; w < stream.waves.size(); ++w) {
    dispatch_free_ = std::max(dispatch_free_, time) + p_.wave_launch_clk;
    auto wave = std::make_unique<WaveState>();
    wave->stream = &stream.waves[w];
    wave->sectors = stream.sectors.data();
    wave->index = static_cast<uint32_t>(waves_.size());
    wave->number = w;
    wave->group = group;
    wave->cu = cu;
    wave->simd = w % 4;
    wave->next = std::ceil(dispatch_free_);
    wave->watched = in_.loop_head != ~0u && place == 0 && w == 0;
    push_wave(*wave, wave->next);
    waves_.push_back(std::move(wave));
  }
}

void Machine::push_wave(const WaveState& wave, double time) {
  push(cus_[wave.cu],
       {.time = time, .order = (3 - wave.priority) << 24 | wave.index, .index = wave.index, .is_send = false});
}

void Machine::hold(WaveState& wave, double from, double until, Cause cause) {
  Cu& cu = cus_[wave.cu];
  cu.counters.causes[static_cast<size_t>(cause)] += until - from;
  if (in_.trace && wave.cu == 0 && until > from) {
    result_.trace.push_back({.workgroup = groups_[wave.group].place,
                             .wave = wave.number,
                             .simd = wave.simd,
                             .instruction = wave.instruction(),
                             .cause = cause,
                             .begin = from,
                             .end = until});
  }
}

/// Issues as many of the wave's instructions as no other event of its CU comes before; after the first, none that the
/// other CUs see.
void Machine::step(WaveState& wave, double time) {
  const std::vector<Event>& events = cus_[wave.cu].events;
  for (;;) {
    const uint32_t instruction = wave.instruction();
    const InstructionInfo& info = in_.stream.instructions[instruction];
    if (wave.watched && instruction == in_.loop_head) {
      result_.passes.push_back({time, cus_[wave.cu].counters, memory_.hbm_bytes()});
    }
    Block block = info.control == Control::wait ? wait_block(wave, info, time) : port_block(wave, info, time);
    if (block.parked) return;
    if (block.until > time) {
      hold(wave, time, block.until, block.cause);
      push_wave(wave, block.until);
      return;
    }
    double next = time + p_.issue_clk;
    Cause cause = Cause::issue_other;
    switch (info.control) {
      case Control::barrier:
        arrive(wave, time);
        return;
      case Control::end:
        finish(wave, time);
        return;
      case Control::nop:
        next = time + p_.issue_clk * (info.argument + 1);
        cause = Cause::nop;
        break;
      case Control::sleep:
        next = time + std::max(p_.issue_clk, 64.0 * (info.argument & 0x7f));
        cause = Cause::sleep;
        break;
      case Control::priority:
        wave.priority = info.argument & 3;
        break;
      case Control::branch:
        if (takes_branch(wave)) {
          next = time + p_.branch_taken_clk;
          cause = Cause::branch;
        }
        break;
      case Control::wait:
      case Control::none:
        cause = issue(wave, info, costs_[instruction], time);
        break;
    }
    hold(wave, time, next, cause);
    cus_[wave.cu].counters.instructions += 1;
    ++wave.position;
    wave.next = next;
    if (is_shared(wave) || (!events.empty() && events.back().time <= next)) {
      push_wave(wave, next);
      return;
    }
    time = next;
  }
}

/// Whether the next recorded instruction is not the one that follows in memory.
bool Machine::takes_branch(const WaveState& wave) const {
  if (wave.position + 1 == wave.stream->steps.size()) return false;
  const InstructionInfo& here = in_.stream.instructions[wave.instruction()];
  const InstructionInfo& then = in_.stream.instructions[wave.stream->steps[wave.position + 1] & ~has_memory];
  return then.pc != here.pc + 4;
}

void Machine::arrive(WaveState& wave, double time) {
  Group& group = groups_[wave.group];
  group.waiting.push_back({wave.index, time});
  open_barrier(group);
}

void Machine::open_barrier(Group& group) {
  if (group.waiting.empty() || group.waiting.size() != group.live) return;
  const double last = std::max_element(group.waiting.begin(), group.waiting.end(), [](const auto& a, const auto& b) {
                        return a.time < b.time;
                      })->time;
  const double open = std::ceil(last + p_.barrier_clk);
  for (const Arrival& arrival : group.waiting) {
    WaveState& wave = *waves_[arrival.wave];
    hold(wave, arrival.time, open, Cause::barrier);
    cus_[wave.cu].counters.instructions += 1;
    ++wave.position;
    wave.next = open;
    push_wave(wave, open);
  }
  group.waiting.clear();
}

void Machine::finish(WaveState& wave, double time) {
  Group& group = groups_[wave.group];
  double end = time + p_.issue_clk;
  // Stores need not be acknowledged for the wave to end, but the kernel ends with them.
  result_.clocks = std::max({result_.clocks, end, wave.last_vector_done});
  result_.longest_wave_instructions =
      std::max(result_.longest_wave_instructions, static_cast<double>(wave.stream->steps.size()));
  wave.ended = true;
  --group.live;
  open_barrier(group);
  if (group.live == 0) dispatch(group.cu, end + p_.workgroup_turn_clk);
}

MachineResult replay(const Parameters& parameters, const MachineInput& input) {
  return Machine(parameters, input).run();
}

}  // namespace mlaforge::simulator::timing
