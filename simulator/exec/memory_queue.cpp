#include "simulator/exec/memory_queue.h"

#include <algorithm>

#include "simulator/exec/observer.h"
#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {
namespace {

// Counter widths of gfx9: an instruction that would overflow one stalls until its oldest operation is done.
constexpr unsigned max_vmcnt = 63;
constexpr unsigned max_lgkmcnt = 15;

void mark_pending(Wave& wave, const PendingOp& op) {
  for (unsigned i = 0; i < op.registers; ++i) {
    if (op.scalar_registers) {
      wave.pending_sgpr.set(op.first_register + i);
    } else {
      wave.pending_vgpr.set(op.first_register + i);
    }
  }
  if (op.registers != 0) wave.any_pending = true;
}

/// Whether memory sees two operations of a wave in their issue order, whatever the counters say.
bool acts_in_order(QueueKind older, QueueKind newer) {
  if (older == QueueKind::scalar || newer == QueueKind::scalar) return false;
  return older == newer || older == QueueKind::flat || newer == QueueKind::flat;
}

/// What an operation does to memory that others see: bytes written in the LDS or in device memory, or only read.
bool writes_memory(const PendingOp& op) {
  switch (op.lds) {
    case LdsAccess::write:
    case LdsAccess::write_pair:
    case LdsAccess::atomic:
    case LdsAccess::dma:
      return true;
    case LdsAccess::read:
    case LdsAccess::read_pair:
      return false;
    case LdsAccess::none:
      return op.registers == 0 || op.instruction->mnemonic.find("_atomic_") != std::string::npos;
  }
  return true;
}

/// Whether the mode moves an operation's bytes at its issue; else they wait. The two modes in between are opposites:
/// lazy reads the LDS too early for a write not waited for, clobber writes too early for a read not waited for.
bool moves_at_issue(MemoryMode mode, const PendingOp& op) {
  switch (mode) {
    case MemoryMode::lazy:
      return op.kind == QueueKind::lds && !writes_memory(op);
    case MemoryMode::clobber:
      return writes_memory(op);
    case MemoryMode::eager:
      return true;
    case MemoryMode::random:
      return false;
  }
  return false;
}

/// 0 to 63 operations, each power of two as likely: a short lag shows what a long one hides, and the other way round.
unsigned draw_lag(std::mt19937_64& random) {
  const auto bits = static_cast<unsigned>(random() % 7);
  return static_cast<unsigned>(random()) & ((1u << bits) - 1);
}

/// Whether every lane of an operation points into its workgroup's LDS.
bool lies_in_lds(const Wave& wave, const PendingOp& op) {
  const auto& lds = wave.group->lds;
  for (size_t lane = 0; lane < wave_lanes; ++lane) {
    if ((op.exec >> lane & 1) == 0) continue;
    const std::byte* at = op.address[lane];
    if (at < lds.data() || at >= lds.data() + lds.size()) return false;
  }
  return true;
}

bool is_counted(const PendingOp& op) { return op.in_vm || op.in_lgkm; }

/// Calls f(op, vm_done, lgkm_done) for every operation: which of its counters the counts guarantee.
template <typename F>
void for_counted(const std::vector<std::unique_ptr<PendingOp>>& outstanding, unsigned vmcnt, unsigned lgkmcnt, F&& f) {
  // From the newest to the oldest: an in-order operation is done once more than the allowed count follow it or are it.
  unsigned newer_vm = 0;
  unsigned newer_lds = 0;
  for (auto it = outstanding.rbegin(); it != outstanding.rend(); ++it) {
    PendingOp& op = **it;
    switch (op.kind) {
      case QueueKind::vector:
        f(op, ++newer_vm > vmcnt, false);
        break;
      case QueueKind::lds:
        f(op, false, ++newer_lds > lgkmcnt);
        break;
      case QueueKind::scalar:
        f(op, false, lgkmcnt == 0);
        break;
      case QueueKind::flat:
        f(op, vmcnt == 0 || (op.lds_alone && lgkmcnt == 0), lgkmcnt == 0);
        break;
    }
  }
}

}  // namespace

void MemoryQueue::reset() {
  for (auto& op : outstanding_) free_.push_back(std::move(op));
  outstanding_.clear();
  lag_.fill(0);
  vm_outstanding_ = lgkm_outstanding_ = 0;
}

PendingOp& MemoryQueue::prepare(QueueKind kind, const Instruction& instruction, uint64_t exec) {
  if (free_.empty()) free_.push_back(std::make_unique<PendingOp>());
  PendingOp& op = *free_.back();
  op.apply = nullptr;
  op.instruction = &instruction;
  op.kind = kind;
  op.applied = false;
  op.scalar_registers = false;
  op.in_vm = kind == QueueKind::vector || kind == QueueKind::flat;
  op.in_lgkm = kind != QueueKind::vector;
  op.lds_alone = false;
  op.first_register = 0;
  op.registers = 0;
  op.lds = LdsAccess::none;
  op.exec = exec;
  op.bytes = 0;
  op.detail = 0;
  return op;
}

