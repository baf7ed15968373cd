#include "generator/config/deployment_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "generator/config/json_text.h"
#include "generator/config/nearest.h"
#include "generator/config/schema.h"
#include "generator/variants/enumerate.h"
#include "generator/variants/variant.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;

constexpr int kMaxHeads = 128;  // of one rank
// Far beyond any deployment; without a bound a few lists of a small file ask for more kernels than memory holds.
constexpr size_t kMaxKernels = 10'000;

/// A kernel's field: the entry's own, else the deployment's, else the schema's default; always as a list.
Json field_values(const Json& config, const Json& entry, const std::string& name) {
  Json value;
  if (entry.contains(name)) {
    value = entry.at(name);
  } else if (config.contains(name)) {
    value = config.at(name);
  } else {
    value = schema_default({"kernels", name});
  }
  return value.is_array() ? value : Json::array({value});
}

mlaforge_dtype to_dtype(const Json& value) {
  for (const mlaforge_dtype dtype : {MLAFORGE_BF16, MLAFORGE_F32, MLAFORGE_FP8_E4M3}) {
    if (value == dtype_name(dtype)) return dtype;
  }
  throw std::logic_error("a dtype that the schema takes and the contract does not name: " + value.dump());
}

std::optional<mlaforge_pipeline> to_pipeline(const Json& value) {
  if (value == "auto") return std::nullopt;
  return value == pipeline_name(MLAFORGE_WARP_SPECIALIZED) ? MLAFORGE_WARP_SPECIALIZED : MLAFORGE_UNIFORM;
}

int to_int(const Json& value) { return value.get<int>(); }
int to_flag(const Json& value) { return value.get<bool>() ? 1 : 0; }
int to_groups(const Json& value) { return value.is_string() ? 0 : value.get<int>(); }

KernelRequest read_request(const Json& config, const Json& entry) {
  const auto read = [&](const char* name, auto convert) {
    std::vector<decltype(convert(Json()))> values;
    for (const Json& value : field_values(config, entry, name)) values.push_back(convert(value));
    return values;
  };
  return {.query_length = read("query_length", to_int),
          .splits = read("splits", to_int),
          .head_groups = read("head_groups", to_groups),
          .context_parallel = read("context_parallel", to_int),
          .page_size = read("page_size", to_int),
          .kv_dtype = read("kv_dtype", to_dtype),
          .query_dtype = read("query_dtype", to_dtype),
          .partial_dtype = read("partial_dtype", to_dtype),
          .probability_parts = read("probability_parts", to_int),
          .wide_kv = read("wide_kv", to_flag),
          .pipeline = read("pipeline", to_pipeline),
          .block_tokens = read("block_tokens", to_int)};
}

/// The divisors of `number` next to `value`, in words: "6 or 8".
std::string nearest_divisors(int number, int value) {
  std::vector<std::string> near;
  const std::vector<int> all = divisors(number);
  const auto above = std::lower_bound(all.begin(), all.end(), value);
  if (above != all.begin()) near.push_back(std::to_string(*std::prev(above)));
  if (above != all.end()) near.push_back(std::to_string(*above));
  return join_or(near);
}

/// What the schema cannot say: heads divide over the ranks, and a rank has 1 .. 128.
void check_heads(const DeploymentConfig& config, Diagnostics& errors) {
  const int heads = config.num_heads;
  const int ranks = config.tensor_parallel;
  if (heads % ranks != 0) {
    errors.push_back({.where = "/tensor_parallel",
                      .problem = fmt::format("the model's {} heads do not divide by {}", heads, ranks),
                      .value = std::to_string(ranks),
                      .allowed = fmt::format("a divisor of {}: {}", heads, fmt::join(divisors(heads), ", ")),
                      .nearest = nearest_divisors(heads, ranks)});
  } else if (heads / ranks > kMaxHeads) {
    const std::vector<int> all = divisors(heads);
    const auto enough = std::find_if(all.begin(), all.end(), [heads](int d) { return heads / d <= kMaxHeads; });
    errors.push_back({.where = "/tensor_parallel",
                      .problem = fmt::format("{} heads over {} are {} heads a rank", heads,
                                             counted(static_cast<size_t>(ranks), "rank"), heads / ranks),
                      .value = std::to_string(ranks),
                      .allowed = fmt::format("1 .. {} heads a rank", kMaxHeads),
                      .nearest = std::to_string(*enough)});
  }
}

