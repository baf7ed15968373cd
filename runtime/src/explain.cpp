#include "explain.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace mlaforge {
namespace {

struct Field {
  const char* name;
  int64_t (*of_row)(const mlaforge_kernel_row&);
  int64_t wanted;
};

std::vector<Field> wanted_fields(const mlaforge_problem& problem) {
  std::vector<Field> fields = {
      {"heads", [](const mlaforge_kernel_row& row) -> int64_t { return row.heads; }, problem.heads},
      {"qlen", [](const mlaforge_kernel_row& row) -> int64_t { return row.qlen; }, problem.qlen},
      {"page_size", [](const mlaforge_kernel_row& row) -> int64_t { return row.page_size; }, problem.page_size},
      {"q_dtype", [](const mlaforge_kernel_row& row) -> int64_t { return row.q_dtype; }, problem.q_dtype},
      {"kv_dtype", [](const mlaforge_kernel_row& row) -> int64_t { return row.kv_dtype; }, problem.kv_dtype},
      {"context_parallel", [](const mlaforge_kernel_row& row) -> int64_t { return row.context_parallel; },
       problem.context_parallel},
  };
  if (problem.pool_bytes > narrow_pool_limit_bytes) {
    fields.push_back({"wide_kv", [](const mlaforge_kernel_row& row) -> int64_t { return row.wide_kv; }, 1});
  }
  if (problem.splits != 0) {
    fields.push_back({"splits", [](const mlaforge_kernel_row& row) -> int64_t { return row.splits; }, problem.splits});
  }
  if (problem.probability_parts != 0) {
    fields.push_back({"probability_parts",
                      [](const mlaforge_kernel_row& row) -> int64_t { return row.probability_parts; },
                      problem.probability_parts});
  }
  return fields;
}

const char* dtype_text(int64_t dtype) {
  switch (dtype) {
    case MLAFORGE_BF16:
      return "bf16";
    case MLAFORGE_F32:
      return "f32";
    case MLAFORGE_FP8_E4M3:
      return "fp8_e4m3";
    default:
      return "unknown";
  }
}

std::string value_text(const std::string& field, int64_t value) {
  if (field == "q_dtype" || field == "kv_dtype") {
    return dtype_text(value);
  }
  return field == "wide_kv" ? (value != 0 ? "true" : "false") : std::to_string(value);
}

/// Narrows the table field by field; the first that leaves nothing is the one to name.
std::string blame(std::span<const mlaforge_kernel_row> table, const std::vector<Field>& fields,
                  const mlaforge_problem& problem) {
  std::vector<const mlaforge_kernel_row*> left;
  for (const mlaforge_kernel_row& row : table) {
    left.push_back(&row);
  }
  std::string given;
  for (const Field& field : fields) {
    std::set<int64_t> available;
    std::vector<const mlaforge_kernel_row*> matching;
    for (const mlaforge_kernel_row* row : left) {
      available.insert(field.of_row(*row));
      if (field.of_row(*row) == field.wanted) {
        matching.push_back(row);
      }
    }
    if (matching.empty()) {
      std::string text = std::string(field.name) + " " + value_text(field.name, field.wanted) + " is in no kernel";
      if (std::string(field.name) == "wide_kv") {
        text += " (the pool's " + std::to_string(problem.pool_bytes) + " bytes are beyond 32-bit offsets, " +
                std::to_string(narrow_pool_limit_bytes) + " bytes)";
      }
      text += given.empty() ? "" : " with " + given;
      std::string list;
      for (const int64_t value : available) {
        list.append(list.empty() ? "" : ", ").append(value_text(field.name, value));
      }
      return text.append(list.empty() ? "; there are no kernels at all" : "; available: ").append(list);
    }
    given += (given.empty() ? "" : ", ") + std::string(field.name) + " " + value_text(field.name, field.wanted);
    left = matching;
  }
  return "no kernel has all of " + given;
}

/// Fields that differ count most, then how far they are off.
std::string nearest(std::span<const mlaforge_kernel_row> table, const std::vector<Field>& fields) {
  struct Candidate {
    int differing;
    int64_t distance;
    const mlaforge_kernel_row* row;
  };
  std::vector<Candidate> candidates;
  for (const mlaforge_kernel_row& row : table) {
    Candidate candidate{0, 0, &row};
    for (const Field& field : fields) {
      const int64_t off = std::llabs(field.of_row(row) - field.wanted);
      candidate.differing += off != 0;
      candidate.distance += off;
    }
    candidates.push_back(candidate);
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.differing, a.distance, a.row) < std::tuple(b.differing, b.distance, b.row);
  });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, candidates.size()); ++i) {
    text += (text.empty() ? "" : ", ") + std::string(candidates[i].row->name);
  }
  return text;
}

