// Whether a file that an option names can be written: asked before long work.
#pragma once

#include <string>

#include "generator/result.h"

namespace mlaforge::cli {

/// The path lies in a folder that exists and is no folder itself. The error names the option.
Status check_output(const char* option, const std::string& path);

}  // namespace mlaforge::cli