/// No entry asks for more head groups than a rank has heads.
void check_head_groups(const DeploymentConfig& config, const Json& document, Diagnostics& errors) {
  for (size_t i = 0; i < config.kernels.size(); ++i) {
    const std::vector<int>& groups = config.kernels[i].head_groups;
    for (size_t j = 0; j < groups.size(); ++j) {
      if (groups[j] <= config.heads) continue;
      const bool is_list = document.at("kernels").at(i).at("head_groups").is_array();
      errors.push_back({.where = fmt::format("/kernels/{}/head_groups", i) + (is_list ? fmt::format("/{}", j) : ""),
                        .problem = fmt::format("more head groups than the {} heads of a rank", config.heads),
                        .value = std::to_string(groups[j]),
                        .allowed = fmt::format("1 .. {} or \"auto\"", config.heads),
                        .nearest = std::to_string(config.heads)});
    }
  }
}

/// How many kernels an entry asks for, or just beyond the bound.
size_t kernel_count(const KernelRequest& request) {
  size_t count = 1;
  for (const size_t length :
       {request.query_length.size(), request.splits.size(), request.head_groups.size(), request.context_parallel.size(),
        request.page_size.size(), request.kv_dtype.size(), request.query_dtype.size(), request.partial_dtype.size(),
        request.probability_parts.size(), request.wide_kv.size(), request.pipeline.size(),
        request.block_tokens.size()}) {
    if (length > kMaxKernels || count * length > kMaxKernels) return kMaxKernels + 1;
    count *= length;
  }
  return count;
}

void check_kernel_count(const DeploymentConfig& config, Diagnostics& errors) {
  size_t count = 0;
  for (size_t i = 0; i < config.kernels.size() && count <= kMaxKernels; ++i) {
    count += kernel_count(config.kernels[i]);
    if (count <= kMaxKernels) continue;
    errors.push_back({.where = fmt::format("/kernels/{}", i),
                      .problem = "the lists' combinations are too many kernels",
                      .value = fmt::format("more than {}", kMaxKernels),
                      .allowed = fmt::format("at most {} kernels a config", kMaxKernels),
                      .nearest = "shorter lists"});
  }
}

/// Launches take the scale as a float.
void check_softmax_scale(const DeploymentConfig& config, Diagnostics& errors) {
  const auto scale = static_cast<float>(config.softmax_scale);
  if (scale > 0 && std::isfinite(scale)) return;
  errors.push_back({.where = "/model/softmax_scale",
                    .problem = "not a number that a float holds",
                    .value = fmt::format("{}", config.softmax_scale),
                    .allowed = "a number above 0 that a float holds"});
}

}  // namespace

Expected<DeploymentConfig> parse_config(std::string_view text) {
  Expected<Json> parsed = parse_json(text);
  if (!parsed) return parsed.errors();
  const Json& document = *parsed;
  if (Diagnostics errors = validate(document); !errors.empty()) return errors;

  const Json& model = document.at("model");
  DeploymentConfig config;
  config.name = document.at("name");
  config.target = document.value("target", schema_default({"target"}).get<std::string>());
  config.num_heads = model.at("num_heads");
  config.tensor_parallel = document.value("tensor_parallel", schema_default({"tensor_parallel"}).get<int>());
  config.softmax_scale = model.value("softmax_scale", schema_default({"model", "softmax_scale"}).get<double>());
  for (const Json& entry : document.at("kernels")) config.kernels.push_back(read_request(document, entry));

  Diagnostics errors;
  check_heads(config, errors);
  if (!errors.empty()) return errors;
  config.heads = config.num_heads / config.tensor_parallel;
  check_head_groups(config, document, errors);
  check_softmax_scale(config, errors);
  check_kernel_count(config, errors);
  if (errors.empty()) errors = find_duplicates(config);
  if (!errors.empty()) return errors;
  return config;
}

Expected<DeploymentConfig> load_config(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  std::error_code ignored;
  // An empty file is read, and is not JSON; a stream that takes nothing in says "failed" all the same.
  if (!file || std::filesystem::is_directory(path, ignored) || (text << file.rdbuf()).bad()) {
    return Diagnostic{
        .where = path.string(), .problem = "cannot be read", .allowed = "the path of a config's JSON file"};
  }
  return parse_config(text.str());
}

}  // namespace mlaforge
