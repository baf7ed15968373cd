// Checks::lds_races and the LDS half of Checks::uninitialized.
//
// Between two barriers, bytes that one wave writes must not be touched by another. An operation counts from its issue
// until its wave has waited for it, so one that is outstanding at a barrier counts behind it as well: a DMA as a write,
// a ds_read as a read. In one wave, DS operations are in order among themselves, but not with a DMA not waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/wave.h"
#include "simulator/exec/memory_queue.h"

namespace mlaforge::simulator {

class LdsRaces {
 public:
  LdsRaces(size_t lds_bytes, bool check_races, bool check_written);

  /// At issue: raises lds_race or uninitialized, else notes what `op` touches.
  void issue(Wave& wave, const PendingOp& op);
  /// At retirement; `outstanding` are the wave's operations that remain.
  void retire(const Wave& wave, const PendingOp& op, const std::vector<std::unique_ptr<PendingOp>>& outstanding);
  /// All waves passed a barrier: forgets what they did before. carry() follows for every outstanding operation.
  void barrier();
  void carry(const Wave& wave, const PendingOp& op);

 private:
  using WaveBits = uint16_t;  // a workgroup has at most 16 waves

  void check(Wave& wave, const PendingOp& op, size_t byte, int lane) const;
  [[noreturn]] void report(const Wave& wave, size_t byte, int lane, WaveBits others) const;
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
  std::vector<uint8_t> written_;
  std::vector<const Instruction*> last_writer_;  ///< for reports
  std::vector<const Instruction*> last_reader_;
};

}  // namespace mlaforge::simulator
