// Boxes, memory pools, attributes, values in streams, functions by name, and what is refused.
#include <numeric>

#include "hip_fixture.h"

using Catch::Matchers::Contains;

extern "C" {
hipError_t hipGetProcAddress(const char*, void**, int, uint64_t, int*);
hipError_t hipGetDevicePropertiesR0600(void*, int);
hipError_t hipMemcpy_spt(void*, const void*, size_t, hipMemcpyKind);
hipError_t hipDeviceSetLimit(hipLimit_t, size_t);
}

TEST_CASE("boxes are copied and filled row by row, and what lies between stays") {
  hipPitchedPtr box{};
  REQUIRE_HIP(hipMalloc3D(&box, make_hipExtent(5, 3, 2)));
  CHECK((box.pitch >= 5 && box.ysize == 3));
  REQUIRE_HIP(hipMemset(box.ptr, '.', box.pitch * 6));
  std::string letters(5 * 3 * 2, ' ');
  std::iota(letters.begin(), letters.end(), 'A');
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(letters.data(), 5, 5, 3);
  copy.dstPtr = box;
  copy.extent = make_hipExtent(5, 3, 2);
  copy.kind = hipMemcpyHostToDevice;
  REQUIRE_HIP(hipMemcpy3D(&copy));
  std::string rows(box.pitch * 6, ' ');
  REQUIRE_HIP(hipMemcpy(rows.data(), box.ptr, rows.size(), hipMemcpyDeviceToHost));
  for (size_t row = 0; row < 6; ++row) {
    CHECK(rows.substr(row * box.pitch, 6) == letters.substr(row * 5, 5) + ".");
  }

  // The driver's struct: the second slice's inner 2 x 3 bytes back to a tight buffer.
  std::string inner(6, ' ');
  HIP_MEMCPY3D part{};
  part.srcMemoryType = static_cast<hipMemoryType>(2);  // hipMemoryTypeDevice of HIP 6
  part.srcDevice = box.ptr;
  part.srcPitch = static_cast<unsigned>(box.pitch);
  part.srcHeight = 3;
  part.srcXInBytes = 1;
  part.srcY = 1;
  part.srcZ = 1;
  part.dstMemoryType = static_cast<hipMemoryType>(1);
  part.dstHost = inner.data();
  part.dstPitch = 3;
  part.dstHeight = 2;
  part.WidthInBytes = 3;
  part.Height = 2;
  part.Depth = 1;
  REQUIRE_HIP(hipDrvMemcpy3D(&part));
  CHECK(inner == letters.substr(21, 3) + letters.substr(26, 3));
  part.Depth = 2;
  CHECK(hipDrvMemcpy3D(&part) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("past the end"));
  part.srcArray = reinterpret_cast<hipArray_t>(&part);
  CHECK(hipDrvMemcpy3D(&part) == hipErrorNotSupported);

  REQUIRE_HIP(hipMemset3D(box, 'z', make_hipExtent(2, 3, 1)));
  REQUIRE_HIP(hipMemcpy(rows.data(), box.ptr, rows.size(), hipMemcpyDeviceToHost));
  CHECK(rows.substr(2 * box.pitch, 5) == "zz" + letters.substr(12, 3));
  CHECK(rows.substr(3 * box.pitch, 5) == letters.substr(15, 5));
  copy.extent = make_hipExtent(5, SIZE_MAX / 4, 8);
  CHECK(hipMemcpy3D(&copy) == hipErrorInvalidValue);
  copy.extent = make_hipExtent(6, 3, 2);
  CHECK(hipMemcpy3D(&copy) == hipErrorInvalidPitchValue);
  CHECK(hipMemcpy3D(nullptr) == hipErrorInvalidValue);
  REQUIRE_HIP(hipFree(box.ptr));
}

