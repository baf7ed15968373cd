// Launches: arguments in both styles, faults as error codes with reports, and that the next launch works.
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hip_fixture.h"

// Not in the headers of HIP 5.
extern "C" hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                                       unsigned, unsigned, hipStream_t, void**);

using Catch::Matchers::Contains;

namespace {

struct ScaleAddArguments {
  float* out;
  char small;
  double bias;
  int count;
  const float* in;
  float scale;
};

nlohmann::json report_json() { return nlohmann::json::parse(mlaforge_simulator_last_report_json()); }

// in[i] = i; out[i] must be i * 2 + 0.5 + 3 below count and untouched from there.
void check_scaled(const std::vector<float>& out, int count) {
  for (int i = 0; i < static_cast<int>(out.size()); ++i) {
    INFO("element " << i);
    REQUIRE(out[static_cast<size_t>(i)] == (i < count ? static_cast<float>(i) * 2 + 3.5f : -1.0f));
  }
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

void check_next_launch_works(const LoadedModule& module) {
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  REQUIRE_HIP(launch(module.function("store_at"), 1, 64, buffer.data, long{2}, 77));
  CHECK(buffer.read() == std::vector<int>{0, 0, 77, 0});
}

}  // namespace

TEST_CASE("arguments arrive by kernelParams and by a packed buffer") {
  const LoadedModule module(GENERATE("gfx950.co", "gfx950_v6.co"));
  const hipFunction_t function = module.function("scale_add");
  const DeviceBuffer<float> in(ramp(300));
  const DeviceBuffer<float> out(std::vector<float>(300, -1.0f));
  ScaleAddArguments arguments{out.data, 3, 0.5, 290, in.data, 2.0f};
  SECTION("kernelParams") {
    void* parameters[] = {&arguments.out,   &arguments.small, &arguments.bias,
                          &arguments.count, &arguments.in,    &arguments.scale};
    REQUIRE_HIP(hipModuleLaunchKernel(function, 5, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  }
  SECTION("extra") {
    size_t bytes = sizeof arguments;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    REQUIRE_HIP(hipModuleLaunchKernel(function, 5, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  }
  check_scaled(out.read(), 290);
  const auto stats = nlohmann::json::parse(mlaforge_simulator_stats_json());
  CHECK(stats["kernel"] == "scale_add");
  CHECK(stats["workgroups"] == 5);
  CHECK(stats["waves"] == 5);
  CHECK(stats["instructions"] >= 5 * 10);
}

TEST_CASE("kernels reach pinned and registered host memory") {
  const LoadedModule module;
  int* pinned = nullptr;
  REQUIRE_HIP(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, 0));
  pinned[3] = 0;
  REQUIRE_HIP(launch(module.function("store_at"), 1, 64, pinned, long{3}, 5));
  CHECK(pinned[3] == 5);
  REQUIRE_HIP(hipHostFree(pinned));
  std::vector<int> own(16);
  CHECK(launch(module.function("store_at"), 1, 64, own.data(), long{1}, 6) == hipErrorIllegalAddress);
  REQUIRE_HIP(hipHostRegister(own.data(), 64, 0));
  REQUIRE_HIP(launch(module.function("store_at"), 1, 64, own.data(), long{1}, 6));
  CHECK(own[1] == 6);
  REQUIRE_HIP(hipHostUnregister(own.data()));
}

TEST_CASE("kernels see variables that the host sets, constants and relocated addresses") {
  const LoadedModule module;
  const DeviceBuffer<int> out(std::vector<int>(64));
  const DeviceBuffer<int> extra(std::vector<int>{1000});
  REQUIRE_HIP(launch(module.function("read_variables"), 1, 64, out.data));
  CHECK(out.read()[5] == 25 + 41);
  hipDeviceptr_t adjustable = nullptr;
  hipDeviceptr_t pointed = nullptr;
  REQUIRE_HIP(hipModuleGetGlobal(&adjustable, nullptr, module.handle, "adjustable"));
  REQUIRE_HIP(hipModuleGetGlobal(&pointed, nullptr, module.handle, "pointed"));
  int value = 100;
  REQUIRE_HIP(hipMemcpyHtoD(adjustable, &value, 4));
  void* address = extra.data;
  REQUIRE_HIP(hipMemcpyHtoD(pointed, &address, 8));
  REQUIRE_HIP(launch(module.function("read_variables"), 1, 64, out.data));
  CHECK(out.read()[7] == 49 + 100 + 1000);
  REQUIRE_HIP(launch(module.function("read_by_address"), 1, 1, out.data));
  CHECK(out.read()[0] == 100);
}

TEST_CASE("hidden arguments tell a kernel its launch") {
  const LoadedModule module(GENERATE("gfx950.co", "gfx950_v6.co"));
  const DeviceBuffer<unsigned> out(std::vector<unsigned>(3));
  void* parameter = out.data;
  void* parameters[] = {&parameter};
  REQUIRE_HIP(
      hipModuleLaunchKernel(module.function("launch_shape"), 7, 2, 1, 32, 4, 1, 0, nullptr, parameters, nullptr));
  CHECK(out.read() == std::vector<unsigned>{32, 4, 7});
}

TEST_CASE("LDS is shared by the waves of a block") {
  const LoadedModule module;
  std::vector<int> values(128);
  std::iota(values.begin(), values.end(), 1000);
  const DeviceBuffer<int> buffer(values);
  REQUIRE_HIP(launch(module.function("reverse_block"), 1, 128, buffer.data));
  std::reverse(values.begin(), values.end());
  CHECK(buffer.read() == values);
}

TEST_CASE("stores outside every allocation are faults that name the allocation") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(16));
  CHECK(launch(module.function("store_at"), 1, 64, buffer.data, long{18}, 1) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("store_at") && Contains("8 bytes past the end of the 64-byte allocation"));
  const auto json = report_json();
  CHECK(json["error"] == "hipErrorIllegalAddress");
  CHECK(json["kind"] == "memory_bounds");
  CHECK(json["kernel"] == "store_at");
  CHECK_THAT(json["disassembly"].get<std::string>(), Contains("global_store_dword"));
  CHECK(json["workgroup"] == nlohmann::json({0, 0, 0}));
  check_next_launch_works(module);
}

TEST_CASE("null and freed pointers are faults") {
  const LoadedModule module;
  int* null_pointer = nullptr;
  CHECK(launch(module.function("store_at"), 1, 64, null_pointer, long{0}, 1) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("null pointer"));
  check_next_launch_works(module);
  int* freed = nullptr;
  REQUIRE_HIP(hipMalloc(reinterpret_cast<void**>(&freed), 64));
  REQUIRE_HIP(hipFree(freed));
  CHECK(launch(module.function("store_at"), 1, 64, freed, long{1}, 1) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("freed 64-byte allocation"));
  CHECK(report_json()["kind"] == "use_after_free");
  check_next_launch_works(module);
}

TEST_CASE("code and constants are read-only for kernels") {
  const LoadedModule module;
  hipDeviceptr_t squares = nullptr;
  REQUIRE_HIP(hipModuleGetGlobal(&squares, nullptr, module.handle, "squares"));
  CHECK(launch(module.function("store_at"), 1, 64, static_cast<int*>(squares), long{0}, 1) == hipErrorIllegalAddress);
  CHECK_THAT(report(), Contains("read-only"));
  check_next_launch_works(module);
}

TEST_CASE("impossible shapes are refused with the number and the limit") {
  const LoadedModule module;
  const hipFunction_t function = module.function("store_at");
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  CHECK(launch(function, 0, 64, buffer.data, long{0}, 1) == hipErrorInvalidConfiguration);
  CHECK_THAT(report(), Contains("grid.x of store_at is 0"));
  CHECK(launch(function, 1, 0, buffer.data, long{0}, 1) == hipErrorInvalidConfiguration);
  CHECK_THAT(report(), Contains("block.x of store_at is 0"));
  CHECK(launch(function, 1, 1025, buffer.data, long{0}, 1) == hipErrorInvalidConfiguration);
  CHECK_THAT(report(), Contains("1025 threads, at most 1024"));
  CHECK(launch(module.function("reverse_block"), 1, 192, buffer.data) == hipErrorInvalidConfiguration);
  CHECK_THAT(report(), Contains("192 threads") && Contains("at most 128"));
  void* none[] = {nullptr, nullptr, nullptr};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 163841, nullptr, none, nullptr) ==
        hipErrorLaunchOutOfResources);
  CHECK_THAT(report(), Contains("163841") && Contains("163840"));
  CHECK(hipModuleLaunchKernel(module.function("reverse_block"), 1, 1, 1, 64, 1, 1, 163840, nullptr, none, nullptr) ==
        hipErrorLaunchOutOfResources);
  CHECK_THAT(report(), Contains("512 static + 163840 dynamic"));
  check_next_launch_works(module);
}

