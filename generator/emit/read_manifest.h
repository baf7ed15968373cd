// A kernel set's manifest as data: every field that is read is there, of its type, and no kernel stands twice.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "generator/result.h"

namespace mlaforge {

struct ManifestCodeObject {
  std::string file;  ///< a plain name in the manifest's folder
  std::string sha256;
};

struct ManifestKernel {
  std::string place;  ///< the entry's JSON pointer: /kernels/3
  std::string name;   ///< a plain file name
  std::string file;   ///< the source's, a plain name in the manifest's folder
  std::string source_sha256;
  std::optional<ManifestCodeObject> code_object = {};  ///< where `mlaforge compile` wrote the folder
};

struct Manifest {
  nlohmann::json document;
  std::string config;  ///< the deployment's name
  std::string target;
  std::vector<ManifestKernel> kernels;   ///< attention kernels, at least one
  std::vector<ManifestKernel> combines;  ///< combine kernels
};

/// Errors: JSON syntax, and each field that is missing, of another type, or names a kernel or file again; `where` is
/// manifest.json with the field's JSON pointer.
Expected<Manifest> read_manifest(const std::string& text);

/// The manifest in a folder; `where` has the folder's name. An error, too, where there is none.
Expected<Manifest> read_manifest_in(const std::filesystem::path& folder);

/// Whether `mlaforge compile` wrote the folder: it has code objects, and not the sources.
bool holds_code_objects(const Manifest& manifest);

}  // namespace mlaforge
