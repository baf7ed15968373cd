// Files that were built into the program: templates, configs, the kernel contract.
#pragma once

#include <span>
#include <string_view>

namespace mlaforge {

struct EmbeddedFile {
  std::string_view path;  ///< below the source tree, e.g. "configs/schema.json"
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

/// One of them; the path must be built in.
std::string_view embedded_text(std::string_view path);

}  // namespace mlaforge
