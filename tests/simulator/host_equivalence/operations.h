// Functions of three 64-bit words that the host's compiler and gfx950's both compile: what C says they give is the same
// on both. No undefined behaviour, no operation whose result the language leaves open.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using u128 = unsigned __int128;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using i128 = __int128;

#if defined(__AMDGCN__)
#define SHARED __attribute__((device)) static inline
#define APART __attribute__((device, noinline)) static
#else
#define SHARED static inline
#define APART __attribute__((noinline)) static
#endif

template <typename To, typename From>
SHARED To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &value, sizeof to);
  return to;
}
SHARED float as_f32(u64 x) { return bits_as<float>(static_cast<u32>(x)); }
SHARED double as_f64(u64 x) { return bits_as<double>(x); }
SHARED _Float16 as_f16(u64 x) { return bits_as<_Float16>(static_cast<u16>(x)); }
SHARED __bf16 as_bf16(u64 x) { return bits_as<__bf16>(static_cast<u16>(x)); }

// Which NaN comes out is not C's business: one for all.
SHARED u64 word(float x) { return x != x ? 0x7fc00000u : bits_as<u32>(x); }
SHARED u64 word(double x) { return x != x ? 0x7ff8000000000000u : bits_as<u64>(x); }
SHARED u64 word(_Float16 x) { return x != x ? 0x7e00u : bits_as<u16>(x); }
SHARED u64 word(__bf16 x) { return (bits_as<u16>(x) & 0x7fffu) > 0x7f80u ? 0x7fc0u : bits_as<u16>(x); }

/// bf16 of a float; libgcc has the host's conversion from version 13 on only.
SHARED u64 to_bf16(float x) {
#if defined(__AMDGCN__)
  return word(static_cast<__bf16>(x));
#else
  const u32 bits = bits_as<u32>(x);
  return x != x ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
#endif
}

