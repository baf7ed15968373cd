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

PointKind parse_kind(const std::string& kind) {
  return kind == "barrier" ? PointKind::barrier : kind == "nop" ? PointKind::nop : PointKind::wait;
}

/// s_nop N gives N + 1 wait states: one state less each, the last by letting the next instruction go first.
void add_nop_mutants(std::vector<Mutant>& mutants, const WaitPoint& point) {
  const uint32_t count = point.word & 15U;
  if (!point.next_words.empty()) {
    std::vector<uint32_t> words = point.next_words;
    words.push_back(point.word);
    mutants.push_back({point, std::move(words), fmt::format("behind {}", point.next_text), point.fault_moved});
  }
  if (count > 0)
    mutants.push_back(
        {point, {point.word - 1}, fmt::format("s_nop {} to s_nop {}", count, count - 1), point.fault_shorter});
}

}  // namespace

std::vector<WaitPoint> parse_points(const nlohmann::json& points) {
  std::vector<WaitPoint> parsed;
  for (const nlohmann::json& point : points) {
    parsed.push_back({.offset = point.at("offset"),
                      .file_offset = point.at("file_offset"),
                      .word = point.at("word"),
                      .kind = parse_kind(point.at("kind")),
                      .vmcnt = point.at("vmcnt"),
                      .lgkmcnt = point.at("lgkmcnt"),
                      .text = point.at("text"),
                      .next_words = point.value("next_words", std::vector<uint32_t>{}),
                      .next_text = point.value("next_text", std::string{}),
                      .fault_moved = point.value("fault_moved", std::string{}),
                      .fault_shorter = point.value("fault_shorter", std::string{})});
  }
  return parsed;
}

std::vector<Mutant> mutants_of(const std::vector<WaitPoint>& points) {
  std::vector<Mutant> mutants;
  for (const WaitPoint& point : points) {
    if (point.kind == PointKind::nop) {
      add_nop_mutants(mutants, point);
      continue;
    }
    mutants.push_back({point, {s_nop_0}, "dropped", {}});
    // One below the count of no wait, raising is dropping; with one count alone, that is the mutant above.
    if (point.vmcnt < no_vmcnt && (point.vmcnt + 1 < no_vmcnt || point.lgkmcnt < no_lgkmcnt)) {
      mutants.push_back({point,
                         {with_vmcnt(point.word, point.vmcnt + 1)},
                         fmt::format("vmcnt({}) to vmcnt({})", point.vmcnt, point.vmcnt + 1),
                         {}});
    }
    if (point.lgkmcnt < no_lgkmcnt && (point.lgkmcnt + 1 < no_lgkmcnt || point.vmcnt < no_vmcnt)) {
      mutants.push_back({point,
                         {with_lgkmcnt(point.word, point.lgkmcnt + 1)},
                         fmt::format("lgkmcnt({}) to lgkmcnt({})", point.lgkmcnt, point.lgkmcnt + 1),
                         {}});
    }
  }
  return mutants;
}

}  // namespace mlaforge::mutate
