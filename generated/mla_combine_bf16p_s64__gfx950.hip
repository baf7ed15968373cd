// mla_combine_bf16p_s64__gfx950
// Written by mlaforge from templates/gfx950/combine.hip.mustache; edit the template, not this file.
//
// Merges 64 splits' partial outputs by their LSE: o = sum_s exp(lse_s - lse) o_s, lse = log sum_s exp(lse_s).
// 4 workgroup(s) a row (request, position, head), each with 128 latents; 2 wave(s), each merging
// 4 split(s) at a time in 8 step(s): split = step x 8 + wave x 4 + group of 16 lanes.
#include <mlaforge/kernel_contract.h>

namespace {

using f32x4 = float __attribute__((ext_vector_type(4)));
using f32x8 = float __attribute__((ext_vector_type(8)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using Partial = __bf16;
using Partial8 = Partial __attribute__((ext_vector_type(8)));

#define MLA_DEVICE static __attribute__((device, always_inline, unused))
#define MLA_LDS __attribute__((address_space(3)))
#define MLA_GLOBAL __attribute__((address_space(1)))

constexpr int kSplits = 64;
constexpr int kParts = 4;               // workgroups a row
constexpr int kLatents = 128;           // of a workgroup
constexpr int kGroupLanes = 16;         // lanes that hold one split's latents, eight each
constexpr int kWaves = 2;
constexpr float kLowest = -3.0e38f;  // stands for no token: finite, so that differences are never NaN
constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

struct Lds {
  float o[kWaves][kLatents];  // each wave's weighted sum
  float maximum[kWaves], sum[kWaves];
};

MLA_DEVICE float as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
MLA_DEVICE unsigned as_bits(float x) { return __builtin_bit_cast(unsigned, x); }

// Sum (maximum) over the wave's groups of lanes; each lane of a group has its own latents.
MLA_DEVICE float sum_over_groups(float x) {
  const auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = as_float(halves[0]) + as_float(halves[1]);
  const auto quarters = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  x = as_float(quarters[0]) + as_float(quarters[1]);
  return x;
}
MLA_DEVICE float max_over_groups(float x) {
  const auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = __builtin_fmaxf(as_float(halves[0]), as_float(halves[1]));
  const auto quarters = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  x = __builtin_fmaxf(as_float(quarters[0]), as_float(quarters[1]));
  return x;
}

// The result of one row: lse, and the factor of its outputs. No token in any split: o = 0, lse = -inf; a NaN stays.
MLA_DEVICE float inverse_of(float sum) { return sum == 0.0f ? 0.0f : 1.0f / sum; }
MLA_DEVICE float lse_of(float maximum, float sum) {
  return sum == 0.0f ? -kInfinity : maximum + __builtin_amdgcn_logf(sum) * kLn2;
}

}  // namespace

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) void
mla_combine_bf16p_s64__gfx950(
    const void* o_partial, const float* lse_partial, int32_t qlen, int32_t heads, void* o, float* lse,
    int64_t o_token_stride, int64_t o_head_stride, int64_t lse_token_stride, int64_t lse_head_stride,
    int32_t requests, int32_t reserved) {
  // By themselves, not as the struct, whose arguments could not be preloaded.
  const mlaforge_combine_args args = {
      o_partial, lse_partial, qlen, heads, o, lse, o_token_stride, o_head_stride, lse_token_stride, lse_head_stride,
      requests, reserved};
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const int wave = __builtin_amdgcn_readfirstlane(thread >> 6), lane = thread & 63;
  const int part = (int)__builtin_amdgcn_workgroup_id_x() % kParts;
  const int index = (int)__builtin_amdgcn_workgroup_id_x() / kParts;
  const int rows = args.qlen * args.heads;  // of a request
  const int request = index / rows, row = index % rows;
  const long first = (long)request * kSplits * rows + row;  // the row's partial of split 0; the next is `rows` further
  const int latent = part * kLatents + lane % kGroupLanes * 8;
  const int own_split = wave * kParts + lane / kGroupLanes;  // of the first step

  // Step 1. Every partial that the lane merges is asked for at once, and its LSE.
  const MLA_GLOBAL Partial* const partials =
      (const MLA_GLOBAL Partial*)args.o_partial + first * MLAFORGE_LATENT_DIM + latent;
  const MLA_GLOBAL float* const lses = (const MLA_GLOBAL float*)args.lse_partial + first;
  const int split0 = own_split;
  const float lse0 = lses[(long)split0 * rows];
  const int split1 = own_split + 8;
  const float lse1 = lses[(long)split1 * rows];
  const int split2 = own_split + 16;
  const float lse2 = lses[(long)split2 * rows];
  const int split3 = own_split + 24;
  const float lse3 = lses[(long)split3 * rows];
  const int split4 = own_split + 32;
  const float lse4 = lses[(long)split4 * rows];
  const int split5 = own_split + 40;
  const float lse5 = lses[(long)split5 * rows];
  const int split6 = own_split + 48;
  const float lse6 = lses[(long)split6 * rows];
  const int split7 = own_split + 56;
  const float lse7 = lses[(long)split7 * rows];
  const Partial8 o0 = *(const MLA_GLOBAL Partial8*)(partials + (long)split0 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o1 = *(const MLA_GLOBAL Partial8*)(partials + (long)split1 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o2 = *(const MLA_GLOBAL Partial8*)(partials + (long)split2 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o3 = *(const MLA_GLOBAL Partial8*)(partials + (long)split3 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o4 = *(const MLA_GLOBAL Partial8*)(partials + (long)split4 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o5 = *(const MLA_GLOBAL Partial8*)(partials + (long)split5 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o6 = *(const MLA_GLOBAL Partial8*)(partials + (long)split6 * rows * MLAFORGE_LATENT_DIM);
  const Partial8 o7 = *(const MLA_GLOBAL Partial8*)(partials + (long)split7 * rows * MLAFORGE_LATENT_DIM);
  // The arguments that were not preloaded come in behind them, not each where it is first used.
  asm volatile("" ::"s"(args.o), "s"(args.lse), "s"(args.o_token_stride), "s"(args.o_head_stride),
               "s"(args.lse_token_stride), "s"(args.lse_head_stride));

  // Step 2. The wave's maximum, and the weighted sum of its splits. An empty split's lse is -inf and its o is 0: it adds
  // exactly 0.
  float maximum = kLowest;
  maximum = __builtin_fmaxf(maximum, lse0);
  maximum = __builtin_fmaxf(maximum, lse1);
  maximum = __builtin_fmaxf(maximum, lse2);
  maximum = __builtin_fmaxf(maximum, lse3);
  maximum = __builtin_fmaxf(maximum, lse4);
  maximum = __builtin_fmaxf(maximum, lse5);
  maximum = __builtin_fmaxf(maximum, lse6);
  maximum = __builtin_fmaxf(maximum, lse7);
  maximum = max_over_groups(maximum);
  f32x8 merged = {0, 0, 0, 0, 0, 0, 0, 0};
  float sum = 0.0f;
  const float weight0 = __builtin_amdgcn_exp2f((lse0 - maximum) * kLog2E);
  merged += __builtin_convertvector(o0, f32x8) * weight0;
  sum += weight0;
  const float weight1 = __builtin_amdgcn_exp2f((lse1 - maximum) * kLog2E);
  merged += __builtin_convertvector(o1, f32x8) * weight1;
  sum += weight1;
  const float weight2 = __builtin_amdgcn_exp2f((lse2 - maximum) * kLog2E);
  merged += __builtin_convertvector(o2, f32x8) * weight2;
  sum += weight2;
  const float weight3 = __builtin_amdgcn_exp2f((lse3 - maximum) * kLog2E);
  merged += __builtin_convertvector(o3, f32x8) * weight3;
  sum += weight3;
  const float weight4 = __builtin_amdgcn_exp2f((lse4 - maximum) * kLog2E);
  merged += __builtin_convertvector(o4, f32x8) * weight4;
  sum += weight4;
  const float weight5 = __builtin_amdgcn_exp2f((lse5 - maximum) * kLog2E);
  merged += __builtin_convertvector(o5, f32x8) * weight5;
  sum += weight5;
  const float weight6 = __builtin_amdgcn_exp2f((lse6 - maximum) * kLog2E);
  merged += __builtin_convertvector(o6, f32x8) * weight6;
  sum += weight6;
  const float weight7 = __builtin_amdgcn_exp2f((lse7 - maximum) * kLog2E);
  merged += __builtin_convertvector(o7, f32x8) * weight7;
  sum += weight7;
  sum = sum_over_groups(sum);
#pragma unroll
  for (int i = 0; i < 8; ++i) merged[i] = sum_over_groups(merged[i]);

  const long token = (long)request * args.qlen + row / args.heads;
  const long head = row % args.heads;
  MLA_GLOBAL __bf16* const to = (MLA_GLOBAL __bf16*)args.o + token * args.o_token_stride + head * args.o_head_stride;
  MLA_GLOBAL float* const lse_to =
      args.lse ? (MLA_GLOBAL float*)args.lse + token * args.lse_token_stride + head * args.lse_head_stride : nullptr;


  // Step 3. The waves' sums meet in LDS.
  __attribute__((shared)) __attribute__((aligned(16))) static Lds storage;
  MLA_LDS Lds* const lds = (MLA_LDS Lds*)&storage;
  if (lane < kGroupLanes) {
    *(MLA_LDS f32x4*)&lds->o[wave][lane * 8] = __builtin_shufflevector(merged, merged, 0, 1, 2, 3);
    *(MLA_LDS f32x4*)&lds->o[wave][lane * 8 + 4] = __builtin_shufflevector(merged, merged, 4, 5, 6, 7);
  }
  if (lane == 0) {
    lds->maximum[wave] = maximum;
    lds->sum[wave] = sum;
  }
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_waitcnt(0xc07f);  // lgkmcnt(0)
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");

  // Step 4. One latent a thread, over the waves.
  if (thread >= kLatents) return;
  float largest = kLowest;
#pragma unroll
  for (int i = 0; i < kWaves; ++i) largest = __builtin_fmaxf(largest, lds->maximum[i]);
  float latent_sum = 0.0f, total = 0.0f;
#pragma unroll
  for (int i = 0; i < kWaves; ++i) {
    const float weight = __builtin_amdgcn_exp2f((lds->maximum[i] - largest) * kLog2E);
    total += lds->sum[i] * weight;
    latent_sum += lds->o[i][thread] * weight;
  }
  to[part * kLatents + thread] = (__bf16)(latent_sum * inverse_of(total));
  if (part == 0 && thread == 0 && lse_to) *lse_to = lse_of(largest, total);
}
