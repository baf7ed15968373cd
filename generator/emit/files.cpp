#include "generator/emit/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace mlaforge {
namespace {

Diagnostic system_error(const std::filesystem::path& path, const char* what) {
  return {.where = path.string(), .problem = fmt::format("{}: {}", what, std::strerror(errno))};
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return std::nullopt;
  return std::move(text).str();
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path temporary =
      path.parent_path() / fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter++);
  // O_EXCL: a name that stands already, be it a link, is not written through.
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error(path, "cannot be written");
  const bool written = write_all(descriptor, text);
  const bool closed = ::close(descriptor) == 0;
  if (written && closed && ::rename(temporary.c_str(), path.c_str()) == 0) return std::monostate{};
  const Diagnostic error = system_error(path, "cannot be written");
  ::unlink(temporary.c_str());
  return error;
}

Expected<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return system_error(folder, "cannot be opened as a folder");
  while (::flock(descriptor, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const Diagnostic error = system_error(folder, "cannot be locked");
    ::close(descriptor);
    return error;
  }
  return FolderLock(descriptor);
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace mlaforge
