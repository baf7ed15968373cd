#include "simulator/hip/copy.h"

#include <fmt/format.h>

#include <cstring>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"

namespace mlaforge::simulator {
namespace {

Place destination_place(hipMemcpyKind kind) {
  return kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice ? Place::device : Place::any;
}

Place source_place(hipMemcpyKind kind) {
  return kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice ? Place::device : Place::any;
}

void check_kind(hipMemcpyKind kind) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) {
    fail(hipErrorInvalidMemcpyDirection, fmt::format("kind is {}; allowed: 0 to 4", static_cast<int>(kind)));
  }
}

// A product that is refused before it overflows.
uint64_t times(uint64_t count, uint64_t bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 40;  // more than any device has
  if (bytes != 0 && count > kMost / bytes) {
    fail(hipErrorInvalidValue, fmt::format("{} rows or slices of {} bytes are more than a device has", count, bytes));
  }
  return count * bytes;
}

uint64_t rectangle_bytes(uint64_t pitch, uint64_t width, uint64_t height) { return (height - 1) * pitch + width; }

}  // namespace

void check_range(const void* pointer, uint64_t bytes, Place place, const char* name) {
  if (bytes == 0) return;
  if (pointer == nullptr) fail(hipErrorInvalidValue, fmt::format("{} is null ({} bytes)", name, bytes));
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const DeviceMemory& memory = machine().memory;
  const auto region = memory.lookup(address);
  if (!region) {
    if (place == Place::any && !memory.in_pool(address)) return;
    fail(hipErrorInvalidValue,
         fmt::format("{} {:#x} is not in device memory: {}", name, address, memory.describe(address)));
  }
  const uint64_t room = region->begin + region->bytes - address;
  if (bytes > room) {
    fail(hipErrorInvalidValue, fmt::format("{} {:#x} of {} bytes goes {} bytes past the end of the {}-byte allocation "
                                           "[{:#x}, {:#x}) of {}",
                                           name, address, bytes, bytes - room, region->bytes, region->begin,
                                           region->begin + region->bytes, region->label));
  }
}

void check_copy(void* destination, const void* source, uint64_t bytes, hipMemcpyKind kind) {
  check_kind(kind);
  check_range(destination, bytes, destination_place(kind), "dst");
  check_range(source, bytes, source_place(kind), "src");
}

void check_copy_2d(Rectangle destination, Rectangle source, uint64_t width, uint64_t height, hipMemcpyKind kind) {
  check_kind(kind);
  if (width == 0 || height == 0) return;
  if (width > destination.pitch || width > source.pitch) {
    fail(hipErrorInvalidPitchValue, fmt::format("a row of {} bytes does not fit the pitches {} (dst) and {} (src)",
                                                width, destination.pitch, source.pitch));
  }
  check_range(destination.pointer, rectangle_bytes(destination.pitch, width, height), destination_place(kind), "dst");
  check_range(source.pointer, rectangle_bytes(source.pitch, width, height), source_place(kind), "src");
}

void copy_2d(Rectangle destination, Rectangle source, uint64_t width, uint64_t height) {
  for (uint64_t row = 0; row < height; ++row) {
    std::memmove(static_cast<std::byte*>(destination.pointer) + row * destination.pitch,
                 static_cast<const std::byte*>(source.pointer) + row * source.pitch, width);
  }
}

void check_copy_box(const BoxCopy& copy) {
  check_kind(copy.kind);
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return;
  const auto check = [&](const Box& box, Place place, const char* name) {
    if (copy.width > box.pitch && (copy.height > 1 || copy.depth > 1)) {
      fail(hipErrorInvalidPitchValue,
           fmt::format("a row of {} bytes does not fit the pitch {} of {}", copy.width, box.pitch, name));
    }
    const uint64_t rows = times(copy.height - 1, box.pitch) + copy.width;
    if (copy.depth > 1 && rows > box.slice) {
      fail(hipErrorInvalidPitchValue, fmt::format("{} rows of pitch {} do not fit the slices of {} bytes of {}",
                                                  copy.height, box.pitch, box.slice, name));
    }
    check_range(box.pointer, times(copy.depth - 1, box.slice) + rows, place, name);
  };
  check(copy.destination, destination_place(copy.kind), "dst");
  check(copy.source, source_place(copy.kind), "src");
}

void copy_box(const BoxCopy& copy) {
  for_each_row(copy,
               [&](std::byte* destination, const std::byte* source) { std::memmove(destination, source, copy.width); });
}

BoxCopy copy_of(const hipMemcpy3DParms& p) {
  if (p.srcArray != nullptr || p.dstArray != nullptr) fail(hipErrorNotSupported, "arrays are not simulated");
  const auto box = [](const hipPitchedPtr& end, const hipPos& at) {
    const uint64_t slice = end.pitch * end.ysize;
    auto* base = static_cast<std::byte*>(end.ptr);
    if (base != nullptr) base += at.z * slice + at.y * end.pitch + at.x;
    return Box{.pointer = base, .pitch = end.pitch, .slice = slice};
  };
  return {.destination = box(p.dstPtr, p.dstPos),
          .source = box(p.srcPtr, p.srcPos),
          .width = p.extent.width,
          .height = p.extent.height,
          .depth = p.extent.depth,
          .kind = p.kind};
}

void check_fill(void* destination, uint64_t count, unsigned value_bytes) {
  if (count > UINT64_MAX / value_bytes) fail(hipErrorInvalidValue, fmt::format("count is {}", count));
  if (reinterpret_cast<uint64_t>(destination) % value_bytes != 0) {
    fail(hipErrorInvalidValue, fmt::format("dst {} is not aligned to the value's {} bytes", destination, value_bytes));
  }
  check_range(destination, count * value_bytes, Place::device, "dst");
}

void fill(void* destination, uint32_t value, uint64_t count, unsigned value_bytes) {
  if (value_bytes == 1) {
    std::memset(destination, static_cast<int>(value & 0xff), count);
    return;
  }
  auto* bytes = static_cast<std::byte*>(destination);
  for (uint64_t i = 0; i < count; ++i) std::memcpy(bytes + i * value_bytes, &value, value_bytes);
}

}  // namespace mlaforge::simulator
