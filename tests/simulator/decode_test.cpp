// Decoding: LLVM's text to operands and modifiers.
#include "catch.h"
#include "simulator/core/ops.h"
#include "simulator/core/wave.h"
#include "simulator/decode/program.h"
#include "tests/simulator/assemble.h"

using namespace mlaforge::simulator;

namespace {

std::vector<Instruction> decode_all(const std::string& source) {
  const auto bytes = test::assemble(source);
  Disassembler disassembler;
  std::vector<Instruction> all;
  for (size_t at = 0; at < bytes.size();) {
    all.push_back(decode_instruction(disassembler, std::span(bytes).subspan(at), 0x1000 + at));
    at += all.back().size;
  }
  return all;
}

Instruction decode_one(const std::string& source) { return decode_all(source).at(0); }

}  // namespace

TEST_CASE("register operands") {
  const Instruction i = decode_one("v_mfma_f32_16x16x128_f8f6f4 a[4:7], v[8:15], v[16:23], a[4:7] cbsz:1 blgp:1");
  CHECK(i.mnemonic == "v_mfma_f32_16x16x128_f8f6f4");
  CHECK(i.unit == Unit::mfma);
  REQUIRE(i.operand_count == 4);
  CHECK(i.operands[0].kind == OperandKind::agpr);
  CHECK(i.operands[0].index == 256 + 4);
  CHECK(i.operands[0].dwords == 4);
  CHECK(i.operands[1].kind == OperandKind::vgpr);
  CHECK(i.operands[1].index == 8);
  CHECK(i.operands[1].dwords == 8);
  CHECK(i.modifiers.cbsz == 1);
  CHECK(i.modifiers.blgp == 1);
  CHECK(i.vgpr_end == 24);
  CHECK(i.agpr_end == 8);
}

TEST_CASE("named scalar registers have their operand codes") {
  const std::pair<const char*, int> named[] = {{"s_mov_b32 s0, vcc_hi", 107},  {"s_mov_b32 s0, m0", 124},
                                               {"s_mov_b32 s0, exec_lo", 126}, {"s_mov_b32 s0, ttmp3", 111},
                                               {"s_mov_b32 s0, s101", 101},    {"s_mov_b32 s0, flat_scratch_lo", 102}};
  for (const auto& [source, code] : named) {
    const Instruction i = decode_one(source);
    CAPTURE(source);
    CHECK(i.operands[1].kind == OperandKind::sgpr);
    CHECK(i.operands[1].index == code);
    CHECK((i.words[0] & 0xff) == static_cast<uint32_t>(code));  // SOP1's SSRC0 field says the same
  }
}

TEST_CASE("source modifiers, clamp and omod") {
  const Instruction i = decode_one("v_add_f32_e64 v1, -|v2|, 0.5 clamp mul:2");
  CHECK(i.mnemonic == "v_add_f32");
  CHECK(i.encoding == Encoding::e64);
  CHECK(i.operands[1].neg);
  CHECK(i.operands[1].abs);
  CHECK(i.operands[2].value32 == 0x3f000000);
  CHECK(i.operands[2].value16 == 0x3800);
  CHECK(i.modifiers.clamp);
  CHECK(i.modifiers.omod == 1);
}

TEST_CASE("constants") {
  CHECK(decode_one("v_add_u32 v1, -16, v2").operands[1].kind == OperandKind::inline_constant);
  CHECK(decode_one("v_add_u32 v1, -16, v2").operands[1].value32 == 0xfffffff0);
  CHECK(decode_one("s_mov_b64 s[0:1], -1").operands[1].value64 == ~uint64_t{0});
  CHECK(decode_one("s_mov_b64 s[0:1], 1.0").operands[1].value64 == 0x3ff0000000000000);
  CHECK(decode_one("v_mul_f32 v1, 0.15915494, v2").operands[1].value32 == 0x3e22f983);
  CHECK(decode_one("v_add_u32 v1, 0x12345678, v2").operands[1].kind == OperandKind::literal);
  CHECK(decode_one("s_mov_b64 s[0:1], 0x89abcdef").operands[1].value64 == 0x89abcdef);
  CHECK(decode_one("s_ashr_i64 s[0:1], 0x89abcdef, s2").operands[1].value64 == 0xffffffff89abcdef);
  CHECK(decode_one("v_ceil_f64 v[0:1], 0x40590000").operands[1].value64 == 0x4059000000000000);  // 100.0
}

TEST_CASE("packed modifiers") {
  const Instruction i = decode_one("v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7] op_sel_hi:[0,1,1] neg_lo:[1,0,0]");
  CHECK(i.modifiers.op_sel_hi == 6);
  CHECK(i.modifiers.neg_lo == 1);
  CHECK(decode_one("v_pk_add_f16 v1, v2, v3").modifiers.op_sel_hi == 7);
  CHECK(decode_one("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]").modifiers.op_sel == 4);
}

