#include "generator/config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "generator/config/json_text.h"
#include "generator/config/nearest.h"
#include "generator/embedded.h"

namespace mlaforge {
namespace {

using Json = nlohmann::json;
using Path = std::vector<std::string>;  ///< property names and array indices from the root

/// The validator's context is <root>, [kernels], [0], ...
Path to_path(const std::vector<std::string>& context) {
  Path path;
  for (const std::string& part : context) {
    if (part.starts_with("[")) path.push_back(part.substr(1, part.size() - 2));
  }
  return path;
}

bool is_prefix(const Path& shorter, const Path& longer) {
  return shorter.size() < longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

std::string to_pointer(const Path& path) {
  std::string text;
  for (const std::string& part : path) text += "/" + pointer_token(part);
  return text;
}

const Json& resolve(Json&&) = delete;  // it would not outlive the call
const Json& resolve(const Json& node) {
  if (!node.contains("$ref")) return node;
  return config_schema().at(Json::json_pointer(node.at("$ref").get<std::string>().substr(1)));
}

/// The schema of the value at `path`: through properties, and through the array form of a value-or-list field.
const Json& schema_at(const Path& path) {
  const Json* node = &config_schema();
  for (const std::string& part : path) {
    node = &resolve(*node);
    if (node->contains("anyOf")) {
      for (const Json& form : node->at("anyOf")) {
        if (form.contains("items")) node = &form;
      }
    }
    node = node->contains("items") ? &node->at("items") : &node->at("properties").at(part);
  }
  return resolve(*node);
}

const Json& value_at(const Json& config, const Path& path) {
  const Json* value = &config;
  for (const std::string& part : path) {
    value = value->is_array() ? &value->at(std::stoul(part)) : &value->at(part);
  }
  return *value;
}

std::vector<std::string> property_names(const Json& node) {
  std::vector<std::string> names;
  for (const auto& [name, schema] : node.at("properties").items()) {
    if (!name.starts_with("$")) names.push_back(name);
  }
  return names;
}

std::vector<std::string> texts(const Json& values) {
  std::vector<std::string> result;
  for (const Json& value : values) result.push_back(value.dump());
  return result;
}

/// What a schema allows, in words.
std::string allowed(const Json& schema) {
  const Json& node = resolve(schema);
  if (node.contains("anyOf")) {
    std::vector<std::string> forms;
    for (const Json& form : node.at("anyOf")) {
      forms.push_back(form.contains("items") ? std::string("a list of such") : allowed(form));
    }
    return join_or(forms);
  }
  if (node.contains("enum")) return join_or(texts(node.at("enum")));
  const std::string type = node.at("type");
  if (type == "integer")
    return fmt::format("a whole number {} .. {}", node.at("minimum").dump(), node.at("maximum").dump());
  if (type == "number") return fmt::format("a number above {}", node.at("exclusiveMinimum").dump());
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list of at least one";
  if (type == "object") return fmt::format("an object with the fields {}", fmt::join(property_names(node), ", "));
  return node.contains("pattern") ? fmt::format("a string that matches {}", node.at("pattern").get<std::string>())
                                  : std::string("a string");
}

/// A number that the value was meant to be: the value itself, or the one that its text spells.
std::optional<double> meant_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  try {
    return std::stod(value.get<std::string>());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Words that people take from the command line, the kernels' names or other tools.
std::optional<std::string> meant_word(std::string_view word) {
  constexpr std::pair<std::string_view, const char*> meanings[] = {
      {"qlen", "query_length"},   {"q_dtype", "query_dtype"}, {"tp", "tensor_parallel"},
      {"cp", "context_parallel"}, {"variants", "kernels"},    {"ws", "warp_specialized"}};
  for (const auto& [said, meant] : meanings) {
    if (said == word) return meant;
  }
  return std::nullopt;
}

std::optional<std::string> nearest_word(const std::string& word, const std::vector<std::string>& words) {
  auto meant = meant_word(word);
  if (meant && std::find(words.begin(), words.end(), *meant) != words.end()) return meant;
  return nearest_name(word, words);
}

std::optional<std::string> nearest_of(const Json& choices, const Json& value) {
  if (choices.size() == 1) return choices[0].dump();
  if (const auto meant = meant_number(value); meant && !std::isnan(*meant)) {
    const double number = std::clamp(*meant, -1e9, 1e9);  // so that the choices differ in their distances
    std::optional<Json> best;
    for (const Json& choice : choices) {
      if (!choice.is_number()) continue;
      const auto distance = [number](const Json& to) { return std::abs(to.get<double>() - number); };
      if (!best || distance(choice) < distance(*best)) best = choice;
    }
    if (best) return best->dump();
  }
  if (!value.is_string()) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& choice : choices) {
    if (choice.is_string()) names.push_back(choice);
  }
  const auto name = nearest_word(value.get<std::string>(), names);
  return name ? std::optional(Json(*name).dump()) : std::nullopt;
}

/// Whether a schema takes any value of this JSON type.
bool takes_type(const Json& schema, const Json& value);

/// A name in the form that the schema's pattern asks for: lower case, digits and underscores, a letter first.
std::string as_name(const std::string& text) {
  std::string name = text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0 ? "config_" : "";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name;
}

/// What works where nothing is near: the default, else the least.
std::optional<std::string> fallback(const Json& schema) {
  const Json& node = resolve(schema);
  if (node.contains("default")) return node.at("default").dump();
  if (node.contains("anyOf")) return fallback(node.at("anyOf").front());
  if (node.contains("enum")) return node.at("enum").front().dump();
  return node.contains("minimum") ? std::optional(node.at("minimum").dump()) : std::nullopt;
}

/// The nearest value that a schema takes, where one is near.
std::optional<std::string> nearest(const Json& schema, const Json& value) {
  const Json& node = resolve(schema);
  if (node.contains("anyOf")) {
    for (const Json& form : node.at("anyOf")) {
      if (const auto found = nearest(form, value)) return found;
    }
    return std::nullopt;
  }
  if (node.contains("enum")) return nearest_of(node.at("enum"), value);
  const std::string type = node.value("type", "");
  if (type == "boolean" && value.is_number_integer()) return value == 0 ? "false" : "true";
  if (type == "boolean" && (value == "true" || value == "false")) return value.get<std::string>();
  if (type == "array" && value.is_object() && takes_type(node.at("items"), value)) return "[" + value.dump() + "]";
  if (node.contains("pattern") && value.is_string()) return Json(as_name(value.get<std::string>())).dump();
  if (type == "number") {
    const auto meant = meant_number(value);
    return meant && *meant > 0 && std::isfinite(*meant) ? std::optional(Json(*meant).dump()) : std::nullopt;
  }
  const auto number = type == "integer" ? meant_number(value) : std::nullopt;
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return fmt::format(
      "{}", std::clamp<int64_t>(std::llround(std::clamp(*number, -1e9, 1e9)), node.at("minimum"), node.at("maximum")));
}

bool takes_type(const Json& schema, const Json& value) {
  const Json& node = resolve(schema);
  const auto any = [&value](const Json& forms, auto&& takes) {
    return std::any_of(forms.begin(), forms.end(), [&](const Json& form) { return takes(form, value); });
  };
  if (node.contains("anyOf")) return any(node.at("anyOf"), takes_type);
  if (node.contains("enum")) {
    return any(node.at("enum"), [](const Json& choice, const Json& v) {
      return choice.is_number() ? v.is_number_integer() : choice.type() == v.type();
    });
  }
  const std::string type = node.at("type");
  return (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "array" && value.is_array()) || (type == "object" && value.is_object());
}

/// Reasons that a schema cannot give.
std::string reason_for(const Path& path, const Json& value) {
  if (!value.is_string()) return "";
  const bool is_dtype =
      std::any_of(path.begin(), path.end(), [](const std::string& part) { return part == "kv_dtype"; });
  if (is_dtype && value.get<std::string>().find("fnuz") != std::string::npos) {
    return ": gfx950's matrix instructions read OCP E4M3 (bias 7), fnuz (bias 8) is gfx942's format";
  }
  if (is_dtype && value == "bf16") return ": no kernel reads a bf16 cache yet";
  return "";
}

void describe_object(const Json& node, const Json& value, const Path& path, Diagnostics& out) {
  const std::vector<std::string> names = property_names(node);
  for (const auto& [key, member] : value.items()) {
    if (node.at("properties").contains(key)) continue;
    Path at = path;
    at.push_back(key);
    out.push_back({.where = to_pointer(at),
                   .problem = "unknown field",
                   .value = member.dump(),
                   .allowed = fmt::format("{}", fmt::join(names, ", ")),
                   .nearest = nearest_word(key, names).value_or("")});
  }
  for (const Json& key : node.at("required")) {
    if (value.contains(key.get<std::string>())) continue;
    Path at = path;
    at.push_back(key);
    out.push_back({.where = to_pointer(at),
                   .problem = "missing field",
                   .allowed = allowed(node.at("properties").at(key.get<std::string>()))});
  }
}

/// What is wrong at a place that the validator refused.
void describe(const Json& config, const Path& path, Diagnostics& out) {
  const Json& node = schema_at(path);
  const Json& value = value_at(config, path);
  if (node.value("type", "") == "object" && value.is_object()) return describe_object(node, value, path, out);
  const char* problem = !takes_type(node, value) ? "wrong type"
                        : value.is_array()       ? "an empty list asks for no kernel"
                                                 : "not allowed";
  auto near = nearest(node, value);
  if (!near || value.is_array()) near = fallback(node);
  out.push_back({.where = to_pointer(path),
                 .problem = problem + reason_for(path, value),
                 .value = value.dump(),
                 .allowed = allowed(node),
                 .nearest = near.value_or("")});
}

/// Places of numbers such as 8.0: the validator compares choices by value and would take them for 8.
void find_fractions(const Json& value, const Path& path, std::set<Path>& found) {
  if (value.is_number_float()) found.insert(path);
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    Path at = path;
    at.push_back(key);
    find_fractions(member, at, found);
  }
}

/// What is wrong with a config that the validator takes.
Diagnostics check_whole_numbers(const Json& config) {
  std::set<Path> places;
  find_fractions(config, {}, places);
  Diagnostics found;
  for (const Path& place : places) {
    if (!takes_type(schema_at(place), value_at(config, place))) describe(config, place, found);
  }
  return found;
}

const valijson::Schema& compiled_schema() {
  static const std::unique_ptr<const valijson::Schema> schema = [] {
    auto result = std::make_unique<valijson::Schema>();
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(config_schema()), *result);
    return result;
  }();
  return *schema;
}

}  // namespace

const Json& config_schema() {
  static const Json schema = Json::parse(embedded_text("configs/schema.json"));
  return schema;
}

Diagnostics validate(const Json& config) {
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter adapter(config);
  if (validator.validate(compiled_schema(), adapter, &results)) return check_whole_numbers(config);

  // Where the schema has several forms, the validator also reports the forms that were not meant: an error of a list's
  // element stands for the error of the list. An object's own errors stand beside those of its members.
  std::set<Path> places;
  for (const auto& error : results) places.insert(to_path(error.context));
  Diagnostics found;
  for (const Path& place : places) {
    const Json& value = value_at(config, place);
    const bool has_deeper =
        std::any_of(places.begin(), places.end(), [&](const Path& p) { return is_prefix(place, p); });
    if (has_deeper && !value.is_object()) continue;
    describe(config, place, found);
  }
  if (found.empty()) found.push_back({.problem = "refused by the schema: " + results.begin()->description});
  return found;
}

Json schema_default(std::initializer_list<std::string_view> path) {
  const Json* node = &config_schema();
  for (const std::string_view name : path) {
    node = &resolve(node->at("properties").at(std::string(name)));
    if (node->contains("items")) node = &node->at("items");
  }
  return node->at("default");
}

}  // namespace mlaforge
