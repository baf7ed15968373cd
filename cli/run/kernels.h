// The kernels of a config, made when they are first asked for: selected by the runtime, emitted, compiled, loaded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/compile/compile.h"
#include "generator/emit/emit.h"
#include "generator/result.h"
#include "mlaforge/mlaforge.hpp"
#include "runtime/src/hip_api.h"
#include "runtime/src/table.h"

namespace mlaforge::run {

/// The MI355X's compute units, by which splits are chosen before a device is open.
inline constexpr int mi355x_compute_units = 256;

/// A kernel on the device: a library of one row.
struct LoadedKernel {
  const PlannedKernel* kernel = nullptr;
  Library library;
  double compile_seconds = 0;  ///< emission and compilers, caches included
  bool cached = false;         ///< no compiler ran
};

/// Which of a config's kernels may be selected; empty fields let all pass.
struct KernelFilter {
  std::optional<std::string> name = {};
  std::optional<mlaforge_pipeline> pipeline = {};
  std::optional<int> block_tokens = {};
};

/// Instruction words of a compiled kernel replaced by others.
struct CodePatch {
  std::string kernel;        ///< the attention or the combine kernel
  uint64_t file_offset = 0;  ///< of the first, in its code object
  std::vector<uint32_t> words;
};

/// A compiled code object.
struct CodeImage {
  std::string name;
  std::string bytes;
};

/// A kernel, and by what the runtime chose it.
struct ChosenKernel {
  const PlannedKernel* kernel = nullptr;
  mlaforge_basis basis = MLAFORGE_BY_COST_MODEL;
};

class Kernels {
 public:
  /// `hip` must outlive this object.
  Kernels(DeploymentPlan plan, CompileOptions compile_options, const HipApi& hip);

  const DeploymentConfig& config() const { return plan_.config; }

  /// Host only. Error: the runtime's explanation of why no kernel of the config serves.
  Expected<const PlannedKernel*> select(const mlaforge_problem& problem, const KernelFilter& filter = {}) const;

  /// Lets choose() go by tuning data; `name` is for messages. Error: data that the runtime refuses, or rows of kernels
  /// that the config does not have.
  Status use_tuning(const std::string& name, const std::string& text);

  /// As select(), by the tuning data where it has a point near.
  Expected<ChosenKernel> choose(const mlaforge_problem& problem) const;

  /// The kernel of a name, or null.
  const PlannedKernel* find(const std::string& name) const;

  /// HIP source of the attention kernel, as it is compiled.
  Expected<std::string> source(const PlannedKernel& kernel) const { return emit_attention(kernel.plan); }

  /// Emits, compiles and opens a kernel; once a name, unless `source` stands in for the emitted attention kernel.
  /// Errors: the compiler's and the runtime's.
  Expected<LoadedKernel*> load(const PlannedKernel& kernel, const std::optional<std::string>& source);

  /// The emitted attention kernel and its combine kernel, if any, compiled; once a name.
  Expected<const std::vector<CodeImage>*> images(const PlannedKernel& kernel);
  /// From now on every load() gives a kernel of its own, with these words replaced in its code object; nullopt ends it.
  void set_patch(std::optional<CodePatch> patch) { patch_ = std::move(patch); }

 private:
  Expected<std::vector<CodeImage>> compile(const PlannedKernel& kernel, const std::optional<std::string>& source,
                                           bool& cached) const;
  Expected<LoadedKernel> build(const PlannedKernel& kernel, const std::optional<std::string>& source);
  Expected<Library> open(const PlannedKernel& kernel, const std::vector<CodeImage>& images) const;

  DeploymentPlan plan_;
  CompileOptions compile_options_;
  const HipApi& hip_;
  std::vector<mlaforge_kernel_row> rows_;  ///< sorted by key
  DispatchTable table_;                    ///< of all rows, with the tuning data
  std::map<std::string, LoadedKernel> loaded_;
  std::map<std::string, std::vector<CodeImage>> images_;
  std::optional<CodePatch> patch_;
};

}  // namespace mlaforge::run
