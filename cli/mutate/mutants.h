// The mutants of a compiled kernel: each has one s_waitcnt dropped or one of its counts raised by one, one s_barrier
// dropped, or one s_nop shortened by one state or moved behind the instruction that it stands before.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mlaforge::mutate {

/// gfx9's s_waitcnt counts at which nothing is waited for.
inline constexpr unsigned no_vmcnt = 63;
inline constexpr unsigned no_lgkmcnt = 15;

enum class PointKind { wait, barrier, nop };

/// A wait, barrier or s_nop as the simulator's mlaforge_simulator_wait_points_json tells of it.
struct WaitPoint {
  uint64_t offset = 0;       ///< bytes from the kernel's entry
  uint64_t file_offset = 0;  ///< in the code object
  uint32_t word = 0;
  PointKind kind = PointKind::wait;
  unsigned vmcnt = no_vmcnt, lgkmcnt = no_lgkmcnt;
  std::string text;
  std::vector<uint32_t> next_words;  ///< the instruction behind it; empty: it must stay where it is
  std::string next_text;
  /// Of an s_nop: what the wait-state check says of the code, not executed, with the s_nop behind the next instruction
  /// or one state shorter; empty: nothing.
  std::string fault_moved, fault_shorter;
};

struct Mutant {
  WaitPoint point;
  std::vector<uint32_t> words;  ///< what stands in the place of point.word and, where it is longer, behind it
  std::string change;           ///< "dropped", "vmcnt(3) to vmcnt(4)"
  std::string code_fault;       ///< the wait-state check's word on the code, not executed; empty: none
};

std::vector<WaitPoint> parse_points(const nlohmann::json& points);

/// In the order of the code; for each wait the drop first.
std::vector<Mutant> mutants_of(const std::vector<WaitPoint>& points);

}  // namespace mlaforge::mutate
