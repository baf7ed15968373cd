// manifest.json: what a kernel set consists of, and whether a manifest on disk is one of ours.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "generator/emit/emit.h"

namespace mlaforge {

inline constexpr std::string_view kManifestName = "manifest.json";

/// SHA-256 of what a config means: name, model, cut and the kernels' names, so that the order of entries, the spelling
/// of defaults and white space change nothing.
std::string config_hash(const DeploymentPlan& plan);

/// The manifest of a kernel set whose other files are `files`.
nlohmann::json make_manifest(const DeploymentPlan& plan, const std::vector<EmittedFile>& files);

/// Whether a name is of a file in a folder itself: no separators, not "." or "..".
bool is_plain_file_name(const std::string& name);

/// A manifest's text as JSON; an error where it is none, no manifest of ours, or lists what is no plain file name.
Expected<nlohmann::json> parse_manifest(const std::string& text);

/// The list of files of what parse_manifest takes.
Expected<std::vector<std::string>> manifest_files(const std::string& text);

/// Puts the folder's name before each place.
Diagnostics in_folder(const std::filesystem::path& folder, Diagnostics errors);

/// The manifest's text: two spaces of indentation, a final newline.
std::string manifest_text(const nlohmann::json& manifest);

}  // namespace mlaforge
