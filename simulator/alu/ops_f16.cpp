// f16 arithmetic: inputs as exact floats, one rounding to f16 at the end (float results are exact or rounded to odd).
#include <algorithm>
#include <cmath>

#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"
#include "simulator/alu/transcendental.h"

namespace mlaforge::simulator {
namespace {

constexpr uint32_t kKeep = alu_detail::preserve_high;

constexpr auto fma3 = [](float a, float b, float c) { return half_fma(a, b, c); };
// v_mad_f16 and v_mac_f16 round the product to f16 first.
constexpr auto mad3 = [](float a, float b, float c) { return half_add(f16_to_f32(f32_to_f16_nearest(a * b)), c); };
float odd(double value) { return float_to_odd(value); }
float frexp_mantissa_half(float x) { return frexp_mantissa(x); }

// div_fixup for a quotient already formed (ISA V_DIV_FIXUP_F16): a = quotient, b = denominator, c = numerator.
float div_fixup(float a, float b, float c) {
  const bool negative = std::signbit(b) != std::signbit(c);
  const float sign = negative ? -1.0f : 1.0f;
  if (is_nan(c)) return quiet(c);
  if (is_nan(b)) return quiet(b);
  if ((b == 0 && c == 0) || (std::isinf(b) && std::isinf(c))) return std::bit_cast<float>(0xffc00000u);
  if (b == 0 || std::isinf(c)) return sign * std::numeric_limits<float>::infinity();
  if (std::isinf(b) || c == 0) return sign * 0.0f;
  return negative ? -std::fabs(a) : std::fabs(a);
}

constexpr OpEntry kOps[] = {
    op<[](float a, float b) { return half_add(a, b); }, Half, Half, Half>("v_add_f16"),
    op<[](float a, float b) { return half_add(a, -b); }, Half, Half, Half>("v_sub_f16"),
    op<[](float a, float b) { return half_add(b, -a); }, Half, Half, Half>("v_subrev_f16"),
    op<[](float a, float b) { return a * b; }, Half, Half, Half>("v_mul_f16"),
    op<mad3, Half, Half, Half, Half>("v_mac_f16"),
    op<mad3, Half, Half, Half, Half>("v_madak_f16"),
    op<mad3, Half, Half, Half, Half>("v_madmk_f16"),
    op<mad3, Half, Half, Half, Half>("v_mad_f16", kKeep),
    op<mad3, Half, Half, Half, Half>("v_mad_legacy_f16"),
    op<fma3, Half, Half, Half, Half>("v_fma_f16", kKeep),
    op<fma3, Half, Half, Half, Half>("v_fma_legacy_f16"),
    op<[](float a, float b, float c) { return div_fixup(a, b, c); }, Half, Half, Half, Half>("v_div_fixup_f16", kKeep),
    op<[](float a, float b, float c) { return div_fixup(a, b, c); }, Half, Half, Half, Half>("v_div_fixup_legacy_f16"),

    op<[](FloatMode m, float a, float b) { return max_num(m.ieee, a, b); }, Half, Half, Half>("v_max_f16"),
    op<[](FloatMode m, float a, float b) { return min_num(m.ieee, a, b); }, Half, Half, Half>("v_min_f16"),
    op<[](FloatMode m, float a, float b, float c) { return max_num(m.ieee, max_num(m.ieee, a, b), c); }, Half, Half,
       Half, Half>("v_max3_f16", kKeep),
    op<[](FloatMode m, float a, float b, float c) { return min_num(m.ieee, min_num(m.ieee, a, b), c); }, Half, Half,
       Half, Half>("v_min3_f16", kKeep),
    op<[](FloatMode m, float a, float b, float c) { return med3(m.ieee, a, b, c); }, Half, Half, Half, Half>(
        "v_med3_f16", kKeep),

    op<[](float a) { return odd(1.0 / static_cast<double>(a)); }, Half, Half>("v_rcp_f16"),
    op<[](float a) { return odd(square_root(static_cast<double>(a))); }, Half, Half>("v_sqrt_f16"),
    op<[](float a) { return odd(1.0 / square_root(static_cast<double>(a))); }, Half, Half>("v_rsq_f16"),
    op<[](float a) { return exp2_f32(a); }, Half, Half>("v_exp_f16"),
    op<[](float a) { return log2_f32(a); }, Half, Half>("v_log_f16"),
    op<[](float a) { return odd(sin_revolutions(static_cast<double>(a))); }, Half, Half>("v_sin_f16"),
    op<[](float a) { return odd(cos_revolutions(static_cast<double>(a))); }, Half, Half>("v_cos_f16"),

    op<[](float a) { return std::min(fract(a), 0x1.ffcp-1f); }, Half, Half>("v_fract_f16"),
    op<[](float a) { return std::trunc(a); }, Half, Half>("v_trunc_f16"),
    op<[](float a) { return std::ceil(a); }, Half, Half>("v_ceil_f16"),
    op<[](float a) { return std::floor(a); }, Half, Half>("v_floor_f16"),
    op<[](float a) { return __builtin_roundevenf(a); }, Half, Half>("v_rndne_f16"),
    op<[](float a) { return frexp_mantissa_half(a); }, Half, Half>("v_frexp_mant_f16"),
    op<[](float a) { return static_cast<int16_t>(frexp_exponent(a)); }, int16_t, Half>("v_frexp_exp_i16_f16"),
    op<[](float a, int16_t b) { return ldexp_f32(a, b); }, Half, Half, int16_t>("v_ldexp_f16"),
};

}  // namespace

std::span<const OpEntry> f16_ops() { return kOps; }

}  // namespace mlaforge::simulator
