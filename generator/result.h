// Errors as values: what is wrong, where (a JSON pointer), what was there, what is allowed, what is nearest.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mlaforge {

struct Diagnostic {
  std::string where = {};    ///< a JSON pointer into the config, a kernel's name or a file
  std::string problem = {};  ///< one clause: what is wrong
  std::string value = {};    ///< the offending value as JSON or text; empty where there is none
  std::string allowed = {};  ///< what may stand there
  std::string nearest = {};  ///< the nearest thing that works; empty where nothing is near
};

using Diagnostics = std::vector<Diagnostic>;

/// "/tensor_parallel: 96 heads do not divide by 7 (value 7; allowed: a divisor of 96; nearest: 6 or 8)".
std::string to_string(const Diagnostic& diagnostic);
/// One line each.
std::string to_string(const Diagnostics& diagnostics);
nlohmann::json to_json(const Diagnostics& diagnostics);

/// Either a value or why there is none; never an empty list of reasons.
template <typename T>
class Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}                        // NOLINT(google-explicit-constructor)
  Expected(Diagnostic error) : state_(Diagnostics{std::move(error)}) {}  // NOLINT(google-explicit-constructor)
  Expected(Diagnostics errors) : state_(std::move(errors)) {}            // NOLINT(google-explicit-constructor)

  bool has_value() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return has_value(); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diagnostics& errors() const { return std::get<Diagnostics>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// The result of an operation that yields nothing but its success.
using Status = Expected<std::monostate>;

}  // namespace mlaforge
