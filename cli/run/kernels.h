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

class Kernels {
 public:
  /// `hip` must outlive this object.
  Kernels(DeploymentPlan plan, CompileOptions compile_options, const HipApi& hip);

  const DeploymentConfig& config() const { return plan_.config; }

  /// Host only. Error: the runtime's explanation of why no kernel of the config serves.
  Expected<const PlannedKernel*> select(const mlaforge_problem& problem) const;

  /// HIP source of the attention kernel, as it is compiled.
  Expected<std::string> source(const PlannedKernel& kernel) const { return emit_attention(kernel.plan); }

  /// Emits, compiles and opens a kernel; once a name, unless `source` stands in for the emitted attention kernel.
  /// Errors: the compiler's and the runtime's.
  Expected<LoadedKernel*> load(const PlannedKernel& kernel, const std::optional<std::string>& source);

 private:
  Expected<LoadedKernel> build(const PlannedKernel& kernel, const std::optional<std::string>& source) const;

  DeploymentPlan plan_;
  CompileOptions compile_options_;
  const HipApi& hip_;
  std::vector<mlaforge_kernel_row> rows_;  ///< sorted by key
  std::map<std::string, LoadedKernel> loaded_;
};

}  // namespace mlaforge::run
