// The inner product of the matrix instructions: D = A B over double operands laid out k-major.
//
// Numerics (a named choice, confidence C: CDNA4's internal order and width are not published): products are exact in
// double, they are summed in double in order of k, C is added last, and the result is rounded once to f32 (nearest
// even, denormals kept). For fp8 E4M3, fp6, bf6 and fp4 without block scales every partial sum is exact, so the result
// is the correctly rounded true sum. For bf8, f16, bf16 and f32 the sum of n products carries a relative error of at
// most n 2^-53 of the sum of magnitudes. Hardware rounds more often: compare with a tolerance.
#pragma once

#include <array>

#include "simulator/alu/float_math.h"

namespace mlaforge::simulator {

namespace detail {

typedef double Double8 __attribute__((vector_size(64)));

inline Double8 multiply_add(Double8 a, Double8 b, Double8 c) {
#if defined(__clang__) && defined(__FMA__)
  // The products are exact, so fusing changes no bit.
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

inline Double8 load8(const double* from) {
  Double8 value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

#if defined(__AVX512F__)
inline constexpr int kRowBlock = 8;  // 16 accumulators of 8 doubles in 32 registers
#else
inline constexpr int kRowBlock = 2;
#endif

// One block of rows by 16 columns, accumulators in registers.
template <int m, int n, int k>
inline void product_block(const double* a, const double* b, double* out, int row, int column) {
  Double8 sum[kRowBlock][2] = {};
  for (int step = 0; step < k; ++step) {
    const Double8 b0 = load8(b + step * n + column);
    const Double8 b1 = load8(b + step * n + column + 8);
#pragma clang loop unroll(full)
    for (int r = 0; r < kRowBlock; ++r) {
      const double value = a[step * m + row + r];
      const Double8 splat = {value, value, value, value, value, value, value, value};
      sum[r][0] = multiply_add(splat, b0, sum[r][0]);
      sum[r][1] = multiply_add(splat, b1, sum[r][1]);
    }
  }
  for (int r = 0; r < kRowBlock; ++r) __builtin_memcpy(out + (row + r) * n + column, &sum[r], sizeof sum[r]);
}

}  // namespace detail

// out[row][column] = sum over k of a[k][row] b[k][column]; m and n are 4, 16 or 32.
template <int m, int n, int k>
void matrix_product(const double* a, const double* b, double* out) {
  if constexpr (m >= 16) {
    for (int row = 0; row < m; row += detail::kRowBlock)
      for (int column = 0; column < n; column += 16) detail::product_block<m, n, k>(a, b, out, row, column);
  } else {
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0;
        for (int step = 0; step < k; ++step) sum += a[step * m + row] * b[step * n + column];
        out[row * n + column] = sum;
      }
  }
}

// The exact sum of a double and an f32, rounded once.
inline float add_and_round(double sum, float c) { return static_cast<float>(sum_to_odd(sum, static_cast<double>(c))); }

}  // namespace mlaforge::simulator
