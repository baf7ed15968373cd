// What the process has of devices: how many, which is current, who may access whom; their memory, options and locks.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "simulator/hip/options.h"
#include "simulator/memory/device_view.h"

namespace mlaforge::simulator {

inline constexpr int kComputeUnits = 256;  // gfx950.md 8
inline constexpr int kXccs = 8;
inline constexpr int kSimdsPerCu = 4;
inline constexpr int kWavesPerSimd = 8;
inline constexpr int kWaveLanes = 64;
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kVgprsPerLane = 512;  // of a SIMD, shared by its waves
inline constexpr int kLdsGranuleBytes = 1280;
inline constexpr uint32_t kDefaultStackBytes = 1024;          // as AMD's runtime has it
inline constexpr int kClockKhz = 2'400'000;
inline constexpr int kL2BytesPerXcc = 4 << 20;
inline constexpr int kHbmClockKhz = 2'000'000;  // HBM3E, 8 Gb/s a pin over 8192 bits: 8 TB/s
inline constexpr int kHbmBusBits = 8192;
inline constexpr const char* kDeviceName = "AMD Instinct MI355X (mlaforge simulator)";
inline constexpr const char* kArchName = "gfx950:sramecc+:xnack-";

class Machine {
 public:
  Machine();

  DeviceMemory memory;
  // Held while a kernel runs and while memory is taken away from kernels.
  std::mutex execution;

  // A copy, with the first problem of the environment as an ApiError.
  SimulatorOptions options() const;
  std::string set_option(std::string_view key, std::string_view value);

  int device_count() const;
  // Which devices' memory the kernels of `device` reach: its own and that of enabled peers.
  DeviceMask reachable_from(int device) const;
  // Scratch bytes of a lane whose kernel cannot say how deep it calls (hipLimitStackSize).
  std::atomic<uint32_t>& stack_bytes(int device) { return stack_bytes_[static_cast<size_t>(device)]; }
  // False if it was so already.
  bool set_peer_access(int device, int peer, bool enabled);
  DeviceView view(int device) const { return DeviceView(memory, device, reachable_from(device)); }

 private:
  mutable std::mutex options_mutex_;
  SimulatorOptions options_;
  std::string environment_problem_;
  std::array<std::atomic<DeviceMask>, DeviceMemory::kMaxDevices> peers_{};
  std::array<std::atomic<uint32_t>, DeviceMemory::kMaxDevices> stack_bytes_;
};

// Made at first use and never destroyed: HIP programs unregister their binaries after static destructors have run.
Machine& machine();

// The thread's device (hipSetDevice); 0 at first.
int current_device();
void set_current_device(int device);

// Throws ApiError with hipErrorInvalidDevice that says which devices there are.
void check_device(int device);

}  // namespace mlaforge::simulator
