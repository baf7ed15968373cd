#include "generator/emit/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/config/json_text.h"
#include "generator/emit/sha256.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kGenerator = "mlaforge";

std::string source_hash(const std::vector<EmittedFile>& files, const std::string& path) {
  const auto file = std::find_if(files.begin(), files.end(), [&path](const EmittedFile& f) { return f.path == path; });
  return file == files.end() ? "" : sha256(file->text);
}

Json plan_summary(const KernelPlan& plan) {
  return {{"heads_per_group", plan.heads_per_group},
          {"rows", plan.rows},
          {"row_tiles", plan.row_tiles},
          {"threads", plan.threads},
          {"lds_bytes", plan.lds_bytes},
          {"vgpr_estimate", plan.vgpr_estimate},
          {"mfma_clocks", plan.mfma_clocks},
          {"hbm_clocks", plan.hbm_clocks}};
}

}  // namespace

std::string config_hash(const DeploymentPlan& plan) {
  const DeploymentConfig& config = plan.config;
  Json kernels = Json::array();
  for (const PlannedKernel& kernel : plan.kernels) kernels.push_back(kernel.plan.name);
  const Json canonical = {{"name", config.name},
                          {"target", config.target},
                          {"num_heads", config.num_heads},
                          {"tensor_parallel", config.tensor_parallel},
                          {"softmax_scale", config.softmax_scale},
                          {"kernels", kernels}};
  return sha256(canonical.dump());
}

Json make_manifest(const DeploymentPlan& plan, const std::vector<EmittedFile>& files) {
  Json kernels = Json::array();
  for (const PlannedKernel& kernel : plan.kernels) {
    const std::string file = kernel.plan.name + ".hip";
    kernels.push_back({{"name", kernel.plan.name},
                       {"file", file},
                       {"source_sha256", source_hash(files, file)},
                       {"key", to_json(kernel.variant)},
                       {"plan", plan_summary(kernel.plan)},
                       {"combine", kernel.combine ? Json(kernel.combine->name) : Json()}});
  }
  Json combines = Json::array();
  for (const CombinePlan& combine : plan.combines) {
    const std::string file = combine.name + ".hip";
    combines.push_back(
        {{"name", combine.name},
         {"file", file},
         {"source_sha256", source_hash(files, file)},
         {"key", {{"splits", combine.splits}, {"partial_dtype", combine.partial_dtype}, {"target", combine.target}}},
         {"plan", {{"threads", combine.threads}, {"lds_bytes", combine.lds_bytes}}}});
  }
  std::vector<std::string> names;
  for (const EmittedFile& file : files) names.push_back(file.path);
  names.emplace_back(kManifestName);
  std::sort(names.begin(), names.end());
  return {{"generator", {{"name", kGenerator}, {"version", MLAFORGE_VERSION}}},
          {"config", {{"name", plan.config.name}, {"sha256", config_hash(plan)}}},
          {"target", plan.config.target},
          {"kernels", kernels},
          {"combine_kernels", combines},
          {"files", names}};
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Expected<Json> parse_manifest(const std::string& text) {
  Expected<Json> manifest = parse_json(text);
  if (!manifest) {
    Diagnostics errors = manifest.errors();
    for (Diagnostic& error : errors) {
      error.where = fmt::format("{}{}{}", kManifestName, error.where.starts_with("/") ? "#" : ": ", error.where);
    }
    return errors;
  }
  const Diagnostic foreign{.where = std::string(kManifestName),
                           .problem = "not a manifest that mlaforge wrote",
                           .allowed = "a folder that is empty or holds a kernel set"};
  if (!manifest->is_object() || !manifest->contains("generator") || !manifest->contains("files")) return foreign;
  const Json& generator = manifest->at("generator");
  if (!generator.is_object() || generator.value("name", Json()) != kGenerator) return foreign;
  const Json& files = manifest->at("files");
  if (!files.is_array()) return foreign;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].is_string() && is_plain_file_name(files[i].get<std::string>())) continue;
    return Diagnostic{.where = fmt::format("{}#/files/{}", kManifestName, i),
                      .problem = "is no file of its folder",
                      .value = files[i].dump(),
                      .allowed = "plain file names"};
  }
  return manifest;
}

Expected<std::vector<std::string>> manifest_files(const std::string& text) {
  const Expected<Json> manifest = parse_manifest(text);
  if (!manifest) return manifest.errors();
  return manifest->at("files").get<std::vector<std::string>>();
}

Diagnostics in_folder(const std::filesystem::path& folder, Diagnostics errors) {
  for (Diagnostic& error : errors) error.where = (folder / error.where).string();
  return errors;
}

std::string manifest_text(const Json& manifest) { return manifest.dump(2) + "\n"; }

}  // namespace mlaforge
