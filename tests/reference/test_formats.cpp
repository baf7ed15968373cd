// E4M3 and bf16 against values built another way: codes counted upwards by their step, and the specification's
// landmarks.
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "catch.h"
#include "reference/bf16.h"
#include "reference/fp8.h"

using namespace mlaforge::reference;

namespace {

/// The 127 non-negative values in the order of their codes. Codes of one sign are consecutive: each value is the last
/// plus a step, which is 2^-9 up to code 16 and doubles with every eighth code after it.
std::vector<double> counted_values() {
  std::vector<double> values = {0.0};
  double step = 1.0 / 512;
  for (int code = 1; code <= 126; ++code) {
    if (code > 16 && code % 8 == 1) {
      step *= 2;
    }
    values.push_back(values.back() + step);
  }
  return values;
}

}  // namespace

TEST_CASE("all 256 E4M3 bytes decode to the counted values") {
  const std::vector<double> values = counted_values();
  for (int code = 0; code <= 126; ++code) {
    INFO(code);
    CHECK(decode_e4m3(static_cast<uint8_t>(code)) == values[static_cast<size_t>(code)]);
    CHECK(decode_e4m3(static_cast<uint8_t>(code | 0x80)) == -values[static_cast<size_t>(code)]);
  }
  CHECK(std::isnan(decode_e4m3(0x7f)));
  CHECK(std::isnan(decode_e4m3(0xff)));
  CHECK(std::signbit(decode_e4m3(0x80)));
}

TEST_CASE("E4M3's landmarks are the OCP specification's") {
  CHECK(decode_e4m3(0x7e) == 448.0);
  CHECK(decode_e4m3(0x08) == 0.015625);     // smallest normal, 2^-6
  CHECK(decode_e4m3(0x07) == 0.013671875);  // largest subnormal, 0.875 x 2^-6
  CHECK(decode_e4m3(0x01) == 0.001953125);  // smallest subnormal, 2^-9
  CHECK(decode_e4m3(0x38) == 1.0);
}

TEST_CASE("E4M3 encoding is the inverse, and the nearest code with ties to even") {
  const std::vector<double> values = counted_values();
  for (size_t code = 0; code <= 126; ++code) {
    CHECK(encode_e4m3(values[code]) == code);
    CHECK(encode_e4m3(-values[code]) == (code | 0x80));
    if (code == 126) {
      break;
    }
    const double middle = (values[code] + values[code + 1]) / 2;
    INFO(middle);
    CHECK(encode_e4m3(middle) == (code % 2 == 0 ? code : code + 1));
    CHECK(encode_e4m3(std::nextafter(middle, 0.0)) == code);
    CHECK(encode_e4m3(std::nextafter(middle, 1000.0)) == code + 1);
  }
  CHECK(encode_e4m3(1e30) == 0x7e);
  CHECK(encode_e4m3(-std::numeric_limits<double>::infinity()) == 0xfe);
  CHECK(encode_e4m3(std::numeric_limits<double>::quiet_NaN()) == 0x7f);
  CHECK(encode_e4m3(-1e-300) == 0x80);
}

TEST_CASE("bf16: all finite values survive, and rounding is to nearest even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = decode_bf16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      CHECK(std::isnan(decode_bf16(encode_bf16(value))));
    } else if (encode_bf16(value) != bits) {
      FAIL(bits);
    }
  }
  CHECK(encode_bf16(1.0F) == 0x3f80);
  CHECK(encode_bf16(1.00390625F) == 0x3f80);  // 1 + 2^-8: a tie, down to even
  CHECK(encode_bf16(1.01171875F) == 0x3f82);  // 1 + 3 x 2^-8: a tie, up to even
  CHECK(encode_bf16(std::nextafter(1.00390625F, 2.0F)) == 0x3f81);
  CHECK(encode_bf16(3.4e38F) == 0x7f80);   // beyond the largest: infinity
  CHECK(encode_bf16(3.38e38F) == 0x7f7e);  // 3.38e38 / 2^120 = 254.28: the 254th of 255
}
