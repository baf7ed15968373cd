#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace mlaforge::cli {

void show_progress(size_t done, size_t all, const std::string& what) {
  if (all < 2 || isatty(STDERR_FILENO) == 0) return;
  constexpr size_t width = 40;
  const size_t filled = done * width / all;
  fmt::print(stderr, "\r\033[K[{}{}] {} of {} {}{}", std::string(filled, '#'), std::string(width - filled, '.'), done,
             all, what, done == all ? "\n" : "");
  std::fflush(stderr);
}

}  // namespace mlaforge::cli
