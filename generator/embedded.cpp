#include "generator/embedded.h"

#include <algorithm>
#include <cassert>

#include "generator/config/deployment_config.h"

namespace mlaforge {

std::string_view embedded_text(std::string_view path) {
  const auto files = embedded_files();
  const auto file = std::find_if(files.begin(), files.end(), [path](const EmbeddedFile& f) { return f.path == path; });
  assert(file != files.end());
  return file->text;
}

std::string_view default_config_text() { return embedded_text("configs/kimi_k3_tp8.json"); }

}  // namespace mlaforge