TEST_CASE("memory pools have settings and give memory of their device") {
  hipMemPool_t standard = nullptr;
  hipMemPool_t current = nullptr;
  hipMemPool_t own = nullptr;
  REQUIRE_HIP(hipDeviceGetDefaultMemPool(&standard, 0));
  REQUIRE_HIP(hipDeviceGetMemPool(&current, 0));
  CHECK(current == standard);
  uint64_t threshold = UINT64_MAX;
  REQUIRE_HIP(hipMemPoolSetAttribute(standard, hipMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  REQUIRE_HIP(hipMemPoolGetAttribute(standard, hipMemPoolAttrReleaseThreshold, &threshold));
  CHECK(threshold == UINT64_MAX);
  CHECK(hipMemPoolGetAttribute(standard, hipMemPoolAttrUsedMemCurrent, &threshold) == hipErrorNotSupported);
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  REQUIRE_HIP(hipMemPoolCreate(&own, &properties));
  REQUIRE_HIP(hipDeviceSetMemPool(0, own));
  REQUIRE_HIP(hipDeviceGetMemPool(&current, 0));
  CHECK(current == own);
  void* pointer = nullptr;
  REQUIRE_HIP(hipMallocFromPoolAsync(&pointer, 100, own, nullptr));
  REQUIRE_HIP(hipMemset(pointer, 0, 100));
  REQUIRE_HIP(hipFreeAsync(pointer, nullptr));
  REQUIRE_HIP(hipMemPoolTrimTo(own, 0));
  REQUIRE_HIP(hipMemPoolDestroy(own));
  CHECK(hipMallocFromPoolAsync(&pointer, 100, own, nullptr) == hipErrorInvalidValue);
  REQUIRE_HIP(hipDeviceGetMemPool(&current, 0));
  CHECK(current == standard);
  CHECK(hipMemPoolDestroy(standard) == hipErrorInvalidValue);
  properties.location.id = 3;
  CHECK(hipMemPoolCreate(&own, &properties) == hipErrorInvalidDevice);
}

TEST_CASE("streams write values, and wait for those that are there") {
  const DeviceBuffer<uint32_t> buffer(std::vector<uint32_t>{5, 0, 0, 0});
  REQUIRE_HIP(hipStreamWriteValue32(nullptr, buffer.data + 1, 9, 0));
  REQUIRE_HIP(hipStreamWriteValue64(nullptr, buffer.data + 2, uint64_t{1} << 32, 0));
  CHECK(buffer.read() == std::vector<uint32_t>{5, 9, 0, 1});
  REQUIRE_HIP(hipStreamWaitValue32(nullptr, buffer.data, 4, hipStreamWaitValueGte, ~0u));
  REQUIRE_HIP(hipStreamWaitValue32(nullptr, buffer.data, 0xf5, hipStreamWaitValueEq, 0xf));
  REQUIRE_HIP(hipStreamWaitValue32(nullptr, buffer.data, 1, hipStreamWaitValueAnd, ~0u));
  CHECK(hipStreamWaitValue32(nullptr, buffer.data, 6, hipStreamWaitValueGte, ~0u) == hipErrorLaunchTimeOut);
  CHECK_THAT(report(), Contains("is 0x5 and does not become 0x6"));
  CHECK(hipStreamWriteValue32(nullptr, buffer.data + 4, 9, 0) == hipErrorInvalidValue);
}

TEST_CASE("functions are found by name, for the HIP version of the program") {
  void* function = nullptr;
  int status = -1;
  REQUIRE_HIP(hipGetProcAddress("hipMalloc", &function, 600, 0, &status));
  CHECK((status == 0 && function != nullptr));
  void* pointer = nullptr;
  REQUIRE_HIP(reinterpret_cast<hipError_t (*)(void**, size_t)>(function)(&pointer, 64));
  REQUIRE_HIP(hipFree(pointer));
  REQUIRE_HIP(hipGetProcAddress("hipGetDeviceProperties", &function, 600, 0, &status));
  CHECK(function == reinterpret_cast<void*>(&hipGetDevicePropertiesR0600));
  REQUIRE_HIP(hipGetProcAddress("hipGetDeviceProperties", &function, 500, 0, &status));
  CHECK(function ==
        reinterpret_cast<void*>(static_cast<hipError_t (*)(hipDeviceProp_t*, int)>(&hipGetDeviceProperties)));
  CHECK(hipGetProcAddress("hipMaloc", &function, 600, 0, &status) == hipErrorNotFound);
  CHECK((status == 1 && function == nullptr));
  CHECK(hipGetProcAddress("malloc", &function, 600, 0, nullptr) == hipErrorNotFound);
  int value = 3;
  int copy = 0;
  REQUIRE_HIP(hipMemcpy_spt(&copy, &value, sizeof copy, hipMemcpyHostToHost));
  CHECK(copy == 3);
}

TEST_CASE("a pointer's attributes one at a time") {
  const DeviceBuffer<int> buffer(std::vector<int>(25));
  unsigned type = 0;
  size_t bytes = 0;
  void* begin = nullptr;
  bool mapped = false;
  REQUIRE_HIP(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer.data));
  CHECK(type == 2);
  hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_RANGE_SIZE, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* results[] = {&bytes, &begin};
  REQUIRE_HIP(hipDrvPointerGetAttributes(2, wanted, results, buffer.data + 7));
  CHECK((bytes == 100 && begin == buffer.data));
  REQUIRE_HIP(hipPointerGetAttribute(&mapped, HIP_POINTER_ATTRIBUTE_MAPPED, buffer.data));
  CHECK(mapped);
  REQUIRE_HIP(hipPointerGetAttribute(&mapped, HIP_POINTER_ATTRIBUTE_MAPPED, &bytes));
  CHECK_FALSE(mapped);
  CHECK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, buffer.data) == hipErrorNotSupported);
  CHECK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, &bytes) == hipErrorInvalidValue);
}

TEST_CASE("the stack of kernels that call without a known depth has a limit that the host sets") {
  constexpr auto stack = static_cast<hipLimit_t>(0);  // hipLimitStackSize of HIP 6
  size_t bytes = 0;
  REQUIRE_HIP(hipDeviceGetLimit(&bytes, stack));
  CHECK(bytes == 1024);
  REQUIRE_HIP(hipDeviceSetLimit(stack, 4001));
  REQUIRE_HIP(hipDeviceGetLimit(&bytes, stack));
  CHECK(bytes == 4016);
  CHECK(hipDeviceSetLimit(stack, 131072) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("131072") && Contains("131056"));
  CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, 1) == hipErrorUnsupportedLimit);
  CHECK(hipDeviceSetLimit(static_cast<hipLimit_t>(77), 1) == hipErrorUnsupportedLimit);
  REQUIRE_HIP(hipDeviceSetLimit(stack, 1024));
}

TEST_CASE("what is not simulated says so, and the next call works") {
  hipTextureObject_t texture{};
  CHECK(hipCreateTextureObject(&texture, nullptr, nullptr, nullptr) == hipErrorNotSupported);
  CHECK_THAT(report(), Contains("hipCreateTextureObject") && Contains("textures"));
  CHECK(hipLaunchCooperativeKernelMultiDevice(nullptr, 0, 0) == hipErrorNotSupported);
  CHECK_THAT(report(), Contains("several devices"));
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  REQUIRE_HIP(launch(module.function("store_at"), 1, 64, buffer.data, long{2}, 77));
  CHECK(buffer.read()[2] == 77);
}
