#include "simulator/exec/lds_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "simulator/decode/program.h"
#include "simulator/exec/lanes_memory.h"

namespace mlaforge::simulator {
namespace {

bool writes(LdsAccess access) {
  return access == LdsAccess::write || access == LdsAccess::write_pair || access == LdsAccess::dma;
}
bool reads(LdsAccess access) { return access == LdsAccess::read || access == LdsAccess::read_pair; }

bool is_dma(const PendingOp& op) { return op.lds == LdsAccess::dma; }

/// Calls f(first byte, bytes, lane) for every piece of `bytes` bytes; flat lanes outside the LDS are passed over.
template <typename Bytes, typename F>
void for_pieces_of(const Wave& wave, const PendingOp& op, Bytes bytes, F&& f) {
  const std::byte* lds = wave.group->lds.data();
  const size_t size = wave.group->lds.size();
  const auto piece = [&](const std::byte* host, int lane) {
    const auto byte = static_cast<size_t>(host - lds);
    if (host != nullptr && host >= lds && byte < size) f(byte, bytes, lane);
  };
  const bool pair = op.lds == LdsAccess::read_pair || op.lds == LdsAccess::write_pair;
  for_lanes(op.exec, [&](int lane) {
    const auto index = static_cast<size_t>(lane);
    if (!is_dma(op)) piece(op.address[index], lane);
    if (is_dma(op) || pair) piece(op.address2[index], lane);
  });
}

/// The same for op.lds_bytes bytes, which are a constant where the usual sizes are met: loops over a piece are most of
/// what the checks cost.
template <typename F>
void for_pieces(const Wave& wave, const PendingOp& op, F&& f) {
  if (op.lds == LdsAccess::none) return;
  switch (op.lds_bytes) {
    case 4:
      return for_pieces_of(wave, op, std::integral_constant<size_t, 4>{}, f);
    case 8:
      return for_pieces_of(wave, op, std::integral_constant<size_t, 8>{}, f);
    case 16:
      return for_pieces_of(wave, op, std::integral_constant<size_t, 16>{}, f);
    default:
      return for_pieces_of(wave, op, size_t{op.lds_bytes}, f);
  }
}

/// All of `count` values or-ed together.
template <typename T, typename Count>
T any_of(const std::vector<T>& values, size_t first, Count count) {
  const T* at = values.data() + first;
  T all = 0;
  for (size_t i = 0; i < count; ++i) all = static_cast<T>(all | at[i]);
  return all;
}

/// Keeps the bits of `kept` and sets those of `set`; values, since references would alias what is written.
template <typename T, typename Count>
void set_bits(std::vector<T>& values, size_t first, Count count, T kept, T set) {
  T* at = values.data() + first;
  for (size_t i = 0; i < count; ++i) at[i] = static_cast<T>((at[i] & kept) | set);
}

}  // namespace

LdsRaces::LdsRaces(size_t lds_bytes, bool check_races, bool check_written)
    : check_races_(check_races),
      check_written_(check_written),
      write_(lds_bytes),
      read_(lds_bytes),
      atomic_(lds_bytes),
      outstanding_dma_(lds_bytes),
      outstanding_ds_(lds_bytes),
      unwritten_(lds_bytes, 1),
      writer_(lds_bytes / touch_bytes + 1),
      reader_(lds_bytes / touch_bytes + 1) {}

LdsRaces::WaveBits LdsRaces::conflicts(const Wave& wave, const PendingOp& op, size_t byte) const {
  unsigned conflict = write_[byte];
  if (op.lds != LdsAccess::atomic) conflict |= atomic_[byte];
  if (!reads(op.lds)) conflict |= read_[byte];
  return static_cast<WaveBits>(conflict & ~(1u << wave.index));
}

void LdsRaces::check(Wave& wave, const PendingOp& op, size_t byte, int lane) const {
  if (check_races_) {
    const WaveBits others = conflicts(wave, op, byte);
    const WaveBits unwaited = op.lds == LdsAccess::dma ? outstanding_ds_[byte] : outstanding_dma_[byte];
    if (others != 0 || (unwaited & 1u << wave.index) != 0) report(wave, op, byte, lane, others);
  }
  if (check_written_ && !writes(op.lds) && unwritten_[byte] != 0) {
    raise_fault(wave, FaultKind::uninitialized, fmt::format("LDS byte {} is read but was never written", byte), lane);
  }
}

/// Whether check() may have something to say of a byte of the piece: plain loops, since it nearly never has.
template <typename Bytes>
bool LdsRaces::suspicious(const Wave& wave, const PendingOp& op, size_t first, Bytes bytes) const {
  unsigned others = unsigned{any_of(write_, first, bytes)} | any_of(atomic_, first, bytes);
  if (!reads(op.lds)) others |= any_of(read_, first, bytes);
  const unsigned unwaited = any_of(is_dma(op) ? outstanding_ds_ : outstanding_dma_, first, bytes);
  const unsigned self = 1u << wave.index;
  return (others & ~self) != 0 || (unwaited & self) != 0 ||
         (check_written_ && !writes(op.lds) && any_of(unwritten_, first, bytes) != 0);
}

/// "byte 5", or "bytes 5 to 20": those of the lane's access, from `byte` on, that conflict too.
std::string LdsRaces::conflicting_bytes(const Wave& wave, const PendingOp& op, size_t byte) const {
  size_t last = byte;
  while (last + 1 < write_.size() && last + 1 - byte < op.lds_bytes && conflicts(wave, op, last + 1) != 0) ++last;
  return last == byte ? fmt::format("byte {}", byte) : fmt::format("bytes {} to {}", byte, last);
}

void LdsRaces::report(const Wave& wave, const PendingOp& op, size_t byte, int lane, WaveBits others) const {
  const Program& program = *wave.group->launch->kernel.program;
  const auto shown = [&](const Touch& touch) {
    if (touch.code == no_code) return std::string("an earlier access");
    const Instruction& i = *program.at(program.begin() + touch.code);
    return fmt::format("'{}' at 0x{:x}, lane {}", i.text, i.pc, touch.lane);
  };
  if (others == 0) {
    const bool wrote = outstanding_dma_[byte] != 0;
    raise_fault(wave, FaultKind::lds_race,
                fmt::format("LDS byte {} is touched while {} of the same wave is outstanding: no s_waitcnt {} between",
                            byte, shown(wrote ? writer_[byte / touch_bytes] : reader_[byte / touch_bytes][0]),
                            wrote ? "vmcnt" : "lgkmcnt"),
                lane);
  }
  const bool wrote = ((write_[byte] | atomic_[byte]) & others) != 0;
  const int other_wave = std::countr_zero(others);
  const auto& readers = reader_[byte / touch_bytes];
  const Touch touch = wrote ? writer_[byte / touch_bytes] : readers[readers[0].wave == other_wave ? 0 : 1];
  const std::string since = last_barrier_ == nullptr ? "since the start of the workgroup"
                                                     : fmt::format("since the s_barrier at 0x{:x}", last_barrier_->pc);
  raise_fault(
      wave, FaultKind::lds_race,
      fmt::format("LDS {}: {} of wave {} {} it, and {} no s_waitcnt and s_barrier order the two",
                  conflicting_bytes(wave, op, byte), shown(touch), other_wave, wrote ? "writes" : "reads", since),
      lane);
}

void LdsRaces::note(const Wave& wave, const PendingOp& op) {
  const auto self = static_cast<WaveBits>(1u << wave.index);
  auto& touched = reads(op.lds) ? read_ : writes(op.lds) ? write_ : atomic_;
  const auto code = static_cast<uint32_t>(op.instruction->pc - wave.group->launch->kernel.program->begin());
  for_pieces(wave, op, [&](size_t first, auto bytes, int lane) {
    set_bits(touched, first, bytes, all_waves, self);
    const Touch touch{code, static_cast<uint8_t>(wave.index), static_cast<uint8_t>(lane)};
    for (size_t granule = first / touch_bytes; granule * touch_bytes < first + bytes; ++granule) {
      if (!reads(op.lds)) {
        writer_[granule] = touch;
        continue;
      }
      auto& readers = reader_[granule];
      if (readers[0].wave != touch.wave) readers[1] = readers[0];
      readers[0] = touch;
    }
    if (!reads(op.lds)) set_bits(unwritten_, first, bytes, uint8_t{0}, uint8_t{0});
  });
}

void LdsRaces::set_outstanding(const Wave& wave, const PendingOp& op, bool value) {
  const auto self = static_cast<WaveBits>(1u << wave.index);
  const auto kept = static_cast<WaveBits>(~unsigned{self});
  const WaveBits set = value ? self : WaveBits{0};
  auto& outstanding = is_dma(op) ? outstanding_dma_ : outstanding_ds_;
  for_pieces(wave, op, [&](size_t first, auto bytes, int) { set_bits(outstanding, first, bytes, kept, set); });
}

void LdsRaces::issue(Wave& wave, const PendingOp& op) {
  for_pieces(wave, op, [&](size_t first, auto bytes, int lane) {
    if (!suspicious(wave, op, first, bytes)) return;
    for (size_t byte = first; byte < first + bytes; ++byte) check(wave, op, byte, lane);
  });
  note(wave, op);
  set_outstanding(wave, op, true);
}

void LdsRaces::retire(const Wave& wave, const std::vector<std::unique_ptr<PendingOp>>& retired,
                      const std::vector<std::unique_ptr<PendingOp>>& outstanding) {
  bool dma = false, ds = false;
  for (const auto& op : retired) {
    if (op->lds == LdsAccess::none) continue;
    set_outstanding(wave, *op, false);
    (is_dma(*op) ? dma : ds) = true;
  }
  // The bits are shared by all of the wave's operations of a kind on a byte: those that remain set theirs again.
  for (const auto& other : outstanding) {
    if (is_dma(*other) ? dma : ds) set_outstanding(wave, *other, true);
  }
}

void LdsRaces::barrier(const Instruction& barrier) {
  last_barrier_ = &barrier;
  for (auto* bits : {&write_, &read_, &atomic_}) std::fill(bits->begin(), bits->end(), WaveBits{0});
}

void LdsRaces::carry(const Wave& wave, const PendingOp& op) { note(wave, op); }

}  // namespace mlaforge::simulator
