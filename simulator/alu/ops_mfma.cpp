// Dense matrix instructions. EXEC, MODE's rounding and denormal bits are ignored, as on hardware.
#include <algorithm>
#include <cmath>

#include "simulator/alu/mfma_operands.h"
#include "simulator/alu/mfma_product.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

constexpr size_t kMaxElements = 64 * 32;  // of one operand: 64 lanes, at most 32 elements each

// D and C may overlap without being equal only where the result has four registers or fewer; LLVM's register allocator
// follows the same rule (NoDstOverlap in its matrix instruction definitions).
constexpr int kOverlappingRegisters = 4;

bool overlaps_partly(const Instruction& instruction, int registers) {
  const Operand& d = instruction.operands[0];
  const Operand& c = instruction.operands[3];
  return c.is_vector() && c.index != d.index && c.index < d.index + registers && d.index < c.index + registers;
}

void refuse_overlap(Wave& wave, const Instruction& instruction, int registers) {
  if (registers > kOverlappingRegisters && overlaps_partly(instruction, registers)) {
    raise_fault(wave, FaultKind::unsupported,
                "D and C of a matrix instruction overlap partly; with more than 4 registers they must be the same "
                "tuple or disjoint");
  }
}

// D = product + C over 32-bit rows. C is a register tuple or one constant for all elements, and is read before D is
// written.
template <int m, int n, int blocks>
void store_result(Wave& wave, const Instruction& instruction, const double* product) {
  constexpr MatrixShape shape{m, n, 1, blocks};
  const Operand& d = instruction.operands[0];
  const Operand& c = instruction.operands[3];
  Row splat_row;
  const uint32_t* constant = c.is_vector() ? nullptr : splat(scalar32(wave, c), splat_row);
  Row copies[kOverlappingRegisters];
  const bool copied = overlaps_partly(instruction, result_registers(shape));
  if (copied) std::copy_n(&wave.vgpr[static_cast<size_t>(c.index)], result_registers(shape), copies);
  const Row* tuple = copied ? copies : &wave.vgpr[static_cast<size_t>(c.index)];
  for (int r = 0; r < result_registers(shape); ++r) {
    const uint32_t* from = constant != nullptr ? constant : tuple[r].lane;
    uint32_t* to = wave.vgpr[static_cast<size_t>(d.index + r)].lane;
    // Lanes of one group of n are consecutive columns of one row.
    for (int start = 0; start < wave_lanes; start += n) {
      const Position at = result_position(shape, start, r);
      const double* sums = product + (at.block * m + at.row) * n;
#pragma clang loop vectorize(assume_safety)
      for (int i = 0; i < n; ++i)
        to[start + i] = std::bit_cast<uint32_t>(add_and_round(sums[i], std::bit_cast<float>(from[start + i])));
    }
  }
}

template <int m, int n, int blocks>
void finish_float(Wave& wave, const Instruction& instruction, const double* product) {
  refuse_overlap(wave, instruction, m * n * blocks / 64);
  store_result<m, n, blocks>(wave, instruction, product);
}

// The product of A and B, whose lanes cbsz, abid and blgp permute.
template <MatrixFormat a_format, MatrixFormat b_format, int m, int n, int k, int blocks>
void permuted_product(Wave& wave, const Instruction& instruction, double* product) {
  constexpr MatrixShape shape{m, n, k, blocks};
  const Modifiers& mods = instruction.modifiers;
  constexpr int registers = shape.elements() * bits_of_format(a_format) / 32;
  Row scratch_a[registers], scratch_b[registers];
  const Row* a_rows = permuted_rows(wave, instruction.operands[1], registers, mods.cbsz == 0, scratch_a,
                                    [&](int lane) { return a_source_lane(shape, mods.cbsz, mods.abid, lane); });
  const Row* b_rows = permuted_rows(wave, instruction.operands[2], registers, mods.blgp == 0, scratch_b,
                                    [&](int lane) { return b_source_lane(mods.blgp, lane); });
  alignas(64) double a[kMaxElements], b[kMaxElements];
  decode_operand<a_format, m, n, k, blocks, false>(a_rows, a);
  decode_operand<b_format, n, m, k, blocks, false>(b_rows, b);
  for (int block = 0; block < blocks; ++block)
    matrix_product<m, n, k>(a + block * k * m, b + block * k * n, product + block * m * n);
}

