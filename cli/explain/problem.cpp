#include "cli/explain/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "cli/explain/miss.h"
#include "generator/config/nearest.h"
#include "runtime/src/explain.h"
#include "runtime/src/tuning.h"
#include "runtime/src/workspace.h"

namespace mlaforge::explain {
namespace {

using Json = nlohmann::json;

constexpr int kComputeUnits = 256;  // of an MI355X
constexpr const char* kTarget = "gfx950";

struct NamedValue {
  const char* name;
  int64_t value;
};
constexpr NamedValue kDtypes[] = {{"bf16", MLAFORGE_BF16}, {"fp8_e4m3", MLAFORGE_FP8_E4M3}};
constexpr NamedValue kPolicies[] = {{"tuned", MLAFORGE_TUNED}, {"fixed_split", MLAFORGE_FIXED_SPLIT}};

/// A problem's field as a word names it; values by name where it has names.
struct Field {
  const char* key;
  std::span<const NamedValue> names;
  int64_t (*get)(const mlaforge_problem&);
  void (*set)(mlaforge_problem&, int64_t);
};

#define MLAFORGE_FIELD(key, names, member)                                                           \
  Field {                                                                                            \
    key, names, [](const mlaforge_problem& p) -> int64_t { return static_cast<int64_t>(p.member); }, \
        [](mlaforge_problem& p, int64_t v) { p.member = static_cast<decltype(p.member)>(v); }        \
  }
constexpr std::span<const NamedValue> kNoNames;
const Field kFields[] = {
    MLAFORGE_FIELD("heads", kNoNames, heads),
    MLAFORGE_FIELD("qlen", kNoNames, qlen),
    MLAFORGE_FIELD("page_size", kNoNames, page_size),
    MLAFORGE_FIELD("q_dtype", kDtypes, q_dtype),
    MLAFORGE_FIELD("kv_dtype", kDtypes, kv_dtype),
    MLAFORGE_FIELD("context_parallel", kNoNames, context_parallel),
    MLAFORGE_FIELD("splits", kNoNames, splits),
    MLAFORGE_FIELD("batch", kNoNames, batch_capacity),
    MLAFORGE_FIELD("context", kNoNames, longest_context),
    MLAFORGE_FIELD("pool_bytes", kNoNames, pool_bytes),
    MLAFORGE_FIELD("policy", kPolicies, policy),
    MLAFORGE_FIELD("probability_parts", kNoNames, probability_parts),
};
#undef MLAFORGE_FIELD

std::string value_text(const Field& field, const mlaforge_problem& problem) {
  for (const NamedValue& named : field.names) {
    if (named.value == field.get(problem)) return named.name;
  }
  return std::to_string(field.get(problem));
}

std::optional<int64_t> value_of(const Field& field, const std::string& text) {
  for (const NamedValue& named : field.names) {
    if (named.name == text) return named.value;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // A field of 32 bits must not wrap around into another value.
  mlaforge_problem stored{};
  field.set(stored, value);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && field.get(stored) == value;
  return is_number && value >= 0 && field.names.empty() ? std::optional(value) : std::nullopt;
}

std::string allowed_values(const Field& field) {
  std::string text;
  for (const NamedValue& named : field.names) text += (text.empty() ? "" : ", ") + std::string(named.name);
  if (!text.empty()) return text;
  mlaforge_problem stored{};
  field.set(stored, INT64_MAX);
  const bool wide = field.get(stored) == INT64_MAX;
  return wide ? "a whole number" : fmt::format("a whole number of 0 .. {}", INT32_MAX);
}

}  // namespace

Expected<mlaforge_problem> parse_problem(const std::vector<std::string>& words, const mlaforge_problem& defaults) {
  std::vector<std::string> keys;
  for (const Field& field : kFields) keys.emplace_back(field.key);
  mlaforge_problem problem = defaults;
  bool has_pool = false;
  std::set<std::string> named;
  Diagnostics errors;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const auto field =
        std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return key == f.key; });
    if (equals == std::string::npos || field == std::end(kFields)) {
      errors.push_back({.where = "--problem",
                        .problem = equals == std::string::npos ? "is not KEY=VALUE" : "has no such key",
                        .value = word,
                        .allowed = fmt::format("{}", fmt::join(keys, ", ")),
                        .nearest = nearest_name(key, keys).value_or("")});
      continue;
    }
    if (!named.insert(key).second) {
      errors.push_back(
          {.where = "--problem " + key, .problem = "stands twice", .value = word, .allowed = "each key once"});
      continue;
    }
    const std::string text = word.substr(equals + 1);
    if (const std::optional<int64_t> value = value_of(*field, text)) {
      field->set(problem, *value);
      has_pool = has_pool || key == "pool_bytes";
    } else {
      errors.push_back({.where = "--problem " + key,
                        .problem = "not a value of this field",
                        .value = text,
                        .allowed = allowed_values(*field)});
    }
  }
  if (!errors.empty()) return errors;
  if (!has_pool) {
    const uint64_t tokens = static_cast<uint64_t>(std::max(problem.batch_capacity, 1)) *
                            static_cast<uint64_t>(std::max<int64_t>(problem.longest_context, 1));
    problem.pool_bytes = tokens * MLAFORGE_KEY_DIM;
  }
  return problem;
}

