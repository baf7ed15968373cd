// Wait states that gfx950 does not insert itself: the table of docs/gfx950.md, "Wait states". Each number is what LLVM
// 22's hazard recognizer inserts for gfx950, which tests/simulator/wait_states_llvm_test.cpp asks row by row.
#pragma once

#include <cstdint>

namespace mlaforge::simulator::wait_states {

// VALU
inline constexpr unsigned valu_sgpr_to_vmem = 5;
inline constexpr unsigned valu_sgpr_to_valu = 2;
inline constexpr unsigned valu_sgpr_to_lane_select = 4;
inline constexpr unsigned valu_vcc_to_div_fmas = 4;
inline constexpr unsigned valu_exec_to_dpp = 5;
inline constexpr unsigned valu_exec_to_lane_access = 4;  ///< v_readlane, v_writelane, lane swaps, matrix instructions
inline constexpr unsigned vgpr_to_dpp = 2;               ///< whoever wrote it
inline constexpr unsigned valu_vgpr_to_readlane = 1;
inline constexpr unsigned valu_vgpr_to_permlane_swap = 2;
inline constexpr unsigned valu_vgpr_to_matrix = 2;
inline constexpr unsigned transcendental_to_valu = 1;
inline constexpr unsigned part_to_valu = 1;  ///< a result in a selected part of its register; to reads and writes
inline constexpr unsigned dot_to_other = 3;  ///< to memory and VALU, but not as the addend of the same instruction
inline constexpr unsigned wide_store_to_valu_write = 2;  ///< of data registers of more than 8 bytes a lane
// SALU
inline constexpr unsigned salu_m0_to_reader = 1;  ///< LDS DMA, ds_*_addtid, s_movrel, s_sendmsg
inline constexpr unsigned setreg_to_same_register = 2;
// Matrix
inline constexpr unsigned f64_matrix_to_fma_f64 = 2;  ///< whatever its registers

/// Matrix instructions whose results are late in different ways.
enum class MatrixKind : uint8_t {
  xdl,  ///< all but the following
  f32,  ///< f32 operands
  f64_4x4,
  f64_16x16,
};

struct MatrixWriter {
  MatrixKind kind{};
  unsigned passes = 0;
};

/// A result read as A, B, index or scale of another matrix instruction, by a VALU or (`memory`) by a store or address.
constexpr unsigned matrix_to_read(MatrixWriter writer, bool memory) {
  switch (writer.kind) {
    case MatrixKind::xdl:
      return writer.passes + 3 + (writer.passes == 2 ? 0 : 1);
    case MatrixKind::f32:
      return writer.passes + 2;
    case MatrixKind::f64_4x4:
      return memory ? 9 : 6;
    case MatrixKind::f64_16x16:
      return memory ? 18 : 19;
  }
  return 0;
}

/// A result overwritten by a VALU or a load.
constexpr unsigned matrix_to_write(MatrixWriter writer) {
  return writer.kind == MatrixKind::f64_16x16 ? 11 : matrix_to_read(writer, false);
}

/// A result as the addend of another matrix instruction that names a part of the tuple, or more.
constexpr unsigned matrix_to_addend(MatrixWriter writer, MatrixKind reader) {
  const bool to_xdl = reader == MatrixKind::xdl;
  switch (writer.kind) {
    case MatrixKind::xdl:
      return writer.passes + 1 + (writer.passes != 2 || to_xdl ? 1 : 0);
    case MatrixKind::f32:
      return to_xdl ? 0 : writer.passes;
    case MatrixKind::f64_4x4:
      return to_xdl ? 0 : 4;
    case MatrixKind::f64_16x16:
      return to_xdl ? 0 : 17;
  }
  return 0;
}

/// A result as the addend of another matrix instruction, the same tuple: it is forwarded.
constexpr unsigned matrix_to_same_addend(MatrixWriter writer, MatrixKind reader) {
  if (writer.kind == MatrixKind::f64_4x4 && reader == MatrixKind::f64_4x4) return 4;
  return writer.passes == 2 ? 2 : 0;
}

/// A VALU or a load overwrites what a matrix instruction reads as its addend.
constexpr unsigned addend_to_write(MatrixWriter reader) {
  if (reader.kind != MatrixKind::xdl) return 0;
  return reader.passes == 2 ? 1 : reader.passes - 1;
}

}  // namespace mlaforge::simulator::wait_states
