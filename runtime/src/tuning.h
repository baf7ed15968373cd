// Tuning data: which kernel is best for a shape at a batch and a context, as JSON text, and as points of a table.
// docs/runtime.md describes the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mlaforge/mlaforge.h"
#include "table.h"

namespace mlaforge {

/// Times of one decode step in microseconds; all equal where measured.
struct TunedTime {
  double low = 0, nominal = 0, high = 0;
};

/// One row: the key of its problem, the place, the best kernel there.
struct TuningRow {
  mlaforge_kernel_row key{};  ///< heads .. wide_kv only
  int32_t batch = 1;
  int64_t context = 1;
  std::string kernel;
  TunedTime time_us;
};

/// One text.
struct TuningData {
  std::string target, device, toolchain;
  int32_t compute_units = 0;
  bool measured = false;
  std::vector<TuningRow> rows;
};

/// Reads a text. Empty, or what is wrong: the field (`rows[3].problem.heads`), its value and what is allowed.
std::string parse_tuning(std::string_view text, TuningData& data);

/// What became of the rows; see mlaforge_tuning_info.
struct TuningSummary {
  uint64_t rows = 0, used = 0, used_measured = 0;
  uint64_t skipped_target = 0, skipped_compute_units = 0, skipped_superseded = 0;
  std::string notes;
};

/// Parses the texts and gives `table` (which has no points yet) theirs, for a device of `target` with the table's
/// compute units. BAD_TUNING names the text and the row; the table may then hold some of the points.
mlaforge_status add_tuning(DispatchTable& table, const std::string& target, std::span<const mlaforge_tuning_text> texts,
                           TuningSummary& summary);

}  // namespace mlaforge