// f16, bf16, f32 and the plain fp8 and bf8 forms.
template <MatrixFormat a_format, MatrixFormat b_format, int m, int n, int k, int blocks>
void mfma_float(Wave& wave, const Instruction& instruction) {
  alignas(64) double product[m * n * blocks];
  permuted_product<a_format, b_format, m, n, k, blocks>(wave, instruction, product);
  finish_float<m, n, blocks>(wave, instruction, product);
}

using Decoder = void (*)(const Row*, double*);

template <int m, int k>
Decoder f8f6f4_decoder(int format) {
  switch (format) {
    case 0:
      return decode_operand<MatrixFormat::fp8, m, m, k, 1, true>;
    case 1:
      return decode_operand<MatrixFormat::bf8, m, m, k, 1, true>;
    case 2:
      return decode_operand<MatrixFormat::fp6, m, m, k, 1, false>;
    case 3:
      return decode_operand<MatrixFormat::bf6, m, m, k, 1, false>;
    case 4:
      return decode_operand<MatrixFormat::fp4, m, m, k, 1, false>;
    default:
      return nullptr;
  }
}

// Multiplies operand[k][i] by the E8M0 scale of its block of 32 k: lane l gives that of row (column) l % m, block l /
// m.
template <int m, int k>
void apply_scales(const Wave& wave, const Operand& op, int byte, double* operand) {
  Row scratch;
  const uint32_t* lanes = src32(wave, op, scratch);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const double scale = decode_e8m0(static_cast<uint8_t>(lanes[lane] >> (8 * byte)));
    for (int step = 0; step < 32; ++step) operand[(lane / m * 32 + step) * m + lane % m] *= scale;
  }
}

template <int m, int k, bool scaled>
void mfma_f8f6f4(Wave& wave, const Instruction& instruction) {
  const Modifiers& mods = instruction.modifiers;
  const Decoder decode_a = f8f6f4_decoder<m, k>(mods.cbsz);
  const Decoder decode_b = f8f6f4_decoder<m, k>(mods.blgp);
  if (decode_a == nullptr || decode_b == nullptr)
    raise_fault(wave, FaultKind::unsupported,
                "cbsz " + std::to_string(mods.cbsz) + ", blgp " + std::to_string(mods.blgp) +
                    ": formats are 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4");
  alignas(64) double a[kMaxElements], b[kMaxElements], product[m * m];
  decode_a(&wave.vgpr[instruction.operands[1].index], a);
  decode_b(&wave.vgpr[instruction.operands[2].index], b);
  if constexpr (scaled) {
    const uint32_t high = mods.has_op_sel_hi ? mods.op_sel_hi : 0xffu;
    const auto byte = [&](int i) { return static_cast<int>((mods.op_sel >> i & 1) + 2 * (high >> i & 1)); };
    apply_scales<m, k>(wave, instruction.operands[4], byte(0), a);
    apply_scales<m, k>(wave, instruction.operands[5], byte(1), b);
  }
  matrix_product<m, m, k>(a, b, product);
  finish_float<m, m, 1>(wave, instruction, product);
}

