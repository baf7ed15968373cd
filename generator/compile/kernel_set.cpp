#include "generator/compile/kernel_set.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "generator/config/nearest.h"
#include "generator/emit/files.h"
#include "generator/emit/manifest.h"
#include "generator/emit/sha256.h"
#include "generator/emit/write_tree.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;
using ReadText = std::function<std::optional<std::string>(const std::string& name)>;

constexpr const char* kKernelLists[] = {"kernels", "combine_kernels"};

/// The set of a manifest, whose sources `read` gives by name; `where` says where that is.
Expected<KernelSet> load(const std::filesystem::path& where, Manifest manifest, const ReadText& read) {
  KernelSet set{.manifest = std::move(manifest.document), .sources = {}};
  Diagnostics errors;
  for (const auto* list : {&manifest.kernels, &manifest.combines}) {
    for (const ManifestKernel& kernel : *list) {
      std::optional<std::string> source = read(kernel.file);
      if (source && kernel.source_sha256 == sha256(*source)) {
        set.sources.push_back({.name = kernel.name, .target = manifest.target, .text = std::move(*source)});
      } else if (source || !kernel.code_object) {
        errors.push_back({.where = (where / kernel.file).string(),
                          .problem = source ? "is not the source that the manifest names" : "cannot be read",
                          .nearest = "run mlaforge generate"});
      } else {
        return Diagnostic{.where = where.string(),
                          .problem = "holds the code objects of `mlaforge compile`, not the sources",
                          .value = kernel.file,
                          .allowed = "a folder that `mlaforge generate` wrote"};
      }
    }
  }
  if (!errors.empty()) return errors;
  return set;
}

