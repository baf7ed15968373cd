// Opening: what is loaded, what is refused, and that a refusal leaves nothing open.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "catch.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

std::string error() { return mlaforge_last_error(); }
bool says(const std::string& text) { return error().find(text) != std::string::npos; }

}  // namespace

TEST_CASE("open loads each code object once and gives the thread its device back") {
  FakeHip hip;
  TestSet set;
  set.add(12, 1, 1, 8);
  set.add(12, 4, 1, 8);  // the same combine kernel
  set.add(12, 4, 1, 1);
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  REQUIRE(status == MLAFORGE_SUCCESS);
  CHECK(hip.loaded.size() == 4);
  CHECK(current_device == 1);
  mlaforge_device_info info = MLAFORGE_DEVICE_INFO_INIT;
  REQUIRE(mlaforge_device(library, &info) == MLAFORGE_SUCCESS);
  CHECK(std::string(info.target) == "gfx950");
  CHECK(std::string(info.name) == "Fake of gfx950");
  CHECK(info.compute_units == 256);
  CHECK(info.is_simulator == 0);
  mlaforge_close(library);
  CHECK(hip.unloaded() == 4);
}

TEST_CASE("the target is found wherever this HIP's properties struct carries it") {
  for (const size_t offset : {size_t{396}, size_t{1160}, size_t{640}}) {
    FakeHip hip;
    hip.target_offset = offset;
    DeviceProperties properties;
    REQUIRE(device_properties(fake_api(hip), 0, properties) == hip_success);
    CHECK(properties.target == "gfx950");
    CHECK(properties.name == "Fake of gfx950");
  }
}

TEST_CASE("a kernel for another chip is refused, both targets said") {
  FakeHip hip;
  TestSet set;
  set.add(12, 1, 1, 1);
  set.add(12, 4, 1, 1).target = "gfx942";
  mlaforge_status status{};
  CHECK(open_fake(hip, set, status) == nullptr);
  CHECK(status == MLAFORGE_WRONG_DEVICE);
  CHECK(says("gfx942"));
  CHECK(says("gfx950"));
  CHECK(hip.unloaded() == static_cast<int>(hip.loaded.size()));
}

TEST_CASE("a code object for another chip is refused before HIP sees it, both targets said (flashinfer#283)") {
  FakeHip hip;
  TestSet set;
  set.add(12, 1, 1, 1);
  const std::string image = image_of("h12_g3_q1_s1_p1", 0x4c);
  set.objects[0].data = image.data();
  mlaforge_status status{};
  CHECK(open_fake(hip, set, status) == nullptr);
  CHECK(status == MLAFORGE_WRONG_DEVICE);
  CHECK(says("the code object of kernel h12_g3_q1_s1_p1 is for gfx942, the device is gfx950"));
  CHECK(hip.loaded.empty());
}

TEST_CASE("damaged code objects are refused before HIP sees them") {
  FakeHip hip;
  const auto number = [](uint64_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); };
  const auto elf = [](size_t at, uint64_t value, size_t bytes) {
    std::string image = image_of("h12_g3_q1_s1_p1");
    std::memcpy(&image[at], &value, bytes);
    return image;
  };
  std::string segment = elf(32, 64, 8);  // one program header, a segment to load that ends beyond the file
  segment[54] = 56;
  segment[56] = 1;
  segment.resize(64);
  segment +=
      std::string("\1\0\0\0\0\0\0\0", 8) + number(0) + number(0) + number(0) + number(121) + number(121) + number(0);
  const std::pair<std::string, const char*> images[] = {
      {"not code", "is neither an ELF nor an offload bundle"},
      {image_of("").substr(0, 63), "is an ELF of 63 bytes, less than its header"},
      {elf(18, 62, 2), "is an ELF for machine 62, not AMDGPU (224)"},
      {elf(32, 1 << 20, 8).replace(54, 3, std::string("\70\0\1", 3)), "whose tables lie beyond its"},
      {elf(40, UINT64_MAX - 8, 8).replace(58, 3, std::string("\100\0\1", 3)), "whose tables lie beyond its"},
      {segment, "whose segment 0 lies beyond its 120 bytes"},
      {"__CLANG_OFFLOAD_BUNDLE__", "is a bundle without a table"},
      {"__CLANG_OFFLOAD_BUNDLE__" + number(UINT64_MAX), "is a bundle without a table"},
      {"__CLANG_OFFLOAD_BUNDLE__" + number(1) + number(0) + number(1000) + number(0), "whose entry 0 lies beyond its"},
      {"__CLANG_OFFLOAD_BUNDLE__" + number(2) + number(0) + number(8) + number(0), "whose entry 1 lies beyond its"},
      {"__CLANG_OFFLOAD_BUNDLE__" + number(1) + number(0) + number(8) + number(UINT64_MAX),
       "whose entry 0 lies beyond"},
  };
  for (const auto& [image, message] : images) {
    TestSet set;
    set.add(12, 1, 1, 1);
    set.objects[0].data = image.data();
    set.objects[0].bytes = image.size();
    mlaforge_status status{};
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(status == MLAFORGE_BAD_KERNEL_SET);
    INFO(mlaforge_last_error());
    CHECK(says(message));
  }
  CHECK(hip.loaded.empty());
}

