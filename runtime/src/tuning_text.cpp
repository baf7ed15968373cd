// Tuning JSON to rows: every field is there, of its type and in its range, and there are no others.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "tuning.h"

namespace mlaforge {
namespace {

using nlohmann::json;

constexpr size_t shown_bytes = 60;
constexpr double longest_time_us = 1e9;

/// Reads the fields of one object. The first thing that is wrong stays in `problem`; what is read after it is
/// worthless.
class Fields {
 public:
  Fields(const json& object, std::string where, std::initializer_list<const char*> names, std::string& problem)
      : object_(object), where_(std::move(where)), problem_(problem) {
    if (!object.is_object()) {
      refuse(where_.empty() ? "the text" : where_, object, "an object");
      return;
    }
    std::string list;
    for (const char* name : names) {
      list += (list.empty() ? "" : ", ") + std::string(name);
      if (!object.contains(name)) {
        say(path(name) + " is missing");
      }
    }
    for (const auto& item : object.items()) {
      if (std::find(names.begin(), names.end(), item.key()) == names.end()) {
        say(path(item.key().substr(0, shown_bytes)) + " is not a field; allowed: " + list);
      }
    }
  }

  bool good() const { return problem_.empty(); }
  std::string path(const std::string& name) const { return where_.empty() ? name : where_ + "." + name; }
  const json& at(const char* name) const { return object_.at(name); }

  int64_t integer(const char* name, int64_t least, int64_t most) {
    return take<int64_t>(name, std::to_string(least) + " .. " + std::to_string(most), [&](const json& value) {
      // An unsigned number beyond int64 would wrap: it is compared as unsigned.
      const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= static_cast<uint64_t>(most)
                                                   : value.is_number_integer() && value.get<int64_t>() <= most;
      return fits && value.get<int64_t>() >= least;
    });
  }

  double time(const char* name) {
    return take<double>(name, "a number above 0, at most 1e9", [](const json& value) {
      return value.is_number() && value.get<double>() > 0 && value.get<double>() <= longest_time_us;
    });
  }

  bool boolean(const char* name) {
    return take<bool>(name, "true or false", [](const json& value) { return value.is_boolean(); });
  }

  std::string text(const char* name) {
    return take<std::string>(name, "a text", [](const json& value) { return value.is_string(); });
  }

  /// The number that stands for one of the words.
  int32_t word(const char* name, std::initializer_list<std::pair<const char*, int32_t>> words) {
    std::string list;
    for (const auto& [text, value] : words) {
      list += (list.empty() ? "" : ", ") + std::string(text);
      if (good() && at(name) == text) {
        return value;
      }
    }
    if (good()) {
      refuse(path(name), at(name), list);
    }
    return 0;
  }

  void say(const std::string& problem) {
    if (good()) {
      problem_ = problem;
    }
  }

 private:
  template <typename Value, typename Allowed>
  Value take(const char* name, const std::string& allowed, const Allowed& is_allowed) {
    if (!good()) {
      return {};
    }
    const json& value = at(name);
    if (!is_allowed(value)) {
      refuse(path(name), value, allowed);
      return {};
    }
    return value.get<Value>();
  }

  void refuse(const std::string& what, const json& value, const std::string& allowed) {
    std::string shown = value.is_structured() ? (value.is_object() ? "an object" : "an array")
                                              : value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (shown.size() > shown_bytes) {
      shown = shown.substr(0, shown_bytes) + "...";
    }
    say(what + " is " + shown + "; allowed: " + allowed);
  }

  const json& object_;
  std::string where_;
  std::string& problem_;
};

TuningRow read_row(const json& object, const std::string& where, bool measured, std::string& problem) {
  TuningRow row;
  Fields fields(object, where, {"problem", "kernel", "time_us"}, problem);
  row.kernel = fields.text("kernel");
  if (!fields.good()) {
    return row;
  }
  Fields key(fields.at("problem"), where + ".problem",
             {"heads", "qlen", "page_size", "q_dtype", "kv_dtype", "context_parallel", "wide_kv", "batch", "context"},
             problem);
  const auto dtypes = {std::pair<const char*, int32_t>{"bf16", MLAFORGE_BF16}, {"fp8_e4m3", MLAFORGE_FP8_E4M3}};
  row.key.heads = static_cast<int32_t>(key.integer("heads", 1, 128));
  row.key.qlen = static_cast<int32_t>(key.integer("qlen", 1, 8));
  row.key.page_size = static_cast<int32_t>(key.integer("page_size", 1, 256));
  row.key.q_dtype = key.word("q_dtype", dtypes);
  row.key.kv_dtype = key.word("kv_dtype", dtypes);
  row.key.context_parallel = static_cast<int32_t>(key.integer("context_parallel", 1, 8));
  row.key.wide_kv = key.boolean("wide_kv") ? 1 : 0;
  row.batch = static_cast<int32_t>(key.integer("batch", 1, INT32_MAX));
  row.context = key.integer("context", 1, INT32_MAX);
  if (!fields.good()) {
    return row;
  }
  Fields time(fields.at("time_us"), where + ".time_us", {"low", "nominal", "high"}, problem);
  row.time_us = {time.time("low"), time.time("nominal"), time.time("high")};
  if (row.time_us.low > row.time_us.nominal || row.time_us.nominal > row.time_us.high) {
    time.say(where + ".time_us is not ordered; allowed: low <= nominal <= high");
  }
  if (measured && row.time_us.low != row.time_us.high) {
    time.say(where + ".time_us has low and high apart; allowed in measured data: the median in all three");
  }
  return row;
}

/// "line 3, column 7" of a byte.
std::string place(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const size_t line_start = before.rfind('\n');
  return "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ", column " +
         std::to_string(before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1);
}

/// JSON in which no object has a key twice.
json parse_strictly(std::string_view text, std::string& problem) {
  std::vector<std::set<std::string>> open;  // keys of the objects around the parser's place
  const auto check = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second &&
               problem.empty()) {
      problem = "the key " + value.get<std::string>().substr(0, shown_bytes) + " stands twice in an object";
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check);
  } catch (const json::parse_error& error) {
    problem = "not JSON: " + place(text, error.byte);
  } catch (const json::exception&) {
    problem = "not JSON: a number is out of range";
  }
  return {};
}

}  // namespace

std::string parse_tuning(std::string_view text, TuningData& data) {
  data = {};
  std::string problem;
  const json document = parse_strictly(text, problem);
  if (!problem.empty()) {
    return problem;
  }
  Fields fields(document, "", {"schema_version", "target", "compute_units", "device", "source", "toolchain", "rows"},
                problem);
  fields.integer("schema_version", 1, 1);
  data.target = fields.text("target");
  data.compute_units = static_cast<int32_t>(fields.integer("compute_units", 1, 65536));
  data.device = fields.text("device");
  data.measured = fields.word("source", {{"predicted", 0}, {"measured", 1}}) != 0;
  data.toolchain = fields.text("toolchain");
  if (fields.good() && !fields.at("rows").is_array()) {
    fields.say("rows is no array; allowed: an array of objects");
  }
  if (!fields.good()) {
    return problem;
  }
  const json& rows = fields.at("rows");
  for (size_t i = 0; i < rows.size() && problem.empty(); ++i) {
    data.rows.push_back(read_row(rows[i], "rows[" + std::to_string(i) + "]", data.measured, problem));
  }
  return problem;
}

}  // namespace mlaforge
