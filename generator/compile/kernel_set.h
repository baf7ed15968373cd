// A generated kernel set as the compiler's input, and its code objects with a manifest that says what each uses.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/compile/compile.h"
#include "generator/emit/emit.h"
#include "generator/emit/read_manifest.h"
#include "generator/result.h"

namespace mlaforge {

struct KernelSet {
  nlohmann::json manifest;            ///< as generated
  std::vector<KernelSource> sources;  ///< attention kernels, then combine kernels, in the manifest's order
};

/// The set of freshly emitted files.
Expected<KernelSet> make_kernel_set(const std::vector<EmittedFile>& files);

/// The set in a folder. Errors: no manifest of ours, a source that is missing or is not the one that the manifest
/// names.
Expected<KernelSet> read_kernel_set(const std::filesystem::path& folder);

/// Leaves only the named kernels; no names leave all. Error: a name that the set does not have, with the nearest.
Status keep_only(KernelSet& set, const std::vector<std::string>& names);

/// The set's manifest, each compiled kernel with "code_object": compiler, registers, LDS, spills, code bytes, SHA-256.
nlohmann::json compiled_manifest(const KernelSet& set, const std::vector<CompiledKernel>& compiled);

/// Writes <name>.co of each kernel and the compiled manifest, as write_tree writes. Code objects of the set's other
/// kernels that stand there already, compiled from the same sources, are kept. Returns the manifest as written.
Expected<nlohmann::json> write_code_objects(const std::filesystem::path& folder, nlohmann::json manifest,
                                            const std::vector<CompiledKernel>& compiled);

/// What keeps the code objects in a folder from being those of freshly emitted files: kernels that are missing, not
/// compiled, from another source or not asked for, and files that are not what the manifest names.
Diagnostics compare_code_objects(const std::filesystem::path& folder, const Manifest& manifest,
                                 const std::vector<EmittedFile>& files);

}  // namespace mlaforge
