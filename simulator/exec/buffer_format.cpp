#include "simulator/exec/buffer_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "simulator/alu/formats.h"

namespace mlaforge::simulator {
namespace {

struct DataFormat {
  const char* name;
  std::array<uint8_t, 4> bits;
};
// By DFMT. The names count from the highest bit down.
constexpr std::array<DataFormat, 16> data_formats{{{"INVALID", {}},
                                                   {"8", {8}},
                                                   {"16", {16}},
                                                   {"8_8", {8, 8}},
                                                   {"32", {32}},
                                                   {"16_16", {16, 16}},
                                                   {"10_11_11", {11, 11, 10}},
                                                   {"11_11_10", {10, 11, 11}},
                                                   {"10_10_10_2", {2, 10, 10, 10}},
                                                   {"2_10_10_10", {10, 10, 10, 2}},
                                                   {"8_8_8_8", {8, 8, 8, 8}},
                                                   {"32_32", {32, 32}},
                                                   {"16_16_16_16", {16, 16, 16, 16}},
                                                   {"32_32_32", {32, 32, 32}},
                                                   {"32_32_32_32", {32, 32, 32, 32}},
                                                   {"RESERVED_15", {}}}};
constexpr std::array number_names{"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"};

// The floats of 10_11_11: no sign.
constexpr MiniFloat f11{5, 6, MiniFloat::Special::Ieee};
constexpr MiniFloat f10{5, 5, MiniFloat::Special::Ieee};

uint32_t mask_of(unsigned bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }
int32_t sign_extended(uint32_t code, unsigned bits) { return static_cast<int32_t>(code << (32 - bits)) >> (32 - bits); }
uint32_t float_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

unsigned first_bit(uint8_t data, unsigned channel) {
  unsigned bit = 0;
  for (unsigned c = 0; c < channel; ++c) bit += data_formats[data].bits[c];
  return bit;
}

uint32_t float_channel(uint32_t code, unsigned bits) {
  return float_bits(decode(bits == 16 ? kF16 : bits == 11 ? f11 : f10, code));
}

uint32_t float_code(double value, unsigned bits) {
  if (bits == 16) return encode(kF16, value);
  if (std::isnan(value)) return bits == 11 ? f11.nan() : f10.nan();
  return encode(bits == 11 ? f11 : f10, std::max(value, 0.0)) & mask_of(bits);
}

}  // namespace

std::array<uint8_t, 4> channel_bits(uint8_t data) { return data_formats[data].bits; }

unsigned channel_count(uint8_t data) {
  const auto& bits = data_formats[data].bits;
  return static_cast<unsigned>(std::count_if(bits.begin(), bits.end(), [](uint8_t b) { return b != 0; }));
}

uint32_t format_bytes(uint8_t data) { return first_bit(data, 4) / 8; }

std::string format_problem(BufferFormat format, bool store) {
  const auto& [name, bits] = data_formats[format.data];
  const char* number = number_names[static_cast<size_t>(format.number)];
  const unsigned widest = *std::max_element(bits.begin(), bits.end());
  const bool scaled = format.number == NumberFormat::uscaled || format.number == NumberFormat::sscaled;
  const bool packed_float = format.data == 6 || format.data == 7;
  if (format.data == 15) return "data format 15 is reserved; 1 to 14 are formats";
  if (format.number == NumberFormat::reserved) return "number format 6 is reserved; 0 to 5 and 7 (FLOAT) are formats";
  if (format.number == NumberFormat::floating && widest < 16 && widest != 0 && !packed_float) {
    return fmt::format("{} has no {} form; 16 and 32-bit channels, 10_11_11 and 11_11_10 have", name, number);
  }
  if (store && scaled && widest < 32) {
    return fmt::format("{} {} can be loaded, but not stored; UNORM, SNORM, UINT, SINT and FLOAT can", name, number);
  }
  return {};
}

uint32_t load_channel(BufferFormat format, const ElementWords& element, unsigned channel) {
  const unsigned bits = data_formats[format.data].bits[channel], at = first_bit(format.data, channel);
  const uint32_t code = element[at / 32] >> at % 32 & mask_of(bits);
  if (bits == 32) return code;  // never converted
  const int32_t number = sign_extended(code, bits);
  switch (format.number) {
    case NumberFormat::unorm:
      return float_bits(static_cast<double>(code) / mask_of(bits));
    case NumberFormat::snorm:
      return float_bits(std::max(static_cast<double>(number) / mask_of(bits - 1), -1.0));
    case NumberFormat::uscaled:
      return float_bits(code);
    case NumberFormat::sscaled:
      return float_bits(number);
    case NumberFormat::sint:
      return static_cast<uint32_t>(number);
    case NumberFormat::floating:
      return float_channel(code, bits);
    case NumberFormat::uint:
    case NumberFormat::reserved:
      break;
  }
  return code;
}

std::optional<uint32_t> channel_code(BufferFormat format, unsigned channel, uint32_t component) {
  const unsigned bits = data_formats[format.data].bits[channel];
  if (bits == 32) return component;
  const double value = std::bit_cast<float>(component);
  // Nearest even, the default of the host.
  const auto normalized = [&](double lowest, uint32_t one) {
    const double inside = std::isnan(value) ? 0.0 : std::clamp(value, lowest, 1.0);
    return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(inside * one))) & mask_of(bits);
  };
  switch (format.number) {
    case NumberFormat::unorm:
      return normalized(0.0, mask_of(bits));
    case NumberFormat::snorm:
      return normalized(-1.0, mask_of(bits - 1));
    case NumberFormat::floating:
      return float_code(value, bits);
    case NumberFormat::sint:
      if (sign_extended(component & mask_of(bits), bits) != static_cast<int32_t>(component)) return std::nullopt;
      return component & mask_of(bits);
    default:
      if (component > mask_of(bits)) return std::nullopt;
      return component;
  }
}

void set_channel(BufferFormat format, ElementWords& element, unsigned channel, uint32_t code) {
  const unsigned bits = data_formats[format.data].bits[channel], at = first_bit(format.data, channel);
  uint32_t& word = element[at / 32];
  word = (word & ~(mask_of(bits) << at % 32)) | code << at % 32;
}

std::optional<uint16_t> narrow_component(NumberFormat number, uint32_t component) {
  if (is_float(number)) return f32_to_f16(std::bit_cast<float>(component));
  const auto low = static_cast<uint16_t>(component);
  if (widen_component(number, low) != component) return std::nullopt;
  return low;
}

uint32_t widen_component(NumberFormat number, uint16_t component) {
  if (is_float(number)) return std::bit_cast<uint32_t>(f16_to_f32(component));
  return number == NumberFormat::sint ? static_cast<uint32_t>(int32_t{static_cast<int16_t>(component)}) : component;
}

}  // namespace mlaforge::simulator
