// Random numbers of this project's own, so that a seed means the same inputs with every compiler and library.
#pragma once

#include <cstdint>

namespace mlaforge::reference {

/// SplitMix64 (Steele, Lea, Flood 2014): a counter through a mixing function.
class Random {
 public:
  /// Streams of one seed are independent: one for each request, token or row.
  Random(uint64_t seed, uint64_t stream) : state_(mix(seed) ^ mix(stream + 0x632be59bd9b4e019ULL)) {}

  uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

  /// 0 .. count - 1; the bias of count / 2^64 does not matter here.
  uint64_t below(uint64_t count) { return bits() % count; }

  /// [-1, 1).
  double uniform() { return static_cast<double>(static_cast<int64_t>(bits())) * 0x1p-63; }

  /// Close to normal, mean 0 and variance 1: eight 16-bit uniforms summed, so at most 4.9 in magnitude. Exact
  /// arithmetic.
  double normal() {
    int64_t sum = 0;
    for (int word = 0; word < 2; ++word) {
      const uint64_t value = bits();
      for (int shift = 0; shift < 64; shift += 16) {
        sum += static_cast<int64_t>((value >> shift) & 0xffff);
      }
    }
    // A uniform over 0 .. 65535 has the mean 32767.5 and the variance (65536^2 - 1) / 12.
    constexpr double inverse_deviation = 1.0 / 53509.92;  // sqrt(8 x 65536^2 / 12)
    return (static_cast<double>(sum) - 8 * 32767.5) * inverse_deviation;
  }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace mlaforge::reference
