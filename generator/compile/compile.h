// Compiles emitted kernels to code objects: in parallel, cached by content, and checked against the GPU's limits.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/compile/code_object.h"
#include "generator/compile/compiler.h"
#include "generator/result.h"

namespace mlaforge {

/// One translation unit with one kernel.
struct KernelSource {
  std::string name;    ///< the kernel's symbol
  std::string target;  ///< e.g. "gfx950"
  std::string text;    ///< HIP source; it may include mlaforge/kernel_contract.h
};

/// Where errors about the cache point, whoever chose it.
inline constexpr std::string_view kCacheOption = "--cache";

struct CompileOptions {
  std::string compiler = {};         ///< a name or path; empty: MLAFORGE_COMPILER, else hipcc or clang++-22
  std::filesystem::path cache = {};  ///< empty: default_cache()
  unsigned jobs = 0;                 ///< compilers at once; 0: one a core
  /// Called after each kernel, from any thread but never two at once: done so far, of how many.
  std::function<void(size_t done, size_t total, const std::string& name)> progress = {};
};

struct CompiledKernel {
  std::string name;
  std::filesystem::path code_object;  ///< in the cache
  KernelResources resources = {};
  std::string compiler = {};  ///< first line of its version
  bool cached = false;        ///< no compiler was run
};

/// $XDG_CACHE_HOME/mlaforge or ~/.cache/mlaforge.
std::filesystem::path default_cache();

/// Compiles all sources; results in the order of the sources. Errors, of all kernels that failed: the compiler's own
/// words, or the limit that a kernel exceeds with its number (spills, private memory, VGPRs, LDS).
Expected<std::vector<CompiledKernel>> compile_kernels(const std::vector<KernelSource>& sources,
                                                      const CompileOptions& options = {});

}  // namespace mlaforge