TEST_CASE("missing and malformed arguments are refused") {
  const LoadedModule module;
  const hipFunction_t function = module.function("store_at");
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("kernelParams of store_at is null"));
  int* pointer = nullptr;
  void* partial[] = {&pointer, nullptr, nullptr};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, partial, nullptr) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("kernelParams[1] of store_at is null") && Contains("8 bytes"));
  void* odd[] = {reinterpret_cast<void*>(7), nullptr, HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, odd) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("the key 0x7"));
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, partial, odd) == hipErrorInvalidValue);
  CHECK(hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, partial, nullptr) == hipErrorInvalidValue);
  int local = 0;
  CHECK(hipModuleLaunchKernel(reinterpret_cast<hipFunction_t>(&local), 1, 1, 1, 64, 1, 1, 0, nullptr, partial,
                              nullptr) == hipErrorInvalidDeviceFunction);
  check_next_launch_works(module);
}

TEST_CASE("a packed buffer that ends before what the kernel reads is a fault") {
  const LoadedModule module;
  const DeviceBuffer<int> buffer(std::vector<int>(4));
  int* pointer = buffer.data;
  size_t bytes = sizeof pointer;  // of 20: the index and the value are missing
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &pointer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(module.function("store_at"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra) ==
        hipErrorIllegalAddress);
  CHECK(report_json()["kind"] == "kernarg_bounds");
  check_next_launch_works(module);
}

