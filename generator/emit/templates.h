// Templates and their rendering: mustache text with holes, the plan's JSON as context.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "generator/result.h"

namespace mlaforge {

/// Templates by their path below templates/, e.g. "gfx950/attention.hip.mustache"; made by make_templates.
using TemplateSet = std::map<std::string, std::string, std::less<>>;

/// The templates that were built into the program.
const TemplateSet& embedded_templates();

/// Templates of given texts. A line that holds only a comment, a partial or the delimiters leaves no blank line.
TemplateSet make_templates(const std::map<std::string, std::string>& texts);

/// Fills a template's holes. A template starts with the line {{=<% %>=}}, which sets its delimiters.
/// Context: numbers print as they are, booleans and null are sections, an array is a list; an array's objects also have
/// `index`, `first` and `last`. <%> x %> inserts x.mustache of the same folder.
/// Errors: an unknown template, a template that does not parse, a hole or a section that the context does not name.
Expected<std::string> render(const TemplateSet& templates, std::string_view name, const nlohmann::json& context);

}  // namespace mlaforge
