// Wait states that gfx950 does not insert itself: from LLVM's hazard recognizer (GCNHazardRecognizer, gfx940 and
// gfx950) and the CDNA3 ISA manual, 4.5 "Manually inserted wait states". Confidence C: written down from memory of
// both, but for the matrix, lane swap and M0 entries (B, docs/gfx950.md).
#pragma once

namespace mlaforge::simulator::wait_states {

// VALU
inline constexpr unsigned valu_sgpr_to_vmem = 5;
inline constexpr unsigned valu_sgpr_to_valu = 2;
inline constexpr unsigned valu_sgpr_to_lane_select = 4;
inline constexpr unsigned valu_vcc_to_div_fmas = 4;
inline constexpr unsigned valu_exec_to_dpp = 5;
inline constexpr unsigned valu_exec_to_lane_access = 4;
inline constexpr unsigned valu_vgpr_to_dpp = 2;
inline constexpr unsigned valu_vgpr_to_readlane = 1;
inline constexpr unsigned valu_vgpr_to_permlane_swap = 2;
inline constexpr unsigned transcendental_to_valu = 1;
inline constexpr unsigned part_to_valu = 1;  ///< SDWA, op_sel and 8-bit conversions that keep the rest of the register
inline constexpr unsigned wide_store_to_valu_write = 1;  ///< of data registers of more than 8 bytes a lane
// SALU
inline constexpr unsigned salu_m0_to_lds_dma = 1;

// Matrix: by passes of the writer. "xdl" are all but the f32 ones.
constexpr unsigned matrix_to_read(unsigned passes, bool xdl) {
  return xdl ? passes + 3 + (passes == 2 ? 0 : 1) : passes + 2;
}
/// A result as the addend of another matrix instruction, unless both name the same tuple: that is forwarded.
constexpr unsigned matrix_to_addend(unsigned passes, bool xdl) {
  return xdl ? passes + 1 + (passes == 2 ? 0 : 1) : passes;
}
/// A VALU write of registers that a matrix instruction reads as its addend.
constexpr unsigned addend_to_valu_write(unsigned passes) { return passes <= 2 ? 1 : passes - 1; }

}  // namespace mlaforge::simulator::wait_states
