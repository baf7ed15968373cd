// Select of the C ABI: a problem of any header's version in, a choice of the caller's version out.
#include <new>

#include "error.h"
#include "library.h"
#include "struct_version.h"
#include "table.h"

mlaforge_status mlaforge_select(const mlaforge_library* library, const mlaforge_problem* problem,
                                mlaforge_choice* choice) {
  using namespace mlaforge;
  if (library == nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, "library is null");
  }
  mlaforge_status status = check_struct("problem", problem);
  if (status == MLAFORGE_SUCCESS) {
    status = check_struct("choice", static_cast<const mlaforge_choice*>(choice));
  }
  if (status != MLAFORGE_SUCCESS) {
    return status;
  }
  try {
    const mlaforge_problem latest = read_struct(*problem, MLAFORGE_PROBLEM_INIT);
    Selection selection;
    status = select_row(library->table, latest, selection);
    if (status == MLAFORGE_SUCCESS) {
      mlaforge_choice made = MLAFORGE_CHOICE_INIT;
      made.row = &library->table.rows[selection.row];
      made.row_index = static_cast<uint32_t>(selection.row);
      made.batch_capacity = latest.batch_capacity;
      made.longest_context = latest.longest_context;
      made.pool_bytes = latest.pool_bytes;
      made.basis = selection.basis;
      write_struct(made, *choice);
    }
    return status;
  } catch (const std::bad_alloc&) {
    return fail(MLAFORGE_NO_KERNEL, "no kernel for this problem (out of host memory for the explanation)");
  }
}
