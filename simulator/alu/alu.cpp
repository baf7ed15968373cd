// All vector ALU and matrix instructions in one table.
#include <vector>

#include "simulator/alu/tables.h"
#include "simulator/core/ops.h"

namespace mlaforge::simulator {

std::span<const OpEntry> alu_ops() {
  static const std::vector<OpEntry> joined = [] {
    std::vector<OpEntry> all;
    for (const auto table :
         {int32_ops(), int16_ops(), carry_ops(), compare_ops(), f32_ops(), f64_ops(), f16_ops(), packed_ops(),
          dot_ops(), convert_ops(), scale_convert_ops(), lane_ops(), division_ops(), mfma_ops(), smfmac_ops()})
      all.insert(all.end(), table.begin(), table.end());
    return all;
  }();
  return joined;
}

}  // namespace mlaforge::simulator