// Integer sums wrap at 32 bits.
template <int m, int n, int k, int blocks>
void mfma_i8(Wave& wave, const Instruction& instruction) {
  constexpr MatrixShape shape{m, n, k, blocks};
  // Products of bytes and sums of 64 of them are exact in double.
  alignas(64) double product[m * n * blocks];
  permuted_product<MatrixFormat::i8, MatrixFormat::i8, m, n, k, blocks>(wave, instruction, product);
  const Operand& c = instruction.operands[3];
  refuse_overlap(wave, instruction, result_registers(shape));
  Row result[result_registers(shape)];
  for (int r = 0; r < result_registers(shape); ++r) {
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const Position at = result_position(shape, lane, r);
      const uint32_t addend =
          c.is_vector() ? wave.vgpr[static_cast<size_t>(c.index + r)].lane[lane] : scalar32(wave, c);
      const double sum = product[(at.block * m + at.row) * n + at.column];
      result[r].lane[lane] = addend + static_cast<uint32_t>(static_cast<int32_t>(sum));
    }
  }
  std::copy_n(result, result_registers(shape), &wave.vgpr[static_cast<size_t>(instruction.operands[0].index)]);
}

double read_double(const Wave& wave, const Operand& op, int pair, int lane) {
  if (!op.is_vector()) return std::bit_cast<double>(scalar64(wave, op));
  const auto first = static_cast<size_t>(op.index + 2 * pair);
  return std::bit_cast<double>(wave.vgpr[first].lane[lane] | static_cast<uint64_t>(wave.vgpr[first + 1].lane[lane])
                                                                 << 32);
}

// f64: a chain of fused multiply-adds in order of k, starting from C. `neg` holds the signs of A, B, C (blgp's bits).
// 16x16x4: A row l%16, k l/16; D register pair r: row 4 r + l/16, column l%16. 4x4x4, four blocks: A row l%4, block
// l/4%4, k l/16; D row l/16, column l%4.
template <int m>
void mfma_f64(Wave& wave, const Instruction& instruction) {
  constexpr int pairs = m == 16 ? 4 : 1;
  const uint32_t neg = instruction.modifiers.neg_lo | instruction.modifiers.blgp;
  const auto value = [&](int which, int pair, int lane) {
    const double v = read_double(wave, instruction.operands[static_cast<size_t>(which + 1)], pair, lane);
    return (neg >> which & 1) != 0 ? -v : v;
  };
  Row out[2 * pairs];
  for (int pair = 0; pair < pairs; ++pair) {
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const int column = lane % m;
      const int row_index = m == 16 ? 4 * pair + lane / 16 : lane / 16;
      const int block = m == 16 ? 0 : lane / 4 % 4;
      double sum = value(2, pair, lane);
      for (int k = 0; k < 4; ++k)
        sum = std::fma(value(0, 0, 16 * k + 4 * block + row_index), value(1, 0, 16 * k + 4 * block + column), sum);
      detail::store<double, true>(out[2 * pair].lane, out[2 * pair + 1].lane, lane, sum);
    }
  }
  for (int r = 0; r < 2 * pairs; ++r) wave.vgpr[static_cast<size_t>(instruction.operands[0].index + r)] = out[r];
}

using enum MatrixFormat;

