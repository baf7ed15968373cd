// The outstanding memory operations of a wave, and when their results land.
//
// The hardware's counters: vmcnt counts vector memory operations (loads, stores, atomics, LDS DMA), in order; lgkmcnt
// counts LDS operations, in order among themselves, and scalar loads, out of order; flat operations count in both and
// are out of order. An operation is *applied* when its bytes move (by the memory mode: at issue, when a wait demands
// it, or in between; see moves_at_issue) and *retired* when a wait guarantees it; only then may its registers be used.
// Whatever the mode, operations of one order move their bytes in that order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/wave.h"

namespace mlaforge::simulator {

struct PendingOp;
using Apply = void (*)(Wave&, PendingOp&);

/// Which counter an operation is in, and its order there.
enum class QueueKind : uint8_t { vector, lds, scalar, flat };

/// What an operation does in the LDS, for the checks; the pair forms use both addresses, a DMA the second.
enum class LdsAccess : uint8_t { none, read, write, atomic, read_pair, write_pair, dma };

struct PendingOp {
  Apply apply = nullptr;
  const Instruction* instruction = nullptr;
  QueueKind kind = QueueKind::vector;
  bool applied = false;
  bool scalar_registers = false;  ///< the registers below are SGPRs
  bool in_vm = false;             ///< still counted
  bool in_lgkm = false;
  bool lds_alone = false;  ///< a flat store or atomic without result that reaches only the LDS: lgkmcnt says all of it
  uint16_t first_register = 0;
  uint16_t registers = 0;  ///< 0: no result

  LdsAccess lds = LdsAccess::none;
  uint8_t lds_bytes = 0;  ///< an address

  uint64_t exec = 0;
  uint32_t bytes = 0;                             ///< a lane's element; the apply function's business
  uint32_t detail = 0;                            ///< likewise
  std::array<std::byte*, wave_lanes> address{};   ///< host bytes of each active lane; null: reads 0, writes nothing
  std::array<std::byte*, wave_lanes> address2{};  ///< second address: read2, write2, or the LDS side of a DMA
  std::array<std::array<std::byte*, wave_lanes>, 4> pieces{};  ///< addresses by dword, where they do not follow on
  std::array<std::array<uint32_t, wave_lanes>, 4> data{};      ///< stores and atomics, read at issue
};

class MemoryQueue {
 public:
  void reset();

  /// An empty record to fill; it becomes outstanding by issue().
  PendingOp& prepare(QueueKind kind, const Instruction& instruction, uint64_t exec);
  void issue(Wave& wave, PendingOp& op);

  /// s_waitcnt: retires every operation that the counts guarantee.
  void wait(Wave& wave, unsigned vmcnt, unsigned lgkmcnt);
  /// What a wait with these counts would retire.
  std::vector<const PendingOp*> guaranteed(unsigned vmcnt, unsigned lgkmcnt) const;
  /// At the wave's end all that is outstanding lands.
  void drain(Wave& wave);
  /// MemoryMode::random: draws new delays; some more results land.
  void draw_delays(Wave& wave);

  /// The outstanding operation that owns a register, for reports; null: none.
  const PendingOp* owner(uint16_t first, uint16_t count, bool scalar) const;
  /// Oldest first.
  const std::vector<std::unique_ptr<PendingOp>>& outstanding() const { return outstanding_; }

 private:
  void apply_through(Wave& wave, const PendingOp& op);
  void land_beyond_lag(Wave& wave);
  void rebuild_pending(Wave& wave);

  std::vector<std::unique_ptr<PendingOp>> outstanding_;  ///< oldest first
  std::vector<std::unique_ptr<PendingOp>> free_;
  unsigned vm_outstanding_ = 0;
  unsigned lgkm_outstanding_ = 0;
  /// MemoryMode::random: by QueueKind, how many of the newest operations have not moved their bytes yet.
  std::array<unsigned, 4> lag_{};
};

}  // namespace mlaforge::simulator
