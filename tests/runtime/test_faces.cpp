// The C header from C, and the C++ face.
#include <array>

#include "catch.h"
#include "mlaforge/mlaforge.hpp"
#include "tests/runtime/fixture.h"

extern "C" int mlaforge_test_c_face(void);

using namespace mlaforge::test;

TEST_CASE("the initialisers are right in C") { CHECK(mlaforge_test_c_face() == 1); }

TEST_CASE("the C++ face carries statuses with their messages and closes what it opened") {
  FakeHip hip;
  TestSet set;
  set.add(12, 4, 1, 1);
  mlaforge_status status{};
  {
    mlaforge::Library library(open_fake(hip, set, status));
    REQUIRE(status == MLAFORGE_SUCCESS);
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    const mlaforge::CallResult miss = library.select(problem(13, 4, 1), choice);
    CHECK(miss.status == MLAFORGE_NO_KERNEL);
    CHECK(miss.message.find("heads 13") != std::string::npos);
    CHECK(library.select(problem(12, 4, 1), choice));
    mlaforge::Library moved(std::move(library));
    current_device = 0;
    CHECK(moved.launch(choice, tensors(12, 1), nullptr, 0, nullptr));
    CHECK(hip.unloaded() == 0);
  }
  CHECK(hip.unloaded() == 1);
}

TEST_CASE("each status has a word of its own") {
  CHECK(std::string(mlaforge_status_name(MLAFORGE_NO_KERNEL)) == "no_kernel");
  for (const int32_t other : {-1, 10, 99}) CHECK(std::string(mlaforge_status_name(other)) == "unknown");
}
