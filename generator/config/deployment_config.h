// The validated deployment config: what configs/schema.json describes, defaults filled in, every list spelled out.
#pragma once

#include <filesystem>
#include <optional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "generator/result.h"
#include "mlaforge/kernel_contract.h"

namespace mlaforge {

/// One entry of `kernels`: each combination of the lists' members is one kernel. No list is empty.
struct KernelRequest {
  std::vector<int> query_length;
  std::vector<int> splits;
  std::vector<int> head_groups;  ///< 0 stands for "auto"
  std::vector<int> context_parallel;
  std::vector<int> page_size;
  std::vector<mlaforge_dtype> kv_dtype;
  std::vector<mlaforge_dtype> query_dtype;
  std::vector<mlaforge_dtype> partial_dtype;
  std::vector<int> probability_parts;
  std::vector<int> wide_kv;  ///< 0 or 1
  std::vector<std::optional<mlaforge_pipeline>> pipeline;  ///< none stands for "auto"
  std::vector<int> block_tokens;
};

struct DeploymentConfig {
  std::string name;
  std::string target;
  int num_heads = 0;        ///< of the model
  int tensor_parallel = 1;  ///< divides num_heads
  int heads = 0;            ///< of one rank: num_heads / tensor_parallel, 1 .. 128
  double softmax_scale = 0;
  std::vector<KernelRequest> kernels;
};

/// Reads a config's text. Errors: JSON syntax (line and column), duplicate keys, whatever the schema refuses, heads
/// that do not divide, and two requests for one kernel; each with a JSON pointer.
Expected<DeploymentConfig> parse_config(std::string_view text);

/// Reads a config's file.
Expected<DeploymentConfig> load_config(const std::filesystem::path& path);

/// The text of the built-in config, configs/kimi_k3_tp8.json.
std::string_view default_config_text();

}  // namespace mlaforge
