// The entry functions of the fuzzers. Each takes any bytes, feeds them to one reader of untrusted input and throws
// std::logic_error where a promise of that reader is broken; a memory error is the sanitizers' to find. libFuzzer
// drives them (fuzzer_main.cpp), and a test replays their corpora (replay_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace mlaforge::fuzz {

using Input = std::span<const uint8_t>;

void code_object(Input input);   ///< simulator/loader: ELF, bundles, metadata, relocation
void resources(Input input);     ///< generator/compile/code_object
void instructions(Input input);  ///< simulator: decoder and execution of any code
void config(Input input);        ///< generator/config, and the plans of what it takes
void variant_name(Input input);  ///< generator/variants
void manifest(Input input);      ///< generator/emit/manifest, generator/compile/kernel_set
void select(Input input);        ///< runtime: the choice out of any table
void launch(Input input);        ///< runtime: launch checks, workspace, grids
void tuning(Input input);        ///< runtime: tuning data
void open(Input input);          ///< runtime: any kernel set

inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

inline std::string_view text_of(Input input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

/// What every failure owes: at least one reason, as text.
template <typename Expected>
void require_reason(const Expected& result) {
  require(result.has_value() || (!result.errors().empty() && !to_string(result.errors()).empty()),
          "no value and no reason");
}

/// Takes values off the front of an input; zeros when it is used up.
class Reader {
 public:
  explicit Reader(Input input) : rest_(input) {}

  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const size_t bytes = std::min(sizeof(T), rest_.size());
    if (bytes != 0) std::memcpy(&value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  /// A value of 0 .. count - 1.
  size_t below(size_t count) { return take<uint8_t>() % count; }
  bool empty() const { return rest_.empty(); }
  Input rest() const { return rest_; }

 private:
  Input rest_;
};

}  // namespace mlaforge::fuzz
