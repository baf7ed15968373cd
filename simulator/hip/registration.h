// Fat binaries: what hipcc's startup code registers, so that <<<>>> launches and device variables are found by the
// addresses of their host shadows. A binary is loaded when one of its kernels or variables is first used.
#pragma once

#include <memory>

#include "simulator/hip/module.h"

namespace mlaforge::simulator {

// The kernel behind a host stub on `device`, or null if the address is not registered. Throws ApiError if its binary
// does not load.
std::shared_ptr<DeviceFunction> registered_function(const void* host_stub, int device);

struct DeviceVariable {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// The variable of `device` behind its host shadow. Throws ApiError with hipErrorInvalidSymbol if it is not registered.
DeviceVariable registered_variable(const void* host_shadow, int device);

}  // namespace mlaforge::simulator
