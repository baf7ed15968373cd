// f16 instructions, and f32 and f64 ones that no other test runs, against the host's arithmetic in double.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "tests/simulator/alu/wave_runner.h"

using namespace mlaforge::simulator;
using namespace mlaforge::simulator::test;

namespace {

using Half = _Float16;

double number(uint32_t code) { return static_cast<double>(std::bit_cast<Half>(static_cast<uint16_t>(code))); }
uint16_t half(double value) { return std::bit_cast<uint16_t>(static_cast<Half>(value)); }
bool is_nan(uint32_t code) { return (code & 0x7fff) > 0x7c00; }

/// 0, the smallest and largest, ties of the rounding functions, infinities, a NaN; then a mixture.
const std::vector<uint16_t>& halves() {
  static const std::vector<uint16_t> values = [] {
    std::vector<uint16_t> all{0,      0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3800, 0xb800, 0x3e00, 0xbe00, 0x4100,
                              0xc100, 0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
    uint32_t state = 7;
    while (all.size() < 64) {
      state = state * 1664525 + 1013904223;
      all.push_back(static_cast<uint16_t>(state >> 16));
    }
    return all;
  }();
  return values;
}

/// Runs `text` with v1 = the halves, v2 and v3 the same rotated; the high halves of the sources hold rubbish.
std::vector<uint16_t> run(const std::string& text, int turn) {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    for (int reg = 1; reg <= 3; ++reg) {
      wave.v(reg, lane) = 0xabcd0000u | halves()[static_cast<size_t>(lane * reg + turn * (reg - 1)) % 64];
    }
    wave.v(0, lane) = halves()[static_cast<size_t>(lane + 3 * turn) % 64];
  }
  wave.run(text);
  std::vector<uint16_t> results;
  for (int lane = 0; lane < 64; ++lane) results.push_back(static_cast<uint16_t>(wave.v(0, lane)));
  return results;
}

using Formula = std::function<double(double a, double b, double c, double old)>;

/// `units`: of f16's last place that the result may be off; a NaN must come out as one.
void check(const std::string& text, const Formula& formula, int units = 0) {
  for (int turn = 0; turn < 8; ++turn) {
    const auto results = run(text, turn);
    for (int lane = 0; lane < 64; ++lane) {
      const auto operand = [&](int reg) {
        return number(halves()[static_cast<size_t>(lane * reg + turn * (reg - 1)) % 64]);
      };
      const double old = number(halves()[static_cast<size_t>(lane + 3 * turn) % 64]);
      const uint16_t expected = half(formula(operand(1), operand(2), operand(3), old));
      const uint16_t got = results[static_cast<size_t>(lane)];
      CAPTURE(text, operand(1), operand(2), operand(3), old, number(got), number(expected));
      if (is_nan(expected)) {
        CHECK(is_nan(got));
      } else {
        CHECK((got & 0x8000) == (expected & 0x8000));
        CHECK(std::abs((got & 0x7fff) - (expected & 0x7fff)) <= units);
      }
    }
  }
}

double quiet_min(double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
double quiet_max(double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

}  // namespace

TEST_CASE("f16 roundings and parts") {
  check("v_ceil_f16 v0, v1", [](double a, double, double, double) { return std::ceil(a); });
  check("v_floor_f16 v0, v1", [](double a, double, double, double) { return std::floor(a); });
  check("v_trunc_f16 v0, v1", [](double a, double, double, double) { return std::trunc(a); });
  check("v_rndne_f16 v0, v1", [](double a, double, double, double) { return std::nearbyint(a); });
  check("v_frexp_mant_f16 v0, v1", [](double a, double, double, double) {
    int exponent = 0;
    return std::isfinite(a) ? std::frexp(a, &exponent) : a;
  });
  const auto exponents = run("v_frexp_exp_i16_f16 v0, v1", 0);
  for (size_t lane = 0; lane < 64; ++lane) {
    const double a = number(halves()[lane]);
    int exponent = 0;
    if (std::isfinite(a)) std::frexp(a, &exponent);
    CAPTURE(a);
    CHECK(static_cast<int16_t>(exponents[lane]) == exponent);
  }
  check("v_fract_f16 v0, v1", [](double a, double, double, double) {
    // Below 1 always: the largest number under it for tiny negative ones.
    return !std::isfinite(a) ? NAN : std::fmin(static_cast<double>(static_cast<Half>(a - std::floor(a))), 1 - 0x1p-11);
  });
}

TEST_CASE("f16 transcendentals, within a unit of the last place") {
  constexpr double turn = 6.283185307179586;
  check("v_exp_f16 v0, v1", [](double a, double, double, double) { return std::exp2(a); }, 1);
  check("v_log_f16 v0, v1", [](double a, double, double, double) { return std::log2(a); }, 1);
  check("v_rsq_f16 v0, v1", [](double a, double, double, double) { return 1 / std::sqrt(a); }, 1);
  for (const bool sine : {true, false}) {
    const auto results = run(sine ? "v_sin_f16 v0, v1" : "v_cos_f16 v0, v1", 0);
    for (size_t lane = 0; lane < 64; ++lane) {
      const double a = number(halves()[lane]);
      CAPTURE(a, sine);
      if (!std::isfinite(a)) {
        CHECK(is_nan(results[lane]));
      } else if (std::fabs(a) <= 256) {
        CHECK(std::fabs(number(results[lane]) - (sine ? std::sin(a * turn) : std::cos(a * turn))) < 0x1p-10);
      }
    }
  }
}

TEST_CASE("f16 arithmetic of two and three operands") {
  check("v_sub_f16 v0, v1, v2", [](double a, double b, double, double) { return a - b; });
  check("v_subrev_f16 v0, v1, v2", [](double a, double b, double, double) { return b - a; });
  check("v_min_f16 v0, v1, v2", [](double a, double b, double, double) { return quiet_min(a, b); });
  check("v_max3_f16 v0, v1, v2, v3",
        [](double a, double b, double c, double) { return quiet_max(quiet_max(a, b), c); });
  check("v_min3_f16 v0, v1, v2, v3",
        [](double a, double b, double c, double) { return quiet_min(quiet_min(a, b), c); });
  check("v_med3_f16 v0, v1, v2, v3", [](double a, double b, double c, double) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return quiet_min(quiet_min(a, b), c);
    return quiet_max(quiet_min(a, b), quiet_min(quiet_max(a, b), c));
  });
  check("v_fma_legacy_f16 v0, v1, v2, v3", [](double a, double b, double c, double) { return std::fma(a, b, c); });
}

TEST_CASE("f16 multiply-adds that round the product, and by a constant") {
  const auto product_rounded = [](double a, double b, double c) {
    return static_cast<double>(static_cast<Half>(a * b)) + c;
  };
  check("v_mad_legacy_f16 v0, v1, v2, v3",
        [&](double a, double b, double c, double) { return product_rounded(a, b, c); });
  check("v_mac_f16 v0, v1, v2", [&](double a, double b, double, double old) { return product_rounded(a, b, old); });
  check("v_madak_f16 v0, v1, v2, 0x4200", [&](double a, double b, double, double) { return product_rounded(a, b, 3); });
  check("v_madmk_f16 v0, v1, 0x4200, v2", [&](double a, double b, double, double) { return product_rounded(a, 3, b); });
}

TEST_CASE("f16 quotients are fixed up") {
  for (const std::string name : {"v_div_fixup_f16", "v_div_fixup_legacy_f16"}) {
    // Quotient, denominator, numerator.
    check(name + " v0, v1, v2, v3", [](double q, double d, double n, double) {
      const bool negative = std::signbit(d) != std::signbit(n);
      if (std::isnan(d) || std::isnan(n)) return static_cast<double>(NAN);
      if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n))) return static_cast<double>(NAN);
      const double magnitude = d == 0 || std::isinf(n) ? INFINITY : std::isinf(d) || n == 0 ? 0.0 : std::fabs(q);
      return negative ? -magnitude : magnitude;
    });
  }
}

