// Several devices: each has its memory, modules, streams and events; peers reach each other's memory when told so.
#include "hip_fixture.h"

using Catch::Matchers::Contains;

namespace {

// Two devices while it lives, device 0 current at first.
struct TwoDevices {
  TwoDevices() { REQUIRE(mlaforge_simulator_set_option("devices", "2") == 0); }
  ~TwoDevices() {
    (void)hipSetDevice(0);
    (void)mlaforge_simulator_set_option("devices", "1");
  }
};

int current() {
  int id = -1;
  REQUIRE_HIP(hipGetDevice(&id));
  return id;
}

}  // namespace

TEST_CASE("there are as many devices as the option says, told apart by place") {
  CHECK(mlaforge_simulator_set_option("devices", "0") != 0);
  CHECK(mlaforge_simulator_set_option("devices", "17") != 0);
  CHECK_THAT(report(), Contains("\"17\"") && Contains("1 to 16"));
  const TwoDevices devices;
  int count = 0;
  REQUIRE_HIP(hipGetDeviceCount(&count));
  CHECK(count == 2);
  CHECK(current() == 0);
  REQUIRE_HIP(hipSetDevice(1));
  CHECK(current() == 1);
  CHECK(hipSetDevice(2) == hipErrorInvalidDevice);
  CHECK_THAT(report(), Contains("device 2 does not exist") && Contains("0 to 1"));
  char first[16];
  char second[16];
  REQUIRE_HIP(hipDeviceGetPCIBusId(first, sizeof first, 0));
  REQUIRE_HIP(hipDeviceGetPCIBusId(second, sizeof second, 1));
  CHECK(std::string(first) != second);
  int found = -1;
  REQUIRE_HIP(hipDeviceGetByPCIBusId(&found, second));
  CHECK(found == 1);
  CHECK(hipDeviceGetByPCIBusId(&found, "0000:ff:00.0") == hipErrorInvalidValue);
  hipCtx_t context = nullptr;
  REQUIRE_HIP(hipCtxGetCurrent(&context));
  REQUIRE_HIP(hipSetDevice(0));
  REQUIRE_HIP(hipCtxPushCurrent(context));
  CHECK(current() == 1);
  REQUIRE_HIP(hipCtxPopCurrent(nullptr));
  CHECK(current() == 0);
  CHECK(hipCtxPopCurrent(nullptr) == hipErrorInvalidContext);
}

TEST_CASE("each device has 288 GiB of its own") {
  const TwoDevices devices;
  void* first = nullptr;
  void* second = nullptr;
  size_t free_bytes = 0;
  size_t total = 0;
  REQUIRE_HIP(hipMalloc(&first, size_t{200} << 30));
  REQUIRE_HIP(hipSetDevice(1));
  REQUIRE_HIP(hipMemGetInfo(&free_bytes, &total));
  CHECK(free_bytes == total);
  REQUIRE_HIP(hipMalloc(&second, size_t{200} << 30));
  hipPointerAttribute_t attributes{};
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, second));
  CHECK(attributes.device == 1);
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, first));
  CHECK(attributes.device == 0);
  REQUIRE_HIP(hipFree(first));  // whatever the current device
  REQUIRE_HIP(hipMemGetInfo(&free_bytes, &total));
  CHECK(total - free_bytes == size_t{200} << 30);
  REQUIRE_HIP(hipFree(second));
}