/// All files of a folder of code objects.
std::vector<std::string> code_object_files(const Json& manifest) {
  std::vector<std::string> files = {std::string(kManifestName)};
  for (const char* list : kKernelLists) {
    for (const Json& entry : manifest.at(list)) {
      if (entry.contains("code_object")) files.push_back(entry.at("code_object").at("file"));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The earlier manifest's code object of a kernel, if it was made from the same source and is whole.
std::optional<std::pair<Json, EmittedFile>> earlier_code_object(const std::filesystem::path& folder,
                                                                const Json& earlier, const char* list,
                                                                const Json& entry) {
  if (!earlier.contains(list) || !earlier.at(list).is_array()) return std::nullopt;
  const std::string file = entry.at("name").get<std::string>() + ".co";
  for (const Json& old : earlier.at(list)) {
    if (!old.is_object() || old.value("source_sha256", Json()) != entry.at("source_sha256") ||
        old.value("name", Json()) != entry.at("name")) {
      continue;
    }
    const Json code_object = old.value("code_object", Json());
    std::optional<std::string> bytes = read_file(folder / file);
    if (!bytes || !code_object.is_object() || code_object.value("file", Json()) != file ||
        code_object.value("sha256", Json()) != sha256(*bytes)) {
      return std::nullopt;
    }
    return std::pair{code_object, EmittedFile{.path = file, .text = std::move(*bytes)}};
  }
  return std::nullopt;
}

/// Takes over what an earlier run compiled and this one did not.
void keep_earlier(const std::filesystem::path& folder, Json& manifest, std::vector<EmittedFile>& files) {
  const Json earlier = Json::parse(read_file(folder / kManifestName).value_or(""), nullptr, false);
  if (!earlier.is_object()) return;
  for (const char* list : kKernelLists) {
    for (Json& entry : manifest.at(list)) {
      if (entry.contains("code_object")) continue;
      auto kept = earlier_code_object(folder, earlier, list, entry);
      if (!kept) continue;
      entry["code_object"] = std::move(kept->first);
      files.push_back(std::move(kept->second));
    }
  }
}

}  // namespace

Expected<KernelSet> make_kernel_set(const std::vector<EmittedFile>& files) {
  const auto read = [&files](const std::string& name) -> std::optional<std::string> {
    const auto file =
        std::find_if(files.begin(), files.end(), [&name](const EmittedFile& f) { return f.path == name; });
    return file == files.end() ? std::nullopt : std::optional(file->text);
  };
  Expected<Manifest> manifest = read_manifest(read(std::string(kManifestName)).value_or(""));
  if (!manifest) return manifest.errors();
  return load("", std::move(*manifest), read);
}

Expected<KernelSet> read_kernel_set(const std::filesystem::path& folder) {
  Expected<Manifest> manifest = read_manifest_in(folder);
  if (!manifest) return manifest.errors();
  return load(folder, std::move(*manifest), [&folder](const std::string& name) { return read_file(folder / name); });
}

Status keep_only(KernelSet& set, const std::vector<std::string>& names) {
  if (names.empty()) return std::monostate{};
  std::vector<std::string> known;
  for (const KernelSource& source : set.sources) known.push_back(source.name);
  Diagnostics errors;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    errors.push_back({.where = "--only",
                      .problem = "the kernel set has no kernel of that name",
                      .value = name,
                      .allowed = "a name that mlaforge list gives",
                      .nearest = nearest_name(name, known).value_or("")});
  }
  if (!errors.empty()) return errors;
  std::erase_if(set.sources, [&names](const KernelSource& source) {
    return std::find(names.begin(), names.end(), source.name) == names.end();
  });
  return std::monostate{};
}

Json compiled_manifest(const KernelSet& set, const std::vector<CompiledKernel>& compiled) {
  Json manifest = set.manifest;
  for (const char* list : kKernelLists) {
    for (Json& entry : manifest[list]) {
      const auto kernel = std::find_if(compiled.begin(), compiled.end(),
                                       [&entry](const CompiledKernel& k) { return entry["name"] == k.name; });
      if (kernel == compiled.end()) continue;
      Json code_object = to_json(kernel->resources);
      code_object["file"] = kernel->name + ".co";
      code_object["compiler"] = kernel->compiler;
      code_object["sha256"] = sha256(read_file(kernel->code_object).value_or(""));
      entry["code_object"] = std::move(code_object);
    }
  }
  manifest["files"] = code_object_files(manifest);
  return manifest;
}

Expected<Json> write_code_objects(const std::filesystem::path& folder, Json manifest,
                                  const std::vector<CompiledKernel>& compiled) {
  std::vector<EmittedFile> files;
  for (const CompiledKernel& kernel : compiled) {
    std::optional<std::string> bytes = read_file(kernel.code_object);
    if (!bytes) return Diagnostic{.where = kernel.code_object.string(), .problem = "cannot be read"};
    files.push_back({.path = kernel.name + ".co", .text = std::move(*bytes)});
  }
  keep_earlier(folder, manifest, files);
  manifest["files"] = code_object_files(manifest);
  files.push_back({.path = std::string(kManifestName), .text = manifest_text(manifest)});
  const Expected<WriteReport> written = write_tree(folder, files);
  if (!written) return written.errors();
  return manifest;
}

Diagnostics compare_code_objects(const std::filesystem::path& folder, const Manifest& manifest,
                                 const std::vector<EmittedFile>& files) {
  const Expected<Manifest> wanted = read_manifest(files.back().text);
  if (!wanted) return wanted.errors();
  Diagnostics differences;
  const auto differ = [&](const std::string& name, const char* problem) {
    differences.push_back({.where = (folder / name).string(), .problem = problem, .nearest = "run mlaforge compile"});
  };
  const auto find = [](const std::vector<ManifestKernel>& kernels, const std::string& name) {
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&name](const ManifestKernel& k) { return k.name == name; });
    return found == kernels.end() ? nullptr : &*found;
  };
  for (const auto& [asked, held] :
       {std::pair(&wanted->kernels, &manifest.kernels), std::pair(&wanted->combines, &manifest.combines)}) {
    for (const ManifestKernel& kernel : *asked) {
      const ManifestKernel* compiled = find(*held, kernel.name);
      if (compiled == nullptr || !compiled->code_object) {
        differ(kernel.name + ".co", "is not compiled");
      } else if (compiled->source_sha256 != kernel.source_sha256) {
        differ(compiled->code_object->file, "is of another source than the config and this generator give");
      } else if (const auto bytes = read_file(folder / compiled->code_object->file);
                 !bytes || sha256(*bytes) != compiled->code_object->sha256) {
        differ(compiled->code_object->file, bytes ? "is not what the manifest names" : "is missing");
      }
    }
    for (const ManifestKernel& kernel : *held) {
      if (kernel.code_object && find(*asked, kernel.name) == nullptr) {
        differ(kernel.code_object->file, "is listed by the manifest and no longer asked for");
      }
    }
  }
  return differences;
}

}  // namespace mlaforge
