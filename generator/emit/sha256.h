// SHA-256 (FIPS 180-4): names contents in manifests and in the compile cache.
#pragma once

#include <string>
#include <string_view>

namespace mlaforge {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace mlaforge
