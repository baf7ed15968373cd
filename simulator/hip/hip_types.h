// HIP's own types and declarations, exported from this library; and the marks for functions that Debian's headers
// (HIP 5.2) do not declare yet.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif

#pragma GCC visibility push(default)
#include <hip/hip_runtime_api.h>
#pragma GCC visibility pop

#define MLAFORGE_HIP_EXPORT extern "C" __attribute__((visibility("default")))
