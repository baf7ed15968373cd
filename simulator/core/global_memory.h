// The device's global memory as the executor sees it. The HIP side implements it; tests have a small one of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlaforge::simulator {

/// A live allocation. Device addresses begin .. end - 1 are host bytes host .. ; they lie below 2^48 and need not equal
/// host pointers.
struct MemoryRegion {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::byte* host = nullptr;
  bool writable = true;
};

enum class MemoryMiss { none, outside, freed };

struct MemoryLookup {
  MemoryRegion region{};
  MemoryMiss miss = MemoryMiss::none;
};

/// Thread-safe; called only when a thread's cached region does not hold the address, so it may take a shared lock.
/// Allocations do not change while a kernel runs. Code object segments (text, rodata, data) must be regions too:
/// kernels load constants from them by pc-relative addresses.
class GlobalMemory {
 public:
  virtual ~GlobalMemory() = default;
  /// The allocation that holds `address`, whole, or why there is none.
  virtual MemoryLookup find(uint64_t address) const = 0;
  /// For a report: what lies at or near `address` ("8 bytes past the end of the 4096-byte allocation at 0x...").
  virtual std::string describe(uint64_t address) const = 0;
};

}  // namespace mlaforge::simulator