TEST_CASE("damaged sets are refused by name and nothing stays loaded") {
  FakeHip hip;
  TestSet set;
  set.add(12, 1, 1, 1);
  mlaforge_status status{};
  SECTION("no code object") {
    set.add(12, 4, 1, 8);
    set.objects.pop_back();
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(says("no code object for kernel combine_s8"));
  }
  SECTION("a code object without the symbol") {
    set.add(12, 4, 1, 1);
    set.objects.back().data = set.keep(image_of("something_else"));
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(says("has no kernel h12_g3_q4_s1_p1"));
  }
  SECTION("a code object that does not load") {
    hip.failing_call = "hipModuleLoadData";
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(says("does not load on gfx950"));
    CHECK(says("fake failure (999)"));
  }
  SECTION("two rows of one key") {
    set.add(12, 1, 1, 1).name = set.rows[0].name;
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(says("have one key"));
  }
  SECTION("a split kernel without its combine kernel") {
    set.add(12, 1, 1, 8).combine_name = nullptr;
    CHECK(open_fake(hip, set, status) == nullptr);
    CHECK(says("null combine_name"));
  }
  CHECK(status == MLAFORGE_BAD_KERNEL_SET);
  CHECK(hip.unloaded() == static_cast<int>(hip.loaded.size()));
  CHECK(current_device == 1);
}

TEST_CASE("a device that is not there, and each HIP call of open failing") {
  FakeHip hip;
  TestSet set;
  set.add(12, 1, 1, 8);
  mlaforge_status status{};
  CHECK(open_fake(hip, set, status, 2) == nullptr);
  CHECK(status == MLAFORGE_NO_DEVICE);
  CHECK(says("device 2 is not there; allowed: 0 .. 1"));
  for (const char* call : {"hipGetDeviceCount", "hipGetDeviceProperties", "hipDeviceGetAttribute", "hipSetDevice",
                           "hipModuleLoadData", "hipModuleGetFunction"}) {
    FakeHip failing;
    failing.failing_call = call;
    INFO(call);
    CHECK(open_fake(failing, set, status) == nullptr);
    CHECK(status != MLAFORGE_SUCCESS);
    CHECK_FALSE(error().empty());
    CHECK(failing.unloaded() == static_cast<int>(failing.loaded.size()));
  }
}

TEST_CASE("the HIP library: a named path that is none is an error with that path") {
  setenv("MLAFORGE_SIMULATOR_LIBRARY", "/nowhere/libsim.so", 1);
  HipApi api;
  CHECK(load_hip(MLAFORGE_BACKEND_SIMULATOR, api) == MLAFORGE_NO_DEVICE);
  CHECK(says("/nowhere/libsim.so: cannot open shared object file"));
  CHECK_FALSE(says("amdhip64"));
  CHECK(api.handle == nullptr);
  // A library that is no HIP: the symbol that it lacks is said.
  setenv("MLAFORGE_SIMULATOR_LIBRARY", "libc.so.6", 1);
  CHECK(load_hip(MLAFORGE_BACKEND_SIMULATOR, api) == MLAFORGE_NO_DEVICE);
  CHECK(says("libc.so.6: has no symbol hipGetDeviceCount"));
  // AMD's runtime is only loaded where there is a driver for it.
  if (!std::filesystem::exists("/dev/kfd") && !std::filesystem::exists("/dev/dxg")) {
    CHECK(load_hip(MLAFORGE_BACKEND_AUTO, api) == MLAFORGE_NO_DEVICE);
    CHECK(says("there is no GPU driver (/dev/kfd)"));
    CHECK(says("libc.so.6: has no symbol"));
  }
  unsetenv("MLAFORGE_SIMULATOR_LIBRARY");
}

TEST_CASE("open's options are checked") {
  mlaforge_library* library = reinterpret_cast<mlaforge_library*>(1);
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  CHECK(mlaforge_open(nullptr, &library) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(mlaforge_open(&options, nullptr) == MLAFORGE_INVALID_ARGUMENT);
  options.struct_size -= 1;
  CHECK(mlaforge_open(&options, &library) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(library == nullptr);
  CHECK(says("options.struct_size"));
  options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.backend = 3;
  CHECK(mlaforge_open(&options, &library) == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("options.backend is 3"));
  mlaforge_close(nullptr);
}
