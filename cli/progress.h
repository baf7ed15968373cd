// A progress bar on standard error, for work of many steps.
#pragma once

#include <cstddef>
#include <string>

namespace mlaforge::cli {

/// Draws `done` of `all`, and what is being done; ends the line at the last. On a terminal only: a pipe stays clean.
void show_progress(size_t done, size_t all, const std::string& what = {});

}  // namespace mlaforge::cli
