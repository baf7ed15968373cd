// Why a code object cannot be loaded, as a value: a class of failure (which the HIP layer maps to an error code) and a
// message that names the thing, its value and what is allowed.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace mlaforge::simulator {

enum class LoadErrorKind {
  invalid_image,       // not an ELF, or damaged
  wrong_architecture,  // a whole code object, but for another GPU
  unsupported,         // whole and for this GPU, but with a feature that the simulator does not have
};

struct LoadError {
  LoadErrorKind kind = LoadErrorKind::invalid_image;
  std::string message;
};

// A value or the reason why there is none.
template <typename T>
class LoadResult {
 public:
  LoadResult(T value) : state_(std::move(value)) {}
  LoadResult(LoadError error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  const LoadError& error() const { return std::get<LoadError>(state_); }

 private:
  std::variant<T, LoadError> state_;
};

}  // namespace mlaforge::simulator
