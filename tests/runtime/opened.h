// A library that is open on the fake HIP for as long as the test looks at it.
#pragma once

#include <utility>

#include "catch.h"
#include "tests/runtime/fixture.h"

namespace mlaforge::test {

struct Opened {
  FakeHip hip;
  TestSet set;
  mlaforge_library* library = nullptr;
  explicit Opened(TestSet rows) : set(std::move(rows)) {
    mlaforge_status status{};
    library = open_fake(hip, set, status);
    REQUIRE(status == MLAFORGE_SUCCESS);
  }
  ~Opened() { mlaforge_close(library); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  mlaforge_status select(const mlaforge_problem& wanted, mlaforge_choice& choice) const {
    return mlaforge_select(library, &wanted, &choice);
  }
};

}  // namespace mlaforge::test
