// Names of registers in reports.
#pragma once

#include <fmt/format.h>

#include <string>

#include "simulator/core/wave.h"

namespace mlaforge::simulator {

/// Of a row of Wave::vgpr.
inline std::string vector_register_name(unsigned row) {
  return row >= first_agpr_row ? fmt::format("a{}", row - first_agpr_row) : fmt::format("v{}", row);
}

/// Of a word of Wave::sgpr.
inline std::string scalar_register_name(unsigned index) {
  if (index == vcc_lo || index == vcc_lo + 1u) return "vcc";
  if (index == m0_index) return "m0";
  if (index == exec_lo || index == exec_lo + 1u) return "exec";
  return fmt::format("s{}", index);
}

}  // namespace mlaforge::simulator
