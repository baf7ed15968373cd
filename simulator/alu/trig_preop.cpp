// v_trig_preop_f64: segments of 2/pi for the range reduction of sin and cos.
#include <array>

#include "simulator/alu/float_math.h"
#include "simulator/alu/transcendental.h"

namespace mlaforge::simulator {
namespace {

// The first 1,201 bits behind the binary point of 2/pi, most significant first, zero filled. (The ISA's constant has
// exactly 1,201 bits.)
constexpr std::array<uint64_t, 19> kTwoOverPi{
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};
constexpr int kTwoOverPiBits = 1201;

uint64_t bit_at(int index) {  // 0 is the most significant
  if (index < 0 || index >= kTwoOverPiBits) return 0;
  return kTwoOverPi[static_cast<size_t>(index / 64)] >> (63 - index % 64) & 1;
}

}  // namespace

double trig_preop(double x, uint32_t segment) {
  int shift = static_cast<int>(segment & 31) * 53;
  const int exponent = biased_exponent(x);
  if (exponent > 1077) shift += exponent - 1077;
  // ((2/pi) << shift) mod 2^53 with 2/pi as a 1201-bit integer: the 53 bits that start `shift` bits in.
  uint64_t bits = 0;
  for (int i = 0; i < 53; ++i) bits = bits << 1 | bit_at(shift + i);
  int scale = -53 - shift;
  if (exponent >= 1968) scale += 128;
  return std::ldexp(static_cast<double>(bits), scale);
}

}  // namespace mlaforge::simulator
