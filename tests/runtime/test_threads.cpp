// Several devices and threads. ThreadSanitizer watches these in the preset tsan.
#include <atomic>
#include <barrier>
#include <thread>

#include "catch.h"
#include "tests/runtime/fixture.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

constexpr int threads = 4;
constexpr int rounds = 50;

/// Runs `body(i)` in threads that start together; the count of those that returned true. Catch2 counts in one thread.
template <typename Body>
int together(const Body& body) {
  std::barrier start(threads);
  std::atomic<int> good{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      start.arrive_and_wait();
      good += body(i) ? 1 : 0;
    });
  }
  for (std::thread& thread : all) {
    thread.join();
  }
  return good;
}

TestSet two_kernels() {
  TestSet set;
  set.add(12, 4, 1, 8);
  set.add(12, 4, 1, 1);
  return set;
}

bool select_and_launch(mlaforge_library* library, int splits) {
  const mlaforge_problem wanted = problem(12, 4, 1, splits);
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  const mlaforge_tensors t = tensors(12, 4);
  return mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS &&
         mlaforge_launch(library, &choice, &t, address(0x80000), uint64_t{1} << 40, address(0x77)) == MLAFORGE_SUCCESS;
}

}  // namespace

TEST_CASE("threads open, launch and close libraries of their own at once, on two devices") {
  FakeHip hip;
  const HipApi api = fake_api(hip);
  TestSet set = two_kernels();
  const mlaforge_kernel_set* sets[] = {set.get()};
  const auto once = [&](int device) {
    mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
    options.device = device;
    options.kernel_sets = sets;
    options.kernel_set_count = 1;
    mlaforge_library* library = nullptr;
    bool good = open_device(api, options, &library) == MLAFORGE_SUCCESS;
    current_device = device;
    hip.mutex.lock();
    hip.streams[address(0x77 + static_cast<uintptr_t>(device))] = device;
    hip.mutex.unlock();
    const mlaforge_problem wanted = problem(12, 4, 1, 8);
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    const mlaforge_tensors t = tensors(12, 4);
    good = good && mlaforge_select(library, &wanted, &choice) == MLAFORGE_SUCCESS &&
           mlaforge_launch(library, &choice, &t, address(0x80000), uint64_t{1} << 40,
                           address(0x77 + static_cast<uintptr_t>(device))) == MLAFORGE_SUCCESS;
    mlaforge_close(library);
    return good;
  };
  CHECK(together([&](int i) {
          bool good = true;
          for (int round = 0; round < rounds; ++round) {
            good = once(i % 2) && good;
          }
          return good;
        }) == threads);
  CHECK(hip.launches.size() == 2 * threads * rounds);
  CHECK(hip.unloads == std::vector<int>(hip.loaded.size(), 1));
  CHECK(std::count(hip.loaded_on.begin(), hip.loaded_on.end(), 0) == 3 * threads / 2 * rounds);
  CHECK(std::count(hip.loaded_on.begin(), hip.loaded_on.end(), 1) == 3 * threads / 2 * rounds);
}

TEST_CASE("threads select from and launch one library at once, and each keeps its own last message") {
  FakeHip hip;
  TestSet set = two_kernels();
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  REQUIRE(status == MLAFORGE_SUCCESS);
  CHECK(together([&](int i) {
          current_device = 0;
          bool good = true;
          for (int round = 0; round < rounds; ++round) {
            good = select_and_launch(library, i % 2 == 0 ? 8 : 1) && good;
            const mlaforge_problem missing = problem(12, i + 5, 1);
            mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
            good = mlaforge_select(library, &missing, &choice) != MLAFORGE_SUCCESS && good;
            good =
                std::string(mlaforge_last_error()).find("qlen " + std::to_string(i + 5)) != std::string::npos && good;
          }
          return good;
        }) == threads);
  CHECK(hip.launches.size() == (2 + 1) * threads / 2 * rounds);
  mlaforge_close(library);
}
