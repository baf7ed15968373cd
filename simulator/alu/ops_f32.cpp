// f32 arithmetic and transcendentals.
#include <cmath>

#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"
#include "simulator/alu/transcendental.h"

namespace mlaforge::simulator {
namespace {

constexpr uint32_t kFlush = alu_detail::flush_denormals;

// DX9 rule: 0 times anything is 0.
float mul_legacy(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }

// Cube map face, coordinates and major axis (ISA V_CUBE*).
bool z_major(float x, float y, float z) { return std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y); }
bool y_major(float x, float y) { return std::fabs(y) >= std::fabs(x); }
float cube_id(float x, float y, float z) {
  if (z_major(x, y, z)) return z < 0 ? 5.0f : 4.0f;
  if (y_major(x, y)) return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
float cube_s(float x, float y, float z) {
  if (z_major(x, y, z)) return z < 0 ? -x : x;
  if (y_major(x, y)) return x;
  return x < 0 ? z : -z;
}
float cube_t(float x, float y, float z) {
  if (z_major(x, y, z)) return -y;
  if (y_major(x, y)) return y < 0 ? -z : z;
  return -y;
}
float cube_major(float x, float y, float z) { return 2 * (z_major(x, y, z) ? z : y_major(x, y) ? y : x); }

constexpr auto fma3 = [](float a, float b, float c) { return std::fma(a, b, c); };

constexpr OpEntry kOps[] = {
    op<[](float a, float b) { return a + b; }, float, float, float>("v_add_f32"),
    op<[](float a, float b) { return a - b; }, float, float, float>("v_sub_f32"),
    op<[](float a, float b) { return b - a; }, float, float, float>("v_subrev_f32"),
    op<[](float a, float b) { return a * b; }, float, float, float>("v_mul_f32"),
    op<[](float a, float b) { return mul_legacy(a, b); }, float, float, float>("v_mul_legacy_f32"),
    op<fma3, float, float, float, float>("v_fma_f32"),
    op<fma3, float, float, float, float>("v_fmac_f32"),
    op<fma3, float, float, float, float>("v_fmaak_f32"),
    op<fma3, float, float, float, float>("v_fmamk_f32"),

    op<[](FloatMode m, float a, float b) { return max_num(m.ieee, a, b); }, float, float, float>("v_max_f32"),
    op<[](FloatMode m, float a, float b) { return min_num(m.ieee, a, b); }, float, float, float>("v_min_f32"),
    op<[](FloatMode m, float a, float b, float c) { return max_num(m.ieee, max_num(m.ieee, a, b), c); }, float, float,
       float, float>("v_max3_f32"),
    op<[](FloatMode m, float a, float b, float c) { return min_num(m.ieee, min_num(m.ieee, a, b), c); }, float, float,
       float, float>("v_min3_f32"),
    op<[](FloatMode m, float a, float b, float c) { return med3(m.ieee, a, b, c); }, float, float, float, float>(
        "v_med3_f32"),
    op<[](float a, float b, float c) { return maximum(maximum(a, b), c); }, float, float, float, float>(
        "v_maximum3_f32"),
    op<[](float a, float b, float c) { return minimum(minimum(a, b), c); }, float, float, float, float>(
        "v_minimum3_f32"),

    op<[](float a) { return exp2_f32(a); }, float, float>("v_exp_f32", kFlush),
    op<[](float a) { return log2_f32(a); }, float, float>("v_log_f32", kFlush),
    op<[](float a) { return exp2_f32(a); }, float, float>("v_exp_legacy_f32", kFlush),
    op<[](float a) { return log2_f32(a); }, float, float>("v_log_legacy_f32", kFlush),
    op<[](float a) { return rcp_f32(a); }, float, float>("v_rcp_f32", kFlush),
    op<[](float a) { return rcp_f32(a); }, float, float>("v_rcp_iflag_f32", kFlush),
    op<[](float a) { return rsq_f32(a); }, float, float>("v_rsq_f32", kFlush),
    op<[](float a) { return sqrt_f32(a); }, float, float>("v_sqrt_f32", kFlush),
    op<[](float a) { return static_cast<float>(sin_revolutions(static_cast<double>(a))); }, float, float>("v_sin_f32",
                                                                                                          kFlush),
    op<[](float a) { return static_cast<float>(cos_revolutions(static_cast<double>(a))); }, float, float>("v_cos_f32",
                                                                                                          kFlush),

    op<[](float a) { return fract(a); }, float, float>("v_fract_f32"),
    op<[](float a) { return std::trunc(a); }, float, float>("v_trunc_f32"),
    op<[](float a) { return std::ceil(a); }, float, float>("v_ceil_f32"),
    op<[](float a) { return std::floor(a); }, float, float>("v_floor_f32"),
    op<[](float a) { return __builtin_roundevenf(a); }, float, float>("v_rndne_f32"),
    op<[](float a) { return frexp_mantissa(a); }, float, float>("v_frexp_mant_f32"),
    op<[](float a) { return frexp_exponent(a); }, int32_t, float>("v_frexp_exp_i32_f32"),
    op<[](float a, int32_t b) { return ldexp_f32(a, b); }, float, float, int32_t>("v_ldexp_f32"),

    op<[](float x, float y, float z) { return cube_id(x, y, z); }, float, float, float, float>("v_cubeid_f32"),
    op<[](float x, float y, float z) { return cube_s(x, y, z); }, float, float, float, float>("v_cubesc_f32"),
    op<[](float x, float y, float z) { return cube_t(x, y, z); }, float, float, float, float>("v_cubetc_f32"),
    op<[](float x, float y, float z) { return cube_major(x, y, z); }, float, float, float, float>("v_cubema_f32"),
};

}  // namespace

std::span<const OpEntry> f32_ops() { return kOps; }

}  // namespace mlaforge::simulator
