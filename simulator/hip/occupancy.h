// How many workgroups of a kernel a CU holds.
#pragma once

#include "simulator/hip/module.h"

namespace mlaforge::simulator {

// Throws ApiError when the kernel does not allow a block of so many threads.
int resident_workgroups(const DeviceFunction& function, int block_threads, size_t dynamic_lds_bytes);

}  // namespace mlaforge::simulator
