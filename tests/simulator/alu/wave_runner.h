// Runs assembled instructions one by one on a wave whose registers the test sets and reads directly.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "simulator/core/wave.h"
#include "simulator/decode/disassembler.h"
#include "simulator/decode/program.h"
#include "tests/simulator/assemble.h"

namespace mlaforge::simulator::test {

using Lanes = std::array<uint32_t, 64>;

// MODE as HIP starts a kernel: round to nearest, all denormals kept, DX10_CLAMP, IEEE.
inline constexpr uint32_t hip_mode = 0xf0 | mode_bits::dx10_clamp | mode_bits::ieee;

class WaveRunner {
 public:
  WaveRunner() : wave_(std::make_unique<Wave>()) {
    for (Row& row : wave_->vgpr)
      for (uint32_t& lane : row.lane) lane = 0xdeadbeef;
    wave_->mode = hip_mode;
    wave_->set_exec(~uint64_t{0});
  }

  Wave& wave() { return *wave_; }
  uint32_t& v(int reg, int lane) { return wave_->vgpr.at(static_cast<size_t>(reg)).lane[lane]; }
  uint32_t& a(int reg, int lane) { return v(256 + reg, lane); }
  uint32_t& s(int reg) { return wave_->sgpr.at(static_cast<size_t>(reg)); }

  void set(int reg, uint32_t value) {
    for (int lane = 0; lane < 64; ++lane) v(reg, lane) = value;
  }
  void set_f32(int reg, float value) { set(reg, std::bit_cast<uint32_t>(value)); }
  void set64(int reg, uint64_t value) {
    set(reg, static_cast<uint32_t>(value));
    set(reg + 1, static_cast<uint32_t>(value >> 32));
  }
  template <class T>
  void set_lanes(int reg, const std::vector<T>& values) {
    for (int lane = 0; lane < 64; ++lane) {
      const T value = values[static_cast<size_t>(lane) % values.size()];
      if constexpr (sizeof(T) == 8) {
        const auto bits = std::bit_cast<uint64_t>(value);
        v(reg, lane) = static_cast<uint32_t>(bits);
        v(reg + 1, lane) = static_cast<uint32_t>(bits >> 32);
      } else if constexpr (sizeof(T) == 4) {
        v(reg, lane) = std::bit_cast<uint32_t>(value);
      } else {
        v(reg, lane) = value;
      }
    }
  }
  float f32(int reg, int lane) { return std::bit_cast<float>(v(reg, lane)); }
  uint64_t u64(int reg, int lane) { return v(reg, lane) | static_cast<uint64_t>(v(reg + 1, lane)) << 32; }
  double f64(int reg, int lane) { return std::bit_cast<double>(u64(reg, lane)); }

  // Assembles and executes `source`, straight-line.
  void run(std::string_view source) {
    for (const Instruction& instruction : decode(source)) execute(instruction);
  }

  void execute(const Instruction& instruction) {
    wave_->current = &instruction;
    note_executed(instruction);
    instruction.handler(*wave_, instruction);
  }

  static std::vector<Instruction> decode(std::string_view source) {
    const std::vector<std::byte> text = assemble(source);
    Disassembler disassembler;
    std::vector<Instruction> instructions;
    for (size_t offset = 0; offset < text.size();) {
      instructions.push_back(decode_instruction(disassembler, std::span(text).subspan(offset), offset));
      offset += instructions.back().size;
    }
    return instructions;
  }

 private:
  std::unique_ptr<Wave> wave_;
};

}  // namespace mlaforge::simulator::test
