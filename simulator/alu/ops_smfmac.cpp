// Sparse matrix instructions: D += A B, where of every four k of A's row only two elements are stored.
//
// A lane's stored elements 2 g and 2 g + 1 belong to its g-th four k; each has two bits of the index register that say
// which of the four. A lane needs fewer index bits than 32 where it stores fewer than 16 elements: then ABID names the
// set of bits, unless CBSZ is not 0, which takes the first (LLVM's MLIR dialect amdgpu, sparse_mfma). B lies as in the
// dense instruction of the same shape. An A and a B that permute a lane's fours alike give the same sum, so their
// order within a lane (open for the shapes that CDNA4 added) does not matter. Confidence B.
#include "simulator/alu/mfma_operands.h"
#include "simulator/alu/mfma_product.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

template <int m, int k>
uint32_t index_bits(const Wave& wave, const Instruction& instruction, int elements, int lane) {
  Row scratch;
  const uint32_t bits = src32(wave, instruction.operands[3], scratch)[lane];
  const int needed = 2 * elements;
  const Modifiers& mods = instruction.modifiers;
  if (needed == 32 || mods.cbsz != 0) return bits;
  return bits >> (needed * (mods.abid & (32 / needed - 1)));
}

/// A with its zeros, [k][row].
template <MatrixFormat format, int m, int k>
void expand(const Wave& wave, const Instruction& instruction, double* out) {
  constexpr int elements = m * k / 128;  // stored, a lane
  const Row* rows = &wave.vgpr[instruction.operands[1].index];
  std::fill_n(out, m * k, 0.0);
  for (int lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t index = index_bits<m, k>(wave, instruction, elements, lane);
    for (int e = 0; e < elements; ++e) {
      const int at = 2 * elements * (lane / m) + e / 2 * 4 + static_cast<int>(index >> (2 * e) & 3);
      out[at * m + lane % m] += static_cast<double>(
          detail::element_value<format>(detail::element_bits<bits_of_format(format)>(rows, lane, e)));
    }
  }
}

template <MatrixFormat a_format, MatrixFormat b_format, int m, int k>
void smfmac(Wave& wave, const Instruction& instruction) {
  constexpr MatrixShape shape{m, m, k, 1};
  alignas(64) double a[m * k], b[m * k], product[m * m];
  expand<a_format, m, k>(wave, instruction, a);
  decode_operand<b_format, m, m, k, 1, false>(&wave.vgpr[instruction.operands[2].index], b);
  matrix_product<m, m, k>(a, b, product);
  for (int r = 0; r < result_registers(shape); ++r) {
    uint32_t* to = row(wave, instruction.operands[0], r);
    for (int lane = 0; lane < wave_lanes; ++lane) {
      const Position at = result_position(shape, lane, r);
      const double sum = product[at.row * m + at.column];
      if constexpr (a_format == MatrixFormat::i8) {
        to[lane] += static_cast<uint32_t>(static_cast<int32_t>(sum));
      } else {
        to[lane] = std::bit_cast<uint32_t>(add_and_round(sum, std::bit_cast<float>(to[lane])));
      }
    }
  }
}

using enum MatrixFormat;

constexpr OpEntry kOps[] = {
    {"v_smfmac_f32_16x16x32_f16", smfmac<f16, f16, 16, 32>},
    {"v_smfmac_f32_32x32x16_f16", smfmac<f16, f16, 32, 16>},
    {"v_smfmac_f32_16x16x64_f16", smfmac<f16, f16, 16, 64>},
    {"v_smfmac_f32_32x32x32_f16", smfmac<f16, f16, 32, 32>},
    {"v_smfmac_f32_16x16x32_bf16", smfmac<bf16, bf16, 16, 32>},
    {"v_smfmac_f32_32x32x16_bf16", smfmac<bf16, bf16, 32, 16>},
    {"v_smfmac_f32_16x16x64_bf16", smfmac<bf16, bf16, 16, 64>},
    {"v_smfmac_f32_32x32x32_bf16", smfmac<bf16, bf16, 32, 32>},
    {"v_smfmac_i32_16x16x64_i8", smfmac<i8, i8, 16, 64>},
    {"v_smfmac_i32_32x32x32_i8", smfmac<i8, i8, 32, 32>},
    {"v_smfmac_i32_16x16x128_i8", smfmac<i8, i8, 16, 128>},
    {"v_smfmac_i32_32x32x64_i8", smfmac<i8, i8, 32, 64>},
    {"v_smfmac_f32_16x16x64_fp8_fp8", smfmac<fp8, fp8, 16, 64>},
    {"v_smfmac_f32_16x16x64_fp8_bf8", smfmac<fp8, bf8, 16, 64>},
    {"v_smfmac_f32_16x16x64_bf8_fp8", smfmac<bf8, fp8, 16, 64>},
    {"v_smfmac_f32_16x16x64_bf8_bf8", smfmac<bf8, bf8, 16, 64>},
    {"v_smfmac_f32_32x32x32_fp8_fp8", smfmac<fp8, fp8, 32, 32>},
    {"v_smfmac_f32_32x32x32_fp8_bf8", smfmac<fp8, bf8, 32, 32>},
    {"v_smfmac_f32_32x32x32_bf8_fp8", smfmac<bf8, fp8, 32, 32>},
    {"v_smfmac_f32_32x32x32_bf8_bf8", smfmac<bf8, bf8, 32, 32>},
    {"v_smfmac_f32_16x16x128_fp8_fp8", smfmac<fp8, fp8, 16, 128>},
    {"v_smfmac_f32_16x16x128_fp8_bf8", smfmac<fp8, bf8, 16, 128>},
    {"v_smfmac_f32_16x16x128_bf8_fp8", smfmac<bf8, fp8, 16, 128>},
    {"v_smfmac_f32_16x16x128_bf8_bf8", smfmac<bf8, bf8, 16, 128>},
    {"v_smfmac_f32_32x32x64_fp8_fp8", smfmac<fp8, fp8, 32, 64>},
    {"v_smfmac_f32_32x32x64_fp8_bf8", smfmac<fp8, bf8, 32, 64>},
    {"v_smfmac_f32_32x32x64_bf8_fp8", smfmac<bf8, fp8, 32, 64>},
    {"v_smfmac_f32_32x32x64_bf8_bf8", smfmac<bf8, bf8, 32, 64>},
};

}  // namespace

std::span<const OpEntry> smfmac_ops() { return kOps; }

}  // namespace mlaforge::simulator
