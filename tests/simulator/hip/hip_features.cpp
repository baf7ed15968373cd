// Code objects of versions 5 and 6, for gfx950 and for its generic target, optimized and not, with arguments in memory
// and preloaded into registers: hidden arguments, dynamic LDS, scratch, dynamic stacks, AGPRs.
#include <algorithm>
#include <numeric>

#include "hip_fixture.h"
#include "simulator/loader/code_object.h"
#include "simulator/loader/kernel_descriptor.h"

using namespace mlaforge::simulator;
using Catch::Matchers::Contains;

extern "C" hipError_t hipDeviceSetLimit(hipLimit_t, size_t);

namespace {

constexpr auto builds = {"features_v5.co", "features_v6.co", "features_generic.co", "features_preload.co",
                         "features_o0.co"};

std::string any_build() { return GENERATE(from_range(std::vector<std::string>(builds.begin(), builds.end()))); }

hipError_t launch_shaped(hipFunction_t function, dim3 grid, dim3 block, unsigned lds_bytes,
                         std::vector<void*> parameters) {
  return hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, lds_bytes, nullptr,
                               parameters.data(), nullptr);
}

const LoadedKernel& kernel_of(const CodeObject& object, const char* name) {
  const LoadedKernel* kernel = object.find_kernel(name);
  REQUIRE(kernel != nullptr);
  return *kernel;
}

CodeObject parsed(const char* name) {
  const auto loaded = load_code_object(read_code_object(name));
  INFO((loaded.ok() ? "" : loaded.error().message));
  REQUIRE(loaded.ok());
  return loaded.value();
}

}  // namespace

TEST_CASE("the builds have what they are there for") {
  CHECK(parsed("features_v5.co").version == 5);
  CHECK(parsed("features_v6.co").version == 6);
  CHECK(parsed("features_generic.co").target == "gfx9-4-generic");
  CHECK((kernel_of(parsed("features_v5.co"), "many_arguments").descriptor.kernarg_preload & 0x7f) == 0);
  CHECK((kernel_of(parsed("features_preload.co"), "many_arguments").descriptor.kernarg_preload & 0x7f) >= 8);
  const CodeObject object = parsed("features_v5.co");
  CHECK(uses_dynamic_stack(kernel_of(object, "recurse").descriptor));
  CHECK_FALSE(uses_dynamic_stack(kernel_of(object, "sort_in_scratch").descriptor));
  CHECK(kernel_of(object, "sort_in_scratch").descriptor.private_segment_fixed_size >= 64);
  const KernelDescriptor& agprs = kernel_of(object, "through_agprs").descriptor;
  CHECK(accum_offset(agprs) + 41 <= allocated_vgprs(agprs));
}

TEST_CASE("hidden arguments tell the launch's shape") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  const DeviceBuffer<uint64_t> out(std::vector<uint64_t>(14, 99));
  void* pointer = out.data;
  REQUIRE_HIP(launch_shaped(module.function("read_hidden"), dim3(3, 5, 7), dim3(8, 4, 2), 4096, {&pointer}));
  CHECK(out.read() == std::vector<uint64_t>{3, 5, 7, 8, 4, 2, 0, 0, 0, 0, 0, 0, 3, 0});
  REQUIRE_HIP(launch_shaped(module.function("read_hidden"), dim3(3), dim3(8), 0, {&pointer}));
  CHECK(out.read() == std::vector<uint64_t>{3, 1, 1, 8, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0});
}

TEST_CASE("a hidden pointer to a service of the host is refused when it is used") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  const DeviceBuffer<uint64_t> out(std::vector<uint64_t>(1));
  const hipFunction_t function = module.function("read_service");
  void* pointer = out.data;
  // Offsets of version 5. (The printf buffer is there only for kernels that print.)
  for (const auto& [offset, name] : {std::pair(80, "the hostcall buffer"), {96, "the heap"}}) {
    int at = offset;
    CHECK(launch_shaped(function, dim3(1), dim3(1), 0, {&pointer, &at}) == hipErrorIllegalAddress);
    CHECK_THAT(report(), Contains(name) && Contains("is not simulated") && Contains("read_service"));
  }
  const DeviceBuffer<int> data(std::vector<int>(64, 4));
  REQUIRE_HIP(launch(module.function("through_agprs"), 1, 64, data.data));
}

TEST_CASE("dynamic LDS lies behind the static, and the kernel is told its size") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  const hipFunction_t function = module.function("rotate_dynamic");
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 0);
  const DeviceBuffer<int> buffer(values);
  void* pointer = buffer.data;
  int count = 256;
  int by = 70;
  const DeviceBuffer<unsigned> told(std::vector<unsigned>(1));
  void* lds_bytes = told.data;
  REQUIRE_HIP(launch_shaped(function, dim3(1), dim3(256), 1024, {&pointer, &count, &by, &lds_bytes}));
  CHECK(told.read()[0] == 1024);
  const auto result = buffer.read();
  for (int i = 0; i < 256; ++i) REQUIRE(result[static_cast<size_t>(i)] == (i + 70) % 256 + 100 * (i % 3));
  CHECK(launch_shaped(function, dim3(1), dim3(256), 512, {&pointer, &count, &by, &lds_bytes}) ==
        hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("LDS"));
  CHECK(launch_shaped(function, dim3(1), dim3(256), 163840, {&pointer, &count, &by, &lds_bytes}) ==
        hipErrorLaunchOutOfResources);
  REQUIRE_HIP(launch_shaped(function, dim3(1), dim3(256), 163840 - 16, {&pointer, &count, &by, &lds_bytes}));
}

