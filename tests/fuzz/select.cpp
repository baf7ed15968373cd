#include "tests/fuzz/runtime_tables.h"

namespace mlaforge::fuzz {
namespace {

bool serves(const mlaforge_kernel_row& row, const mlaforge_problem& problem) {
  return row.heads == problem.heads && row.qlen == problem.qlen && row.page_size == problem.page_size &&
         row.q_dtype == problem.q_dtype && row.kv_dtype == problem.kv_dtype &&
         row.context_parallel == problem.context_parallel && (problem.splits == 0 || row.splits == problem.splits) &&
         (problem.probability_parts == 0 || row.probability_parts == problem.probability_parts) &&
         (row.wide_kv == 1 || problem.pool_bytes <= uint64_t{1} << 32);
}

}  // namespace

void select(Input input) {
  Reader reader(input);
  test::FakeHip hip;
  test::TestSet set;
  add_rows(reader, set);
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  require_message(status);
  if (library == nullptr) return;  // two rows of one key
  while (!reader.empty()) {
    const mlaforge_kernel_row& near = library->table.rows[reader.below(library->table.rows.size())];
    mlaforge_problem problem =
        test::problem(near.heads, near.qlen, near.page_size, reader.below(2) != 0 ? near.splits : 0);
    problem.context_parallel = near.context_parallel;
    problem.q_dtype = near.q_dtype;
    overwrite_members(reader, problem, sizeof problem.struct_size, reader.below(4));
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    status = mlaforge_select(library, &problem, &choice);
    require_message(status);
    if (status != MLAFORGE_SUCCESS) {
      require(choice.row == nullptr, "a failure that wrote its output");
      bool one_serves = false;
      for (const mlaforge_kernel_row& row : library->table.rows) one_serves = one_serves || serves(row, problem);
      require(status != MLAFORGE_NO_KERNEL || !one_serves, "a kernel that serves was not found");
      continue;
    }
    require(serves(*choice.row, problem), "a kernel of another key was chosen");
    uint64_t bytes = 0;
    require_message(mlaforge_workspace_size(library, &choice, &bytes));
  }
  mlaforge_close(library);
}

}  // namespace mlaforge::fuzz
