// Global memory as the kernels of one device see it: its own, the host's, and that of the peers whose access it
// enabled.
#pragma once

#include "simulator/memory/device_memory.h"

namespace mlaforge::simulator {

class DeviceView final : public GlobalMemory {
 public:
  DeviceView(const DeviceMemory& memory, int device, DeviceMask reachable)
      : memory_(memory), device_(device), reachable_(reachable) {}

  MemoryLookup find(uint64_t address) const override { return memory_.find(address, reachable_); }

  std::string describe(uint64_t address) const override {
    std::string text = memory_.describe(address);
    const auto region = memory_.lookup(address);
    if (region && find(address).miss != MemoryMiss::none) {
      text += " on device " + std::to_string(region->device) + ", whose memory device " + std::to_string(device_) +
              " may not access (hipDeviceEnablePeerAccess)";
    }
    return text;
  }

 private:
  const DeviceMemory& memory_;
  int device_;
  DeviceMask reachable_;
};

}  // namespace mlaforge::simulator
