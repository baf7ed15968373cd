// Device memory: what is found where, and what is said of what is not.
#include <cstring>

#include "catch.h"
#include "simulator/memory/device_memory.h"

using namespace mlaforge::simulator;
using Catch::Matchers::Contains;

TEST_CASE("an allocation is found by every address in it and by no other") {
  DeviceMemory memory;
  const auto address = memory.allocate(1000, RegionKind::device, "hipMalloc");
  REQUIRE(address);
  CHECK(*address % DeviceMemory::kAlignment == 0);
  CHECK(*address < uint64_t{1} << 48);
  for (const uint64_t offset : {0, 1, 999}) {
    const MemoryLookup found = memory.find(*address + offset);
    CHECK(found.miss == MemoryMiss::none);
    CHECK(found.region.begin == *address);
    CHECK(found.region.end == *address + 1000);
    CHECK(found.region.writable);
  }
  CHECK(memory.find(*address + 1000).miss == MemoryMiss::outside);
  CHECK(memory.find(*address - 1).miss == MemoryMiss::outside);
  CHECK(memory.find(0).miss == MemoryMiss::outside);
  std::memset(memory.find(*address).region.host, 7, 1000);
  CHECK(reinterpret_cast<const uint8_t*>(*address)[999] == 7);  // identity-mapped
}

TEST_CASE("no two allocations are adjacent, and an overrun by a whole allocation still hits nothing") {
  DeviceMemory memory;
  const uint64_t bytes = 1 << 20;
  const auto first = memory.allocate(bytes, RegionKind::device, "a");
  const auto second = memory.allocate(bytes, RegionKind::device, "b");
  REQUIRE((first && second));
  CHECK(memory.find(*first + bytes).miss == MemoryMiss::outside);
  CHECK(memory.find(*first + 2 * bytes - 1).miss == MemoryMiss::outside);
}

TEST_CASE("descriptions name the distance, the allocation and its maker") {
  DeviceMemory memory;
  const auto address = memory.allocate(4096, RegionKind::device, "hipMalloc");
  REQUIRE(address);
  CHECK_THAT(memory.describe(*address + 4096 + 8),
             Contains("8 bytes past the end of the 4096-byte allocation") && Contains("hipMalloc"));
  CHECK_THAT(memory.describe(*address - 16), Contains("16 bytes before the 4096-byte allocation"));
  CHECK_THAT(memory.describe(*address + 5), Contains("byte 5 of the 4096-byte allocation"));
  CHECK_THAT(memory.describe(16), Contains("null pointer plus 16 bytes"));
  CHECK_THAT(memory.describe(uint64_t{1} << 46), Contains("no allocation within"));
}

TEST_CASE("freed memory is remembered and its addresses are not given out again") {
  DeviceMemory memory;
  const auto address = memory.allocate(512, RegionKind::device, "hipMalloc");
  REQUIRE(address);
  REQUIRE(memory.release(*address));
  CHECK_FALSE(memory.release(*address));
  CHECK(memory.find(*address + 100).miss == MemoryMiss::freed);
  CHECK_THAT(memory.describe(*address + 100), Contains("byte 100 of the freed 512-byte allocation"));
  for (int i = 0; i < 1000; ++i) {
    const auto other = memory.allocate(512, RegionKind::device, "hipMalloc");
    REQUIRE(other);
    REQUIRE(*other != *address);
    REQUIRE(memory.release(*other));
  }
  CHECK(memory.find(*address + 100).miss == MemoryMiss::freed);
  CHECK(memory.used_bytes() == 0);
}

TEST_CASE("allocations far larger than the host's memory cost nothing until touched") {
  DeviceMemory memory;
  const uint64_t bytes = uint64_t{100} << 30;
  const auto a = memory.allocate(bytes, RegionKind::device, "a");
  const auto b = memory.allocate(bytes, RegionKind::device, "b");
  REQUIRE((a && b));
  reinterpret_cast<uint8_t*>(*b)[bytes - 1] = 9;
  CHECK(reinterpret_cast<uint8_t*>(*b)[bytes - 1] == 9);
  CHECK(reinterpret_cast<uint8_t*>(*a)[bytes - 1] == 0);
  CHECK_FALSE(memory.allocate(bytes, RegionKind::device, "past the 288 GiB"));
  REQUIRE(memory.release(*a));
  CHECK(memory.allocate(bytes, RegionKind::device, "again"));
}

TEST_CASE("the address space is used again when it has all been given out") {
  DeviceMemory memory;
  const uint64_t bytes = uint64_t{256} << 30;
  const auto kept = memory.allocate(4096, RegionKind::device, "kept");
  REQUIRE(kept);
  for (int i = 0; i < 200; ++i) {  // 50 TiB in all, of a pool of at most 16
    const auto address = memory.allocate(bytes, RegionKind::device, "hipMalloc");
    REQUIRE(address);
    REQUIRE((*address + bytes <= *kept || *address >= *kept + 4096));
    REQUIRE(memory.find(*address).miss == MemoryMiss::none);
    REQUIRE(memory.release(*address));
  }
  CHECK(memory.find(*kept).miss == MemoryMiss::none);
}

TEST_CASE("registered host memory is reachable, and not twice") {
  DeviceMemory memory;
  std::vector<int> data(100);
  const auto begin = reinterpret_cast<uint64_t>(data.data());
  REQUIRE(memory.register_host(begin, 400, 0));
  CHECK_FALSE(memory.register_host(begin + 396, 8, 0));
  CHECK(memory.find(begin + 399).region.host == reinterpret_cast<std::byte*>(begin));
  REQUIRE(memory.release(begin));
  CHECK(memory.register_host(begin + 200, 200, 0));
  CHECK(memory.find(begin + 300).miss == MemoryMiss::none);
}

TEST_CASE("poisoned memory holds no zeros") {
  DeviceMemory memory;
  const auto address = memory.allocate(300, RegionKind::device, "hipMalloc", 0, true);
  REQUIRE(address);
  CHECK(reinterpret_cast<const uint8_t*>(*address)[0] == 0xFB);
  CHECK(reinterpret_cast<const uint8_t*>(*address)[299] == 0xFB);
}
