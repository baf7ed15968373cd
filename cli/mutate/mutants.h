// The mutants of a compiled kernel: each has one s_waitcnt dropped or one of its counts raised by one, or one s_barrier
// dropped, by one changed instruction word.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mlaforge::mutate {

/// gfx9's s_waitcnt counts at which nothing is waited for.
inline constexpr unsigned no_vmcnt = 63;
inline constexpr unsigned no_lgkmcnt = 15;

/// A wait or barrier as the simulator's mlaforge_simulator_wait_points_json tells of it.
struct WaitPoint {
  uint64_t offset = 0;       ///< bytes from the kernel's entry
  uint64_t file_offset = 0;  ///< in the code object
  uint32_t word = 0;
  bool barrier = false;
  unsigned vmcnt = no_vmcnt, lgkmcnt = no_lgkmcnt;
  std::string text;
};

struct Mutant {
  WaitPoint point;
  uint32_t word = 0;   ///< what stands in the place of point.word
  std::string change;  ///< "dropped", "vmcnt(3) to vmcnt(4)"
};

std::vector<WaitPoint> parse_points(const nlohmann::json& points);

/// In the order of the code; for each wait the drop first.
std::vector<Mutant> mutants_of(const std::vector<WaitPoint>& points);

}  // namespace mlaforge::mutate
