// An opened device: HIP's table, the sorted rows, and a loaded function for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hip_api.h"
#include "mlaforge/mlaforge.h"

/// What the C ABI's opaque handle points to; constant after open.
struct mlaforge_library {
  /// The functions of one table row; combine is null with one split.
  struct Functions {
    mlaforge::HipFunction attention = nullptr;
    mlaforge::HipFunction combine = nullptr;
  };

  mlaforge::HipApi hip;
  int device = 0;
  int compute_units = 0;
  std::string device_name;
  std::string target;
  std::vector<mlaforge_kernel_row> rows;  ///< sorted by key
  std::vector<Functions> functions;       ///< of rows, by index
  std::vector<mlaforge::HipModule> modules;
};

namespace mlaforge {

/// mlaforge_open after HIP was loaded: checks the device and loads the sets' modules through `hip`.
/// Also the way in for a caller with a HIP table of its own.
mlaforge_status open_device(const HipApi& hip, int device, std::span<const mlaforge_kernel_set* const> sets,
                            mlaforge_library** library);

}  // namespace mlaforge