/// A deployment config (configs/schema.json) whose output has the missing kernel.
std::string config_text(const mlaforge_problem& problem, const std::string& more_fields) {
  const bool wide = problem.pool_bytes > narrow_pool_limit_bytes;
  return "{\"name\": \"missing\", \"model\": {\"num_heads\": " + std::to_string(problem.heads) +
         "}, \"page_size\": " + std::to_string(problem.page_size) + ", \"query_dtype\": \"" +
         dtype_text(problem.q_dtype) + "\", \"kv_dtype\": \"" + dtype_text(problem.kv_dtype) +
         "\", \"context_parallel\": " + std::to_string(problem.context_parallel) +
         ", \"wide_kv\": " + (wide ? "true" : "false") +
         (problem.probability_parts == 1 ? ", \"probability_parts\": 1" : "") +
         ", \"kernels\": [{\"query_length\": " + std::to_string(problem.qlen) +
         ", \"splits\": " + std::to_string(problem.splits == 0 ? 1 : problem.splits) + more_fields + "}]}";
}

std::string chosen_reason(mlaforge_basis basis) {
  return basis == MLAFORGE_BY_MEASURED_TUNING    ? "the nearest tuning row names it, measured"
         : basis == MLAFORGE_BY_PREDICTED_TUNING ? "the nearest tuning row names it, predicted"
                                                 : "least predicted time by the cost model";
}

/// Why a row that would serve is not the one, in the order in which select decides.
std::string lost_reason(const mlaforge_kernel_row& row, const mlaforge_kernel_row& chosen, mlaforge_basis basis) {
  if (row.wide_kv != chosen.wide_kv) {
    return "64-bit offsets, which this pool does not need";
  }
  if (row.probability_parts != chosen.probability_parts) {
    return "fewer probability_parts than the chosen kernel, so less accurate";
  }
  return basis == MLAFORGE_BY_COST_MODEL ? "not the least predicted time, or a split without a block"
                                         : "the nearest tuning row names another kernel";
}

}  // namespace

std::string describe(const mlaforge_kernel_row& row) {
  return "heads " + std::to_string(row.heads) + ", qlen " + std::to_string(row.qlen) + ", page_size " +
         std::to_string(row.page_size) + ", q_dtype " + dtype_text(row.q_dtype) + ", kv_dtype " +
         dtype_text(row.kv_dtype) + ", context_parallel " + std::to_string(row.context_parallel) + ", wide_kv " +
         std::to_string(row.wide_kv) + ", splits " + std::to_string(row.splits) + ", head_groups " +
         std::to_string(row.head_groups) + ", block_tokens " + std::to_string(row.block_tokens) +
         ", probability_parts " + std::to_string(row.probability_parts);
}

std::string explain_miss(std::span<const mlaforge_kernel_row> table, const mlaforge_problem& problem,
                         const std::string& more_fields) {
  const std::vector<Field> fields = wanted_fields(problem);
  const std::string near = nearest(table, fields);
  return "no kernel for this problem: " + blame(table, fields, problem) + (near.empty() ? "" : "\nnearest: " + near) +
         miss_remedy + config_text(problem, more_fields);
}

std::vector<Verdict> judge_rows(const DispatchTable& table, const mlaforge_problem& problem) {
  std::vector<Verdict> verdicts;
  Selection selection;
  const mlaforge_status status = select_row(table, problem, selection);
  if (status == MLAFORGE_INVALID_ARGUMENT) {
    return verdicts;
  }
  const mlaforge_kernel_row* chosen = status == MLAFORGE_SUCCESS ? &table.rows[selection.row] : nullptr;
  const SplitProblem served = split_problem(batch_to_serve(problem), problem.longest_context);
  const std::vector<Field> fields = wanted_fields(problem);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const mlaforge_kernel_row& row = table.rows[i];
    Verdict verdict;
    verdict.row = i;
    verdict.chosen = &row == chosen;
    for (const Field& field : fields) {
      if (field.of_row(row) != field.wanted) {
        verdict.reason += (verdict.reason.empty() ? "" : ", ") + std::string(field.name) + " " +
                          value_text(field.name, field.of_row(row)) + ", not " + value_text(field.name, field.wanted);
      }
    }
    verdict.serves = verdict.reason.empty();
    if (verdict.serves) {
      verdict.predicted_clocks = predicted_clocks(served, table.candidates[i]);
      verdict.reason = verdict.chosen ? chosen_reason(selection.basis) : lost_reason(row, *chosen, selection.basis);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace mlaforge
