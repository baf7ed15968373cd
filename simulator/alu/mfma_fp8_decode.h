// fp8 operands to doubles by byte table lookup, where the host has AVX-512 VBMI: fp8 decoding is a fifth of the cost of
// the matrix instruction that dominates attention kernels.
#pragma once

#if defined(__AVX512VBMI__)
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>

#include "simulator/alu/formats.h"
#include "simulator/core/wave.h"

namespace mlaforge::simulator {

// The upper 16 bits of each non-negative E4M3 value as f32 (the lower 16 are zero), apart in high and low bytes.
struct Fp8ByteTables {
  alignas(64) std::array<uint8_t, 128> high{};
  alignas(64) std::array<uint8_t, 128> low{};

  Fp8ByteTables() {
    for (uint32_t code = 0; code < 128; ++code) {
      const uint32_t bits = std::bit_cast<uint32_t>(fp8_table()[code]);
      high[code] = static_cast<uint8_t>(bits >> 24);
      low[code] = static_cast<uint8_t>(bits >> 16);
    }
  }
};

inline const Fp8ByteTables& fp8_byte_tables() {
  static const Fp8ByteTables tables;
  return tables;
}

// Element e of lane group g goes to out[k_of(g, e)][0..m), m lanes a group.
template <int m, int elements, class KOf>
void decode_fp8_bytes(const Row* rows, double* out, KOf k_of) {
  const Fp8ByteTables& tables = fp8_byte_tables();
  const __m512i high0 = _mm512_load_si512(tables.high.data());
  const __m512i high1 = _mm512_load_si512(tables.high.data() + 64);
  const __m512i low0 = _mm512_load_si512(tables.low.data());
  const __m512i low1 = _mm512_load_si512(tables.low.data() + 64);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  // Bytes 2 and 3 of each dword from byte 0 of the low (index 64..) and high words; the rest is masked to zero.
  alignas(64) std::array<uint8_t, 64> pick{};
  for (size_t i = 0; i < 64; i += 4) {
    pick[i + 2] = static_cast<uint8_t>(64 + i);
    pick[i + 3] = static_cast<uint8_t>(i);
  }
  const __m512i first = _mm512_load_si512(pick.data());
  constexpr __mmask64 upper_halves = 0xccccccccccccccccull;
  for (int reg = 0; reg < elements / 4; ++reg) {
    for (int part = 0; part < 4; ++part) {  // 16 lanes
      const __m512i codes = _mm512_load_si512(rows[reg].lane + 16 * part);
      __m512i high = _mm512_permutex2var_epi8(high0, codes, high1);
      high = _mm512_ternarylogic_epi32(high, codes, sign, 0xf8);  // high | (codes & sign)
      const __m512i low = _mm512_permutex2var_epi8(low0, codes, low1);
      const int group = 16 * part / m;
      for (int byte = 0; byte < 4; ++byte) {
        const __m512i index = _mm512_add_epi8(first, _mm512_set1_epi8(static_cast<char>(byte)));
        const __m512 value = _mm512_castsi512_ps(_mm512_maskz_permutex2var_epi8(upper_halves, high, index, low));
        double* to = out + k_of(group, 4 * reg + byte) * m + 16 * part % m;
        _mm512_storeu_pd(to, _mm512_cvtps_pd(_mm512_castps512_ps256(value)));
        _mm512_storeu_pd(to + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1)));
      }
    }
  }
}

}  // namespace mlaforge::simulator
#endif
