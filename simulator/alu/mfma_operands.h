// Fetches MFMA operands: A and B decoded to doubles (or int8 to int32), C and D as rows.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/alu/formats.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/mfma_fp8_decode.h"
#include "simulator/alu/mfma_layout.h"

namespace mlaforge::simulator {

// Lane that a lane of B really reads (blgp of the forms that are not f8f6f4), and of A (cbsz, abid).
int b_source_lane(int blgp, int lane);
int a_source_lane(const MatrixShape& shape, int cbsz, int abid, int lane);

namespace detail {

// One element of a 64-lane register tuple to f32 (every format here is exact in f32).
template <MatrixFormat format>
inline float element_value(uint32_t bits) {
  if constexpr (format == MatrixFormat::fp8) {
    const uint32_t magnitude = bits & 0x7f;
    const bool denormal = magnitude < 8;
    const float value =
        std::bit_cast<float>((magnitude << 20) + ((denormal ? 121u : 120u) << 23)) - (denormal ? 0x1p-6f : 0.0f);
    const uint32_t code = magnitude == 0x7f ? 0x7fc00000u : std::bit_cast<uint32_t>(value);
    return std::bit_cast<float>(code | (bits & 0x80) << 24);
  } else if constexpr (format == MatrixFormat::bf8) {
    return f16_to_f32(static_cast<uint16_t>(bits << 8));
  } else if constexpr (format == MatrixFormat::fp6) {
    return static_cast<float>(decode(kFp6, bits));
  } else if constexpr (format == MatrixFormat::bf6) {
    return static_cast<float>(decode(kBf6, bits));
  } else if constexpr (format == MatrixFormat::fp4) {
    return static_cast<float>(decode(kFp4, bits));
  } else if constexpr (format == MatrixFormat::f16) {
    return f16_to_f32(static_cast<uint16_t>(bits));
  } else if constexpr (format == MatrixFormat::bf16) {
    return bf16_to_f32(static_cast<uint16_t>(bits));
  } else if constexpr (format == MatrixFormat::i8) {
    return static_cast<float>(static_cast<int8_t>(bits));
  } else {
    return std::bit_cast<float>(bits);
  }
}

// Element e (bits wide) of every lane of a register tuple, as raw bits.
template <int bits>
inline uint32_t element_bits(const Row* rows, int lane, int e) {
  if constexpr (bits == 32) return rows[e].lane[lane];
  const int bit = e * bits;
  const uint32_t low = rows[bit / 32].lane[lane] >> (bit % 32);
  if constexpr (32 % bits == 0) return low & ((1u << bits) - 1);
  const uint32_t high = bit % 32 + bits > 32 ? rows[bit / 32 + 1].lane[lane] << (32 - bit % 32) : 0;
  return (low | high) & ((1u << bits) - 1);
}

}  // namespace detail

// Decodes A or B into out[block][k][i] (i the row of A or the column of B).
template <MatrixFormat format, int m, int n, int k, int blocks, bool two_pieces>
void decode_operand(const Row* rows, double* out) {
  constexpr MatrixShape shape{m, n, k, blocks};
  constexpr int bits = bits_of_format(format);
#if defined(__AVX512VBMI__)
  if constexpr (format == MatrixFormat::fp8 && m >= 16 && blocks == 1)
    return decode_fp8_bytes<m, shape.elements()>(
        rows, out, [](int group, int e) { return k_of(MatrixShape{m, n, k, blocks}, two_pieces, group, e); });
#endif
  for (int e = 0; e < shape.elements(); ++e) {
    for (int group = 0; group < 64 / m; ++group) {
      const int block = blocks > 1 ? group : 0;
      double* to = out + (block * k + k_of(shape, two_pieces, group, e)) * m;
      // The lanes of a group are consecutive rows: whole vectors, if the loop is not unrolled first.
#pragma clang loop vectorize(assume_safety) unroll(disable)
      for (int i = 0; i < m; ++i)
        to[i] = static_cast<double>(detail::element_value<format>(detail::element_bits<bits>(rows, group * m + i, e)));
    }
  }
}

// Rows of a register operand after a lane permutation, or the registers themselves where it is the identity.
template <class Map>
const Row* permuted_rows(const Wave& wave, const Operand& op, int registers, bool identity, Row* scratch, Map map) {
  const Row* rows = &wave.vgpr[op.index];
  if (identity) return rows;
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < wave_lanes; ++lane) scratch[r].lane[lane] = rows[r].lane[map(lane)];
  return scratch;
}

}  // namespace mlaforge::simulator
