// The device as HIP programs see it.
#include <cstring>
#include <string_view>

#include "hip_fixture.h"
#include "simulator/hip/device_properties.h"

using Catch::Matchers::Contains;
using mlaforge::simulator::DevicePropertiesR0600;

extern "C" hipError_t hipGetDevicePropertiesR0600(DevicePropertiesR0600*, int);
extern "C" hipError_t hipDrvGetErrorName(hipError_t, const char**);

TEST_CASE("the R0600 properties have the offsets of HIP 6's header on x86-64") {
  // Offsets by hand from the header's field list: 8-byte size_t, 4-byte int.
  CHECK(offsetof(DevicePropertiesR0600, uuid) == 256);
  CHECK(offsetof(DevicePropertiesR0600, totalGlobalMem) == 288);
  CHECK(offsetof(DevicePropertiesR0600, sharedMemPerBlock) == 296);
  CHECK(offsetof(DevicePropertiesR0600, warpSize) == 308);
  CHECK(offsetof(DevicePropertiesR0600, maxThreadsPerBlock) == 320);
  CHECK(offsetof(DevicePropertiesR0600, clockRate) == 348);
  CHECK(offsetof(DevicePropertiesR0600, major) == 360);
  CHECK(offsetof(DevicePropertiesR0600, multiProcessorCount) == 388);
  CHECK(offsetof(DevicePropertiesR0600, gcnArchName) == 1160);
  CHECK(sizeof(DevicePropertiesR0600) == 1472);
}

TEST_CASE("both layouts of the properties describe an MI355X") {
  DevicePropertiesR0600 now{};
  hipDeviceProp_t before{};
  REQUIRE_HIP(hipGetDevicePropertiesR0600(&now, 0));
  REQUIRE_HIP(hipGetDeviceProperties(&before, 0));
  CHECK(std::string_view(now.name) == "AMD Instinct MI355X (mlaforge simulator)");
  CHECK(std::string_view(before.name) == now.name);
  CHECK(std::string_view(now.gcnArchName) == "gfx950:sramecc+:xnack-");
  CHECK(std::string_view(before.gcnArchName) == now.gcnArchName);
  CHECK(now.multiProcessorCount == 256);
  CHECK(before.multiProcessorCount == 256);
  CHECK(now.warpSize == 64);
  CHECK(now.sharedMemPerBlock == 163840);
  CHECK(before.sharedMemPerBlock == 163840);
  CHECK(now.totalGlobalMem == uint64_t{288} << 30);
  CHECK(hipGetDevicePropertiesR0600(&now, 1) == hipErrorInvalidDevice);
  CHECK_THAT(report(), Contains("device 1"));
}

TEST_CASE("attributes agree with the properties") {
  const auto attribute = [](int id) {
    int value = -1;
    REQUIRE_HIP(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(id), 0));
    return value;
  };
  CHECK(attribute(63) == 256);     // hipDeviceAttributeMultiprocessorCount
  CHECK(attribute(87) == 64);      // hipDeviceAttributeWarpSize
  CHECK(attribute(74) == 163840);  // hipDeviceAttributeMaxSharedMemoryPerBlock
  CHECK(attribute(hipDeviceAttributeCooperativeLaunch) == 1);
  CHECK(attribute(hipDeviceAttributeCooperativeMultiDeviceLaunch) == 0);
  int value = 0;
  CHECK(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(5000), 0) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("5000"));
}

TEST_CASE("the device answers to its count, name and version") {
  int count = 0;
  int version = 0;
  char name[16];
  REQUIRE_HIP(hipInit(0));
  REQUIRE_HIP(hipGetDeviceCount(&count));
  CHECK(count == 1);
  REQUIRE_HIP(hipSetDevice(0));
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  REQUIRE_HIP(hipRuntimeGetVersion(&version));
  CHECK(version >= 60000000);
  REQUIRE_HIP(hipDeviceGetName(name, sizeof name, 0));
  CHECK(std::string_view(name) == "AMD Instinct MI");
  CHECK(hipGetDeviceCount(nullptr) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("count is null"));
}

TEST_CASE("errors have names, are kept until asked for, and are no obstacle afterwards") {
  CHECK(std::string_view(hipGetErrorName(hipErrorInvalidImage)) == "hipErrorInvalidImage");
  CHECK(std::string_view(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string_view(hipGetErrorName(static_cast<hipError_t>(12345))) == "hipErrorUnknown");
  const char* text = nullptr;
  REQUIRE_HIP(hipDrvGetErrorName(hipErrorIllegalAddress, &text));
  CHECK(std::string_view(text) == "hipErrorIllegalAddress");
  (void)hipGetLastError();
  CHECK(hipSetDevice(7) == hipErrorInvalidDevice);
  CHECK(hipPeekAtLastError() == hipErrorInvalidDevice);
  CHECK(hipGetLastError() == hipErrorInvalidDevice);
  CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("options say what they allow") {
  CHECK(mlaforge_simulator_set_option("memory", "random:12") == 0);
  CHECK(mlaforge_simulator_set_option("memory", "random:x") != 0);
  CHECK_THAT(report(), Contains("random:x") && Contains("lazy, clobber, eager, random:SEED"));
  CHECK(mlaforge_simulator_set_option("memory", "lazy") == 0);
  CHECK(mlaforge_simulator_set_option("thread", "1") != 0);
  CHECK_THAT(report(), Contains("unknown option") && Contains("threads"));
  CHECK(mlaforge_simulator_set_option("threads", "-1") != 0);
  CHECK(mlaforge_simulator_set_option("checks", "lds_races,uninitialized") == 0);
  CHECK(mlaforge_simulator_set_option("checks", "everything") != 0);
  CHECK(mlaforge_simulator_set_option("checks", "none") == 0);
  CHECK(mlaforge_simulator_set_option(nullptr, "1") != 0);
}
