// mla_combine_bf16p_s8__gfx950
// Written by mlaforge from templates/gfx950/combine.hip.mustache; edit the template, not this file.
//
// Merges 8 splits' partial outputs by their LSE: o = sum_s exp(lse_s - lse) o_s, lse = log sum_s exp(lse_s).
// One workgroup a row (request, position, head), 2 wave(s); a lane has 8 latents of the splits wave, wave + 2, ...
#include <mlaforge/kernel_contract.h>

namespace {

using f32x4 = float __attribute__((ext_vector_type(4)));
using f32x8 = float __attribute__((ext_vector_type(8)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using Partial8 = __bf16 __attribute__((ext_vector_type(8)));

#define MLA_DEVICE static __attribute__((device)) __attribute__((always_inline))
#define MLA_LDS __attribute__((address_space(3)))
#define MLA_GLOBAL __attribute__((address_space(1)))

constexpr int kSplits = 8;
constexpr int kLseSlots = 1;  // ceil(splits / 64): each lane of a wave holds the LSE of so many splits
constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

struct Lds {
  float o[1][64][8];  // the partial sums of all waves but the first
};

// What lane `lane` has, as a scalar.
MLA_DEVICE float weight_of(float weights, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, weights), lane));
}

// Over all 64 lanes of the wave: butterflies by ds_bpermute.
MLA_DEVICE float from_lane(float x, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane << 2, __builtin_bit_cast(int, x)));
}
MLA_DEVICE float max_over_wave(float x, int lane) {
#pragma unroll
  for (int step = 32; step >= 1; step >>= 1) x = __builtin_fmaxf(x, from_lane(x, lane ^ step));
  return x;
}
MLA_DEVICE float sum_over_wave(float x, int lane) {
#pragma unroll
  for (int step = 32; step >= 1; step >>= 1) x += from_lane(x, lane ^ step);
  return x;
}

}  // namespace

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) void
mla_combine_bf16p_s8__gfx950(mlaforge_combine_args args) {
  __attribute__((shared)) __attribute__((aligned(16))) static Lds storage;
  MLA_LDS Lds* const lds = (MLA_LDS Lds*)&storage;
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const int wave = __builtin_amdgcn_readfirstlane(thread >> 6), lane = thread & 63;
  const int rows = args.qlen * args.heads;  // of a request
  const int request = (int)__builtin_amdgcn_workgroup_id_x() / rows, row = (int)__builtin_amdgcn_workgroup_id_x() % rows;
  const long first = (long)request * kSplits * rows + row;  // the row's partial of split 0; the next is `rows` further

  // Step 1. Every partial that the wave merges is asked for at once.
  const MLA_GLOBAL __bf16* const partials = (const MLA_GLOBAL __bf16*)args.o_partial + first * MLAFORGE_LATENT_DIM + lane * 8;
  const Partial8 o0 = *(const MLA_GLOBAL Partial8*)(partials + (long)(0 + wave) * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o1 = *(const MLA_GLOBAL Partial8*)(partials + (long)(2 + wave) * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o2 = *(const MLA_GLOBAL Partial8*)(partials + (long)(4 + wave) * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o3 = *(const MLA_GLOBAL Partial8*)(partials + (long)(6 + wave) * rows * MLAFORGE_LATENT_DIM);

  // Step 2. Each wave finds the row's LSE: lane l holds the splits l, l + 64, ...
  const MLA_GLOBAL float* const lses = (const MLA_GLOBAL float*)args.lse_partial + first;
  float lse[kLseSlots];
#pragma unroll
  for (int i = 0; i < kLseSlots; ++i) lse[i] = i * 64 + lane < kSplits ? lses[(long)(i * 64 + lane) * rows] : -kInfinity;
  float largest = lse[0];
#pragma unroll
  for (int i = 1; i < kLseSlots; ++i) largest = __builtin_fmaxf(largest, lse[i]);
  largest = max_over_wave(largest, lane);
  // A row with no token in any split: every weight is 0, its lse is -inf.
  const float reference = largest == -kInfinity ? 0.0f : largest;
  float weight[kLseSlots], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kLseSlots; ++i) {
    weight[i] = __builtin_amdgcn_exp2f((lse[i] - reference) * kLog2E);
    sum += weight[i];
  }
  sum = sum_over_wave(sum, lane);
  const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;

  // Step 3. The weighted sum of the wave's splits. Weights pass through scalars; an empty split's is exactly 0 and its o is 0.
  f32x8 o = {0, 0, 0, 0, 0, 0, 0, 0};
  o += __builtin_convertvector(o0, f32x8) * weight_of(weight[0], 0 + wave);
  o += __builtin_convertvector(o1, f32x8) * weight_of(weight[0], 2 + wave);
  o += __builtin_convertvector(o2, f32x8) * weight_of(weight[0], 4 + wave);
  o += __builtin_convertvector(o3, f32x8) * weight_of(weight[0], 6 + wave);

  // Step 4. The waves' sums meet in the first wave.
  if (wave != 0) {
    *(MLA_LDS f32x4*)&lds->o[wave - 1][lane][0] = __builtin_shufflevector(o, o, 0, 1, 2, 3);
    *(MLA_LDS f32x4*)&lds->o[wave - 1][lane][4] = __builtin_shufflevector(o, o, 4, 5, 6, 7);
  }
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_waitcnt(0xc07f);  // lgkmcnt(0)
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
  if (wave != 0) return;
  o += __builtin_shufflevector(*(MLA_LDS f32x4*)&lds->o[0][lane][0], *(MLA_LDS f32x4*)&lds->o[0][lane][4], 0, 1, 2, 3, 4, 5, 6, 7);

  const long token = (long)request * args.qlen + row / args.heads;
  const long head = row % args.heads;
  MLA_GLOBAL __bf16* const to = (MLA_GLOBAL __bf16*)args.o + token * args.o_token_stride + head * args.o_head_stride + lane * 8;
  *(MLA_GLOBAL bf16x8*)to = __builtin_convertvector(o * inverse, bf16x8);
  if (args.lse && lane == 0)
    ((MLA_GLOBAL float*)args.lse)[token * args.lse_token_stride + head * args.lse_head_stride] =
        sum == 0.0f ? -kInfinity : reference + __builtin_amdgcn_logf(sum) * kLn2;
}
