// An opened device: HIP's table, the sorted rows, and a loaded function for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capabilities.h"
#include "hip_api.h"
#include "mlaforge/mlaforge.h"
#include "table.h"
#include "tuning.h"

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
  mlaforge::DispatchTable table;
  std::vector<Functions> functions;  ///< of the table's rows, by index
  std::vector<mlaforge::HipModule> modules;
  mlaforge::TuningSummary tuning;
  mlaforge::Capabilities capabilities;
};

namespace mlaforge {

/// mlaforge_open after HIP was loaded: checks the device, loads the sets' modules through `hip`, reads the tuning data;
/// `options.backend` is not looked at. Also the way in for a caller with a HIP table of its own.
mlaforge_status open_device(const HipApi& hip, const mlaforge_open_options& options, mlaforge_library** library);

}  // namespace mlaforge
