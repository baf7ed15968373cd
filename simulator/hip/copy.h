// Checked copies and fills. Device memory is identity-mapped, so a copy is a memmove once both ranges are known to be
// good: a range in the device's pool must lie in one live allocation, any other is the host's own memory.
#pragma once

#include <cstdint>

#include "simulator/hip/hip_types.h"

namespace mlaforge::simulator {

enum class Place { any, device };

// Throws ApiError: null, freed, past the end of its allocation, or host memory where device memory is asked for.
void check_range(const void* pointer, uint64_t bytes, Place place, const char* name);

void check_copy(void* destination, const void* source, uint64_t bytes, hipMemcpyKind kind);

struct Rectangle {
  void* pointer = nullptr;
  uint64_t pitch = 0;
};

void check_copy_2d(Rectangle destination, Rectangle source, uint64_t width, uint64_t height, hipMemcpyKind kind);
void copy_2d(Rectangle destination, Rectangle source, uint64_t width, uint64_t height);

// `count` values of `value_bytes` (1, 2 or 4) each, the low bytes of `value`.
void check_fill(void* destination, uint64_t count, unsigned value_bytes);
void fill(void* destination, uint32_t value, uint64_t count, unsigned value_bytes);

}  // namespace mlaforge::simulator