TEST_CASE("packed f16: each half by itself, NaN as each asks") {
  for (int turn = 0; turn < 8; ++turn) {
    const auto pair = [&](int reg, int lane) {
      const auto at = static_cast<size_t>(lane * reg + turn * reg);
      return uint32_t{halves()[at % 64]} | uint32_t{halves()[(at + 29) % 64]} << 16;
    };
    WaveRunner wave;
    for (int lane = 0; lane < 64; ++lane) {
      for (int reg = 1; reg <= 4; ++reg) wave.v(reg, lane) = pair(reg, lane);
    }
    wave.run(
        "v_pk_min_f16 v10, v1, v2\nv_pk_maximum3_f16 v11, v1, v2, v3\nv_pk_minimum3_f16 v12, v1, v2, v3\n"
        "v_pk_fmac_f16 v4, v1, v2");
    for (int lane = 0; lane < 64; ++lane) {
      for (const int shift : {0, 16}) {
        const auto of = [&](uint32_t word) { return number(word >> shift & 0xffff); };
        const double a = of(pair(1, lane)), b = of(pair(2, lane)), c = of(pair(3, lane)), d = of(pair(4, lane));
        const auto same = [&](int reg, double expected) {
          const uint32_t got = wave.v(reg, lane) >> shift & 0xffff;
          CAPTURE(reg, a, b, c, d, number(got), expected);
          CHECK((std::isnan(expected) ? is_nan(got) : got == half(expected)));
        };
        const bool nan = std::isnan(a) || std::isnan(b) || std::isnan(c);
        same(10, quiet_min(a, b));
        same(11, nan ? NAN : quiet_max(quiet_max(a, b), c));
        same(12, nan ? NAN : quiet_min(quiet_min(a, b), c));
        same(4, std::fma(a, b, d));
      }
    }
  }
}

