// The data formats of typed buffers (CDNA 4 ISA, 9.1.2 to 9.1.4): channels in memory to register components and back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace mlaforge::simulator {

enum class NumberFormat : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, reserved, floating };

struct BufferFormat {
  uint8_t data = 0;  ///< DFMT: 1 to 14; 0 is the unbound resource
  NumberFormat number = NumberFormat::unorm;
};

/// Bits of each channel, from the lowest bit of memory on; 0 behind the last.
std::array<uint8_t, 4> channel_bits(uint8_t data);
unsigned channel_count(uint8_t data);
/// Bytes of an element; 0 for the unbound resource.
uint32_t format_bytes(uint8_t data);

/// Why the format cannot be loaded, or stored; empty: it can.
std::string format_problem(BufferFormat format, bool store);

using ElementWords = std::array<uint32_t, 4>;  ///< an element as memory holds it, little endian

/// Whether the components of the number format are floats; else they are integers.
constexpr bool is_float(NumberFormat number) { return number != NumberFormat::uint && number != NumberFormat::sint; }

/// A channel as a 32-bit component: a float or an integer.
uint32_t load_channel(BufferFormat format, const ElementWords& element, unsigned channel);
/// A 32-bit component as the channel's bits; nullopt: an integer that does not fit.
std::optional<uint32_t> channel_code(BufferFormat format, unsigned channel, uint32_t component);
void set_channel(BufferFormat format, ElementWords& element, unsigned channel, uint32_t code);

/// Components of d16 instructions: f16, or an integer of 16 bits; nullopt: it does not fit.
std::optional<uint16_t> narrow_component(NumberFormat number, uint32_t component);
uint32_t widen_component(NumberFormat number, uint16_t component);

}  // namespace mlaforge::simulator
