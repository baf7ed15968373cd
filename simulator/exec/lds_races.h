// Checks::lds_races and the LDS half of Checks::uninitialized.
//
// Between two barriers, bytes that one wave writes must not be touched by another. An operation counts from its issue
// until its wave has waited for it, so one that is outstanding at a barrier counts behind it as well: a DMA as a write,
// a ds_read as a read. In one wave, DS operations are in order among themselves, but not with a DMA not waited for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/core/wave.h"
#include "simulator/exec/memory_queue.h"

namespace mlaforge::simulator {

class LdsRaces {
 public:
  LdsRaces(size_t lds_bytes, bool check_races, bool check_written);

  /// At issue: raises lds_race or uninitialized, else notes what `op` touches.
  void issue(Wave& wave, const PendingOp& op);
  /// At a wait; `outstanding` are the wave's operations that remain.
  void retire(const Wave& wave, const std::vector<std::unique_ptr<PendingOp>>& retired,
              const std::vector<std::unique_ptr<PendingOp>>& outstanding);
  /// All waves passed `barrier`: forgets what they did before. carry() follows for every outstanding operation.
  void barrier(const Instruction& barrier);
  void carry(const Wave& wave, const PendingOp& op);

 private:
  using WaveBits = uint16_t;  // a workgroup has at most 16 waves
  static constexpr WaveBits all_waves = 0xffff;

  /// Who touched a dword, for reports.
  struct Touch {
    uint32_t code = no_code;  ///< byte of the program's code where the instruction lies
    uint8_t wave = 0;
    uint8_t lane = 0;
  };
  static constexpr uint32_t no_code = ~0u;
  static constexpr size_t touch_bytes = 4;

  void check(Wave& wave, const PendingOp& op, size_t byte, int lane) const;
  template <typename Bytes>
  bool suspicious(const Wave& wave, const PendingOp& op, size_t first, Bytes bytes) const;
  [[noreturn]] void report(const Wave& wave, const PendingOp& op, size_t byte, int lane, WaveBits others) const;
  std::string conflicting_bytes(const Wave& wave, const PendingOp& op, size_t byte) const;
  /// The bits of other waves that a touch of `byte` by `op` conflicts with.
  WaveBits conflicts(const Wave& wave, const PendingOp& op, size_t byte) const;
  void note(const Wave& wave, const PendingOp& op);
  void set_outstanding(const Wave& wave, const PendingOp& op, bool value);

  bool check_races_;
  bool check_written_;
  // By byte, one bit a wave: what was done since the last barrier, and what the wave has not waited for.
  std::vector<WaveBits> write_;
  std::vector<WaveBits> read_;
  std::vector<WaveBits> atomic_;
  std::vector<WaveBits> outstanding_dma_;
  std::vector<WaveBits> outstanding_ds_;
  std::vector<uint8_t> unwritten_;
  std::vector<Touch> writer_;                 ///< the last, by dword
  std::vector<std::array<Touch, 2>> reader_;  ///< the last two of different waves
  const Instruction* last_barrier_ = nullptr;
};

}  // namespace mlaforge::simulator
