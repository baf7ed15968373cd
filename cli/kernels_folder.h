// Kernels that no config is asked for: one by its name, or those of a generated folder.
#pragma once

#include <filesystem>
#include <string>

#include "generator/emit/emit.h"
#include "generator/result.h"

namespace mlaforge::cli {

/// Any kernel that can be made, whether a config asks for it or not.
Expected<PlannedKernel> kernel_of_name(const std::string& name);

/// The kernels that a folder's manifest names, planned anew; of the config that they came from only the name, the heads
/// of a rank and the target, with a softmax scale of 1. Errors: the manifest's; kernels that cannot be made.
Expected<DeploymentPlan> read_kernels_folder(const std::filesystem::path& folder);

}  // namespace mlaforge::cli