TEST_CASE("a kernel reaches the memory of a peer only when its access is enabled") {
  const TwoDevices devices;
  const DeviceBuffer<int> there(std::vector<int>(4));
  REQUIRE_HIP(hipSetDevice(1));
  const LoadedModule module;
  const hipFunction_t function = module.function("store_at");
  CHECK(launch(function, 1, 64, there.data, long{1}, 5) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("on device 0, whose memory device 1 may not access"));
  int can = 0;
  REQUIRE_HIP(hipDeviceCanAccessPeer(&can, 1, 0));
  CHECK(can == 1);
  REQUIRE_HIP(hipDeviceEnablePeerAccess(0, 0));
  CHECK(hipDeviceEnablePeerAccess(0, 0) == hipErrorPeerAccessAlreadyEnabled);
  REQUIRE_HIP(launch(function, 1, 64, there.data, long{1}, 5));
  CHECK(there.read()[1] == 5);
  REQUIRE_HIP(hipDeviceDisablePeerAccess(0));
  CHECK(hipDeviceDisablePeerAccess(0) == hipErrorPeerAccessNotEnabled);
  CHECK(launch(function, 1, 64, there.data, long{1}, 6) == hipErrorIllegalAddress);
  CHECK(hipDeviceEnablePeerAccess(1, 0) == hipErrorInvalidDevice);
  // What the host owns is everyone's.
  int* pinned = nullptr;
  REQUIRE_HIP(hipSetDevice(0));
  REQUIRE_HIP(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, 0));
  REQUIRE_HIP(hipSetDevice(1));
  REQUIRE_HIP(launch(function, 1, 64, pinned, long{3}, 8));
  CHECK(pinned[3] == 8);
  REQUIRE_HIP(hipHostFree(pinned));
}

TEST_CASE("copies between devices need no peer access, and name the device that owns the memory") {
  const TwoDevices devices;
  const DeviceBuffer<int> first(std::vector<int>{1, 2, 3});
  REQUIRE_HIP(hipSetDevice(1));
  const DeviceBuffer<int> second(std::vector<int>(3));
  REQUIRE_HIP(hipMemcpyPeer(second.data, 1, first.data, 0, 12));
  CHECK(second.read() == std::vector<int>{1, 2, 3});
  REQUIRE_HIP(hipMemcpyPeerAsync(first.data, 0, second.data + 2, 1, 4, nullptr));
  CHECK(first.read() == std::vector<int>{3, 2, 3});
  CHECK(hipMemcpyPeer(second.data, 0, first.data, 0, 12) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("dst is memory of device 1, not 0"));
  CHECK(hipMemcpyPeer(second.data, 1, first.data, 2, 12) == hipErrorInvalidDevice);
}

TEST_CASE("kernels, streams and events belong to the device on which they were made") {
  const TwoDevices devices;
  const LoadedModule module;
  const hipFunction_t function = module.function("store_at");
  hipEvent_t event = nullptr;
  hipStream_t stream = nullptr;
  REQUIRE_HIP(hipEventCreate(&event));
  REQUIRE_HIP(hipSetDevice(1));
  REQUIRE_HIP(hipStreamCreate(&stream));
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  int* pointer = buffer.data;
  long index = 0;
  int value = 1;
  void* parameters[] = {&pointer, &index, &value};
  // The null stream is the current device's.
  for (const hipStream_t wrong : {stream, hipStream_t{}}) {
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, wrong, parameters, nullptr) == hipErrorInvalidHandle);
    CHECK_THAT(report(), Contains("store_at was loaded on device 0, the stream is of device 1"));
    CHECK(hipEventRecord(event, wrong) == hipErrorInvalidHandle);
    CHECK_THAT(report(), Contains("created on device 0"));
  }
  hipEvent_t other = nullptr;
  REQUIRE_HIP(hipEventCreate(&other));
  REQUIRE_HIP(hipEventRecord(other, stream));
  REQUIRE_HIP(hipSetDevice(0));
  REQUIRE_HIP(hipEventRecord(event, nullptr));
  float milliseconds = 0;
  CHECK(hipEventElapsedTime(&milliseconds, event, other) == hipErrorInvalidHandle);
  REQUIRE_HIP(hipStreamWaitEvent(stream, event, 0));  // across devices, as HIP allows
  const DeviceBuffer<int> own(std::vector<int>(4));
  REQUIRE_HIP(launch(function, 1, 64, own.data, long{0}, 3));
  CHECK(own.read()[0] == 3);
  REQUIRE_HIP(hipEventDestroy(event));
  REQUIRE_HIP(hipEventDestroy(other));
  REQUIRE_HIP(hipStreamDestroy(stream));
}
