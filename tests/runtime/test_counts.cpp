// What select and launch do besides their work: nothing. The C library's allocations are counted in this whole program.
#include <atomic>
#include <cstdlib>

#include "catch.h"
#include "tests/runtime/fixture.h"
#include "tests/runtime/noop_hip.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

// glibc's own, under the names by which it exports them beside the replaceable ones. Ours are visible, or libstdc++
// would not find them.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  ++allocations;
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}
#pragma GCC visibility pop

TEST_CASE("the counter sees operator new and malloc") {
  static void* volatile kept = nullptr;  // so that the compiler leaves the pairs alone
  const size_t before = allocations;
  kept = new int(1);
  delete static_cast<int*>(kept);
  kept = std::malloc(1);
  std::free(kept);
  const size_t counted = allocations - before;
  CHECK(counted == 2);
}

TEST_CASE("select and launch allocate nothing; a launch loads nothing, waits for nothing and moves no memory") {
  TestSet set;
  for (const int splits : {1, 8, 64}) {
    set.add(12, 4, 1, splits);
  }
  const mlaforge_kernel_set* sets[] = {set.get()};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  mlaforge_library* library = nullptr;
  REQUIRE(open_device(noop_api(), options, &library) == MLAFORGE_SUCCESS);
  REQUIRE(hip_calls.loads == 10);  // five code objects and their functions
  mlaforge_tensors t = tensors(12, 4);
  const mlaforge_problem wanted = problem(12, 4, 1);
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  uint64_t bytes = 0;
  void* const stream = address(0x77);

  hip_calls = {};
  size_t before = allocations;
  mlaforge_status status = mlaforge_select(library, &wanted, &choice);
  size_t allocated = allocations - before;
  REQUIRE(status == MLAFORGE_SUCCESS);
  REQUIRE(choice.row->splits == 64);
  CHECK(allocated == 0);
  CHECK(hip_calls.queries == 0);

  before = allocations;
  status = mlaforge_workspace_size(library, &choice, &bytes);
  for (int i = 0; i < 100 && status == MLAFORGE_SUCCESS; ++i) {
    status = mlaforge_launch(library, &choice, &t, address(0x80000), bytes, stream);
  }
  // Refusals before a launch allocate no more than launches do.
  t.q = address(8);
  const mlaforge_status refused = mlaforge_launch(library, &choice, &t, address(0x80000), bytes, stream);
  allocated = allocations - before;
  REQUIRE(status == MLAFORGE_SUCCESS);
  CHECK(refused == MLAFORGE_INVALID_ARGUMENT);
  CHECK(allocated == 0);
  CHECK(hip_calls.launches == 200);
  CHECK(hip_calls.queries == 200);  // the current device and the stream's
  CHECK(hip_calls.loads == 0);
  CHECK(hip_calls.memory == 0);
  CHECK(hip_calls.synchronisations == 0);
  mlaforge_close(library);
}
