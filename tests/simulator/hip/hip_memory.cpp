// Allocation, copies and fills.
#include <cstring>
#include <numeric>

#include "hip_fixture.h"

using Catch::Matchers::Contains;

TEST_CASE("copies between host and device keep every byte") {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), -500);
  const DeviceBuffer<int> a(values);
  const DeviceBuffer<int> b(std::vector<int>(1000));
  REQUIRE_HIP(hipMemcpyDtoD(b.data, a.data, 4000));
  CHECK(b.read() == values);
  std::vector<int> back(10);
  REQUIRE_HIP(hipMemcpy(back.data(), b.data + 990, 40, hipMemcpyDefault));
  CHECK(back == std::vector<int>(values.end() - 10, values.end()));
  REQUIRE_HIP(hipMemcpyHtoD(b.data + 1, back.data(), 40));
  CHECK(b.read()[1] == 490);
  CHECK(b.read()[0] == -500);
}

TEST_CASE("two-dimensional copies leave what lies between the rows") {
  const DeviceBuffer<char> device(std::vector<char>(4 * 8, '.'));
  const std::string source = "abcdefghijkl";  // 4 rows of 3
  REQUIRE_HIP(hipMemcpy2D(device.data, 8, source.data(), 3, 3, 4, hipMemcpyHostToDevice));
  const auto bytes = device.read();
  CHECK(std::string(bytes.begin(), bytes.end()) == "abc.....def.....ghi.....jkl.....");
  CHECK(hipMemcpy2D(device.data, 2, source.data(), 3, 3, 4, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
  CHECK(hipMemcpy2D(device.data + 8, 8, source.data(), 3, 3, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
}

TEST_CASE("fills write values of 8, 16 and 32 bits") {
  const DeviceBuffer<uint32_t> buffer(std::vector<uint32_t>(4, 0));
  REQUIRE_HIP(hipMemset(buffer.data, 0x1ab, 4));
  REQUIRE_HIP(hipMemsetD16(buffer.data + 1, 0x1234, 2));
  REQUIRE_HIP(hipMemsetD32(buffer.data + 2, static_cast<int>(0xdeadbeef), 1));
  REQUIRE_HIP(hipMemsetD8Async(buffer.data + 3, 0x7f, 3, nullptr));
  CHECK(buffer.read() == std::vector<uint32_t>{0xabababab, 0x12341234, 0xdeadbeef, 0x007f7f7f});
  CHECK(hipMemsetD32(reinterpret_cast<char*>(buffer.data) + 2, 0, 1) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("not aligned"));
}

TEST_CASE("copies that leave an allocation are refused with its extent") {
  const DeviceBuffer<int> buffer(std::vector<int>(16));
  int host[32] = {};
  CHECK(hipMemcpy(buffer.data, host, 68, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("4 bytes past the end of the 64-byte allocation"));
  CHECK(hipMemcpy(host, buffer.data + 16, 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("src") && Contains("0 bytes past the end"));
  CHECK(hipMemcpy(nullptr, host, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("dst is null"));
  CHECK(hipMemcpy(host, host + 4, 16, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(buffer.data, host, 4, static_cast<hipMemcpyKind>(9)) == hipErrorInvalidMemcpyDirection);
  CHECK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyHostToDevice) == hipSuccess);
}

TEST_CASE("freed and foreign pointers are refused") {
  void* pointer = nullptr;
  REQUIRE_HIP(hipMalloc(&pointer, 256));
  CHECK(hipFree(static_cast<char*>(pointer) + 1) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("not the beginning"));
  CHECK(hipHostFree(pointer) == hipErrorInvalidValue);
  REQUIRE_HIP(hipFree(pointer));
  CHECK(hipFree(pointer) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("freed 256-byte allocation"));
  CHECK(hipMemset(pointer, 0, 1) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("freed"));
  REQUIRE_HIP(hipFree(nullptr));
  int local = 0;
  CHECK(hipFree(&local) == hipErrorInvalidValue);
}

TEST_CASE("the device has 288 GiB, and more is out of memory") {
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  REQUIRE_HIP(hipMemGetInfo(&before, &total));
  CHECK(total == size_t{288} << 30);
  void* pointer = nullptr;
  REQUIRE_HIP(hipMalloc(&pointer, size_t{16} << 30));
  REQUIRE_HIP(hipMemGetInfo(&after, &total));
  CHECK(before - after == size_t{16} << 30);
  void* more = nullptr;
  CHECK(hipMalloc(&more, size_t{280} << 30) == hipErrorOutOfMemory);
  CHECK(more == nullptr);
  CHECK_THAT(report(), Contains("are free"));
  REQUIRE_HIP(hipFree(pointer));
  REQUIRE_HIP(hipMalloc(&pointer, 0));
  CHECK(pointer == nullptr);
}

TEST_CASE("pointers know what they are, by the ABI in use") {
  void* device = nullptr;
  void* host = nullptr;
  REQUIRE_HIP(hipMalloc(&device, 4096));
  REQUIRE_HIP(hipHostMalloc(&host, 4096, hipHostMallocMapped));
  std::memset(host, 1, 4096);  // usable by the host as it is
  hipPointerAttribute_t attributes{};
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, static_cast<char*>(device) + 100));
  CHECK(static_cast<int>(attributes.memoryType) == 2);  // hipMemoryTypeDevice of HIP 6
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, host));
  CHECK(static_cast<int>(attributes.memoryType) == 1);
  CHECK(attributes.hostPointer == host);
  REQUIRE(mlaforge_simulator_set_option("hip_abi", "5") == 0);
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, device));
  CHECK(attributes.memoryType == hipMemoryTypeDevice);  // of the HIP 5 headers that this test is built with
  REQUIRE(mlaforge_simulator_set_option("hip_abi", "6") == 0);
  void* mapped = nullptr;
  REQUIRE_HIP(hipHostGetDevicePointer(&mapped, host, 0));
  CHECK(mapped == host);
  unsigned flags = 0;
  REQUIRE_HIP(hipHostGetFlags(&flags, host));
  CHECK(flags == hipHostMallocMapped);
  hipDeviceptr_t base = nullptr;
  size_t bytes = 0;
  REQUIRE_HIP(hipMemGetAddressRange(&base, &bytes, static_cast<char*>(device) + 4095));
  CHECK((base == device && bytes == 4096));
  CHECK(hipPointerGetAttributes(&attributes, &bytes) == hipErrorInvalidValue);
  CHECK(hipFree(host) == hipErrorInvalidValue);
  REQUIRE_HIP(hipHostFree(host));
  REQUIRE_HIP(hipFree(device));
}
