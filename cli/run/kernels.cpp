#include "cli/run/kernels.h"

#include <algorithm>
#include <chrono>

#include "generator/emit/files.h"
#include "runtime/src/library.h"
#include "runtime/src/table.h"

namespace mlaforge::run {
namespace {

Diagnostic error_of(std::string where, std::string problem) {
  return {.where = std::move(where), .problem = std::move(problem), .value = {}, .allowed = {}, .nearest = {}};
}

}  // namespace

Kernels::Kernels(DeploymentPlan plan, CompileOptions compile_options, const HipApi& hip)
    : plan_(std::move(plan)), compile_options_(std::move(compile_options)), hip_(hip) {
  for (const PlannedKernel& kernel : plan_.kernels) {
    rows_.push_back(make_row(kernel));
  }
  std::sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return compare_keys(a, b) < 0; });
}

Expected<const PlannedKernel*> Kernels::select(const mlaforge_problem& problem) const {
  size_t index = 0;
  if (select_row(rows_, mi355x_compute_units, problem, index) != MLAFORGE_SUCCESS) {
    return error_of("problem", mlaforge_last_error());
  }
  const auto found = std::find_if(plan_.kernels.begin(), plan_.kernels.end(),
                                  [&](const PlannedKernel& kernel) { return kernel.plan.name == rows_[index].name; });
  return &*found;
}

Expected<LoadedKernel*> Kernels::load(const PlannedKernel& kernel, const std::optional<std::string>& source) {
  const std::string key = source.has_value() ? kernel.plan.name + " from a source of its own" : kernel.plan.name;
  if (source.has_value()) {
    loaded_.erase(key);
  }
  if (const auto known = loaded_.find(key); known != loaded_.end()) {
    return &known->second;
  }
  Expected<LoadedKernel> built = build(kernel, source);
  if (!built) {
    return built.errors();
  }
  return &loaded_.emplace(key, std::move(*built)).first->second;
}

Expected<LoadedKernel> Kernels::build(const PlannedKernel& kernel, const std::optional<std::string>& source) const {
  const auto start = std::chrono::steady_clock::now();
  const Expected<std::string> attention = source.has_value() ? Expected<std::string>(*source) : this->source(kernel);
  if (!attention) {
    return attention.errors();
  }
  std::vector<KernelSource> sources = {{kernel.plan.name, kernel.plan.target, *attention}};
  if (kernel.combine.has_value()) {
    const Expected<std::string> combine = emit_combine(*kernel.combine);
    if (!combine) {
      return combine.errors();
    }
    sources.push_back({kernel.combine->name, kernel.combine->target, *combine});
  }
  const Expected<std::vector<CompiledKernel>> compiled = compile_kernels(sources, compile_options_);
  if (!compiled) {
    return compiled.errors();
  }
  std::vector<std::string> bytes(compiled->size());
  std::vector<mlaforge_code_object> objects;
  LoadedKernel loaded;
  loaded.kernel = &kernel;
  loaded.cached = true;
  for (size_t i = 0; i < compiled->size(); ++i) {
    const CompiledKernel& object = (*compiled)[i];
    const std::optional<std::string> file = read_file(object.code_object);
    if (!file.has_value()) {
      return error_of(object.name, "the compiled code object cannot be read back from the cache");
    }
    bytes[i] = *file;
    objects.push_back({object.name.c_str(), bytes[i].data(), bytes[i].size()});
    loaded.cached = loaded.cached && object.cached;
  }
  loaded.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const mlaforge_kernel_row row = make_row(kernel);
  mlaforge_kernel_set set = MLAFORGE_KERNEL_SET_INIT;
  set.name = plan_.config.name.c_str();
  set.rows = &row;
  set.row_count = 1;
  set.code_objects = objects.data();
  set.code_object_count = objects.size();
  const mlaforge_kernel_set* sets[] = {&set};
  mlaforge_library* handle = nullptr;
  if (open_device(hip_, 0, sets, &handle) != MLAFORGE_SUCCESS) {
    return error_of("device", mlaforge_last_error());
  }
  loaded.library = Library(handle);
  return loaded;
}

}  // namespace mlaforge::run