TEST_CASE("each lane has scratch of its own") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  std::vector<int> values(16 * 128);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7919 % 1009);
  const DeviceBuffer<int> buffer(values);
  REQUIRE_HIP(launch(module.function("sort_in_scratch"), 1, 128, buffer.data));
  for (size_t lane = 0; lane < 128; ++lane) std::sort(&values[16 * lane], &values[16 * lane] + 16);
  CHECK(buffer.read() == values);
}

TEST_CASE("a stack of unknown depth has the limit's bytes, and what goes beyond is a fault") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  const hipFunction_t function = module.function("recurse");
  const DeviceBuffer<int> out(std::vector<int>(64));
  REQUIRE_HIP(launch(function, 1, 64, out.data, 10));
  const auto result = out.read();
  for (int i = 0; i < 64; ++i) REQUIRE(result[static_cast<size_t>(i)] == (10 + i % 3) * (11 + i % 3) / 2);
  CHECK(launch(function, 1, 64, out.data, 1000) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("scratch"));
  REQUIRE_HIP(hipDeviceSetLimit(static_cast<hipLimit_t>(0), 131056));
  REQUIRE_HIP(launch(function, 1, 64, out.data, 1000));
  CHECK(out.read()[0] == 500500);
  REQUIRE_HIP(hipDeviceSetLimit(static_cast<hipLimit_t>(0), 1024));
}

TEST_CASE("AGPRs lie behind the vector registers") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 5);
  const DeviceBuffer<int> buffer(values);
  REQUIRE_HIP(launch(module.function("through_agprs"), 1, 64, buffer.data));
  for (int& value : values) ++value;
  CHECK(buffer.read() == values);
}

TEST_CASE("arguments arrive from memory and preloaded") {
  const std::string build = any_build();
  INFO(build);
  const LoadedModule module(build);
  const DeviceBuffer<int64_t> out(std::vector<int64_t>(1));
  REQUIRE_HIP(launch(module.function("many_arguments"), 1, 64, out.data, 1, long{2}, short{3}, 4, 0.5f, long{-60000}, 7,
                     long{8'000'000'000}, 9));
  CHECK(out.read()[0] == 1 + 20 + 300 + 4000 + 5000 - 60000 + 7 + 8'000'000'000 + 9);
}

TEST_CASE(
    "a code object whose metadata is gone is refused, and one whose code is damaged faults in that launch alone") {
  auto bytes = read_code_object("features_v5.co");
  const auto all = [&] { return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()); };
  const CodeObject object = parsed("features_v5.co");
  hipModule_t handle = nullptr;
  SECTION("no metadata note") {
    const size_t name = all().find(std::string_view("AMDGPU\0", 7));
    REQUIRE(name != std::string_view::npos);
    bytes[name - 4] = std::byte{31};  // the note's type, NT_AMDGPU_METADATA being 32
    CHECK(hipModuleLoadData(&handle, bytes.data()) == hipErrorInvalidImage);
    CHECK_THAT(report(), Contains("no AMDGPU metadata note"));
  }
  SECTION("an unknown instruction") {
    const LoadedKernel& kernel = kernel_of(object, "through_agprs");
    const auto segment = std::ranges::find_if(object.segments, [&](const ElfSegment& s) {
      return kernel.entry_address >= s.address && kernel.entry_address - s.address < s.file_bytes;
    });
    REQUIRE(segment != object.segments.end());
    const size_t entry = kernel.entry_address - segment->address + segment->file_offset;
    for (size_t i = 0; i < 4; ++i) bytes[entry + i] = std::byte{0xff};
    REQUIRE_HIP(hipModuleLoadData(&handle, bytes.data()));
    hipFunction_t damaged = nullptr;
    hipFunction_t whole = nullptr;
    REQUIRE_HIP(hipModuleGetFunction(&damaged, handle, "through_agprs"));
    REQUIRE_HIP(hipModuleGetFunction(&whole, handle, "many_arguments"));
    const DeviceBuffer<int> data(std::vector<int>(64));
    CHECK(launch(damaged, 1, 64, data.data) == hipErrorLaunchFailure);
    CHECK_THAT(report(), Contains("unknown instruction") && Contains("through_agprs") && Contains("0xffffffff"));
    const DeviceBuffer<int64_t> out(std::vector<int64_t>(1));
    REQUIRE_HIP(launch(whole, 1, 64, out.data, 1, long{0}, short{0}, 0, 0.0f, long{0}, 0, long{0}, 0));
    CHECK(out.read()[0] == 1);
    REQUIRE_HIP(hipModuleUnload(handle));
  }
  const LoadedModule module("features_v5.co");
  const DeviceBuffer<int> buffer(std::vector<int>(64));
  REQUIRE_HIP(launch(module.function("through_agprs"), 1, 64, buffer.data));
  CHECK(buffer.read() == std::vector<int>(64, 1));
}