TEST_CASE("f64 roundings, minimum and fused multiply-add") {
  const std::vector<double> values{0.0,  -0.0, 0.5,      -0.5,      1.5,          -2.5,      1e300,   -1e-300,
                                   3.25, -7.0, INFINITY, -INFINITY, 0x1p52 + 0.5, 0x1p-1074, 123.456, -0.999};
  for (size_t turn = 0; turn < values.size(); ++turn) {
    WaveRunner wave;
    std::vector<double> rotated;
    for (size_t n = 0; n < values.size(); ++n) rotated.push_back(values[(n + turn) % values.size()]);
    wave.set_lanes(2, values);
    wave.set_lanes(4, rotated);
    wave.set_lanes(14, rotated);
    wave.run(
        "v_ceil_f64 v[6:7], v[2:3]\nv_trunc_f64 v[8:9], v[2:3]\nv_fract_f64 v[10:11], v[2:3]\n"
        "v_min_f64 v[12:13], v[2:3], v[4:5]\nv_fmac_f64 v[14:15], v[2:3], v[4:5]\nv_rsq_f64 v[16:17], v[2:3]\n"
        "v_mov_b64 v[18:19], v[2:3]");
    for (int lane = 0; lane < 16; ++lane) {
      const double a = values[static_cast<size_t>(lane)], b = rotated[static_cast<size_t>(lane)];
      CAPTURE(a, b);
      const auto same = [&](int reg, double expected) {
        const double got = wave.f64(reg, lane);
        CAPTURE(reg, got, expected);
        CHECK((std::isnan(expected) ? std::isnan(got)
                                    : std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(expected)));
      };
      same(6, std::ceil(a));
      same(8, std::trunc(a));
      if (std::isfinite(a)) same(10, std::fmin(a - std::floor(a), 1 - 0x1p-53));
      same(12, quiet_min(a, b));
      same(14, std::fma(a, b, b));
      same(18, a);
      const double root = 1 / std::sqrt(a);
      // The chip starts an iteration by it: 2^29 units of the last place are allowed.
      if (std::isfinite(root) && root != 0) {
        CHECK(std::fabs(wave.f64(16, lane) / root - 1) < 0x1p-23);
      } else {
        same(16, root);
      }
    }
  }
}

TEST_CASE("f32: cosine, legacy exponential, logarithm and product") {
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(1, lane) = std::bit_cast<uint32_t>(static_cast<float>(lane - 32) / 8);
    wave.v(2, lane) = lane % 2 == 0 ? 0x7f800000 : std::bit_cast<uint32_t>(static_cast<float>(lane + 1));
  }
  wave.run("v_cos_f32 v10, v1\nv_exp_legacy_f32 v11, v1\nv_log_legacy_f32 v12, v2\nv_mul_legacy_f32 v13, v1, v2");
  for (int lane = 0; lane < 64; ++lane) {
    const double a = (lane - 32) / 8.0, b = lane % 2 == 0 ? INFINITY : lane + 1.0;
    CAPTURE(a, b);
    CHECK(std::fabs(static_cast<double>(wave.f32(10, lane)) - std::cos(a * 6.283185307179586)) < 0x1p-20);
    CHECK(std::fabs(static_cast<double>(wave.f32(11, lane)) / std::exp2(a) - 1) < 0x1p-22);
    if (std::isfinite(b)) {
      CHECK(std::fabs(static_cast<double>(wave.f32(12, lane)) - std::log2(b)) < 0x1p-20);
    } else {
      CHECK(std::isinf(wave.f32(12, lane)));
    }
    CHECK(wave.f32(13, lane) == (a == 0 ? 0.0f : static_cast<float>(a * b)));  // 0 times infinity is 0
  }
}

TEST_CASE("cube maps: face, coordinates and twice the major axis") {
  struct Direction {
    float x, y, z, face, s, t, axis;
  };
  // The largest component is the face's; s and t by the table of cube maps (ISA, V_CUBE*).
  const std::vector<Direction> directions{
      {3, 1, 2, 0, -2, -1, 6}, {-3, 1, 2, 1, 2, -1, -6},  {1, 3, 2, 2, 1, 2, 6}, {1, -3, 2, 3, 1, -2, -6},
      {1, 2, 3, 4, 1, -2, 6},  {1, 2, -3, 5, -1, -2, -6}, {2, 2, 1, 2, 2, 1, 4}, {2, 1, 2, 4, 2, -1, 4},
  };
  WaveRunner wave;
  for (int lane = 0; lane < 64; ++lane) {
    const Direction& d = directions[static_cast<size_t>(lane) % directions.size()];
    wave.v(1, lane) = std::bit_cast<uint32_t>(d.x);
    wave.v(2, lane) = std::bit_cast<uint32_t>(d.y);
    wave.v(3, lane) = std::bit_cast<uint32_t>(d.z);
  }
  wave.run(
      "v_cubeid_f32 v10, v1, v2, v3\nv_cubesc_f32 v11, v1, v2, v3\nv_cubetc_f32 v12, v1, v2, v3\n"
      "v_cubema_f32 v13, v1, v2, v3");
  for (int lane = 0; lane < 64; ++lane) {
    const Direction& d = directions[static_cast<size_t>(lane) % directions.size()];
    CAPTURE(d.x, d.y, d.z);
    CHECK(wave.f32(10, lane) == d.face);
    CHECK(wave.f32(11, lane) == d.s);
    CHECK(wave.f32(12, lane) == d.t);
    CHECK(wave.f32(13, lane) == d.axis);
  }
}
