#include "simulator/timing/lds_banks.h"

#include <algorithm>
#include <vector>

namespace mlaforge::simulator::timing {
namespace {

using Phase = std::vector<uint8_t>;

std::vector<Phase> contiguous(uint8_t lanes) {
  std::vector<Phase> phases;
  for (unsigned first = 0; first < 64; first += lanes) {
    Phase phase;
    for (unsigned i = 0; i < lanes; ++i) phase.push_back(static_cast<uint8_t>(first + i));
    phases.push_back(std::move(phase));
  }
  return phases;
}

/// ds_read_b128: sixteen lanes a phase, not neighbours (HipKittens, Triton PR 11365, IREE PR 24428).
std::vector<Phase> read_b128_phases() {
  constexpr uint8_t first[2][16] = {{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                                    {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}};
  std::vector<Phase> phases;
  for (const auto& lanes : first) {
    for (const uint8_t half : {uint8_t{0}, uint8_t{32}}) {
      Phase phase;
      for (const uint8_t lane : lanes) phase.push_back(static_cast<uint8_t>(lane + half));
      phases.push_back(std::move(phase));
    }
  }
  return phases;
}

struct Form {
  uint32_t banks;
  uint32_t dwords;
  std::vector<Phase> phases;
};

const Form& form_of(LdsAccess access) {
  static const std::array<Form, 8> forms{{
      {32, 1, contiguous(32)},
      {64, 2, contiguous(32)},
      {32, 3, contiguous(8)},
      {64, 4, read_b128_phases()},
      {32, 1, contiguous(32)},
      {32, 2, contiguous(16)},
      {32, 3, contiguous(8)},
      {32, 4, contiguous(8)},
  }};
  return forms[static_cast<size_t>(access)];
}

}  // namespace

LdsAccess lds_access(bool write, uint32_t bytes) {
  const int width = bytes <= 4 ? 0 : bytes <= 8 ? 1 : bytes <= 12 ? 2 : 3;
  return static_cast<LdsAccess>(width + (write ? 4 : 0));
}

LdsClocks lds_clocks(LdsAccess access, std::span<const uint32_t, 64> addresses) {
  const Form& form = form_of(access);
  LdsClocks total;
  for (const Phase& phase : form.phases) {
    // A bank serves one dword a clock; lanes that want the same dword share it.
    std::array<std::array<uint32_t, 64>, 64> wanted;
    std::array<uint8_t, 64> count{};
    uint32_t busiest = 0;
    for (const uint8_t lane : phase) {
      if (addresses[lane] == inactive_lane) continue;
      for (uint32_t d = 0; d < form.dwords; ++d) {
        const uint32_t dword = addresses[lane] / 4 + d;
        const uint32_t bank = dword % form.banks;
        const auto begin = wanted[bank].begin();
        if (std::find(begin, begin + count[bank], dword) != begin + count[bank]) continue;
        wanted[bank][count[bank]++] = dword;
        busiest = std::max<uint32_t>(busiest, count[bank]);
      }
    }
    total.clocks += busiest;
    total.ideal += busiest != 0;
  }
  return total;
}

}  // namespace mlaforge::simulator::timing
