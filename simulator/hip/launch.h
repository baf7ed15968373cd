// From a launch as the host asks for it to run_kernel: shape checks, kernel arguments, options, counts.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "simulator/hip/module.h"

namespace mlaforge::simulator {

struct LaunchShape {
  std::array<uint32_t, 3> grid{};   // workgroups
  std::array<uint32_t, 3> block{};  // threads of a workgroup
  uint64_t dynamic_lds_bytes = 0;
  bool cooperative = false;  // all workgroups at once
};

// The kernel argument segment: kernelParams (a pointer for each argument) copied to the offsets of the metadata, or the
// packed buffer of `extra` as it is. Throws ApiError.
std::vector<std::byte> pack_arguments(const DeviceFunction& function, void** parameters, void** extra);

// Throws ApiError that names the dimension or resource, its value and the limit.
void check_shape(const DeviceFunction& function, const LaunchShape& shape);

// Runs the kernel to its end. Throws ApiError with the fault if it does not come there.
void execute(const DeviceFunction& function, const LaunchShape& shape, const std::vector<std::byte>& arguments);

// Checks and packs now, and runs in `stream` (at once, or in the graph that it captures). `function` is a handle or the
// address of a host stub, of the stream's device.
void launch(const void* function, const LaunchShape& shape, void** parameters, void** extra, hipStream_t stream);

}  // namespace mlaforge::simulator
