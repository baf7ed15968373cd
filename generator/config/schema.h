// The config's JSON Schema (configs/schema.json): validation, defaults, and errors that say what is allowed.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "generator/result.h"

namespace mlaforge {

/// The schema's document.
const nlohmann::json& config_schema();

/// All that the schema refuses, each with a JSON pointer, the value, what is allowed and what is nearest.
Diagnostics validate(const nlohmann::json& config);

/// The default of a field, by the path of property names in the schema, e.g. {"model", "rope_dim"}; a list's elements
/// stand for the list, as in {"kernels", "head_groups"}.
nlohmann::json schema_default(std::initializer_list<std::string_view> path);

}  // namespace mlaforge
