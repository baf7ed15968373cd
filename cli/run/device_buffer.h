// Device memory of a run through the HIP table: freed with its owner, exactly as long as asked for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/result.h"
#include "runtime/src/hip_api.h"

namespace mlaforge::run {

/// "hipMalloc: out of memory (2)" as an error about the device.
inline Diagnostic hip_error(const HipApi& hip, const std::string& call, int error) {
  const char* reason = hip.get_error_string(error);
  std::string problem =
      call + ": " + (reason != nullptr ? reason : "unknown error") + " (" + std::to_string(error) + ")";
  if (hip.simulator_last_report != nullptr) {
    const std::string report = hip.simulator_last_report();
    problem += report.empty() ? "" : "\n" + report;
  }
  return {.where = "device", .problem = std::move(problem), .value = {}, .allowed = {}, .nearest = {}};
}

class DeviceBuffer {
 public:
  /// A buffer of nothing still has an address, since no kernel takes a null one.
  static Expected<DeviceBuffer> allocate(const HipApi& hip, size_t bytes) {
    DeviceBuffer buffer(hip, bytes);
    if (const int error = hip.malloc(&buffer.pointer_, bytes == 0 ? 1 : bytes); error != hip_success) {
      buffer.pointer_ = nullptr;
      return hip_error(hip, "hipMalloc of " + std::to_string(bytes) + " bytes", error);
    }
    return buffer;
  }

  template <typename Element>
  static Expected<DeviceBuffer> copy_of(const HipApi& hip, std::span<const Element> host) {
    Expected<DeviceBuffer> buffer = allocate(hip, host.size_bytes());
    if (buffer && !host.empty()) {
      if (const int error = hip.memcpy(buffer->pointer_, host.data(), host.size_bytes(), hip_copy_host_to_device);
          error != hip_success) {
        return hip_error(hip, "hipMemcpy to the device", error);
      }
    }
    return buffer;
  }

  DeviceBuffer(DeviceBuffer&& other) noexcept
      : hip_(other.hip_), pointer_(std::exchange(other.pointer_, nullptr)), bytes_(other.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(hip_, other.hip_);
    std::swap(pointer_, other.pointer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (pointer_ != nullptr) {
      hip_->free(pointer_);
    }
  }

  Status fill(int byte) const {
    if (const int error = bytes_ == 0 ? hip_success : hip_->memset(pointer_, byte, bytes_); error != hip_success) {
      return hip_error(*hip_, "hipMemset", error);
    }
    return std::monostate{};
  }

  template <typename Element>
  Expected<std::vector<Element>> read() const {
    std::vector<Element> host(bytes_ / sizeof(Element));
    if (const int error =
            host.empty() ? hip_success : hip_->memcpy(host.data(), pointer_, bytes_, hip_copy_device_to_host);
        error != hip_success) {
      return hip_error(*hip_, "hipMemcpy from the device", error);
    }
    return host;
  }

  template <typename Element>
  Element* as(size_t byte_offset = 0) const {
    return reinterpret_cast<Element*>(static_cast<std::byte*>(pointer_) + byte_offset);
  }
  size_t bytes() const { return bytes_; }

 private:
  DeviceBuffer(const HipApi& hip, size_t bytes) : hip_(&hip), bytes_(bytes) {}

  const HipApi* hip_;
  void* pointer_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mlaforge::run
