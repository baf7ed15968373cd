// The one device of the process: its memory, options and locks.
#pragma once

#include <mutex>
#include <string>

#include "simulator/hip/options.h"
#include "simulator/memory/device_memory.h"

namespace mlaforge::simulator {

inline constexpr int kComputeUnits = 256;  // gfx950.md 8
inline constexpr int kXccs = 8;
inline constexpr int kSimdsPerCu = 4;
inline constexpr int kWavesPerSimd = 8;
inline constexpr int kWaveLanes = 64;
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kVgprsPerLane = 512;  // of a SIMD, shared by its waves
inline constexpr int kLdsGranuleBytes = 1280;
inline constexpr int kClockKhz = 2'400'000;
inline constexpr int kL2BytesPerXcc = 4 << 20;
inline constexpr int kHbmClockKhz = 2'000'000;  // HBM3E, 8 Gb/s a pin over 8192 bits: 8 TB/s
inline constexpr int kHbmBusBits = 8192;
inline constexpr const char* kDeviceName = "AMD Instinct MI355X (mlaforge simulator)";
inline constexpr const char* kArchName = "gfx950:sramecc+:xnack-";

class Device {
 public:
  Device();

  DeviceMemory memory;
  // Held while a kernel runs and while memory is taken away from kernels.
  std::mutex execution;

  // A copy, with the first problem of the environment as an ApiError.
  SimulatorOptions options() const;
  std::string set_option(std::string_view key, std::string_view value);

 private:
  mutable std::mutex options_mutex_;
  SimulatorOptions options_;
  std::string environment_problem_;
};

// Made at first use and never destroyed: HIP programs unregister their binaries after static destructors have run.
Device& device();

}  // namespace mlaforge::simulator
