// JSON text to a document, stricter than the library: a key that stands twice in one object is an error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "generator/result.h"

namespace mlaforge {

/// Errors: syntax, with line and column; duplicate keys, with the object's JSON pointer.
Expected<nlohmann::json> parse_json(std::string_view text);

/// A key as a token of a JSON pointer: ~ and / escaped (RFC 6901).
std::string pointer_token(std::string_view key);

}  // namespace mlaforge
