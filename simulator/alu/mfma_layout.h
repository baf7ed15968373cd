// Where the lanes and registers of a matrix instruction lie in A, B, C and D.
#pragma once

#include <cstdint>

namespace mlaforge::simulator {

enum class MatrixFormat : uint8_t { fp8, bf8, fp6, bf6, fp4, f16, bf16, f32, i8 };

constexpr int bits_of_format(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::fp8:
    case MatrixFormat::bf8:
    case MatrixFormat::i8:
      return 8;
    case MatrixFormat::fp6:
    case MatrixFormat::bf6:
      return 6;
    case MatrixFormat::fp4:
      return 4;
    case MatrixFormat::f16:
    case MatrixFormat::bf16:
      return 16;
    case MatrixFormat::f32:
      return 32;
  }
  return 0;
}

// rows x cols x k, `blocks` independent products side by side.
struct MatrixShape {
  int m;
  int n;
  int k;
  int blocks;

  // A lane holds this many elements of A (and of B).
  constexpr int elements() const { return m * k * blocks / 64; }
};

// k of element `e` in lane group `group` (lane / m): contiguous runs, except that the 8-bit formats of the f8f6f4
// instructions take two pieces of 16 (gfx950.md 1.1: k = 64 (b/16) + 16 (l/16) + b%16 at 16x16x128, 32 (b/16) +
// 16 (l/32) + b%16 at 32x32x64).
constexpr int k_of(const MatrixShape& shape, bool two_pieces, int group, int e) {
  if (two_pieces) return shape.k / 2 * (e / 16) + 16 * group + e % 16;
  return shape.blocks > 1 ? e : shape.elements() * group + e;
}

struct Position {
  int block;
  int row;
  int column;
};

// Register `r` of lane `lane` in C and D (32-bit results).
constexpr Position result_position(const MatrixShape& shape, int lane, int r) {
  if (shape.m == 32) return {r / 16, 8 * (r % 16 / 4) + 4 * (lane / 32) + r % 4, lane % 32};
  if (shape.m == 16) return {r / 4, 4 * (lane / 16) + r % 4, lane % 16};
  return {lane / 4, r, lane % 4};
}

constexpr int result_registers(const MatrixShape& shape) { return shape.m * shape.n * shape.blocks / 64; }

}  // namespace mlaforge::simulator
