#include "simulator/hip/device_properties.h"

#include <fmt/format.h>

#include <cstring>

#include "simulator/core/launch.h"
#include "simulator/hip/machine.h"

namespace mlaforge::simulator {
namespace {

constexpr int kMaxGrid = 0x7fffffff;
constexpr int kVgprsPerCu = kVgprsPerLane * kWaveLanes * kSimdsPerCu;

hipDeviceArch_t all_features() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = 1;
  arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = 1;
  arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = 1;
  arch.has3dGrid = 1;
  return arch;
}

int pci_bus(int device) { return 5 + 16 * device; }

// The fields that both layouts have under one name.
template <typename Properties>
void fill_common(Properties& p, int device) {
  std::strcpy(p.name, kDeviceName);
  std::strcpy(p.gcnArchName, kArchName);
  p.totalGlobalMem = DeviceMemory::kCapacityBytes;
  p.totalConstMem = 0x7fffffff;
  p.sharedMemPerBlock = max_lds_bytes;
  p.maxSharedMemoryPerMultiProcessor = max_lds_bytes;
  p.regsPerBlock = kVgprsPerCu;
  p.warpSize = kWaveLanes;
  p.maxThreadsPerBlock = kMaxBlockThreads;
  p.maxThreadsPerMultiProcessor = kWaveLanes * kSimdsPerCu * kWavesPerSimd;
  for (int& dim : p.maxThreadsDim) dim = kMaxBlockThreads;
  p.maxGridSize[0] = kMaxGrid;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = kClockKhz;
  p.clockInstructionRate = 100'000;
  p.memoryClockRate = kHbmClockKhz;
  p.memoryBusWidth = kHbmBusBits;
  p.major = 9;
  p.minor = 5;
  p.multiProcessorCount = kComputeUnits;
  p.l2CacheSize = kL2BytesPerXcc;
  p.memPitch = kMaxGrid;
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.arch = all_features();
  p.concurrentKernels = 1;
  p.cooperativeLaunch = 1;
  p.canMapHostMemory = 1;
  p.ECCEnabled = 1;
  p.managedMemory = 1;
  p.isLargeBar = 1;
  p.pciBusID = pci_bus(device);
}

}  // namespace

hipDeviceProp_t device_properties_r0000(int device) {
  hipDeviceProp_t properties{};
  fill_common(properties, device);
  properties.gcnArch = 950;
  return properties;
}

DevicePropertiesR0600 device_properties_r0600(int device) {
  DevicePropertiesR0600 properties{};
  fill_common(properties, device);
  std::memcpy(properties.uuid.bytes, "mlaforge-gfx950\0", sizeof properties.uuid.bytes);
  properties.uuid.bytes[15] = static_cast<char>(device);
  properties.regsPerMultiprocessor = kVgprsPerCu;
  properties.sharedMemPerMultiprocessor = max_lds_bytes;
  properties.sharedMemPerBlockOptin = max_lds_bytes;
  properties.maxBlocksPerMultiProcessor = kSimdsPerCu * kWavesPerSimd;
  properties.unifiedAddressing = 1;
  properties.hostRegisterSupported = 1;
  properties.canUseHostPointerForRegisteredMem = 1;
  properties.streamPrioritiesSupported = 1;
  properties.asyncEngineCount = 1;
  properties.memoryPoolsSupported = 1;
  return properties;
}

std::string pci_bus_id(int device) { return fmt::format("0000:{:02x}:00.0", pci_bus(device)); }

}  // namespace mlaforge::simulator
