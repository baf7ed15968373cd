#include "capabilities.h"

#include <algorithm>

#include "error.h"
#include "library.h"
#include "struct_version.h"

namespace mlaforge {
namespace {

std::vector<int32_t> values_of(std::span<const mlaforge_kernel_row> rows, int32_t mlaforge_kernel_row::* field) {
  std::vector<int32_t> values;
  for (const mlaforge_kernel_row& row : rows) {
    values.push_back(row.*field);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

mlaforge_values view(const std::vector<int32_t>& values) { return {values.data(), values.size()}; }

/// A library and a struct to be filled.
template <typename Struct>
mlaforge_status check_query(const mlaforge_library* library, const Struct* info) {
  return library == nullptr ? fail(MLAFORGE_INVALID_ARGUMENT, "library is null") : check_struct("info", info);
}

}  // namespace

Capabilities capabilities_of(std::span<const mlaforge_kernel_row> rows) {
  return {.heads = values_of(rows, &mlaforge_kernel_row::heads),
          .qlens = values_of(rows, &mlaforge_kernel_row::qlen),
          .page_sizes = values_of(rows, &mlaforge_kernel_row::page_size),
          .q_dtypes = values_of(rows, &mlaforge_kernel_row::q_dtype),
          .kv_dtypes = values_of(rows, &mlaforge_kernel_row::kv_dtype),
          .context_parallel = values_of(rows, &mlaforge_kernel_row::context_parallel),
          .wide_kv = values_of(rows, &mlaforge_kernel_row::wide_kv),
          .splits = values_of(rows, &mlaforge_kernel_row::splits),
          .probability_parts = values_of(rows, &mlaforge_kernel_row::probability_parts)};
}

}  // namespace mlaforge

mlaforge_status mlaforge_device(const mlaforge_library* library, mlaforge_device_info* info) {
  using namespace mlaforge;
  if (const mlaforge_status status = check_query(library, info); status != MLAFORGE_SUCCESS) {
    return status;
  }
  mlaforge_device_info latest = MLAFORGE_DEVICE_INFO_INIT;
  latest.name = library->device_name.c_str();
  latest.target = library->target.c_str();
  latest.hip_library = library->hip.path.c_str();
  latest.compute_units = library->compute_units;
  latest.is_simulator = library->hip.is_simulator() ? 1 : 0;
  latest.device = library->device;
  write_struct(latest, *info);
  return succeed();
}

mlaforge_status mlaforge_capabilities(const mlaforge_library* library, mlaforge_capability_info* info) {
  using namespace mlaforge;
  if (const mlaforge_status status = check_query(library, info); status != MLAFORGE_SUCCESS) {
    return status;
  }
  const Capabilities& known = library->capabilities;
  mlaforge_capability_info latest = MLAFORGE_CAPABILITY_INFO_INIT;
  latest.row_count = library->table.rows.size();
  latest.heads = view(known.heads);
  latest.qlens = view(known.qlens);
  latest.page_sizes = view(known.page_sizes);
  latest.q_dtypes = view(known.q_dtypes);
  latest.kv_dtypes = view(known.kv_dtypes);
  latest.context_parallel = view(known.context_parallel);
  latest.wide_kv = view(known.wide_kv);
  latest.splits = view(known.splits);
  latest.probability_parts = view(known.probability_parts);
  write_struct(latest, *info);
  return succeed();
}

mlaforge_status mlaforge_row(const mlaforge_library* library, uint64_t index, const mlaforge_kernel_row** row) {
  using namespace mlaforge;
  if (library == nullptr || row == nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, library == nullptr ? "library is null" : "row is null");
  }
  if (index >= library->table.rows.size()) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "index is %llu; allowed: below the row count, %zu",
                 static_cast<unsigned long long>(index), library->table.rows.size());
  }
  *row = &library->table.rows[index];
  return succeed();
}

mlaforge_status mlaforge_tuning(const mlaforge_library* library, mlaforge_tuning_info* info) {
  using namespace mlaforge;
  if (const mlaforge_status status = check_query(library, info); status != MLAFORGE_SUCCESS) {
    return status;
  }
  const TuningSummary& summary = library->tuning;
  mlaforge_tuning_info latest = MLAFORGE_TUNING_INFO_INIT;
  latest.rows = summary.rows;
  latest.used = summary.used;
  latest.used_measured = summary.used_measured;
  latest.skipped_target = summary.skipped_target;
  latest.skipped_compute_units = summary.skipped_compute_units;
  latest.skipped_superseded = summary.skipped_superseded;
  latest.notes = summary.notes.c_str();
  write_struct(latest, *info);
  return succeed();
}