TEST_CASE("codes that LLVM crashes on") {
  Disassembler disassembler;
  const auto text_of = [&](const std::array<uint32_t, 5>& words) {
    return disassembler.decode(std::as_bytes(std::span(words)), 0).text;
  };
  // The constant 0x00ff of v_madak_f16 and v_madmk_f16, also where a source names it too.
  CHECK(text_of({0x4a0a0200, 0xff}) == "v_madak_f16 v5, s0, v1, 0xff");
  CHECK(text_of({0x480a0200, 0xff}) == "v_madmk_f16 v5, s0, 0xff, v1");
  CHECK(text_of({0x4a0a02ff, 0xff}) == "v_madak_f16 v5, 0xff, v1, 0xff");
  CHECK(text_of({0x4a0a0200, 0xfe}) == "v_madak_f16 v5, s0, v1, 0xfe");
  // A literal as a scale of a matrix instruction or as its C; then 5 as C and registers as scales.
  CHECK(text_of({0xd3ac0000, 0x000202ff, 0xd3ad8aa4, 0x021651ba}).empty());
  CHECK(text_of({0xd3ac0000, 0x0001ff01, 0xd3ad8aa4, 0x021651ba}).empty());
  CHECK(text_of({0xd3ac0000, 0x00020301, 0xd3ad8aa4, 0x03fe51ba}).empty());
  CHECK(text_of({0xd3ac0000, 0x00020301, 0xd3ad8aa4, 0x021651ba}).starts_with("v_mfma_scale_f32_16x16x128_f8f6f4 a["));
}

TEST_CASE("DPP and SDWA") {
  const Instruction quad = decode_one("v_add_f32_dpp v1, -v2, |v3| quad_perm:[3,1,2,0] row_mask:0xa bank_mask:0x5");
  CHECK(quad.encoding == Encoding::dpp);
  CHECK(quad.modifiers.dpp == DppControl::quad_perm);
  CHECK(quad.modifiers.dpp_quad == std::array<uint8_t, 4>{3, 1, 2, 0});
  CHECK(quad.modifiers.row_mask == 0xa);
  CHECK(quad.modifiers.bank_mask == 0x5);
  CHECK_FALSE(quad.modifiers.bound_ctrl);
  const Instruction bcast = decode_one("v_mov_b32_dpp v1, v2 row_newbcast:3 row_mask:0xf bank_mask:0xf bound_ctrl:1");
  CHECK(bcast.modifiers.dpp == DppControl::row_newbcast);
  CHECK(bcast.modifiers.dpp_amount == 3);
  CHECK(bcast.modifiers.bound_ctrl);
  const Instruction sdwa = decode_one(
      "v_add_u32_sdwa v1, sext(v2), v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_2");
  CHECK(sdwa.encoding == Encoding::sdwa);
  CHECK(sdwa.operands[1].sext);
  CHECK(sdwa.operands[1].sel == SdwaSel::word1);
  CHECK(sdwa.operands[2].sel == SdwaSel::byte2);
  CHECK(sdwa.modifiers.dst_sel == SdwaSel::byte1);
  CHECK(sdwa.modifiers.dst_unused == SdwaUnused::preserve);
  const Instruction carry = decode_one(
      "v_addc_co_u32_sdwa v1, vcc, v2, v3, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_0");
  CHECK(carry.operands[2].sel == SdwaSel::byte3);
  CHECK(carry.operands[3].sel == SdwaSel::word0);
}

TEST_CASE("waits and hardware registers come from the encoding") {
  const Instruction wait = decode_one("s_waitcnt vmcnt(37) lgkmcnt(5)");
  CHECK(wait.modifiers.vmcnt == 37);
  CHECK(wait.modifiers.lgkmcnt == 5);
  CHECK(wait.modifiers.expcnt == 7);
  const Instruction mode = decode_one("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1");
  CHECK(mode.modifiers.hwreg_id == 1);
  CHECK(mode.modifiers.hwreg_offset == 23);
  CHECK(mode.modifiers.hwreg_bits == 1);
  CHECK(mode.operands[mode.operand_count - 1u].value32 == 1);
}

TEST_CASE("memory operands") {
  const Instruction load = decode_one("global_load_dwordx4 v[0:3], v[4:5], off offset:-16 sc0 nt sc1");
  CHECK(load.modifiers.offset == -16);
  CHECK(load.modifiers.sc0);
  CHECK(load.modifiers.nt);
  CHECK(load.modifiers.sc1);
  CHECK(load.operands[2].kind == OperandKind::off);
  const Instruction pair = decode_one("ds_read2_b64 v[0:3], v4 offset0:1 offset1:3");
  CHECK(pair.modifiers.offset0 == 1);
  CHECK(pair.modifiers.offset1 == 3);
  const Instruction swizzle = decode_one("ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM, 1,0,2,3)");
  CHECK(swizzle.modifiers.offset == 0x80e1);
  const Instruction dma = decode_one("buffer_load_dwordx4 v4, s[0:3], 0 offen offset:16 lds");
  CHECK(dma.modifiers.lds);
  CHECK(dma.modifiers.offen);
  CHECK(dma.modifiers.offset == 16);
}

TEST_CASE("a 16-byte instruction and bytes that are none") {
  const Instruction scaled =
      decode_one("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21 op_sel_hi:[0,0,0]");
  CHECK(scaled.size == 16);
  CHECK(scaled.operand_count == 6);
  Disassembler disassembler;
  const std::vector<std::byte> junk(4, std::byte{0xff});
  CHECK(decode_instruction(disassembler, junk, 0).size == 4);
  const std::vector<std::byte> half(2, std::byte{0xff});
  CHECK(decode_instruction(disassembler, half, 0).size == 4);
}

TEST_CASE("an instruction whose literal is cut off by the end of the code is none") {
  // v_xor_b32 v81, <literal>, v130, as a fuzzer found it: LLVM 22 crashes on its first word alone.
  constexpr uint32_t code[] = {0x68a304ff, 0x12345678};
  Disassembler disassembler;
  CHECK(disassembler.decode(std::as_bytes(std::span(code)), 0).size == 8);
  CHECK(disassembler.decode(std::as_bytes(std::span(code).first(1)), 0).size == 0);
}
