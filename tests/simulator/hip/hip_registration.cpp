// What hipcc's startup code and <<<>>> call, called by hand.
#include "hip_fixture.h"

using Catch::Matchers::Contains;

extern "C" {
void** __hipRegisterFatBinary(const void*);
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, dim3*, dim3*, int*);
void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int);
void __hipUnregisterFatBinary(void**);
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
hipError_t __hipPopCallConfiguration(dim3*, dim3*, size_t*, hipStream_t*);
}

namespace {

struct Wrapper {
  unsigned magic = 0x48495046;
  unsigned version = 1;
  const void* binary = nullptr;
  const void* unused = nullptr;
};

// Host stubs and shadows: only their addresses matter.
void store_at_stub() {}
int adjustable_shadow = 0;

// As const void*, past the header's templates that would take the address of a copy.
const void* adjustable_symbol() { return &adjustable_shadow; }

struct Program {
  std::vector<std::byte> bundle;
  Wrapper wrapper;
  void** handle = nullptr;

  explicit Program(const std::string& target, const std::string& file)
      : bundle(make_bundle(
            {{"host-x86_64-unknown-linux-gnu-", {}}, {"hipv4-amdgcn-amd-amdhsa--" + target, read_code_object(file)}})) {
    wrapper.binary = bundle.data();
    handle = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(handle, stub(), nullptr, "store_at", ~0u, nullptr, nullptr, nullptr, nullptr, nullptr);
    char name[] = "adjustable";
    __hipRegisterVar(handle, &adjustable_shadow, name, name, 0, 4, 0, 0);
  }
  ~Program() { __hipUnregisterFatBinary(handle); }

  static const void* stub() { return reinterpret_cast<const void*>(&store_at_stub); }
};

hipError_t launch_stub(int* pointer, long index, int value) {
  void* arguments[] = {&pointer, &index, &value};
  return hipLaunchKernel(Program::stub(), dim3(1), dim3(64), arguments, 0, nullptr);
}

}  // namespace

TEST_CASE("kernels and variables of a fat binary are reached by their host shadows") {
  const Program program("gfx950", "gfx950.co");
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  REQUIRE_HIP(launch_stub(buffer.data, 2, 31));
  CHECK(buffer.read() == std::vector<int>{0, 0, 31, 0});
  int value = 0;
  REQUIRE_HIP(hipMemcpyFromSymbol(&value, adjustable_symbol(), 4, 0, hipMemcpyDeviceToHost));
  CHECK(value == 41);
  value = 17;
  REQUIRE_HIP(hipMemcpyToSymbol(adjustable_symbol(), &value, 4, 0, hipMemcpyHostToDevice));
  void* address = nullptr;
  size_t bytes = 0;
  REQUIRE_HIP(hipGetSymbolAddress(&address, adjustable_symbol()));
  REQUIRE_HIP(hipGetSymbolSize(&bytes, adjustable_symbol()));
  CHECK(bytes == 4);
  REQUIRE_HIP(hipMemcpyDtoH(&value, address, 4));
  CHECK(value == 17);
  CHECK(hipMemcpyToSymbol(adjustable_symbol(), &value, 4, 2, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  hipFuncAttributes attributes{};
  REQUIRE_HIP(hipFuncGetAttributes(&attributes, Program::stub()));
  CHECK(attributes.maxThreadsPerBlock == 1024);
}

TEST_CASE("a fat binary is loaded once on each device that uses it") {
  REQUIRE(mlaforge_simulator_set_option("devices", "2") == 0);
  {
    const Program program("gfx950", "gfx950.co");
    void* addresses[2] = {};
    for (int id = 0; id < 2; ++id) {
      REQUIRE_HIP(hipSetDevice(id));
      const DeviceBuffer<int> buffer(std::vector<int>(2));
      REQUIRE_HIP(launch_stub(buffer.data, 1, 5 + id));
      CHECK(buffer.read() == std::vector<int>{0, 5 + id});
      const int value = 100 + id;
      REQUIRE_HIP(hipMemcpyToSymbol(adjustable_symbol(), &value, 4, 0, hipMemcpyHostToDevice));
      REQUIRE_HIP(hipGetSymbolAddress(&addresses[id], adjustable_symbol()));
    }
    CHECK(addresses[0] != addresses[1]);
    REQUIRE_HIP(hipSetDevice(0));
    int value = 0;
    REQUIRE_HIP(hipMemcpyFromSymbol(&value, adjustable_symbol(), 4, 0, hipMemcpyDeviceToHost));
    CHECK(value == 100);
  }
  REQUIRE(mlaforge_simulator_set_option("devices", "1") == 0);
}

TEST_CASE("what is not registered, or not for this GPU, is an error at its first use") {
  CHECK(launch_stub(nullptr, 0, 0) == hipErrorInvalidDeviceFunction);
  int stray = 0;
  CHECK(hipMemcpyToSymbol(static_cast<const void*>(&stray), &stray, 4, 0, hipMemcpyHostToDevice) ==
        hipErrorInvalidSymbol);
  CHECK(__hipRegisterFatBinary(nullptr) == nullptr);
  const Program program("gfx942", "gfx942.co");
  CHECK(launch_stub(nullptr, 0, 0) == hipErrorNoBinaryForGpu);
  CHECK_THAT(report(), Contains("gfx942"));
}

TEST_CASE("launch configurations nest") {
  REQUIRE_HIP(__hipPushCallConfiguration(dim3(2, 3, 4), dim3(5), 6, nullptr));
  REQUIRE_HIP(__hipPushCallConfiguration(dim3(7), dim3(8), 9, nullptr));
  dim3 grid;
  dim3 block;
  size_t bytes = 0;
  hipStream_t stream = nullptr;
  REQUIRE_HIP(__hipPopCallConfiguration(&grid, &block, &bytes, &stream));
  CHECK((grid.x == 7 && block.x == 8 && bytes == 9));
  REQUIRE_HIP(__hipPopCallConfiguration(&grid, &block, &bytes, &stream));
  CHECK((grid.x == 2 && grid.y == 3 && grid.z == 4 && block.x == 5 && bytes == 6));
  CHECK(__hipPopCallConfiguration(&grid, &block, &bytes, &stream) == hipErrorMissingConfiguration);
}
