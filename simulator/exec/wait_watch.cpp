#include "simulator/exec/wait_watch.h"

#include <algorithm>

#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

class WaitWatch::Observer final : public ExecutionObserver {
 public:
  Observer(WaitWatch& watch, uint64_t pc) : watch_(watch), pc_(pc) {}

  void start(const Workgroup& group) override { waves_.assign(static_cast<size_t>(group.wave_count), {}); }

  void instruction(const Wave& wave, const Instruction& instruction) override {
    WaveState& state = waves_[static_cast<size_t>(wave.index)];
    if (!state.released.empty()) note_ends(wave, state, instruction);
    if (instruction.pc == pc_) release(wave, state, instruction);
    state.last = &instruction;
  }

  void memory(const Wave&, const PendingOp&) override {}

 private:
  struct WaveState {
    std::vector<const PendingOp*> released;
    std::vector<const Instruction*> instructions;  ///< of them: a retired record is used again
    std::vector<bool> stores;
    const Instruction* last = nullptr;
  };

  void end(WaveState& state, size_t i, WatchedEnd how, const Instruction& until) {
    watch_.add({state.instructions[i]->text, state.stores[i], how, until.text});
    const auto at = static_cast<std::ptrdiff_t>(i);
    state.released.erase(state.released.begin() + at);
    state.instructions.erase(state.instructions.begin() + at);
    state.stores.erase(state.stores.begin() + at);
  }

  /// What the last instruction retired, and all at the end of the wave.
  void note_ends(const Wave& wave, WaveState& state, const Instruction& next) {
    const auto& outstanding = wave.queue->outstanding();
    for (size_t i = state.released.size(); i-- > 0;) {
      const bool still = std::any_of(outstanding.begin(), outstanding.end(),
                                     [&](const auto& op) { return op.get() == state.released[i]; });
      if (!still) {
        end(state, i, state.last->mnemonic == "s_waitcnt" ? WatchedEnd::wait : WatchedEnd::full_counter, *state.last);
      } else if (next.mnemonic.starts_with("s_endpgm")) {
        end(state, i, WatchedEnd::wave_end, next);
      }
    }
  }

  void release(const Wave& wave, WaveState& state, const Instruction& weakened) {
    {
      const std::scoped_lock lock(watch_.mutex_);
      ++watch_.report_.executions;
    }
    const bool waits = weakened.mnemonic == "s_waitcnt";  // else it was dropped
    const Modifiers counts = waits ? weakened.modifiers : Modifiers{};
    const std::vector<const PendingOp*> kept = wave.queue->guaranteed(counts.vmcnt, counts.lgkmcnt);
    for (const PendingOp* op : wave.queue->guaranteed(watch_.watched_.vmcnt, watch_.watched_.lgkmcnt)) {
      if (std::find(kept.begin(), kept.end(), op) != kept.end()) continue;
      if (std::find(state.released.begin(), state.released.end(), op) != state.released.end()) continue;
      state.released.push_back(op);
      state.instructions.push_back(op->instruction);
      state.stores.push_back(op->kind == QueueKind::vector && op->registers == 0 && op->lds == LdsAccess::none);
    }
  }

  WaitWatch& watch_;
  uint64_t pc_;
  std::vector<WaveState> waves_;
};

ExecutionObserver* WaitWatch::observer(const KernelCode& kernel) {
  const std::scoped_lock lock(mutex_);
  observers_.push_back(std::make_unique<Observer>(*this, kernel.entry + watched_.offset));
  return observers_.back().get();
}

void WaitWatch::add(const WatchedOperation& operation) {
  const std::scoped_lock lock(mutex_);
  ++report_.released[operation];
}

}  // namespace mlaforge::simulator