Expected<Answer> explain_problem(const std::vector<PlannedKernel>& kernels, const mlaforge_problem& problem,
                                 const std::vector<TuningFile>& tuning) {
  std::vector<mlaforge_kernel_row> rows;
  for (const PlannedKernel& kernel : kernels) rows.push_back(make_row(kernel));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return compare_keys(a, b) < 0; });
  DispatchTable table = make_table(std::move(rows), kComputeUnits);
  std::vector<mlaforge_tuning_text> texts;
  for (const TuningFile& file : tuning) texts.push_back({file.name.c_str(), file.text.data(), file.text.size()});
  TuningSummary summary;
  if (add_tuning(table, kTarget, texts, summary) != MLAFORGE_SUCCESS) {
    return Diagnostic{.where = "--tuning", .problem = mlaforge_last_error()};
  }
  Selection selection;
  const mlaforge_status status = select_row(table, problem, selection);
  if (status != MLAFORGE_SUCCESS && status != MLAFORGE_NO_KERNEL) {
    return Diagnostic{.where = "--problem", .problem = mlaforge_last_error()};
  }
  Answer answer{.problem = problem,
                .tuning_rows = summary.rows,
                .tuning_used = summary.used,
                .tuning_notes = summary.notes,
                .miss = {},
                .workspace_bytes = 0,
                .candidates = {}};
  if (status == MLAFORGE_SUCCESS) {
    WorkspaceLayout layout;
    workspace_layout(table.rows[selection.row], static_cast<uint64_t>(problem.batch_capacity), layout);
    answer.workspace_bytes = layout.bytes;
  } else {
    answer.miss = miss_text(table.rows, problem);
  }
  std::vector<Verdict> verdicts = judge_rows(table, problem);
  std::sort(verdicts.begin(), verdicts.end(), [](const Verdict& a, const Verdict& b) {
    return std::tuple(!a.chosen, !a.serves, a.predicted_clocks, a.row) <
           std::tuple(!b.chosen, !b.serves, b.predicted_clocks, b.row);
  });
  for (const Verdict& verdict : verdicts) {
    answer.candidates.push_back({.kernel = table.rows[verdict.row].name,
                                 .chosen = verdict.chosen,
                                 .serves = verdict.serves,
                                 .predicted_clocks = verdict.predicted_clocks,
                                 .reason = verdict.reason});
  }
  return answer;
}

std::string to_text(const Answer& answer) {
  std::string text = "problem   ";
  for (const Field& field : kFields) {
    text += fmt::format(" {} {}{}", field.key, value_text(field, answer.problem),
                        &field == std::end(kFields) - 1 ? "\n" : ",");
  }
  if (answer.tuning_rows != 0) {
    text += fmt::format("tuning     {} of {} used\n", answer.tuning_used, counted(answer.tuning_rows, "row"));
    text += answer.tuning_notes.empty() ? "" : answer.tuning_notes + "\n";
  }
  if (!answer.miss.empty()) text += answer.miss + "\n";
  for (const Candidate& candidate : answer.candidates) {
    text += fmt::format("{:<10} {}: {}",
                        candidate.chosen   ? "serves"
                        : candidate.serves ? "lost"
                                           : "rejected",
                        candidate.kernel, candidate.reason);
    if (candidate.serves) text += fmt::format("; predicted {} clocks by the cost model", candidate.predicted_clocks);
    if (candidate.chosen) text += fmt::format("; workspace {} bytes", answer.workspace_bytes);
    text += "\n";
  }
  return text;
}

Json to_json(const Answer& answer) {
  Json problem = Json::object();
  for (const Field& field : kFields) {
    problem[field.key] =
        field.names.empty() ? Json(field.get(answer.problem)) : Json(value_text(field, answer.problem));
  }
  Json candidates = Json::array();
  Json chosen;
  for (const Candidate& candidate : answer.candidates) {
    if (candidate.chosen) chosen = candidate.kernel;
    candidates.push_back({{"kernel", candidate.kernel},
                          {"chosen", candidate.chosen},
                          {"serves", candidate.serves},
                          {"predicted_clocks", candidate.serves ? Json(candidate.predicted_clocks) : Json()},
                          {"reason", candidate.reason}});
  }
  return {{"problem", problem},
          {"tuning", {{"rows", answer.tuning_rows}, {"used", answer.tuning_used}, {"notes", answer.tuning_notes}}},
          {"kernel", chosen},
          {"workspace_bytes", chosen.is_null() ? Json() : Json(answer.workspace_bytes)},
          {"miss", answer.miss.empty() ? Json() : Json(answer.miss)},
          {"candidates", candidates}};
}

}  // namespace mlaforge::explain
