#include "generator/config/json_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace mlaforge {
namespace {

using Json = nlohmann::json;

/// Follows the parser's events: where it stands, and which keys each open object has seen.
class DuplicateKeys {
 public:
  void on_event(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        begin_value();
        frames_.push_back({.is_array = event == Json::parse_event_t::array_start});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        frames_.pop_back();
        break;
      case Json::parse_event_t::key:
        on_key(parsed.get<std::string>());
        break;
      case Json::parse_event_t::value:
        begin_value();
        break;
    }
  }

  const Diagnostics& found() const { return found_; }

 private:
  struct Frame {
    bool is_array = false;
    int index = -1;  ///< of the array's current element
    std::string key = {};
    std::set<std::string> keys = {};
  };

  void begin_value() {
    if (!frames_.empty() && frames_.back().is_array) ++frames_.back().index;
  }

  void on_key(const std::string& key) {
    Frame& frame = frames_.back();
    frame.key = key;
    if (frame.keys.insert(key).second) return;
    found_.push_back({.where = pointer(), .problem = "the key stands twice in one object", .allowed = "each key once"});
  }

  std::string pointer() const {
    std::string text;
    for (const Frame& frame : frames_) {
      text += "/" + (frame.is_array ? std::to_string(frame.index) : pointer_token(frame.key));
    }
    return text;
  }

  std::vector<Frame> frames_;
  Diagnostics found_;
};

/// "line 2, column 5" of the byte at which the parser stopped (1 is the first byte).
std::string position(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const size_t line_start = before.rfind('\n');
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = line_start == std::string_view::npos ? before.size() + 1 : before.size() - line_start;
  return fmt::format("line {}, column {}", line, column);
}

/// The library's words behind its "[json.exception...] parse error at line 1, column 2: ".
std::string reason(std::string_view what) {
  const size_t column = what.find(", column ");
  const size_t start = what.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(start == std::string_view::npos ? what : what.substr(start + 2));
}

}  // namespace

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

Expected<Json> parse_json(std::string_view text) {
  DuplicateKeys duplicates;
  try {
    Json document = Json::parse(text, [&duplicates](int, Json::parse_event_t event, Json& parsed) {
      duplicates.on_event(event, parsed);
      return true;
    });
    if (!duplicates.found().empty()) return duplicates.found();
    return document;
  } catch (const Json::parse_error& error) {
    return Diagnostic{.where = position(text, error.byte), .problem = "not JSON: " + reason(error.what())};
  }
}

}  // namespace mlaforge
