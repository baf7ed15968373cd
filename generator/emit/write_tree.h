// Writes a kernel set into a folder: whole files only, nothing that is unchanged, nothing that is not the generator's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/emit/emit.h"
#include "generator/result.h"

namespace mlaforge {

struct WriteReport {
  std::vector<std::string> written;    ///< new or changed
  std::vector<std::string> unchanged;  ///< left as they are, times included
  std::vector<std::string> removed;    ///< listed by the old manifest and no longer asked for
};

/// Makes `folder` hold exactly `files` of ours. The last file is the manifest, whose "files" lists all files.
/// Each file is written beside and renamed; writers of one folder take turns; one that is killed leaves whole files and
/// a manifest that lists all it may have written. A file of the same name that the old manifest does not list is
/// foreign: it is an error unless its bytes are the same.
Expected<WriteReport> write_tree(const std::filesystem::path& folder, const std::vector<EmittedFile>& files);

/// What differs between `folder` and `files`: missing, different or orphaned files, one a diagnostic; empty if current.
Diagnostics compare_tree(const std::filesystem::path& folder, const std::vector<EmittedFile>& files);

}  // namespace mlaforge
