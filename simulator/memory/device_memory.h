// The memory of all devices: one sparse pool of address space, identity-mapped (a device address is the host address of
// the same byte), and the map of what is allocated in it. Nothing is touched until it is written, so allocations may be
// far larger than the host's memory. No two allocations are adjacent, and freed ones are remembered, so that an access
// outside every allocation can be told apart from one after a free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

#include "simulator/core/global_memory.h"

namespace mlaforge::simulator {

enum class RegionKind { device, managed, host_pinned, host_registered, module };

inline bool is_host(RegionKind kind) { return kind == RegionKind::host_pinned || kind == RegionKind::host_registered; }

struct AllocationInfo {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  RegionKind kind = RegionKind::device;
  bool writable = true;
  uint32_t flags = 0;  // as the host gave them (hipHostMalloc)
  int device = 0;      // whose memory it is; host and managed memory is everyone's
  std::string label;   // who made it, for reports: "hipMalloc", "code of module k.hsaco"
};

// Which devices' memory an access may reach, by bits.
using DeviceMask = uint32_t;

class DeviceMemory final : public GlobalMemory {
 public:
  static constexpr int kMaxDevices = 16;
  // Of each device, as MI355X has it: 288 GB HBM3E (gfx950.md 8).
  static constexpr uint64_t kCapacityBytes = uint64_t{288} << 30;
  static constexpr uint64_t kAlignment = 256;  // at least; allocations begin at pages

  // Throws std::bad_alloc if the host grants no address space at all.
  DeviceMemory();
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Address of `bytes` zeroed bytes, or nothing if the device's capacity or the address space does not hold them.
  // bytes > 0. `poison` fills them with 0xFB instead, so that a kernel that counts on zeros shows.
  std::optional<uint64_t> allocate(uint64_t bytes, RegionKind kind, std::string label, uint32_t flags = 0,
                                   bool poison = false, int device = 0);

  // Address space for a module of `bytes`, which no allocation gets near; its segments become regions one by one.
  std::optional<uint64_t> reserve(uint64_t bytes);
  void add_region(AllocationInfo info);

  // Makes host memory of the program reachable for kernels. False if it overlaps what is there.
  bool register_host(uint64_t begin, uint64_t bytes, uint32_t flags);

  // Frees the region that begins at `address` and returns what it was.
  std::optional<AllocationInfo> release(uint64_t address);

  // The region that holds `address`.
  std::optional<AllocationInfo> lookup(uint64_t address) const;

  // Whether the pool holds `address`: what is no live region there is an error, elsewhere it is the host's own memory.
  bool in_pool(uint64_t address) const { return address >= pool_begin_ && address < pool_end_; }

  uint64_t used_bytes(int device = 0) const;

  MemoryLookup find(uint64_t address) const override { return find(address, ~DeviceMask{0}); }
  // The same for an access that reaches only the memory of `reachable`, and what belongs to the host.
  MemoryLookup find(uint64_t address, DeviceMask reachable) const;
  std::string describe(uint64_t address) const override;

 private:
  struct FreedRange {
    uint64_t end = 0;
    uint64_t order = 0;
    std::string label;
  };

  std::optional<uint64_t> place(uint64_t bytes);
  std::optional<uint64_t> reuse_gap(uint64_t span) const;
  void remember_freed(const AllocationInfo& info);
  void forget_freed(uint64_t begin, uint64_t end);
  const AllocationInfo* region_at(uint64_t address) const;
  const FreedRange* freed_at(uint64_t address, uint64_t& begin) const;

  mutable std::shared_mutex mutex_;
  uint64_t pool_begin_ = 0;
  uint64_t pool_end_ = 0;
  uint64_t cursor_ = 0;  // addresses above were never given out
  std::array<uint64_t, kMaxDevices> used_bytes_{};
  uint64_t next_order_ = 0;
  std::map<uint64_t, AllocationInfo> regions_;
  std::map<uint64_t, FreedRange> freed_;
  std::deque<std::pair<uint64_t, uint64_t>> freed_order_;  // (begin, order), oldest first
};

}  // namespace mlaforge::simulator
