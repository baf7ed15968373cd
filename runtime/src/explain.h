// What people are told of a choice: why no kernel fits, and why each row does or does not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "table.h"

namespace mlaforge {

/// The message of a miss: the first field that nothing matches, the nearest rows, the config that generates the kernel.
/// Behind `miss_remedy` stands a deployment config that asks for the kernel; `more_fields` are members for its entry of
/// `kernels` that no problem has, each with a comma before it.
std::string explain_miss(std::span<const mlaforge_kernel_row> table, const mlaforge_problem& problem,
                         const std::string& more_fields = {});
inline constexpr const char* miss_remedy = "\nto generate it: ";

/// One row's part in a choice.
struct Verdict {
  size_t row = 0;  ///< index in the table
  bool chosen = false;
  bool serves = false;           ///< it has the problem's key, and splits and probability_parts where given
  int64_t predicted_clocks = 0;  ///< of the cost model for the batch to serve; 0 where it does not serve
  std::string reason;            ///< by what it was chosen, what it lost to, or the fields that do not match
};

/// One for each row, in the table's order; empty where select_row refuses the problem's fields.
std::vector<Verdict> judge_rows(const DispatchTable& table, const mlaforge_problem& problem);

}  // namespace mlaforge