/// Signalling NaNs become quiet ones, and a range is kept for conversions to integers.
SHARED float quiet32(u64 x) {
  const u32 bits = static_cast<u32>(x);
  return bits_as<float>((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits);
}
SHARED double quiet64(u64 x) {
  return bits_as<double>((x & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? x | 0x8000000000000u : x);
}
template <typename F>
SHARED F within(F x, F low, F high) {
  return x >= low && x <= high ? x : low;
}

template <typename T>
SHARED T not_zero(T x) {
  return x == 0 ? static_cast<T>(1) : x;
}
/// A divisor that does not overflow the quotient of the least number.
template <typename T>
SHARED T divisor(T x) {
  return x == 0 || x == static_cast<T>(-1) ? static_cast<T>(3) : x;
}

APART u32 greatest_divisor(u32 a, u32 b) {
  while (b != 0) {
    const u32 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// A loop whose length differs by lane, with ways out of its middle.
APART u32 collatz_steps(u32 x, u32 most) {
  u32 steps = 0;
  while (x != 1 && steps < most) {
    if ((x & 1) != 0) {
      if (x > 0x50000000u) break;
      x = 3 * x + 1;
    } else {
      x >>= 1;
      if (x == 0) return 1000 + steps;
    }
    ++steps;
  }
  return steps;
}

APART u64 small_machine(u64 a, u64 b, u32 program) {
  u64 x = a;
  for (u32 step = 0; step < 10; ++step, program = program >> 3 | program << 29) {
    switch (program & 7u) {
      case 0: x += b; break;
      case 1: x ^= b >> 7; break;
      case 2: x = x << 9 | x >> 55; break;
      case 3: x *= 0x9e3779b97f4a7c15u; break;
      case 4: if ((x & 1) != 0) continue; x >>= 1; break;
      case 5: x -= b; [[fallthrough]];
      case 6: x = ~x; break;
      default: if (x > b) return x ^ step; x = b - x;
    }
  }
  return x;
}

/// Sorts in an array that is indexed at run time, which lies in scratch.
APART u64 sorted_nibbles(u64 x) {
  u8 digits[16];
  for (int i = 0; i < 16; ++i) digits[i] = static_cast<u8>(x >> (4 * i) & 15u);
  for (int i = 1; i < 16; ++i) {
    const u8 digit = digits[i];
    int j = i - 1;
    for (; j >= 0 && digits[j] > digit; --j) digits[j + 1] = digits[j];
    digits[j + 1] = digit;
  }
  u64 out = 0;
  for (int i = 0; i < 16; ++i) out |= static_cast<u64>(digits[i]) << (4 * i);
  return out;
}

APART u32 crc_of(u64 x) {
  u32 crc = ~0u;
  for (int byte = 0; byte < 8; ++byte) {
    crc ^= static_cast<u32>(x >> (8 * byte) & 255u);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

SHARED u64 nested_loops(u32 a, u32 b) {
  u64 sum = 0;
  for (u32 i = 0; i < (a & 15u); ++i) {
    for (u32 j = i; j < (b & 15u); ++j) {
      if (((i ^ j) & 3u) == 3u) continue;
      if (sum > 5000) break;
      sum += i * j + 1;
      for (u32 k = 0; k < (j & 3u); ++k) sum ^= k << (i & 7u);
    }
  }
  return sum;
}

// NAME(a, b, c) = EXPRESSION
#define INTEGER_OPERATIONS(X)                                                                                       \
  X(add32, static_cast<u32>(a) + static_cast<u32>(b))                                                               \
  X(sub32, static_cast<u32>(a) - static_cast<u32>(b))                                                               \
  X(mul32, static_cast<u32>(a) * static_cast<u32>(b))                                                               \
  X(mad32, static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c))                                         \
  X(mul_high_u32, static_cast<u32>((a & 0xffffffffu) * (b & 0xffffffffu) >> 32))                                    \
  X(mul_high_i32, static_cast<u32>(static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b)) >> 32))         \
  X(mul_24, (static_cast<u32>(a) & 0xffffffu) * (static_cast<u32>(b) & 0xffffffu))                                  \
  X(div_u32, static_cast<u32>(a) / not_zero(static_cast<u32>(b)))                                                   \
  X(rem_u32, static_cast<u32>(a) % not_zero(static_cast<u32>(b)))                                                   \
  X(div_i32, static_cast<u32>(static_cast<i32>(a) / divisor(static_cast<i32>(b))))                                  \
  X(rem_i32, static_cast<u32>(static_cast<i32>(a) % divisor(static_cast<i32>(b))))                                  \
  X(div_by_7, static_cast<u32>(static_cast<i32>(a) / 7) + static_cast<u32>(a) / 7u * 3u)                            \
  X(add64, a + b)                                                                                                   \
  X(sub64, a - b)                                                                                                   \
  X(mul64, a* b)                                                                                                    \
  X(mul_high_u64, static_cast<u64>(static_cast<u128>(a) * b >> 64))                                                 \
  X(mul_high_i64, static_cast<u64>(static_cast<i128>(static_cast<i64>(a)) * static_cast<i64>(b) >> 64))             \
  X(div_u64, a / not_zero(b))                                                                                       \
  X(rem_u64, a % not_zero(b))                                                                                       \
  X(div_i64, static_cast<u64>(static_cast<i64>(a) / divisor(static_cast<i64>(b))))                                  \
  X(rem_i64, static_cast<u64>(static_cast<i64>(a) % divisor(static_cast<i64>(b))))                                  \
  X(add128_high, static_cast<u64>(((static_cast<u128>(a) << 64 | b) + (static_cast<u128>(c) << 64 | a)) >> 64))     \
  X(sub128_high, static_cast<u64>(((static_cast<u128>(a) << 64 | b) - (static_cast<u128>(c) << 64 | a)) >> 64))     \
  X(shift128, static_cast<u64>((static_cast<u128>(a) << 64 | b) >> (c & 127u)))                                     \
  X(shl32, static_cast<u32>(a) << (b & 31u))                                                                        \
  X(shr32, static_cast<u32>(a) >> (b & 31u))                                                                        \
  X(sar32, static_cast<u32>(static_cast<i32>(a) >> (b & 31u)))                                                      \
  X(shl64, a << (b & 63u))                                                                                          \
  X(shr64, a >> (b & 63u))                                                                                          \
  X(sar64, static_cast<u64>(static_cast<i64>(a) >> (b & 63u)))                                                      \
  X(shl64_guarded, b > 63u ? 0 : a << b)                                                                            \
  X(rotate32, __builtin_rotateleft32(static_cast<u32>(a), static_cast<u32>(b)))                                     \
  X(rotate64, __builtin_rotateright64(a, b))                                                                        \
  X(funnel, static_cast<u32>((static_cast<u64>(static_cast<u32>(a)) << 32 | static_cast<u32>(b)) >> (c & 31u)))     \
  X(popcount32, __builtin_popcount(static_cast<u32>(a)))                                                            \
  X(popcount64, __builtin_popcountll(a))                                                                            \
  X(clz32, __builtin_clz(not_zero(static_cast<u32>(a))))                                                            \
  X(clz64, __builtin_clzll(not_zero(a)))                                                                            \
  X(ctz32, __builtin_ctz(not_zero(static_cast<u32>(a))))                                                            \
  X(ctz64, __builtin_ctzll(not_zero(a)))                                                                            \
  X(clrsb32, __builtin_clrsb(static_cast<i32>(a)))                                                                  \
  X(reverse32, __builtin_bitreverse32(static_cast<u32>(a)))                                                         \
  X(reverse64, __builtin_bitreverse64(a))                                                                           \
  X(swap_bytes32, __builtin_bswap32(static_cast<u32>(a)))                                                           \
  X(swap_bytes64, __builtin_bswap64(a))                                                                             \
  X(min_i32, static_cast<u32>(static_cast<i32>(a) < static_cast<i32>(b) ? static_cast<i32>(a) : static_cast<i32>(b))) \
  X(max_u32, static_cast<u32>(a) > static_cast<u32>(b) ? static_cast<u32>(a) : static_cast<u32>(b))                 \
  X(min_i64, static_cast<i64>(a) < static_cast<i64>(b) ? a : b)                                                     \
  X(median_i32, static_cast<u32>(__builtin_elementwise_max(                                                         \
                    __builtin_elementwise_min(static_cast<i32>(a), static_cast<i32>(b)),                            \
                    __builtin_elementwise_min(                                                                      \
                        __builtin_elementwise_max(static_cast<i32>(a), static_cast<i32>(b)), static_cast<i32>(c))))) \
  X(abs_i32, static_cast<i32>(a) < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a))                              \
  X(saturated_i32, static_cast<u32>(__builtin_elementwise_add_sat(static_cast<i32>(a), static_cast<i32>(b))))       \
  X(saturated_u32, __builtin_elementwise_sub_sat(static_cast<u32>(a), static_cast<u32>(b)))                         \
  X(saturated_i16, static_cast<u16>(__builtin_elementwise_add_sat(static_cast<i16>(a), static_cast<i16>(b))))       \
  X(saturated_u8, __builtin_elementwise_add_sat(static_cast<u8>(a), static_cast<u8>(b)))                            \
  X(bytes, static_cast<u8>(static_cast<u8>(a) * static_cast<u8>(b) + static_cast<u8>(c)))                           \
  X(halves, static_cast<u16>(static_cast<i16>(a) * static_cast<i16>(b) - static_cast<i16>(c)))                      \
  X(div_i16, static_cast<u16>(static_cast<i16>(a) / divisor(static_cast<i16>(b))))                                  \
  X(sar16, static_cast<u16>(static_cast<i16>(a) >> (b & 15u)))                                                      \
  X(extract_signed, static_cast<u32>(static_cast<i32>(static_cast<u32>(a) << (b & 15u)) >> (16u + (c & 15u))))      \
  X(extract, static_cast<u32>(a) >> (b & 15u) & ((1u << (c & 15u)) - 1u))                                           \
  X(insert, (static_cast<u32>(a) & static_cast<u32>(c)) | (static_cast<u32>(b) & ~static_cast<u32>(c)))             \
  X(three_xor, static_cast<u32>(a) ^ static_cast<u32>(b) ^ static_cast<u32>(c))                                     \
  X(and_or, (static_cast<u32>(a) & static_cast<u32>(b)) | static_cast<u32>(c))                                      \
  X(shift_add, (static_cast<u32>(a) << 3) + static_cast<u32>(b))                                                    \
  X(add_shift, (static_cast<u32>(a) + static_cast<u32>(b)) << (c & 31u))                                            \
  X(compares, (static_cast<i32>(a) < static_cast<i32>(b)) | (static_cast<u32>(a) < static_cast<u32>(b)) << 1 |      \
                  (static_cast<i64>(a) <= static_cast<i64>(b)) << 2 | (a >= b) << 3 | (a == b) << 4 |               \
                  (static_cast<u16>(a) != static_cast<u16>(c)) << 5 | (static_cast<i16>(a) > static_cast<i16>(b)) << 6) \
  X(differences, static_cast<u32>(__builtin_abs(static_cast<i32>(static_cast<u8>(a)) - static_cast<u8>(b)) +        \
                                  __builtin_abs(static_cast<i32>(static_cast<u8>(a >> 8)) - static_cast<u8>(b >> 8)))) \
  X(divisors, greatest_divisor(static_cast<u32>(a), static_cast<u32>(b)))                                           \
  X(collatz, collatz_steps(static_cast<u32>(a) & 0xffffu, 200))                                                     \
  X(machine, small_machine(a, b, static_cast<u32>(c)))                                                              \
  X(sorting, sorted_nibbles(a))                                                                                     \
  X(crc, crc_of(a))                                                                                                 \
  X(loops, nested_loops(static_cast<u32>(a), static_cast<u32>(b)))

#define FLOAT_OPERATIONS(X)                                                                                         \
  X(f32_add, word(as_f32(a) + as_f32(b)))                                                                           \
  X(f32_sub, word(as_f32(a) - as_f32(b)))                                                                           \
  X(f32_mul, word(as_f32(a) * as_f32(b)))                                                                           \
  X(f32_div, word(as_f32(a) / as_f32(b)))                                                                           \
  X(f32_sqrt, word(__builtin_sqrtf(as_f32(a))))                                                                     \
  X(f32_fma, word(__builtin_fmaf(as_f32(a), as_f32(b), as_f32(c))))                                                 \
  X(f32_min, word(quiet32(a) == quiet32(b) ? quiet32(a) : __builtin_fminf(quiet32(a), quiet32(b))))                 \
  X(f32_max, word(quiet32(a) == quiet32(b) ? quiet32(a) : __builtin_fmaxf(quiet32(a), quiet32(b))))                 \
  X(f32_floor, word(__builtin_floorf(as_f32(a))))                                                                   \
  X(f32_ceil, word(__builtin_ceilf(as_f32(a))))                                                                     \
  X(f32_trunc, word(__builtin_truncf(as_f32(a))))                                                                   \
  X(f32_rint, word(__builtin_rintf(as_f32(a))))                                                                     \
  X(f32_round, word(__builtin_roundf(as_f32(a))))                                                                   \
  X(f32_signs, word(__builtin_copysignf(-as_f32(a), as_f32(b)) + __builtin_fabsf(as_f32(c))))                       \
  X(f32_scale, word(__builtin_ldexpf(as_f32(a), static_cast<i32>(b % 601u) - 300)))                                 \
  X(f32_compares, (as_f32(a) < as_f32(b)) | (as_f32(a) <= as_f32(b)) << 1 | (as_f32(a) == as_f32(b)) << 2 |         \
                      (as_f32(a) != as_f32(b)) << 3 | !(as_f32(a) >= as_f32(b)) << 4 |                              \
                      __builtin_isunordered(as_f32(a), as_f32(b)) << 5 | __builtin_isinf(as_f32(a)) << 6 |          \
                      __builtin_isnormal(as_f32(b)) << 7)                                                           \
  X(f32_from_i32, word(static_cast<float>(static_cast<i32>(a))))                                                    \
  X(f32_from_u32, word(static_cast<float>(static_cast<u32>(a))))                                                    \
  X(f32_from_i64, word(static_cast<float>(static_cast<i64>(a))))                                                    \
  X(f32_from_u64, word(static_cast<float>(a)))                                                                      \
  X(f32_from_u8, word(static_cast<float>(static_cast<u8>(a >> 8)) + static_cast<float>(static_cast<u8>(a >> 24))))  \
  X(f32_to_i32, static_cast<u32>(static_cast<i32>(within(as_f32(a), -2147483648.0f, 2147483520.0f))))               \
  X(f32_to_u32, static_cast<u32>(within(as_f32(a), 0.0f, 4294967040.0f)))                                           \
  X(f32_to_i64, static_cast<u64>(static_cast<i64>(within(as_f32(a), -0x1p63f, 0x1.fffffep62f))))                    \
  X(f32_to_u64, static_cast<u64>(within(as_f32(a), 0.0f, 0x1.fffffep63f)))                                          \
  X(f64_add, word(as_f64(a) + as_f64(b)))                                                                           \
  X(f64_mul, word(as_f64(a) * as_f64(b)))                                                                           \
  X(f64_div, word(as_f64(a) / as_f64(b)))                                                                           \
  X(f64_sqrt, word(__builtin_sqrt(as_f64(a))))                                                                      \
  X(f64_fma, word(__builtin_fma(as_f64(a), as_f64(b), as_f64(c))))                                                  \
  X(f64_min, word(quiet64(a) == quiet64(b) ? quiet64(a) : __builtin_fmin(quiet64(a), quiet64(b))))                  \
  X(f64_floor, word(__builtin_floor(as_f64(a))))                                                                    \
  X(f64_rint, word(__builtin_rint(as_f64(a))))                                                                      \
  X(f64_trunc, word(__builtin_trunc(as_f64(a))))                                                                    \
  X(f64_scale, word(__builtin_ldexp(as_f64(a), static_cast<i32>(b % 4001u) - 2000)))                                \
  X(f64_compares, (as_f64(a) < as_f64(b)) | (as_f64(a) <= as_f64(b)) << 1 | (as_f64(a) == as_f64(b)) << 2 |         \
                      !(as_f64(a) > as_f64(b)) << 3)                                                                \
  X(f64_from_f32, word(static_cast<double>(as_f32(a))))                                                             \
  X(f64_to_f32, word(static_cast<float>(as_f64(a))))                                                                \
  X(f64_from_i32, word(static_cast<double>(static_cast<i32>(a))))                                                   \
  X(f64_from_i64, word(static_cast<double>(static_cast<i64>(a))))                                                   \
  X(f64_from_u64, word(static_cast<double>(a)))                                                                     \
  X(f64_to_i32, static_cast<u32>(static_cast<i32>(within(as_f64(a), -2147483648.0, 2147483647.0))))                 \
  X(f64_to_i64, static_cast<u64>(static_cast<i64>(within(as_f64(a), -0x1p63, 0x1.fffffffffffffp62))))               \
  X(f64_to_u64, static_cast<u64>(within(as_f64(a), 0.0, 0x1.fffffffffffffp63)))                                     \
  X(f16_add, word(static_cast<_Float16>(as_f16(a) + as_f16(b))))                                                    \
  X(f16_mul, word(static_cast<_Float16>(as_f16(a) * as_f16(b))))                                                    \
  X(f16_compare, (as_f16(a) < as_f16(b)) | (as_f16(a) == as_f16(b)) << 1)                                           \
  X(f16_to_f32, word(static_cast<float>(as_f16(a))))                                                                \
  X(f16_from_f32, word(static_cast<_Float16>(as_f32(a))))                                                           \
  X(f16_from_i16, word(static_cast<_Float16>(static_cast<i16>(a))))                                                 \
  X(bf16_to_f32, word(static_cast<float>(as_bf16(a))))                                                              \
  X(bf16_from_f32, to_bf16(as_f32(a)))                                                                             \
  X(polynomial, word(((as_f32(a) * 0.5f + as_f32(b)) * as_f32(a) + as_f32(c)) * as_f32(a)))
