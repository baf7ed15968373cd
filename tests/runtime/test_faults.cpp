// Each HIP call of open, launch and close fails in turn: a status comes out, nothing leaks, the next call works.
#include "catch.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

/// Two kernels with splits that share a combine kernel, and one without.
TestSet three_kernels() {
  TestSet set;
  set.add(12, 1, 1, 8);
  set.add(12, 4, 1, 8);
  set.add(12, 4, 1, 1);
  return set;
}

/// That every module was unloaded once: neither leaked nor unloaded twice.
bool all_unloaded_once(const FakeHip& hip) { return hip.unloads == std::vector<int>(hip.loaded.size(), 1); }

}  // namespace

TEST_CASE("open fails cleanly at each of its HIP calls") {
  TestSet set = three_kernels();
  mlaforge_status status{};
  size_t calls = 0;
  {
    FakeHip hip;
    mlaforge_library* library = open_fake(hip, set, status);
    REQUIRE(status == MLAFORGE_SUCCESS);
    calls = hip.calls.size();
    // Count, properties, attribute, get and set device, four code objects with their functions, the device set back.
    CHECK(calls == 3 + 2 + 4 * 2 + 1);
    mlaforge_close(library);
    CHECK(all_unloaded_once(hip));
  }
  for (size_t at = 1; at <= calls; ++at) {
    FakeHip hip;
    hip.failing_at = at;
    mlaforge_library* library = open_fake(hip, set, status);
    INFO("call " << at << ", " << hip.calls.at(at - 1));
    CHECK(library == nullptr);
    CHECK((status == MLAFORGE_HIP_ERROR || status == MLAFORGE_BAD_KERNEL_SET || status == MLAFORGE_NO_DEVICE));
    CHECK(std::string(mlaforge_last_error()).find(hip.calls.at(at - 1)) != std::string::npos);
    CHECK(std::string(mlaforge_last_error()).find("fake failure (") != std::string::npos);
    CHECK(all_unloaded_once(hip));
    CHECK((current_device == 1 || at == calls));  // the last call is the one that gives the device back
    // The same table again, in which nothing fails any more.
    hip.failing_at = 0;
    library = open_fake(hip, set, status);
    CHECK(status == MLAFORGE_SUCCESS);
    mlaforge_close(library);
    CHECK(all_unloaded_once(hip));
  }
}

TEST_CASE("launch fails cleanly at each of its HIP calls") {
  TestSet set = three_kernels();
  FakeHip hip;
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  REQUIRE(status == MLAFORGE_SUCCESS);
  current_device = 0;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  const mlaforge_problem wanted = problem(12, 4, 1, 8);
  REQUIRE(mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS);
  const mlaforge_tensors t = tensors(12, 4);
  const auto launch = [&] {
    return mlaforge_launch(library, &choice, &t, address(0x80000), uint64_t{1} << 40, address(0x77));
  };
  const std::vector<std::string> calls = {"hipGetDevice", "hipStreamGetDevice", "hipModuleLaunchKernel",
                                          "hipModuleLaunchKernel"};
  for (size_t at = 1; at <= calls.size(); ++at) {
    INFO(at);
    hip.calls.clear();
    hip.launches.clear();
    hip.failing_at = at;
    CHECK(launch() == MLAFORGE_HIP_ERROR);
    CHECK(std::string(mlaforge_last_error()).find(calls[at - 1]) == 0);
    CHECK(hip.calls == std::vector<std::string>(calls.begin(), calls.begin() + static_cast<int>(at)));
    CHECK(hip.launches.size() == (at == 4 ? 1 : 0));
    hip.failing_at = 0;
    hip.launches.clear();
    CHECK(launch() == MLAFORGE_SUCCESS);
    CHECK(hip.launches.size() == 2);
    CHECK(std::string(mlaforge_last_error()).empty());
  }
  mlaforge_close(library);
}

TEST_CASE("close goes on past each unload that fails") {
  TestSet set = three_kernels();
  for (size_t at = 1; at <= 4; ++at) {
    FakeHip hip;
    mlaforge_status status{};
    mlaforge_library* library = open_fake(hip, set, status);
    REQUIRE(status == MLAFORGE_SUCCESS);
    hip.calls.clear();
    hip.failing_at = at;
    mlaforge_close(library);
    INFO(at);
    CHECK(hip.calls == std::vector<std::string>(4, "hipModuleUnload"));
    CHECK(all_unloaded_once(hip));
  }
}
