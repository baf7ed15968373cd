#include "simulator/memory/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "fmt/format.h"

namespace mlaforge::simulator {
namespace {

// The same addresses in every run, so that reports can be compared: far from where Linux places a program, its heap and
// libraries, and inside the part of the address space that AddressSanitizer leaves to programs.
constexpr uint64_t kPoolHint = uint64_t{0x2000'0000'0000};
constexpr uint64_t kPoolBytes = uint64_t{16} << 40;
constexpr uint64_t kSmallestPoolBytes = uint64_t{1} << 30;
constexpr uint64_t kPageBytes = 4096;
// Distance to the next allocation: as large as the allocation itself within these bounds, so that an index that is
// wrong by a whole row or block still lands on nothing.
constexpr uint64_t kMinGuardBytes = uint64_t{64} << 10;
constexpr uint64_t kMaxGuardBytes = uint64_t{1} << 30;
constexpr size_t kMaxFreedRanges = size_t{1} << 16;
constexpr int kPoison = 0xFB;

uint64_t round_up(uint64_t value, uint64_t granule) { return (value + granule - 1) / granule * granule; }

uint64_t guard_bytes(uint64_t bytes) { return round_up(std::clamp(bytes, kMinGuardBytes, kMaxGuardBytes), kPageBytes); }

std::byte* host(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

// Gives the pages of freed memory back to the host.
void discard(uint64_t begin, uint64_t bytes) { madvise(host(begin), round_up(bytes, kPageBytes), MADV_DONTNEED); }

}  // namespace

DeviceMemory::DeviceMemory() {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (uint64_t bytes = kPoolBytes; bytes >= kSmallestPoolBytes; bytes /= 2) {
    void* pool = mmap(host(kPoolHint), bytes, kProtection, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (pool == MAP_FAILED) pool = mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
    if (pool == MAP_FAILED) continue;
    madvise(pool, bytes, MADV_DONTDUMP);
    pool_begin_ = reinterpret_cast<uint64_t>(pool);
    pool_end_ = pool_begin_ + bytes;
    cursor_ = pool_begin_ + kMinGuardBytes;
    return;
  }
  throw std::bad_alloc();
}

DeviceMemory::~DeviceMemory() { munmap(host(pool_begin_), pool_end_ - pool_begin_); }

std::optional<uint64_t> DeviceMemory::allocate(uint64_t bytes, RegionKind kind, std::string label, uint32_t flags,
                                               bool poison, int device) {
  const std::unique_lock lock(mutex_);
  const bool on_device = kind == RegionKind::device || kind == RegionKind::managed;
  uint64_t& used = used_bytes_[static_cast<size_t>(device)];
  if (on_device && (bytes > kCapacityBytes || used > kCapacityBytes - bytes)) return std::nullopt;
  const auto begin = place(bytes);
  if (!begin) return std::nullopt;
  if (on_device) used += bytes;
  regions_[*begin] = {.begin = *begin,
                      .bytes = bytes,
                      .kind = kind,
                      .writable = true,
                      .flags = flags,
                      .device = device,
                      .label = std::move(label)};
  if (poison) std::memset(host(*begin), kPoison, bytes);
  return begin;
}

std::optional<uint64_t> DeviceMemory::reserve(uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  return place(bytes);
}

void DeviceMemory::add_region(AllocationInfo info) {
  const std::unique_lock lock(mutex_);
  regions_[info.begin] = std::move(info);
}

bool DeviceMemory::register_host(uint64_t begin, uint64_t bytes, uint32_t flags) {
  const std::unique_lock lock(mutex_);
  const auto after = regions_.upper_bound(begin);
  if (after != regions_.end() && after->first < begin + bytes) return false;
  if (after != regions_.begin()) {
    const AllocationInfo& before = std::prev(after)->second;
    if (before.begin + before.bytes > begin) return false;
  }
  forget_freed(begin, begin + bytes);
  regions_[begin] = {.begin = begin,
                     .bytes = bytes,
                     .kind = RegionKind::host_registered,
                     .writable = true,
                     .flags = flags,
                     .device = 0,
                     .label = "hipHostRegister"};
  return true;
}

std::optional<AllocationInfo> DeviceMemory::release(uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto at = regions_.find(address);
  if (at == regions_.end()) return std::nullopt;
  AllocationInfo info = std::move(at->second);
  regions_.erase(at);
  if (info.kind == RegionKind::device || info.kind == RegionKind::managed) {
    used_bytes_[static_cast<size_t>(info.device)] -= info.bytes;
  }
  // A module's segments share pages; they are few and small and stay.
  if (info.kind != RegionKind::host_registered && info.kind != RegionKind::module) discard(info.begin, info.bytes);
  remember_freed(info);
  return info;
}

std::optional<AllocationInfo> DeviceMemory::lookup(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const AllocationInfo* region = region_at(address);
  return region == nullptr ? std::nullopt : std::optional(*region);
}

uint64_t DeviceMemory::used_bytes(int device) const {
  const std::shared_lock lock(mutex_);
  return used_bytes_[static_cast<size_t>(device)];
}

MemoryLookup DeviceMemory::find(uint64_t address, DeviceMask reachable) const {
  const std::shared_lock lock(mutex_);
  if (const AllocationInfo* region = region_at(address)) {
    const bool owned = region->kind == RegionKind::device || region->kind == RegionKind::module;
    if (owned && (reachable >> region->device & 1) == 0) return {.region = {}, .miss = MemoryMiss::outside};
    return {.region = {.begin = region->begin,
                       .end = region->begin + region->bytes,
                       .host = host(region->begin),
                       .writable = region->writable},
            .miss = MemoryMiss::none};
  }
  uint64_t begin = 0;
  return {.region = {}, .miss = freed_at(address, begin) != nullptr ? MemoryMiss::freed : MemoryMiss::outside};
}

std::string DeviceMemory::describe(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto name = [](const AllocationInfo& region) {
    return fmt::format("the {}-byte allocation [{:#x}, {:#x}) of {}", region.bytes, region.begin,
                       region.begin + region.bytes, region.label);
  };
  if (address < kPageBytes) return fmt::format("the null pointer plus {} bytes", address);
  if (const AllocationInfo* region = region_at(address)) {
    return fmt::format("byte {} of {}{}", address - region->begin, name(*region),
                       region->writable ? "" : ", read-only");
  }
  uint64_t freed_begin = 0;
  if (const FreedRange* freed = freed_at(address, freed_begin)) {
    return fmt::format("byte {} of the freed {}-byte allocation [{:#x}, {:#x}) of {}", address - freed_begin,
                       freed->end - freed_begin, freed_begin, freed->end, freed->label);
  }
  constexpr uint64_t kNear = uint64_t{1} << 32;
  const auto after = regions_.upper_bound(address);
  const AllocationInfo* below = after == regions_.begin() ? nullptr : &std::prev(after)->second;
  const AllocationInfo* above = after == regions_.end() ? nullptr : &after->second;
  const uint64_t past = below == nullptr ? kNear : address - (below->begin + below->bytes);
  const uint64_t before = above == nullptr ? kNear : above->begin - address;
  if (past < kNear && past <= before) return fmt::format("{} bytes past the end of {}", past, name(*below));
  if (before < kNear) return fmt::format("{} bytes before {}", before, name(*above));
  return fmt::format("no allocation within 4 GiB ({} live)", regions_.size());
}

std::optional<uint64_t> DeviceMemory::place(uint64_t bytes) {
  if (bytes > pool_end_ - pool_begin_) return std::nullopt;
  const uint64_t span = round_up(bytes, kPageBytes) + guard_bytes(bytes);
  if (span <= pool_end_ - cursor_) {
    const uint64_t begin = cursor_;
    cursor_ += span;
    return begin;
  }
  const auto begin = reuse_gap(span);
  if (begin) forget_freed(*begin, *begin + span);
  return begin;
}

// First gap between live regions, once every address has been given out.
std::optional<uint64_t> DeviceMemory::reuse_gap(uint64_t span) const {
  uint64_t candidate = pool_begin_ + kMinGuardBytes;
  for (const auto& [begin, region] : regions_) {
    if (!in_pool(begin)) continue;
    if (begin >= candidate && begin - candidate >= span) return candidate;
    candidate = std::max(candidate, round_up(begin + region.bytes, kPageBytes) + guard_bytes(region.bytes));
  }
  if (candidate <= pool_end_ && pool_end_ - candidate >= span) return candidate;
  return std::nullopt;
}

void DeviceMemory::remember_freed(const AllocationInfo& info) {
  freed_[info.begin] = {.end = info.begin + info.bytes, .order = next_order_, .label = info.label};
  freed_order_.emplace_back(info.begin, next_order_++);
  while (freed_order_.size() > kMaxFreedRanges) {
    const auto [begin, order] = freed_order_.front();
    freed_order_.pop_front();
    const auto at = freed_.find(begin);
    if (at != freed_.end() && at->second.order == order) freed_.erase(at);
  }
}

void DeviceMemory::forget_freed(uint64_t begin, uint64_t end) {
  auto at = freed_.lower_bound(begin);
  if (at != freed_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != freed_.end() && at->first < end) at = freed_.erase(at);
}

const AllocationInfo* DeviceMemory::region_at(uint64_t address) const {
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  const AllocationInfo& region = std::prev(after)->second;
  return address - region.begin < region.bytes ? &region : nullptr;
}

const DeviceMemory::FreedRange* DeviceMemory::freed_at(uint64_t address, uint64_t& begin) const {
  const auto after = freed_.upper_bound(address);
  if (after == freed_.begin()) return nullptr;
  const auto& [freed_begin, freed] = *std::prev(after);
  begin = freed_begin;
  return address < freed.end ? &freed : nullptr;
}

}  // namespace mlaforge::simulator
