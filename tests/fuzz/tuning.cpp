#include "tests/fuzz/runtime_tables.h"

namespace mlaforge::fuzz {

/// Any text as tuning data of a small table, then the choices that it leads to.
void tuning(Input input) {
  test::FakeHip hip;
  test::TestSet set;
  for (const int splits : {1, 8, 64}) set.add(12, 4, 1, splits);
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status, 0, {std::string(text_of(input))});
  require_message(status);
  require(status == MLAFORGE_SUCCESS || status == MLAFORGE_BAD_TUNING, "tuning data gives another status");
  require((status == MLAFORGE_SUCCESS) == (library != nullptr), "a status that says otherwise than the handle");
  if (library == nullptr) return;
  mlaforge_tuning_info info = MLAFORGE_TUNING_INFO_INIT;
  require(mlaforge_tuning(library, &info) == MLAFORGE_SUCCESS, "no account of the tuning data");
  require(info.rows == info.used + info.skipped_target + info.skipped_compute_units + info.skipped_superseded,
          "rows that are neither used nor skipped");
  for (const int batch : {1, 64, 4096}) {
    for (const int splits : {0, 8}) {
      mlaforge_problem problem = test::problem(12, 4, 1, splits);
      problem.batch_capacity = batch;
      mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
      require(mlaforge_select(library, &problem, &choice) == MLAFORGE_SUCCESS, "tuning data hides a kernel");
      require(splits == 0 || choice.row->splits == splits, "tuning data overrides the splits asked for");
    }
  }
  mlaforge_close(library);
}

}  // namespace mlaforge::fuzz