void MemoryQueue::issue(Wave& wave, PendingOp& op) {
  op.lds_alone = op.kind == QueueKind::flat && op.registers == 0 && lies_in_lds(wave, op);
  if (wave.group->observer != nullptr) wave.group->observer->memory(wave, op);
  if (op.in_vm && vm_outstanding_ >= max_vmcnt) wait(wave, max_vmcnt - 1, ~0u);
  if (op.in_lgkm && lgkm_outstanding_ >= max_lgkmcnt) wait(wave, ~0u, max_lgkmcnt - 1);
  if (wave.group->races && op.lds != LdsAccess::none) wave.group->races->issue(wave, op);
  if (wave.group->global_log) note_global(*wave.group->global_log, wave, op);
  vm_outstanding_ += op.in_vm;
  lgkm_outstanding_ += op.in_lgkm;
  // prepare() handed out the last free record; wait() may have put others on top of it.
  const auto self = std::find_if(free_.begin(), free_.end(), [&](const auto& other) { return other.get() == &op; });
  outstanding_.push_back(std::move(*self));
  free_.erase(self);
  mark_pending(wave, op);
  const MemoryMode mode = wave.group->launch->config.memory;
  if (mode == MemoryMode::random) {
    constexpr uint64_t issues_between_draws = 16;
    if (wave.group->random() % issues_between_draws == 0) draw_delays(wave);
    land_beyond_lag(wave);
  } else if (moves_at_issue(mode, op)) {
    apply_through(wave, op);
  }
}

void MemoryQueue::apply_through(Wave& wave, const PendingOp& last) {
  for (size_t i = 0; i < outstanding_.size(); ++i) {
    PendingOp& op = *outstanding_[i];
    if (!op.applied && (&op == &last || acts_in_order(op.kind, last.kind))) {
      // A flat operation is in order with both other kinds, so it pulls those before it along.
      if (op.kind == QueueKind::flat && last.kind != QueueKind::flat) {
        apply_through(wave, op);
      } else {
        op.applied = true;
        op.apply(wave, op);
      }
    }
    if (&op == &last) return;
  }
}

void MemoryQueue::wait(Wave& wave, unsigned vmcnt, unsigned lgkmcnt) {
  if (outstanding_.empty()) return;
  for_counted(outstanding_, vmcnt, lgkmcnt, [](PendingOp& op, bool vm_done, bool lgkm_done) {
    op.in_vm = op.in_vm && !vm_done;
    op.in_lgkm = op.in_lgkm && !lgkm_done;
  });
  bool any = false;
  vm_outstanding_ = lgkm_outstanding_ = 0;
  for (auto& op : outstanding_) {
    vm_outstanding_ += op->in_vm;
    lgkm_outstanding_ += op->in_lgkm;
    if (is_counted(*op)) continue;
    any = true;
    if (!op->applied) apply_through(wave, *op);
  }
  if (!any) return;
  auto kept = outstanding_.begin();
  for (auto& op : outstanding_) {
    if (is_counted(*op)) {
      if (&*kept != &op) std::swap(*kept, op);
      ++kept;
    }
  }
  const auto done = static_cast<size_t>(kept - outstanding_.begin());
  std::vector<std::unique_ptr<PendingOp>> retired(std::make_move_iterator(kept),
                                                  std::make_move_iterator(outstanding_.end()));
  outstanding_.resize(done);
  if (wave.group->races) wave.group->races->retire(wave, retired, outstanding_);
  for (auto& op : retired) free_.push_back(std::move(op));
  rebuild_pending(wave);
}

std::vector<const PendingOp*> MemoryQueue::guaranteed(unsigned vmcnt, unsigned lgkmcnt) const {
  std::vector<const PendingOp*> ops;
  for_counted(outstanding_, vmcnt, lgkmcnt, [&](const PendingOp& op, bool vm_done, bool lgkm_done) {
    if ((!op.in_vm || vm_done) && (!op.in_lgkm || lgkm_done)) ops.push_back(&op);
  });
  return ops;
}

void MemoryQueue::rebuild_pending(Wave& wave) {
  if (!wave.any_pending) return;
  wave.pending_vgpr.reset();
  wave.pending_sgpr.reset();
  wave.any_pending = false;
  for (const auto& op : outstanding_) mark_pending(wave, *op);
}

void MemoryQueue::drain(Wave& wave) { wait(wave, 0, 0); }

void MemoryQueue::draw_delays(Wave& wave) {
  for (unsigned& lag : lag_) lag = draw_lag(wave.group->random);
  land_beyond_lag(wave);
}

void MemoryQueue::land_beyond_lag(Wave& wave) {
  std::array<unsigned, 4> newer{};
  for (size_t i = outstanding_.size(); i-- > 0;) {
    PendingOp& op = *outstanding_[i];
    const auto kind = static_cast<size_t>(op.kind);
    if (op.applied || newer[kind]++ < lag_[kind]) continue;
    apply_through(wave, op);
  }
}

const PendingOp* MemoryQueue::owner(uint16_t first, uint16_t count, bool scalar) const {
  for (const auto& op : outstanding_) {
    if (op->scalar_registers != scalar || op->registers == 0) continue;
    if (op->first_register < first + count && first < op->first_register + op->registers) return op.get();
  }
  return nullptr;
}

}  // namespace mlaforge::simulator
