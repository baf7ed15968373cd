#include "simulator/exec/matrix_passes.h"

#include <array>
#include <string_view>

namespace mlaforge::simulator {

int matrix_passes(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  const bool big = name.find("_32x32x") != std::string_view::npos;
  if (name.find("f8f6f4") != std::string_view::npos) {
    // Formats 0 and 1 are 8 bits wide; only when both operands are narrower does the rate double.
    const bool narrow = i.modifiers.cbsz >= 2 && i.modifiers.blgp >= 2;
    return (big ? 16 : 8) / (narrow ? 2 : 1);
  }
  if (name.starts_with("v_smfmac")) return big ? 8 : 4;
  if (name.find("_f64") != std::string_view::npos) return name.find("_16x16x") != std::string_view::npos ? 16 : 4;
  struct Shape {
    std::string_view text;
    int passes;
  };
  // The shapes at CDNA4's full rates of 16-bit and 8-bit operands, then CDNA3's.
  constexpr std::array shapes{Shape{"_16x16x32", 4}, Shape{"_16x16x64", 4}, Shape{"_32x32x16", 8},
                              Shape{"_32x32x32", 8}, Shape{"_16x16x16", 4}, Shape{"_32x32x8", 8},
                              Shape{"_32x32x4", 16}, Shape{"_16x16x4", 8},  Shape{"_32x32x2", 16},
                              Shape{"_32x32x1", 16}, Shape{"_16x16x1", 8},  Shape{"_4x4x", 2}};
  for (const Shape& shape : shapes) {
    if (name.find(shape.text) != std::string_view::npos) return shape.passes;
  }
  return big ? 16 : 8;
}

}  // namespace mlaforge::simulator
