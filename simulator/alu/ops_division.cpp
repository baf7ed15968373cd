// The steps of the compiler's exact division: div_scale, div_fmas, div_fixup.
//
// The ISA's text of V_DIV_SCALE scales a huge denominator up when the quotient is denormal, which would overflow it;
// it is scaled down here, and V_DIV_FMAS undoes whichever direction the quotient's size shows. The test is that the
// compiler's whole sequence is correctly rounded.
#include <cmath>
#include <limits>

#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

template <class T>
struct Division;
template <>
struct Division<float> {
  static constexpr int scale = 64;  // powers of two that operands are moved by
  static constexpr int far_exponents = 96;
  static constexpr int tiny_exponent = 23;
  static constexpr int one = 127;  // biased exponent of 1
  static constexpr int underflow = -150;
};
template <>
struct Division<double> {
  static constexpr int scale = 128;
  static constexpr int far_exponents = 768;
  static constexpr int tiny_exponent = 53;
  static constexpr int one = 1023;
  static constexpr int underflow = -1075;
};

template <class T>
struct Scaled {
  T value;
  bool flag;
};

// a: the operand to scale (denominator or numerator); b: denominator; c: numerator.
template <class T>
Scaled<T> div_scale(T a, T b, T c) {
  using D = Division<T>;
  if (b == T{0} || c == T{0}) return {std::numeric_limits<T>::quiet_NaN(), false};
  const int gap = biased_exponent(c) - biased_exponent(b);
  const bool is_denominator = a == b;
  const bool is_numerator = a == c;
  if (gap >= D::far_exponents) return {is_denominator ? std::ldexp(a, D::scale) : a, true};
  if (is_denormal(b)) return {std::ldexp(a, D::scale), false};
  const bool small_reciprocal = is_denormal(T{1} / b);
  const bool small_quotient = is_denormal(c / b);
  if (small_reciprocal && small_quotient) return {is_denominator ? std::ldexp(a, -D::scale) : a, true};
  if (small_reciprocal) return {std::ldexp(a, -D::scale), false};
  if (small_quotient) return {is_numerator ? std::ldexp(a, D::scale) : a, true};
  if (biased_exponent(c) <= D::tiny_exponent) return {std::ldexp(a, D::scale), false};
  return {a, false};
}

// fma(a, b, c) * 2^power with one rounding.
float scaled_fma(float a, float b, float c, int power) {
  const double sum = sum_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
  return static_cast<float>(std::ldexp(sum, power));
}

// Error of nearest = fma(a, b, c), of which only sign and zero are used (Boldo and Muller).
double fma_error(double a, double b, double c, double nearest) {
  const double product = a * b;
  const double product_error = std::fma(a, b, -product);
  const double low = c + product_error;
  const double low_part = low - c;
  const double low_error = (c - (low - low_part)) + (product_error - low_part);
  const double high = product + low;
  const double high_part = high - product;
  const double high_error = (product - (high - high_part)) + (low - high_part);
  return ((high - nearest) + high_error) + low_error;
}

double scaled_fma(double a, double b, double c, int power) {
  const double nearest = std::fma(a, b, c);
  if (!std::isfinite(nearest) || nearest == 0) return std::ldexp(nearest, power);
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(nearest), &exponent);
  const int dropped = -1074 - (exponent - 53 + power);  // bits lost in a denormal result
  if (dropped <= 0 || dropped > 54) return std::ldexp(nearest, power);
  // Round the 53-bit integer once, the error of the fma deciding where the dropped bits are exactly half.
  const auto bits = static_cast<uint64_t>(std::ldexp(mantissa, 53));
  const uint64_t half = uint64_t{1} << (dropped - 1);
  const uint64_t rest = bits & (2 * half - 1);
  uint64_t kept = bits >> dropped;
  const double error = fma_error(a, b, c, nearest) * (nearest < 0 ? -1.0 : 1.0);
  const bool up = rest > half || (rest == half && (error > 0 || (error == 0 && (kept & 1) != 0)));
  kept += up ? 1u : 0u;
  return std::copysign(std::ldexp(static_cast<double>(kept), -1074), nearest);
}

