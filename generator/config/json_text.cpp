#include "generator/config/json_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace mlaforge {
namespace {

using Json = nlohmann::json;

// Far beyond any config, and far within what the schema's validator can walk through and match on one stack.
constexpr size_t kDeepest = 64;
constexpr size_t kLongestString = 1024;
constexpr size_t kShownPointer = 256;

/// Follows the parser's events: where it stands, and which keys each open object has seen. Throws a Diagnostic where a
/// document goes beyond the limits.
class DuplicateKeys {
 public:
  void on_event(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        begin_value();
        if (frames_.size() == kDeepest) {
          throw Diagnostic{.where = pointer().substr(0, kShownPointer),
                           .problem = "nested too deeply",
                           .allowed = fmt::format("at most {} lists and objects in one another", kDeepest)};
        }
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
        if (parsed.is_string()) check_length(parsed.get_ref<const std::string&>());
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

  void check_length(const std::string& text) const {
    if (text.size() <= kLongestString) return;
    throw Diagnostic{.where = pointer().substr(0, kShownPointer),
                     .problem = "the string is too long",
                     .value = fmt::format("{} bytes", text.size()),
                     .allowed = fmt::format("at most {} bytes", kLongestString)};
  }

  void on_key(const std::string& key) {
    check_length(key);
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
  // The library would take a zero byte for the end and not look at what stands behind it.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Diagnostic{.where = position(text, zero + 1), .problem = "not JSON: a byte that is zero"};
  DuplicateKeys duplicates;
  try {
    Json document = Json::parse(text, [&duplicates](int, Json::parse_event_t event, Json& parsed) {
      duplicates.on_event(event, parsed);
      return true;
    });
    if (!duplicates.found().empty()) return duplicates.found();
    return document;
  } catch (const Json::parse_error& error) {
    return Diagnostic{.where = position(text, error.byte),
                      .problem = "not JSON: " + reason(error.what()),
                      .allowed = "JSON, which has no comments, no trailing commas and no NaN"};
  } catch (const Json::out_of_range& error) {
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'" does not say where.
    const std::string_view what = error.what();
    const size_t quote = what.find('\'');
    const std::string_view number =
        quote == std::string_view::npos ? "" : what.substr(quote + 1, what.size() - quote - 2);
    const size_t at = text.find(number);
    return Diagnostic{.where = position(text, at == std::string_view::npos ? 0 : at + 1),
                      .problem = "the number is too large",
                      .value = std::string(number),
                      .allowed = "a number that a double holds"};
  } catch (const Diagnostic& error) {
    return error;
  }
}

}  // namespace mlaforge
