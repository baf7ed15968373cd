#include "cli/mutate/mutants.h"

#include <fmt/format.h>

namespace mlaforge::mutate {
namespace {

constexpr uint32_t s_nop_0 = 0xbf800000;

// Fields of s_waitcnt on gfx9: vmcnt in 3:0 and 15:14, lgkmcnt in 11:8.
uint32_t with_vmcnt(uint32_t word, unsigned count) {
  return (word & ~0xc00fU) | (count & 0xfU) | (count >> 4 & 0x3U) << 14;
}
uint32_t with_lgkmcnt(uint32_t word, unsigned count) { return (word & ~0x0f00U) | (count & 0xfU) << 8; }

}  // namespace

std::vector<WaitPoint> parse_points(const nlohmann::json& points) {
  std::vector<WaitPoint> parsed;
  for (const nlohmann::json& point : points) {
    parsed.push_back({.offset = point.at("offset"),
                      .file_offset = point.at("file_offset"),
                      .word = point.at("word"),
                      .barrier = point.at("barrier"),
                      .vmcnt = point.at("vmcnt"),
                      .lgkmcnt = point.at("lgkmcnt"),
                      .text = point.at("text")});
  }
  return parsed;
}

std::vector<Mutant> mutants_of(const std::vector<WaitPoint>& points) {
  std::vector<Mutant> mutants;
  for (const WaitPoint& point : points) {
    mutants.push_back({point, s_nop_0, "dropped"});
    // One below the count of no wait, raising is dropping; with one count alone, that is the mutant above.
    if (point.vmcnt < no_vmcnt && (point.vmcnt + 1 < no_vmcnt || point.lgkmcnt < no_lgkmcnt)) {
      mutants.push_back({point, with_vmcnt(point.word, point.vmcnt + 1),
                         fmt::format("vmcnt({}) to vmcnt({})", point.vmcnt, point.vmcnt + 1)});
    }
    if (point.lgkmcnt < no_lgkmcnt && (point.lgkmcnt + 1 < no_lgkmcnt || point.vmcnt < no_vmcnt)) {
      mutants.push_back({point, with_lgkmcnt(point.word, point.lgkmcnt + 1),
                         fmt::format("lgkmcnt({}) to lgkmcnt({})", point.lgkmcnt, point.lgkmcnt + 1)});
    }
  }
  return mutants;
}

}  // namespace mlaforge::mutate
