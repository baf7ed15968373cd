// Global memory as the kernels of one device see it: its own, the host's, and that of the peers whose access it
// enabled.
#pragma once

#include <array>
#include <string_view>

#include "simulator/core/launch.h"
#include "simulator/memory/device_memory.h"

namespace mlaforge::simulator {

class DeviceView final : public GlobalMemory {
 public:
  DeviceView(const DeviceMemory& memory, int device, DeviceMask reachable)
      : memory_(memory), device_(device), reachable_(reachable) {}

  MemoryLookup find(uint64_t address) const override { return memory_.find(address, reachable_); }

  std::string describe(uint64_t address) const override {
    if (address >= absent_services_address) {
      const uint64_t service = (address - absent_services_address) / absent_service_bytes;
      if (service < kAbsentServices.size()) return std::string(kAbsentServices[service]) + " is not simulated";
    }
    std::string text = memory_.describe(address);
    const auto region = memory_.lookup(address);
    if (region && find(address).miss != MemoryMiss::none) {
      text += " on device " + std::to_string(region->device) + ", whose memory device " + std::to_string(device_) +
              " may not access (hipDeviceEnablePeerAccess)";
    }
    return text;
  }

 private:
  static constexpr std::array<std::string_view, 3> kAbsentServices = {
      "the hostcall buffer (device-side printf, assert and calls of the host)",
      "the printf buffer (device-side printf)", "the heap (device-side malloc)"};

  const DeviceMemory& memory_;
  int device_;
  DeviceMask reachable_;
};

}  // namespace mlaforge::simulator
