#include "generator/emit/read_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "generator/config/schema.h"
#include "generator/emit/files.h"
#include "generator/emit/manifest.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;

constexpr size_t kShownBytes = 80;
constexpr size_t kSha256Digits = 64;

std::string at(const std::string& pointer) { return fmt::format("{}#{}", kManifestName, pointer); }

std::string shown(const Json& value) {
  const std::string text = value.dump();
  return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...";
}

/// Takes members out of objects; what is missing or of another type becomes an error and an empty value.
class Fields {
 public:
  const Json& object(const Json& parent, const std::string& pointer, const char* name) {
    return member(parent, pointer, name, "an object", [](const Json& value) { return value.is_object(); });
  }
  const Json& list(const Json& parent, const std::string& pointer, const char* name, bool may_be_empty) {
    return member(parent, pointer, name, may_be_empty ? "a list" : "a list of at least one",
                  [&](const Json& value) { return value.is_array() && (may_be_empty || !value.empty()); });
  }
  std::string text(const Json& parent, const std::string& pointer, const char* name) {
    return to_text(member(parent, pointer, name, "a string", [](const Json& value) { return value.is_string(); }));
  }
  std::string file_name(const Json& parent, const std::string& pointer, const char* name) {
    return to_text(member(parent, pointer, name, "a plain file name", [](const Json& value) {
      return value.is_string() && is_plain_file_name(value.get<std::string>());
    }));
  }
  std::string hash(const Json& parent, const std::string& pointer, const char* name) {
    return to_text(member(parent, pointer, name, "a SHA-256 of 64 hexadecimal digits", [](const Json& value) {
      if (!value.is_string()) return false;
      const auto& digits = value.get_ref<const std::string&>();
      return digits.size() == kSha256Digits && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    }));
  }
  void refuse(Diagnostic error) { errors_.push_back(std::move(error)); }
  const Diagnostics& errors() const { return errors_; }

 private:
  static std::string to_text(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

  template <typename IsAllowed>
  const Json& member(const Json& parent, const std::string& pointer, const char* name, const char* allowed,
                     IsAllowed&& is_allowed) {
    static const Json none;
    const std::string where = at(fmt::format("{}/{}", pointer, name));
    if (!parent.is_object()) return none;  // said already of the parent
    const auto found = parent.find(name);
    if (found == parent.end()) {
      refuse({.where = where, .problem = "missing field", .allowed = allowed});
      return none;
    }
    if (is_allowed(*found)) return *found;
    refuse({.where = where, .problem = "not allowed", .value = shown(*found), .allowed = allowed});
    return none;
  }

  Diagnostics errors_;
};

ManifestKernel read_kernel(const Json& entry, const std::string& pointer, Fields& fields) {
  if (!entry.is_object()) {
    fields.refuse({.where = at(pointer), .problem = "not allowed", .value = shown(entry), .allowed = "an object"});
  }
  ManifestKernel kernel{.place = pointer,
                        .name = fields.file_name(entry, pointer, "name"),
                        .file = fields.file_name(entry, pointer, "file"),
                        .source_sha256 = fields.hash(entry, pointer, "source_sha256")};
  if (entry.is_object() && entry.contains("code_object")) {
    const Json& code_object = fields.object(entry, pointer, "code_object");
    const std::string below = pointer + "/code_object";
    kernel.code_object = {.file = fields.file_name(code_object, below, "file"),
                          .sha256 = fields.hash(code_object, below, "sha256")};
  }
  return kernel;
}

/// Two entries of one name or one file are one kernel twice.
void refuse_twice(const std::vector<ManifestKernel>& kernels, std::map<std::string, std::string>& seen,
                  Fields& fields) {
  for (const ManifestKernel& kernel : kernels) {
    for (const auto& [field, value] : {std::pair("name", &kernel.name), std::pair("file", &kernel.file)}) {
      if (value->empty()) continue;
      const auto [earlier, inserted] = seen.emplace(fmt::format("{} {}", field, *value), kernel.place);
      if (inserted) continue;
      fields.refuse({.where = at(fmt::format("{}/{}", kernel.place, field)),
                     .problem = fmt::format("stands in {} already", earlier->second),
                     .value = *value,
                     .allowed = "each kernel once",
                     .nearest = "run mlaforge generate"});
      break;
    }
  }
}

bool has_code_object(const ManifestKernel& kernel) { return kernel.code_object.has_value(); }

}  // namespace

Expected<Manifest> read_manifest(const std::string& text) {
  Expected<Json> document = parse_manifest(text);
  if (!document) return document.errors();
  Manifest manifest{.document = std::move(*document), .config = {}, .target = {}, .kernels = {}, .combines = {}};
  Fields fields;
  manifest.config = fields.text(fields.object(manifest.document, "", "config"), "/config", "name");
  manifest.target = fields.text(manifest.document, "", "target");
  const Json& targets = config_schema().at("properties").at("target").at("enum");
  if (!manifest.target.empty() && std::find(targets.begin(), targets.end(), manifest.target) == targets.end()) {
    fields.refuse({.where = at("/target"),
                   .problem = "not allowed",
                   .value = manifest.target,
                   .allowed = targets.dump(),
                   .nearest = targets.front().get<std::string>()});
  }
  std::map<std::string, std::string> seen;
  for (const auto& [list, kernels] :
       {std::pair("kernels", &manifest.kernels), std::pair("combine_kernels", &manifest.combines)}) {
    const Json& entries = fields.list(manifest.document, "", list, kernels == &manifest.combines);
    for (size_t i = 0; i < entries.size(); ++i) {
      kernels->push_back(read_kernel(entries[i], fmt::format("/{}/{}", list, i), fields));
    }
    refuse_twice(*kernels, seen, fields);
  }
  if (!fields.errors().empty()) return fields.errors();
  return manifest;
}

bool holds_code_objects(const Manifest& manifest) {
  return std::any_of(manifest.kernels.begin(), manifest.kernels.end(), has_code_object) ||
         std::any_of(manifest.combines.begin(), manifest.combines.end(), has_code_object);
}

Expected<Manifest> read_manifest_in(const std::filesystem::path& folder) {
  const std::optional<std::string> text = read_file(folder / kManifestName);
  if (!text) {
    return Diagnostic{.where = (folder / kManifestName).string(),
                      .problem = "cannot be read",
                      .allowed = "a folder that `mlaforge generate` or `mlaforge compile` wrote"};
  }
  Expected<Manifest> manifest = read_manifest(*text);
  if (!manifest) return in_folder(folder, manifest.errors());
  return manifest;
}

}  // namespace mlaforge
