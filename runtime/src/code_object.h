// A code object in host memory, looked at before HIP is given a pointer without a size.
#pragma once

#include <cstdint>
#include <string>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// SUCCESS, or BAD_KERNEL_SET or WRONG_DEVICE with what is wrong in `problem`: an ELF for AMD GPUs and for `target`, or
/// a bundle, all of whose tables and segments lie within `bytes`. Compressed bundles are left to HIP.
mlaforge_status check_code_object(const void* data, uint64_t bytes, const std::string& target, std::string& problem);

}  // namespace mlaforge
