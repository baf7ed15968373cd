#include "cli/run/named_case.h"

#include "runtime/src/key.h"

namespace mlaforge::run {

RunCase case_of(const PlannedKernel& kernel, const DeploymentConfig& config, std::vector<int> contexts) {
  const Variant& variant = kernel.variant;
  RunCase wanted;
  wanted.filter.name = kernel.plan.name;
  wanted.splits = variant.splits;
  wanted.inputs.requests = static_cast<int>(contexts.size());
  wanted.inputs.contexts = std::move(contexts);
  wanted.inputs.heads = variant.heads;
  wanted.inputs.qlen = variant.qlen;
  wanted.inputs.page_size = variant.page_size;
  wanted.inputs.query_dtype = variant.q_dtype;
  wanted.inputs.context_parallel = variant.context_parallel;
  wanted.inputs.pool_bytes = variant.wide_kv ? narrow_pool_limit_bytes + (uint64_t{1} << 20) : 0;
  wanted.inputs.softmax_scale = static_cast<float>(config.softmax_scale);
  return wanted;
}

}  // namespace mlaforge::run
