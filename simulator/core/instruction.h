// One decoded instruction: plain data made once by the decoder, read by the handlers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mlaforge::simulator {

struct Wave;
struct Instruction;

using Handler = void (*)(Wave&, const Instruction&);

enum class Encoding : uint8_t {
  plain,  ///< no suffix: one encoding only, or SALU, SMEM, VMEM, DS
  e32,
  e64,
  dpp,
  sdwa
};

enum class OperandKind : uint8_t {
  none,
  vgpr,             ///< index 0..255
  agpr,             ///< index 256..511: a register file row, as for vgpr
  sgpr,             ///< index 0..127 of Wave::sgpr, vcc, ttmp, m0, exec, flat_scratch and xnack_mask included
  special,          ///< index is a SpecialRegister
  inline_constant,  ///< value16/32/64 hold it in each width
  literal,          ///< a 32-bit literal; value64 is extended or shifted as the mnemonic's type asks
  imm,  ///< an immediate field (simm16, counts, branch distance in dwords); value64 is sign-extended text value
  off,  ///< the word `off`
};

/// Rows of Wave::sgpr that have names; the numbers are the hardware's operand codes.
enum SgprIndex : uint16_t {
  flat_scratch_lo = 102,
  xnack_mask_lo = 104,
  vcc_lo = 106,
  ttmp0 = 108,
  m0_index = 124,
  exec_lo = 126,
};

enum class SpecialRegister : uint16_t {
  shared_base,
  shared_limit,
  private_base,
  private_limit,
  pops_exiting_wave_id,
  vccz,
  execz,
  scc,
  lds_direct
};

/// Numbers of s_getreg and s_setreg (ISA, "Hardware register values").
enum HardwareRegister : uint8_t {
  hw_mode = 1,
  hw_status = 2,
  hw_trapsts = 3,
  hw_id = 4,
  hw_gpr_alloc = 5,
  hw_lds_alloc = 6,
  hw_ib_sts = 7,
  hw_xcc_id = 20
};

enum class SdwaSel : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };
enum class SdwaUnused : uint8_t { pad, sext, preserve };

struct Operand {
  OperandKind kind = OperandKind::none;
  bool neg = false;
  bool abs = false;
  bool sext = false;             ///< SDWA
  bool float_constant = false;   ///< an inline constant written as a float (0.5): value16 is its binary16 form
  SdwaSel sel = SdwaSel::dword;  ///< SDWA src0_sel, src1_sel
  uint16_t index = 0;            ///< first register row (see OperandKind), or SpecialRegister
  uint16_t dwords = 1;           ///< registers; 1 for constants
  uint16_t value16 = 0;
  uint32_t value32 = 0;
  uint64_t value64 = 0;

  bool is_vector() const { return kind == OperandKind::vgpr || kind == OperandKind::agpr; }
  bool is_constant() const {
    return kind == OperandKind::inline_constant || kind == OperandKind::literal || kind == OperandKind::imm;
  }
};

enum class DppControl : uint8_t {
  none,
  quad_perm,  ///< dpp_quad holds the four lanes
  row_shl,    ///< dpp_amount 1..15
  row_shr,
  row_ror,
  wave_shl,  ///< by 1
  wave_rol,
  wave_shr,
  wave_ror,
  row_mirror,
  row_half_mirror,
  row_bcast,     ///< dpp_amount 15 or 31
  row_newbcast,  ///< dpp_amount: lane of the row
};

/// Everything after the operands. Bit i of the op_sel and neg words is operand i of the printed list [s0,s1,s2(,dst)].
struct Modifiers {
  bool clamp = false;
  uint8_t omod = 0;  ///< 0 none, 1 mul:2, 2 mul:4, 3 div:2
  uint8_t op_sel = 0;
  uint8_t op_sel_hi = 0;  ///< absent in the text: all ones for VOP3P (see has_op_sel_hi), else 0
  bool has_op_sel_hi = false;
  uint8_t neg_lo = 0;  ///< also neg:[..] of f64 MFMA
  uint8_t neg_hi = 0;
  uint8_t bitop3 = 0;

  DppControl dpp = DppControl::none;
  uint8_t dpp_amount = 0;
  std::array<uint8_t, 4> dpp_quad{};
  uint8_t row_mask = 0xf;
  uint8_t bank_mask = 0xf;
  bool bound_ctrl = false;  ///< true: lanes without a source read 0; false: they keep the old destination
  bool fi = false;

  SdwaSel dst_sel = SdwaSel::dword;
  SdwaUnused dst_unused = SdwaUnused::pad;

  uint8_t cbsz = 0;
  uint8_t abid = 0;
  uint8_t blgp = 0;

  int64_t offset = 0;    ///< bytes; for ds_swizzle the 16-bit pattern
  uint32_t offset0 = 0;  ///< read2/write2, in elements
  uint32_t offset1 = 0;
  bool has_offset = false;
  bool sc0 = false;
  bool sc1 = false;
  bool nt = false;
  bool lds = false;
  bool offen = false;
  bool idxen = false;

  uint8_t hwreg_id = 0;  ///< s_getreg, s_setreg
  uint8_t hwreg_offset = 0;
  uint8_t hwreg_bits = 32;

  /// s_waitcnt; 63, 7, 15: no wait.
  uint8_t vmcnt = 63;
  uint8_t expcnt = 7;
  uint8_t lgkmcnt = 15;
};

enum class Unit : uint8_t { salu, smem, valu, mfma, vmem, flat, ds, branch, other };

inline constexpr int max_operands = 8;

/// Which operands are results and which are read (bit i: operand i), and registers used without being named.
struct Roles {
  uint8_t written = 0;
  uint8_t read = 0;
  bool reads_vcc = false;
  bool reads_m0 = false;
  bool writes_exec = false;
  bool crosses_lanes = false;  ///< reads lanes other than those it writes
};

struct Instruction {
  Handler handler = nullptr;
  uint64_t pc = 0;    ///< device address
  uint32_t size = 0;  ///< bytes
  Encoding encoding = Encoding::plain;
  Unit unit = Unit::other;
  uint8_t operand_count = 0;
  uint16_t vgpr_end = 0;  ///< one past the highest VGPR, of 256, and AGPR, of 256, that the operands name
  uint16_t agpr_end = 0;
  std::array<Operand, max_operands> operands{};  ///< in assembly order, destinations first
  Modifiers modifiers{};
  Roles roles{};
  uint32_t detail = 0;              ///< for the family's use, set by OpEntry::detail (an element size, a kind)
  std::array<uint32_t, 4> words{};  ///< encoding, for fields that the text does not show
  std::string mnemonic;             ///< base name, without _e32, _e64, _dpp, _sdwa
  std::string text;                 ///< LLVM's disassembly, for reports
};

/// One row of a family's table. A mnemonic is the base name: v_add_f32 for all of its encodings.
struct OpEntry {
  std::string_view mnemonic;
  Handler handler = nullptr;
  /// When set, called once at decode and chooses the handler (a form without modifiers, say); null: unsupported form.
  Handler (*select)(const Instruction&) = nullptr;
  uint32_t detail = 0;
};

}  // namespace mlaforge::simulator
