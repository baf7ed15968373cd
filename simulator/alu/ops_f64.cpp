// f64 arithmetic. v_rcp_f64 and v_rsq_f64 are approximations on hardware (refined by the compiler's sequences); here
// they are correctly rounded, which those sequences accept as well.
#include <cmath>

#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"
#include "simulator/alu/transcendental.h"

namespace mlaforge::simulator {
namespace {

constexpr auto fma3 = [](double a, double b, double c) { return std::fma(a, b, c); };

constexpr OpEntry kOps[] = {
    op<[](double a, double b) { return a + b; }, double, double, double>("v_add_f64"),
    op<[](double a, double b) { return a * b; }, double, double, double>("v_mul_f64"),
    op<fma3, double, double, double, double>("v_fma_f64"),
    op<fma3, double, double, double, double>("v_fmac_f64"),
    op<[](FloatMode m, double a, double b) { return max_num(m.ieee, a, b); }, double, double, double>("v_max_f64"),
    op<[](FloatMode m, double a, double b) { return min_num(m.ieee, a, b); }, double, double, double>("v_min_f64"),
    op<[](double a) { return 1.0 / a; }, double, double>("v_rcp_f64"),
    op<[](double a) { return 1.0 / square_root(a); }, double, double>("v_rsq_f64"),
    op<[](double a) { return square_root(a); }, double, double>("v_sqrt_f64"),
    op<[](double a) { return fract(a); }, double, double>("v_fract_f64"),
    op<[](double a) { return std::trunc(a); }, double, double>("v_trunc_f64"),
    op<[](double a) { return std::ceil(a); }, double, double>("v_ceil_f64"),
    op<[](double a) { return std::floor(a); }, double, double>("v_floor_f64"),
    op<[](double a) { return __builtin_roundeven(a); }, double, double>("v_rndne_f64"),
    op<[](double a) { return frexp_mantissa(a); }, double, double>("v_frexp_mant_f64"),
    op<[](double a) { return frexp_exponent(a); }, int32_t, double>("v_frexp_exp_i32_f64"),
    op<[](double a, int32_t b) { return std::ldexp(a, b); }, double, double, int32_t>("v_ldexp_f64"),
    op<[](double a, uint32_t b) { return trig_preop(a, b); }, double, double, uint32_t>("v_trig_preop_f64"),
};

}  // namespace

std::span<const OpEntry> f64_ops() { return kOps; }

}  // namespace mlaforge::simulator