TEST_CASE("endless loops and traps end with an error, and the next launch works") {
  const LoadedModule module;
  const DeviceBuffer<int> flag(std::vector<int>{0});
  REQUIRE(mlaforge_simulator_set_option("instruction_limit", "100000") == 0);
  CHECK(launch(module.function("spin"), 1, 64, flag.data) == hipErrorLaunchTimeOut);
  CHECK(report_json()["kind"] == "endless_loop");
  REQUIRE(mlaforge_simulator_set_option("instruction_limit", "2000000000") == 0);
  CHECK(hipModuleLaunchKernel(module.function("trap"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) ==
        hipErrorLaunchFailure);
  check_next_launch_works(module);
}

TEST_CASE("functions of an unloaded module are refused") {
  hipFunction_t function = nullptr;
  {
    const LoadedModule module;
    function = module.function("trap");
  }
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) ==
        hipErrorInvalidDeviceFunction);
}

TEST_CASE("results do not depend on the memory mode or the threads") {
  const LoadedModule module;
  const auto [memory, threads] =
      GENERATE(table<const char*, const char*>({{"lazy", "1"}, {"eager", "2"}, {"random:1", "2"}, {"random:99", "1"}}));
  REQUIRE(mlaforge_simulator_set_option("memory", memory) == 0);
  REQUIRE(mlaforge_simulator_set_option("threads", threads) == 0);
  const DeviceBuffer<float> in(ramp(1000));
  const DeviceBuffer<float> out(std::vector<float>(1000, -1.0f));
  REQUIRE_HIP(launch(module.function("scale_add"), 16, 64, out.data, char{3}, 0.5, 1000, in.data, 2.0f));
  check_scaled(out.read(), 1000);
  REQUIRE(mlaforge_simulator_set_option("memory", "lazy") == 0);
  REQUIRE(mlaforge_simulator_set_option("threads", "0") == 0);
}

TEST_CASE("cooperative launches: all workgroups meet, or the launch is refused") {
  const LoadedModule module;
  hipFunction_t meet = module.function("meet");
  constexpr unsigned workgroups = 300, times = 3;
  const auto run = [&](unsigned grid, unsigned counted, bool by_module) {
    const std::vector<unsigned> none(counted);
    const DeviceBuffer<unsigned> counter(none), words(none), out(none);
    unsigned rounds = times;
    void* arguments[] = {const_cast<unsigned**>(&counter.data), const_cast<unsigned**>(&words.data),
                         const_cast<unsigned**>(&out.data), &counted, &rounds};
    const hipError_t status = by_module
                                  ? hipModuleLaunchCooperativeKernel(meet, grid, 1, 1, 64, 1, 1, 0, nullptr, arguments)
                                  : hipLaunchCooperativeKernel(reinterpret_cast<const void*>(meet), dim3(grid),
                                                               dim3(64), arguments, 0, nullptr);
    if (status == hipSuccess) CHECK(out.read() == std::vector<unsigned>(counted, counted * times));
    return status;
  };
  CHECK(run(workgroups, workgroups, false) == hipSuccess);
  CHECK(run(workgroups, workgroups, true) == hipSuccess);
  int a_cu = 0;
  REQUIRE_HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&a_cu, meet, 64, 0));
  CHECK(run(256 * static_cast<unsigned>(a_cu) + 1, 1, false) == hipErrorCooperativeLaunchTooLarge);
  CHECK_THAT(report(), Contains("meet") && Contains(std::to_string(256 * a_cu)));
  // An ordinary launch whose workgroups depend on each other ends too, as far as they fit.
  const std::vector<unsigned> none(20);
  const DeviceBuffer<unsigned> counter(none), words(none), out(none);
  REQUIRE_HIP(launch(meet, 20, 64, counter.data, words.data, out.data, 20u, 1u));
  CHECK(out.read() == std::vector<unsigned>(20, 20));
}