template <class T>
T div_fmas(T a, T b, T c, bool scaled) {
  if (!scaled) return std::fma(a, b, c);
  const int power = biased_exponent(c) > Division<T>::one ? Division<T>::scale : -Division<T>::scale;
  return scaled_fma(a, b, c, power);
}

// a: the quotient so far; b: denominator; c: numerator.
template <class T>
T div_fixup(T a, T b, T c) {
  const bool negative = std::signbit(b) != std::signbit(c);
  const auto signed_of = [&](T magnitude) { return negative ? -magnitude : magnitude; };
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (is_nan(c)) return quiet(c);
  if (is_nan(b)) return quiet(b);
  if ((b == T{0} && c == T{0}) || (std::isinf(b) && std::isinf(c))) return -std::numeric_limits<T>::quiet_NaN();
  if (b == T{0} || std::isinf(c)) return signed_of(infinity);
  if (std::isinf(b) || c == T{0}) return signed_of(T{0});
  if (biased_exponent(c) - biased_exponent(b) < Division<T>::underflow) return signed_of(T{0});
  // A quotient beyond 2^192 (2^1152 for f64) overflows inside the sequence and leaves a NaN: the ISA's OVERFLOW case.
  if (is_nan(a)) return signed_of(infinity);
  return signed_of(std::fabs(a));
}

template <class T>
void run_div_scale(Wave& wave, const Instruction& instruction) {
  constexpr Kind kind = detail::kind_of<T>();
  Row lo[3], hi[3], out_lo, out_hi, flags;
  Source sources[3];
  for (int i = 0; i < 3; ++i)
    sources[i] = fetch(wave, instruction, instruction.operands[static_cast<size_t>(i + 2)], i, kind, lo[i], hi[i]);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const Scaled<T> result = div_scale(detail::load<T>(sources[0], lane), detail::load<T>(sources[1], lane),
                                       detail::load<T>(sources[2], lane));
    detail::store<T, true>(out_lo.lane, out_hi.lane, lane, result.value);
    flags.lane[lane] = result.flag ? 1 : 0;
  }
  const uint64_t mask = pack_mask(flags.lane) & wave.exec();
  finish(wave, instruction, kind, out_lo, out_hi, 3);
  set_scalar64(wave, instruction.operands[1], mask);
}

template <class T>
void run_div_fmas(Wave& wave, const Instruction& instruction) {
  constexpr Kind kind = detail::kind_of<T>();
  Row lo[3], hi[3], out_lo, out_hi;
  Source sources[3];
  for (int i = 0; i < 3; ++i)
    sources[i] = fetch(wave, instruction, instruction.operands[static_cast<size_t>(i + 1)], i, kind, lo[i], hi[i]);
  {
    const HostRounding rounding(wave.mode, kind);
    for (int lane = 0; lane < wave_lanes; ++lane)
      detail::store<T, true>(out_lo.lane, out_hi.lane, lane,
                             div_fmas(detail::load<T>(sources[0], lane), detail::load<T>(sources[1], lane),
                                      detail::load<T>(sources[2], lane), (wave.vcc() >> lane & 1) != 0));
  }
  finish(wave, instruction, kind, out_lo, out_hi, 3);
}

constexpr OpEntry kOps[] = {
    {"v_div_scale_f32", run_div_scale<float>},
    {"v_div_scale_f64", run_div_scale<double>},
    {"v_div_fmas_f32", run_div_fmas<float>},
    {"v_div_fmas_f64", run_div_fmas<double>},
    op<[](float a, float b, float c) { return div_fixup(a, b, c); }, float, float, float, float>("v_div_fixup_f32"),
    op<[](double a, double b, double c) { return div_fixup(a, b, c); }, double, double, double, double>(
        "v_div_fixup_f64"),
};

}  // namespace

std::span<const OpEntry> division_ops() { return kOps; }

}  // namespace mlaforge::simulator
