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

// A box of `depth` slices of `height` rows of `width` bytes; pitch and slice are the distances of rows and slices.
struct Box {
  void* pointer = nullptr;
  uint64_t pitch = 0;
  uint64_t slice = 0;
};

struct BoxCopy {
  Box destination;
  Box source;
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t depth = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};

void check_copy_box(const BoxCopy& copy);
void copy_box(const BoxCopy& copy);

// Throws ApiError for arrays, which the device does not have.
BoxCopy copy_of(const hipMemcpy3DParms& parameters);

template <typename Visit>
void for_each_row(const BoxCopy& copy, Visit visit) {
  for (uint64_t z = 0; z < copy.depth; ++z) {
    for (uint64_t y = 0; y < copy.height; ++y) {
      visit(static_cast<std::byte*>(copy.destination.pointer) + z * copy.destination.slice + y * copy.destination.pitch,
            static_cast<const std::byte*>(copy.source.pointer) + z * copy.source.slice + y * copy.source.pitch);
    }
  }
}

// `count` values of `value_bytes` (1, 2 or 4) each, the low bytes of `value`.
void check_fill(void* destination, uint64_t count, unsigned value_bytes);
void fill(void* destination, uint32_t value, uint64_t count, unsigned value_bytes);

}  // namespace mlaforge::simulator