constexpr OpEntry kOps[] = {
    {"v_mfma_f32_16x16x128_f8f6f4", mfma_f8f6f4<16, 128, false>},
    {"v_mfma_f32_32x32x64_f8f6f4", mfma_f8f6f4<32, 64, false>},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", mfma_f8f6f4<16, 128, true>},
    {"v_mfma_scale_f32_32x32x64_f8f6f4", mfma_f8f6f4<32, 64, true>},

    {"v_mfma_f32_16x16x32_fp8_fp8", mfma_float<fp8, fp8, 16, 16, 32, 1>},
    {"v_mfma_f32_16x16x32_fp8_bf8", mfma_float<fp8, bf8, 16, 16, 32, 1>},
    {"v_mfma_f32_16x16x32_bf8_fp8", mfma_float<bf8, fp8, 16, 16, 32, 1>},
    {"v_mfma_f32_16x16x32_bf8_bf8", mfma_float<bf8, bf8, 16, 16, 32, 1>},
    {"v_mfma_f32_32x32x16_fp8_fp8", mfma_float<fp8, fp8, 32, 32, 16, 1>},
    {"v_mfma_f32_32x32x16_fp8_bf8", mfma_float<fp8, bf8, 32, 32, 16, 1>},
    {"v_mfma_f32_32x32x16_bf8_fp8", mfma_float<bf8, fp8, 32, 32, 16, 1>},
    {"v_mfma_f32_32x32x16_bf8_bf8", mfma_float<bf8, bf8, 32, 32, 16, 1>},

    {"v_mfma_f32_16x16x32_f16", mfma_float<f16, f16, 16, 16, 32, 1>},
    {"v_mfma_f32_32x32x16_f16", mfma_float<f16, f16, 32, 32, 16, 1>},
    {"v_mfma_f32_16x16x16_f16", mfma_float<f16, f16, 16, 16, 16, 1>},
    {"v_mfma_f32_32x32x8_f16", mfma_float<f16, f16, 32, 32, 8, 1>},
    {"v_mfma_f32_32x32x4_2b_f16", mfma_float<f16, f16, 32, 32, 4, 2>},
    {"v_mfma_f32_16x16x4_4b_f16", mfma_float<f16, f16, 16, 16, 4, 4>},
    {"v_mfma_f32_4x4x4_16b_f16", mfma_float<f16, f16, 4, 4, 4, 16>},

    {"v_mfma_f32_16x16x32_bf16", mfma_float<bf16, bf16, 16, 16, 32, 1>},
    {"v_mfma_f32_32x32x16_bf16", mfma_float<bf16, bf16, 32, 32, 16, 1>},
    {"v_mfma_f32_16x16x16_bf16", mfma_float<bf16, bf16, 16, 16, 16, 1>},
    {"v_mfma_f32_32x32x8_bf16", mfma_float<bf16, bf16, 32, 32, 8, 1>},
    {"v_mfma_f32_32x32x4_2b_bf16", mfma_float<bf16, bf16, 32, 32, 4, 2>},
    {"v_mfma_f32_16x16x4_4b_bf16", mfma_float<bf16, bf16, 16, 16, 4, 4>},
    {"v_mfma_f32_4x4x4_16b_bf16", mfma_float<bf16, bf16, 4, 4, 4, 16>},

    {"v_mfma_f32_32x32x1_2b_f32", mfma_float<f32, f32, 32, 32, 1, 2>},
    {"v_mfma_f32_16x16x1_4b_f32", mfma_float<f32, f32, 16, 16, 1, 4>},
    {"v_mfma_f32_4x4x1_16b_f32", mfma_float<f32, f32, 4, 4, 1, 16>},
    {"v_mfma_f32_32x32x2_f32", mfma_float<f32, f32, 32, 32, 2, 1>},
    {"v_mfma_f32_16x16x4_f32", mfma_float<f32, f32, 16, 16, 4, 1>},

    {"v_mfma_f64_16x16x4_f64", mfma_f64<16>},
    {"v_mfma_f64_4x4x4_4b_f64", mfma_f64<4>},

    {"v_mfma_i32_16x16x64_i8", mfma_i8<16, 16, 64, 1>},
    {"v_mfma_i32_32x32x32_i8", mfma_i8<32, 32, 32, 1>},
    {"v_mfma_i32_16x16x32_i8", mfma_i8<16, 16, 32, 1>},
    {"v_mfma_i32_32x32x16_i8", mfma_i8<32, 32, 16, 1>},
    {"v_mfma_i32_32x32x4_2b_i8", mfma_i8<32, 32, 4, 2>},
    {"v_mfma_i32_16x16x4_4b_i8", mfma_i8<16, 16, 4, 4>},
    {"v_mfma_i32_4x4x4_16b_i8", mfma_i8<4, 4, 4, 16>},
};

}  // namespace

std::span<const OpEntry> mfma_ops() { return kOps; }

}  // namespace mlaforge::simulator
