// Kernel sets and structs of the runtime made out of an input's bytes: valid ones, with fields changed to hostile
// values.
#pragma once

#include <array>
#include <limits>

#include "tests/fuzz/entries.h"
#include "tests/runtime/fixture.h"

namespace mlaforge::fuzz {

/// A number on an edge, a small one, or any.
inline int64_t hostile_number(Reader& reader) {
  constexpr std::array<int64_t, 14> edges = {0,
                                             -1,
                                             std::numeric_limits<int64_t>::max(),
                                             std::numeric_limits<int64_t>::min(),
                                             std::numeric_limits<int32_t>::max(),
                                             std::numeric_limits<int32_t>::min(),
                                             int64_t{1} << 31,
                                             int64_t{1} << 32,
                                             (int64_t{1} << 32) - 1,
                                             int64_t{1} << 62,
                                             512,
                                             576,
                                             256,
                                             16};
  const auto kind = reader.take<uint8_t>();
  if (kind < 0x80) return edges[kind % edges.size()];
  if (kind < 0xc0) return int64_t{reader.take<int8_t>()} * (1 + kind % 16);
  return reader.take<int64_t>();
}

/// Overwrites members of 4 or 8 bytes of a plain struct, behind its first `keep` bytes, `count` times.
template <typename T>
void overwrite_members(Reader& reader, T& value, size_t keep, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t words = (sizeof(T) - keep) / 4;
    const size_t at = keep + reader.below(words) * 4;
    const int64_t number = hostile_number(reader);
    const size_t bytes = at % 8 == 0 && at + 8 <= sizeof(T) && reader.below(2) == 0 ? 8 : 4;
    std::memcpy(reinterpret_cast<char*>(&value) + at, &number, bytes);
  }
}

/// One to eight rows of small differences, in any order.
inline void add_rows(Reader& reader, test::TestSet& set) {
  constexpr std::array<int, 4> heads = {12, 1, 128, 16};
  constexpr std::array<int, 4> splits = {1, 2, 64, 256};
  const size_t count = 1 + reader.below(8);
  for (size_t i = 0; i < count; ++i) {
    const auto bits = reader.take<uint16_t>();
    mlaforge_kernel_row& row = set.add(heads[bits & 3], 1 + (bits >> 2 & 7), 1 << (bits >> 5 & 3),
                                       splits[bits >> 7 & 3], 1 + (bits >> 9 & 3), (bits >> 11 & 1) != 0);
    row.context_parallel = 1 << (bits >> 12 & 3);
    row.probability_parts = 1 + (bits >> 14 & 1);
    row.q_dtype = (bits >> 15 & 1) != 0 ? MLAFORGE_FP8_E4M3 : MLAFORGE_BF16;
  }
}

/// Whether the call left a message, as every failure has to.
inline void require_message(mlaforge_status status) {
  require(status == MLAFORGE_SUCCESS || std::strlen(mlaforge_last_error()) != 0, "a failure without a message");
}

}  // namespace mlaforge::fuzz
