#include "generator/emit/write_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/emit/files.h"
#include "generator/emit/manifest.h"

namespace mlaforge {
namespace {

namespace fs = std::filesystem;

/// The files that the folder's manifest lists; none where there is no manifest.
Expected<std::set<std::string>> listed_files(const fs::path& folder) {
  const std::optional<std::string> text = read_file(folder / kManifestName);
  if (!text) return std::set<std::string>{};
  Expected<std::vector<std::string>> names = manifest_files(*text);
  if (!names) return in_folder(folder, names.errors());
  return std::set<std::string>(names->begin(), names->end());
}

/// Files that are in our way and not ours.
Diagnostics find_foreign(const fs::path& folder, const std::vector<EmittedFile>& files,
                         const std::set<std::string>& ours) {
  Diagnostics errors;
  for (const EmittedFile& file : files) {
    const fs::path path = folder / file.path;
    std::error_code ignored;
    if (ours.contains(file.path) || !fs::exists(fs::symlink_status(path, ignored))) continue;
    if (read_file(path) == file.text) continue;
    errors.push_back({.where = path.string(),
                      .problem = "is in the way, and no manifest lists it as written by mlaforge",
                      .allowed = "a folder of its own for the kernel set"});
  }
  return errors;
}

/// Before any new file: a manifest that lists the old ones and the new ones, so that whatever a killed run leaves is
/// known to the next. Whether one was needed.
Expected<bool> announce(const fs::path& folder, const std::vector<EmittedFile>& files,
                        const std::set<std::string>& old_names) {
  std::set<std::string> names = old_names;
  for (const EmittedFile& file : files) names.insert(file.path);
  if (names == old_names) return false;
  nlohmann::json manifest = nlohmann::json::parse(files.back().text);
  manifest["files"] = names;
  const Status written = write_file(folder / kManifestName, manifest_text(manifest));
  if (!written) return written.errors();
  return true;
}

void remove_temporaries(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(kTemporaryPrefix)) leftovers.push_back(entry.path());
  }
  for (const fs::path& path : leftovers) fs::remove(path, ignored);
}

Status remove_orphans(const fs::path& folder, const std::vector<EmittedFile>& files,
                      const std::set<std::string>& old_names, WriteReport& report) {
  std::set<std::string> orphans = old_names;
  for (const EmittedFile& file : files) orphans.erase(file.path);
  for (const std::string& name : orphans) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(folder / name, error))) continue;
    if (fs::remove(folder / name, error)) report.removed.push_back(name);
    if (error) return Diagnostic{.where = (folder / name).string(), .problem = "cannot be removed: " + error.message()};
  }
  return std::monostate{};
}

}  // namespace

Expected<WriteReport> write_tree(const fs::path& folder, const std::vector<EmittedFile>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Diagnostic{.where = folder.string(), .problem = "cannot be made: " + error.message()};
  const Expected<FolderLock> lock = FolderLock::take(folder);
  if (!lock) return lock.errors();
  remove_temporaries(folder);

  const Expected<std::set<std::string>> old_names = listed_files(folder);
  if (!old_names) return old_names.errors();
  if (Diagnostics foreign = find_foreign(folder, files, *old_names); !foreign.empty()) return foreign;
  const Expected<bool> announced = announce(folder, files, *old_names);
  if (!announced) return announced.errors();

  WriteReport report;
  const auto put = [&](const EmittedFile& file, bool is_touched) -> Status {
    const bool is_same = read_file(folder / file.path) == file.text;
    (is_same && !is_touched ? report.unchanged : report.written).push_back(file.path);
    return is_same ? Status(std::monostate{}) : write_file(folder / file.path, file.text);
  };
  // The final manifest comes last: only when all it lists is there, and nothing else of ours.
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    if (const Status status = put(files[i], false); !status) return status.errors();
  }
  if (const Status status = remove_orphans(folder, files, *old_names, report); !status) return status.errors();
  if (const Status status = put(files.back(), *announced); !status) return status.errors();
  return report;
}

Diagnostics compare_tree(const fs::path& folder, const std::vector<EmittedFile>& files) {
  Diagnostics differences;
  const auto differ = [&](const std::string& name, const char* problem) {
    differences.push_back({.where = (folder / name).string(), .problem = problem, .nearest = "run mlaforge generate"});
  };
  for (const EmittedFile& file : files) {
    const std::optional<std::string> text = read_file(folder / file.path);
    if (!text) {
      differ(file.path, "is missing");
    } else if (*text != file.text) {
      differ(file.path, "is not what the config and this generator give");
    }
  }
  const Expected<std::set<std::string>> listed = listed_files(folder);
  if (!listed) {
    differences.insert(differences.end(), listed.errors().begin(), listed.errors().end());
    return differences;
  }
  std::set<std::string> orphans = *listed;
  for (const EmittedFile& file : files) orphans.erase(file.path);
  for (const std::string& name : orphans) differ(name, "is listed by the manifest and no longer asked for");
  return differences;
}

}  // namespace mlaforge
