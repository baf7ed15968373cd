// Reads of a file's bytes in which every offset and size is checked against the file, so that the loader can be fed
// anything. Inside the loader a failed check is a thrown LoadFailure; the public functions catch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "simulator/loader/load_error.h"

namespace mlaforge::simulator {

using Bytes = std::span<const std::byte>;

struct LoadFailure {
  LoadError error;
};

[[noreturn]] inline void fail_load(std::string message, LoadErrorKind kind = LoadErrorKind::invalid_image) {
  throw LoadFailure{LoadError{.kind = kind, .message = std::move(message)}};
}

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  uint64_t size() const { return bytes_.size(); }

  // The bytes [offset, offset + length); `what` names them in the error.
  Bytes range(uint64_t offset, uint64_t length, std::string_view what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) {
      fail_load(std::string(what) + " at offset " + std::to_string(offset) + " of " + std::to_string(length) +
                " bytes goes past the end of the code object (" + std::to_string(bytes_.size()) + " bytes)");
    }
    return bytes_.subspan(offset, length);
  }

  template <typename T>
  T read(uint64_t offset, std::string_view what) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, range(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  // The zero-terminated string at `offset`.
  std::string_view text(uint64_t offset, std::string_view what) const {
    if (offset >= bytes_.size()) {
      fail_load(std::string(what) + " at offset " + std::to_string(offset) + " lies outside its table (" +
                std::to_string(bytes_.size()) + " bytes)");
    }
    const char* first = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const void* end = std::memchr(first, 0, bytes_.size() - offset);
    if (end == nullptr)
      fail_load(std::string(what) + " at offset " + std::to_string(offset) + " has no terminating zero");
    return {first, static_cast<size_t>(static_cast<const char*>(end) - first)};
  }

 private:
  Bytes bytes_;
};

}  // namespace mlaforge::simulator
