#include "cli/tune/tuning_file.h"

#include <cmath>
#include <regex>

namespace mlaforge::tune {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double us) { return std::round(us * 100) / 100; }

Json row_of(const TunedPoint& tuned) {
  const Key& key = tuned.point.key;
  Json row;
  row["problem"] = {{"heads", key.heads},
                    {"qlen", key.qlen},
                    {"page_size", key.page_size},
                    {"q_dtype", dtype_name(key.q_dtype)},
                    {"kv_dtype", dtype_name(key.kv_dtype)},
                    {"context_parallel", key.context_parallel},
                    {"wide_kv", key.wide_kv},
                    {"batch", tuned.point.batch},
                    {"context", tuned.point.context}};
  row["kernel"] = tuned.kernel->plan.name;
  row["time_us"] = {
      {"low", rounded(tuned.us.low)}, {"nominal", rounded(tuned.us.nominal)}, {"high", rounded(tuned.us.high)}};
  return row;
}

}  // namespace

std::string toolchain_of(const std::string& version_line) {
  static const std::regex pattern("clang version ([0-9]+(\\.[0-9]+)*)");
  std::smatch match;
  return std::regex_search(version_line, match, pattern) ? "clang " + match[1].str() : version_line;
}

std::string tuning_text(const Origin& origin, std::span<const TunedPoint> points) {
  const Json head = {{"schema_version", 1},
                     {"target", origin.target},
                     {"compute_units", origin.compute_units},
                     {"device", origin.device},
                     {"source", origin.predicted ? "predicted" : "measured"},
                     {"toolchain", origin.toolchain}};
  std::string text = "{\n";
  for (const auto& [name, value] : head.items()) text += "  \"" + name + "\": " + value.dump() + ",\n";
  text += "  \"rows\": [";
  const char* separator = "\n";
  for (const TunedPoint& tuned : points) {
    text += separator + ("    " + row_of(tuned).dump());
    separator = ",\n";
  }
  return text + (points.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace mlaforge::tune
