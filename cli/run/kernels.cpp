#include "cli/run/kernels.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>

#include "cli/explain/miss.h"
#include "generator/emit/files.h"
#include "runtime/src/library.h"
#include "runtime/src/tuning.h"

namespace mlaforge::run {
namespace {

Diagnostic error_of(std::string where, std::string problem) {
  return {.where = std::move(where), .problem = std::move(problem), .value = {}, .allowed = {}, .nearest = {}};
}

bool passes(const mlaforge_kernel_row& row, const KernelFilter& filter) {
  return (!filter.name || *filter.name == row.name) && (!filter.pipeline || *filter.pipeline == row.pipeline) &&
         (!filter.block_tokens || *filter.block_tokens == row.block_tokens);
}

/// Says which kernels a filter has left, before the runtime's message that speaks of these alone.
std::string among(const KernelFilter& filter) {
  std::string kept;
  if (filter.name) kept += " --kernel " + *filter.name;
  if (filter.pipeline)
    kept += *filter.pipeline == MLAFORGE_UNIFORM ? " --pipeline uniform" : " --pipeline warp_specialized";
  if (filter.block_tokens) kept += " --block-tokens " + std::to_string(*filter.block_tokens);
  return kept.empty() ? "" : "among the kernels of" + kept + ": ";
}

/// What a filter asks of a kernel, as members of a config's entry.
std::string config_fields(const KernelFilter& filter) {
  std::string fields;
  if (filter.pipeline) fields += ", \"pipeline\": \"" + std::string(pipeline_name(*filter.pipeline)) + "\"";
  if (filter.block_tokens) fields += ", \"block_tokens\": " + std::to_string(*filter.block_tokens);
  return fields;
}

}  // namespace

Kernels::Kernels(DeploymentPlan plan, CompileOptions compile_options, const HipApi& hip)
    : plan_(std::move(plan)), compile_options_(std::move(compile_options)), hip_(hip) {
  for (const PlannedKernel& kernel : plan_.kernels) {
    rows_.push_back(make_row(kernel));
  }
  std::sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return compare_keys(a, b) < 0; });
  table_ = make_table(rows_, mi355x_compute_units);
}

Expected<const PlannedKernel*> Kernels::select(const mlaforge_problem& problem, const KernelFilter& filter) const {
  std::vector<mlaforge_kernel_row> rows;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(rows),
               [&](const mlaforge_kernel_row& row) { return passes(row, filter); });
  if (rows.empty() && filter.name) {
    return error_of("kernel",
                    "no kernel of the config has this name, pipeline and block_tokens; `mlaforge list` names all");
  }
  const DispatchTable table = make_table(std::move(rows), mi355x_compute_units);
  Selection selection;
  const mlaforge_status status = select_row(table, problem, selection);
  if (status == MLAFORGE_NO_KERNEL) {
    return error_of("problem", among(filter) + explain::miss_text(table.rows, problem, config_fields(filter)));
  }
  if (status != MLAFORGE_SUCCESS) return error_of("problem", among(filter) + mlaforge_last_error());
  return find(table.rows[selection.row].name);
}

Status Kernels::use_tuning(const std::string& name, const std::string& text) {
  const mlaforge_tuning_text texts[] = {{.name = name.c_str(), .text = text.data(), .bytes = text.size()}};
  DispatchTable table = make_table(rows_, mi355x_compute_units);
  TuningSummary summary;
  if (add_tuning(table, plan_.config.target, texts, summary) != MLAFORGE_SUCCESS) {
    return error_of("tuning", mlaforge_last_error());
  }
  table_ = std::move(table);
  return std::monostate{};
}

Expected<ChosenKernel> Kernels::choose(const mlaforge_problem& problem) const {
  Selection selection;
  if (select_row(table_, problem, selection) != MLAFORGE_SUCCESS) {
    return error_of("problem", mlaforge_last_error());
  }
  return ChosenKernel{find(table_.rows[selection.row].name), selection.basis};
}

const PlannedKernel* Kernels::find(const std::string& name) const {
  const auto found = std::find_if(plan_.kernels.begin(), plan_.kernels.end(),
                                  [&](const PlannedKernel& kernel) { return kernel.plan.name == name; });
  return found == plan_.kernels.end() ? nullptr : &*found;
}

Expected<LoadedKernel*> Kernels::load(const PlannedKernel& kernel, const std::optional<std::string>& source) {
  const bool own = source.has_value() || patch_.has_value();
  const std::string key = own ? kernel.plan.name + " of its own" : kernel.plan.name;
  if (own) {
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

Expected<const std::vector<CodeImage>*> Kernels::images(const PlannedKernel& kernel) {
  const auto known = images_.find(kernel.plan.name);
  if (known != images_.end()) {
    return &known->second;
  }
  bool cached = false;
  Expected<std::vector<CodeImage>> compiled = compile(kernel, std::nullopt, cached);
  if (!compiled) {
    return compiled.errors();
  }
  return &images_.emplace(kernel.plan.name, std::move(*compiled)).first->second;
}

Expected<std::vector<CodeImage>> Kernels::compile(const PlannedKernel& kernel, const std::optional<std::string>& source,
                                                  bool& cached) const {
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
  std::vector<CodeImage> images;
  cached = true;
  for (const CompiledKernel& object : *compiled) {
    std::optional<std::string> file = read_file(object.code_object);
    if (!file.has_value()) {
      return error_of(object.name, "the compiled code object cannot be read back from the cache");
    }
    images.push_back({object.name, std::move(*file)});
    cached = cached && object.cached;
  }
  return images;
}

Expected<LoadedKernel> Kernels::build(const PlannedKernel& kernel, const std::optional<std::string>& source) {
  const auto start = std::chrono::steady_clock::now();
  LoadedKernel loaded;
  loaded.kernel = &kernel;
  std::vector<CodeImage> built;
  if (patch_.has_value()) {
    const Expected<const std::vector<CodeImage>*> kept = images(kernel);
    if (!kept) {
      return kept.errors();
    }
    built = **kept;
    for (CodeImage& image : built) {
      if (image.name == patch_->kernel) {
        std::memcpy(image.bytes.data() + patch_->file_offset, patch_->words.data(),
                    patch_->words.size() * sizeof(uint32_t));
      }
    }
  } else {
    Expected<std::vector<CodeImage>> compiled = compile(kernel, source, loaded.cached);
    if (!compiled) {
      return compiled.errors();
    }
    built = std::move(*compiled);
  }
  loaded.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Expected<Library> library = open(kernel, built);
  if (!library) {
    return library.errors();
  }
  loaded.library = std::move(*library);
  return loaded;
}

Expected<Library> Kernels::open(const PlannedKernel& kernel, const std::vector<CodeImage>& images) const {
  std::vector<mlaforge_code_object> objects;
  for (const CodeImage& image : images) {
    objects.push_back({image.name.c_str(), image.bytes.data(), image.bytes.size()});
  }
  const mlaforge_kernel_row row = make_row(kernel);
  mlaforge_kernel_set set = MLAFORGE_KERNEL_SET_INIT;
  set.name = plan_.config.name.c_str();
  set.rows = &row;
  set.row_count = 1;
  set.code_objects = objects.data();
  set.code_object_count = objects.size();
  const mlaforge_kernel_set* sets[] = {&set};
  mlaforge_library* handle = nullptr;
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.kernel_sets = sets;
  options.kernel_set_count = std::size(sets);
  if (open_device(hip_, options, &handle) != MLAFORGE_SUCCESS) {
    return error_of("device", mlaforge_last_error());
  }
  return Library(handle);
}

}  // namespace mlaforge::run
