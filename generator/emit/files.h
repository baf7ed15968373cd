// Whole files: read at once, written beside and renamed, so that nobody ever sees half of one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "generator/result.h"

namespace mlaforge {

/// A file's bytes; nothing where it does not exist or cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// Starts the names of files that are being written; one that is left over belonged to a writer that was killed.
inline constexpr std::string_view kTemporaryPrefix = ".mlaforge-tmp-";

/// Writes to a temporary name in the same folder and renames it to `path`. The temporary's name is unique among
/// processes and threads. Error: what the system says.
Status write_file(const std::filesystem::path& path, std::string_view text);

/// Holds a folder's lock while it lives; others wait. It ends with the process, however that ends.
class FolderLock {
 public:
  /// Takes the lock of an existing folder.
  static Expected<FolderLock> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace mlaforge
