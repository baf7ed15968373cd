// Tuning rows to a table's points: kernels by name, other chips' texts left out, one point a place.
#include "tuning.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "error.h"

namespace mlaforge {
namespace {

/// A point on its way into the table, and the row of which text it comes from.
struct Loaded {
  TunedPoint point;
  uint64_t key;  ///< its kernel's run
  size_t text, row;
};

std::string text_name(std::span<const mlaforge_tuning_text> texts, size_t index) {
  return texts[index].name != nullptr ? texts[index].name : "text " + std::to_string(index);
}

std::string row_name(std::span<const mlaforge_tuning_text> texts, const Loaded& loaded) {
  return text_name(texts, loaded.text) + " rows[" + std::to_string(loaded.row) + "]";
}

/// The kernel whose name starts as this one does: names put what is computed first.
std::string nearest_kernel(const std::vector<mlaforge_kernel_row>& rows, const std::string& name) {
  const auto common = [&](const mlaforge_kernel_row& row) {
    const std::string_view other = row.name;
    return std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin();
  };
  const auto nearest =
      std::max_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return common(a) < common(b); });
  return nearest == rows.end() ? "there are no kernels at all" : "nearest: " + std::string(nearest->name);
}

mlaforge_status bad(const std::string& where, const std::string& what) {
  return fail(MLAFORGE_BAD_TUNING, "tuning data " + where + ": " + what);
}

/// One row as a point of the table.
mlaforge_status load_row(const DispatchTable& table, const std::unordered_map<std::string_view, uint32_t>& by_name,
                         const TuningRow& row, const std::string& where, Loaded& loaded) {
  const auto found = by_name.find(row.kernel);
  if (found == by_name.end()) {
    return bad(where, "kernel \"" + row.kernel + "\" is in no opened set; " + nearest_kernel(table.rows, row.kernel));
  }
  const mlaforge_kernel_row& kernel = table.rows[found->second];
  mlaforge_kernel_row wanted = row.key;
  wanted.probability_parts = kernel.probability_parts;
  if (pack_key(wanted) != pack_key(kernel)) {
    return bad(where, "kernel " + row.kernel + " does not serve the row's problem: it has " + describe(kernel));
  }
  loaded.key = pack_key(kernel);
  loaded.point.row = found->second;
  loaded.point.batch = row.batch;
  loaded.point.context = row.context;
  loaded.point.log2_batch = std::log2(static_cast<float>(row.batch));
  loaded.point.log2_context = std::log2(static_cast<float>(row.context));
  return MLAFORGE_SUCCESS;
}

/// Whether a text is for this device; counted and noted when it is not.
bool is_for(const TuningData& data, const std::string& name, const std::string& target, int64_t compute_units,
            TuningSummary& summary) {
  const std::string rows = name + ": " + std::to_string(data.rows.size()) + " rows skipped, they are for ";
  if (data.target != target) {
    summary.skipped_target += data.rows.size();
    summary.notes += rows + data.target + ", the device is " + target + "\n";
    return false;
  }
  if (data.compute_units != compute_units) {
    summary.skipped_compute_units += data.rows.size();
    summary.notes += rows + std::to_string(data.compute_units) + " compute units, the device has " +
                     std::to_string(compute_units) + "\n";
    return false;
  }
  return true;
}

/// Sorted so that rows for one place stand together, the measured first.
auto place_of(const Loaded& loaded) { return std::tuple(loaded.key, loaded.point.batch, loaded.point.context); }

mlaforge_status store_points(DispatchTable& table, std::vector<Loaded> loaded,
                             std::span<const mlaforge_tuning_text> texts, TuningSummary& summary) {
  std::sort(loaded.begin(), loaded.end(), [](const Loaded& a, const Loaded& b) {
    const auto order = place_of(a) <=> place_of(b);
    return order != 0 ? order < 0
                      : std::tuple(!a.point.measured, a.text, a.row) < std::tuple(!b.point.measured, b.text, b.row);
  });
  for (size_t i = 0; i < loaded.size(); ++i) {
    const Loaded& current = loaded[i];
    if (i > 0 && place_of(loaded[i - 1]) == place_of(current)) {
      const Loaded& before = loaded[i - 1];
      if (before.point.measured == current.point.measured && before.point.row != current.point.row) {
        return bad(row_name(texts, before) + " and " + row_name(texts, current),
                   std::string("two kernels for batch ") + std::to_string(current.point.batch) + ", context " +
                       std::to_string(current.point.context) + " of one key: " + table.rows[before.point.row].name +
                       " and " + table.rows[current.point.row].name);
      }
      ++summary.skipped_superseded;
      continue;
    }
    KeyRun& run = table.runs[first_key(table, current.key)];
    const auto at = static_cast<uint32_t>(table.points.size());
    if (run.first_point == run.last_point) {
      run.first_point = at;
    }
    run.last_point = at + 1;
    table.points.push_back(current.point);
    ++summary.used;
    summary.used_measured += current.point.measured ? 1 : 0;
  }
  return MLAFORGE_SUCCESS;
}

}  // namespace

mlaforge_status add_tuning(DispatchTable& table, const std::string& target, std::span<const mlaforge_tuning_text> texts,
                           TuningSummary& summary) {
  std::unordered_map<std::string_view, uint32_t> by_name;
  for (uint32_t i = 0; i < table.rows.size(); ++i) {
    by_name[table.rows[i].name] = i;
  }
  std::vector<Loaded> loaded;
  for (size_t t = 0; t < texts.size(); ++t) {
    const std::string name = text_name(texts, t);
    if (texts[t].text == nullptr && texts[t].bytes != 0) {
      return bad(name, "its text is null with bytes above 0");
    }
    TuningData data;
    if (const std::string problem = parse_tuning({texts[t].text, texts[t].bytes}, data); !problem.empty()) {
      return bad(name, problem);
    }
    summary.rows += data.rows.size();
    if (!is_for(data, name, target, table.compute_units, summary)) {
      continue;
    }
    for (size_t r = 0; r < data.rows.size(); ++r) {
      Loaded point{.point = {.measured = data.measured}, .key = 0, .text = t, .row = r};
      const std::string where = name + " rows[" + std::to_string(r) + "]";
      if (const mlaforge_status status = load_row(table, by_name, data.rows[r], where, point);
          status != MLAFORGE_SUCCESS) {
        return status;
      }
      loaded.push_back(point);
    }
  }
  const mlaforge_status status = store_points(table, std::move(loaded), texts, summary);
  if (summary.skipped_superseded != 0) {
    summary.notes += std::to_string(summary.skipped_superseded) +
                     " rows skipped, another says the same place (measured before predicted)\n";
  }
  return status;
}

}  // namespace mlaforge
