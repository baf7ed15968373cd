#include "generator/emit/templates.h"

#include <fmt/format.h>

#include <kainjow/mustache.hpp>
#include <set>
#include <vector>

#include "generator/embedded.h"

namespace mlaforge {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::string_view kDelimiters = "{{=<% %>=}}";
constexpr std::string_view kFolder = "templates/";
constexpr std::string_view kExtension = ".mustache";

mustache::data to_data(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_null()) return false;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (size_t i = 0; i < value.size(); ++i) {
      mustache::data element = to_data(value[i]);
      if (value[i].is_object()) {
        if (!value[i].contains("index")) element.set("index", std::to_string(i));
        if (!value[i].contains("first")) element.set("first", i == 0);
        if (!value[i].contains("last")) element.set("last", i + 1 == value.size());
      }
      list.push_back(element);
    }
    return list;
  }
  if (value.is_object()) {
    mustache::data object(mustache::data::type::object);
    for (const auto& [key, member] : value.items()) object.set(key, to_data(member));
    return object;
  }
  return value.dump();
}

/// Looks names up as mustache does, and keeps those that nothing defines: a hole is never silently empty.
class StrictContext : public mustache::basic_context<std::string> {
 public:
  StrictContext(const mustache::data* root, const TemplateSet& partials, std::string folder)
      : stack_{root}, partials_(partials), folder_(std::move(folder)) {}

  void push(const mustache::data* data) override { stack_.push_back(data); }
  void pop() override { stack_.pop_back(); }

  const mustache::data* get(const std::string& name) const override {
    if (name == ".") return stack_.back();
    for (auto item = stack_.rbegin(); item != stack_.rend(); ++item) {
      if (const mustache::data* found = member(*item, name)) return found;
    }
    undefined_.insert(name);
    return nullptr;
  }

  const mustache::data* get_partial(const std::string& name) const override {
    if (const auto known = loaded_.find(name); known != loaded_.end()) return &known->second;
    const auto text = partials_.find(folder_ + name + std::string(kExtension));
    if (text == partials_.end()) {
      undefined_.insert("> " + name);
      return nullptr;
    }
    return &loaded_.emplace(name, mustache::data(text->second)).first->second;
  }

  const std::set<std::string>& undefined() const { return undefined_; }

 private:
  /// `a.b` is member b of member a.
  static const mustache::data* member(const mustache::data* item, std::string_view name) {
    while (item != nullptr) {
      const size_t dot = name.find('.');
      item = item->get(std::string(name.substr(0, dot)));
      if (dot == std::string_view::npos) return item;
      name.remove_prefix(dot + 1);
    }
    return nullptr;
  }

  std::vector<const mustache::data*> stack_;
  const TemplateSet& partials_;
  std::string folder_;
  mutable std::map<std::string, mustache::data> loaded_;
  mutable std::set<std::string> undefined_;
};

std::string_view trimmed(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return line.substr(start, line.find_last_not_of(" \t") + 1 - start);
}

/// Takes out what mustache's standalone lines would leave: the newlines behind delimiters, comments and partials.
std::string without_standalone_newlines(std::string_view text) {
  std::string result;
  bool in_comment = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::string_view content = trimmed(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t close = content.find("%>");
    const bool ends_comment = close != std::string_view::npos && close + 2 == content.size();
    if (in_comment || (content.starts_with("<%!") && (ends_comment || close == std::string_view::npos))) {
      in_comment = !ends_comment;
      continue;
    }
    const bool is_partial = content.starts_with("<%>") && content.find("%>", 3) == content.size() - 2;
    const bool keeps_newline = end != std::string_view::npos && content != kDelimiters && !is_partial;
    result += is_partial ? content : line;
    if (keeps_newline) result += '\n';
  }
  return result;
}

/// One empty line where sections that are left out, each with its own, would leave several.
std::string without_empty_runs(std::string text) {
  for (size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

const TemplateSet& embedded_templates() {
  static const TemplateSet templates = [] {
    TemplateSet set;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with(kFolder)) continue;
      set.emplace(file.path.substr(kFolder.size()), without_standalone_newlines(file.text));
    }
    return set;
  }();
  return templates;
}

TemplateSet make_templates(const std::map<std::string, std::string>& texts) {
  TemplateSet set;
  for (const auto& [name, text] : texts) set.emplace(name, without_standalone_newlines(text));
  return set;
}

Expected<std::string> render(const TemplateSet& templates, std::string_view name, const nlohmann::json& context) {
  const std::string where = std::string(kFolder) + std::string(name);
  const auto text = templates.find(name);
  if (text == templates.end()) return Diagnostic{.where = where, .problem = "no such template"};

  mustache::mustache view(text->second);
  view.set_custom_escape([](const std::string& value) { return value; });
  const mustache::data data = to_data(context);
  StrictContext strict(&data, templates, std::string(name.substr(0, name.rfind('/') + 1)));
  std::ostringstream stream;
  if (view.is_valid()) view.render(strict, stream);
  if (!view.is_valid()) return Diagnostic{.where = where, .problem = "not a template: " + view.error_message()};
  if (!strict.undefined().empty()) {
    return Diagnostic{
        .where = where,
        .problem = fmt::format("names that the plan does not define: {}", fmt::join(strict.undefined(), ", "))};
  }
  return without_empty_runs(stream.str());
}

}  // namespace mlaforge
