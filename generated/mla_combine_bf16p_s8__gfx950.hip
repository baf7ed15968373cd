// mla_combine_bf16p_s8__gfx950
// Written by mlaforge from templates/gfx950/combine.hip.mustache; edit the template, not this file.
//
// Merges 8 splits' partial outputs by their LSE: o = sum_s exp(lse_s - lse) o_s, lse = log sum_s exp(lse_s).
// Grid: requests in x, qlen x heads x 1 in y. 1 workgroup(s) a row (request, position, head), each with
// 512 latents; 1 wave(s), each merging 1 split(s) at a time in 8 step(s): split = step x 1 + wave x
// 1 + group of 64 lanes.
#include <mlaforge/kernel_contract.h>

namespace {

using u8 = unsigned char;
using f32x2 = float __attribute__((ext_vector_type(2)));
using f32x8 = float __attribute__((ext_vector_type(8)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using Partial = __bf16;
using Partial8 = Partial __attribute__((ext_vector_type(8)));

#define MLA_DEVICE static __attribute__((device, always_inline, unused))
#define MLA_LDS __attribute__((address_space(3)))
#define MLA_GLOBAL __attribute__((address_space(1)))

constexpr int kSplits = 8;
constexpr int kParts = 1;               // workgroups a row
constexpr unsigned kPartialBytes = 1024;  // of a row of one split
constexpr int kLatents = 512;           // of a workgroup
constexpr int kGroupLanes = 64;         // lanes that hold one split's latents, eight each

constexpr float kLowest = -3.0e38f;  // stands for no token: finite, so that differences are never NaN
constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

MLA_DEVICE float as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
MLA_DEVICE unsigned as_bits(float x) { return __builtin_bit_cast(unsigned, x); }

// The result of one row: lse, and the factor of its outputs. No token in any split: o = 0, lse = -inf; a NaN stays.
MLA_DEVICE float inverse_of(float sum) { return sum == 0.0f ? 0.0f : __builtin_amdgcn_rcpf(sum); }
MLA_DEVICE float lse_of(float maximum, float sum) {
  return sum == 0.0f ? -kInfinity : maximum + __builtin_amdgcn_logf(sum) * kLn2;
}

// exp(lse - maximum), maximum finite.
MLA_DEVICE float weight_of(float lse, float maximum) { return __builtin_amdgcn_exp2f((lse - maximum) * kLog2E); }

}  // namespace

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64))) void
mla_combine_bf16p_s8__gfx950(
    const void* o_partial, const float* lse_partial, int32_t qlen, int32_t heads, int64_t o_token_stride,
    int64_t o_head_stride, int64_t lse_token_stride, int64_t lse_head_stride, void* o, float* lse, int32_t requests,
    int32_t reserved) {
  // By themselves, not as the struct, whose arguments could not be preloaded.
  const mlaforge_combine_args args = {
      o_partial, lse_partial, qlen, heads, o_token_stride, o_head_stride, lse_token_stride, lse_head_stride, o, lse,
      requests, reserved};
  const int lane = (int)__builtin_amdgcn_workitem_id_x() & 63;

  const int request = (int)__builtin_amdgcn_workgroup_id_x();
  const unsigned part = __builtin_amdgcn_workgroup_id_y() % kParts;
  const int row = (int)(__builtin_amdgcn_workgroup_id_y() / kParts), rows = args.qlen * args.heads;  // of the request
  const unsigned o_step = (unsigned)rows * kPartialBytes;    // bytes from a split's partial of the row to the next one's
  const unsigned latent = (unsigned)lane % kGroupLanes * 8;  // of the workgroup's

  // Step 1. All is asked for at once: every LSE, and every partial that the lane merges.
  const MLA_GLOBAL float* const lses =
      (const MLA_GLOBAL float*)args.lse_partial + ((long)request * rows + row) * (long)kSplits;
  const MLA_GLOBAL u8* const partials =
      (const MLA_GLOBAL u8*)args.o_partial +
      (((long)request * kSplits * rows + row) * (long)kPartialBytes + part * (unsigned)(kLatents * sizeof(Partial)));
  const float every_lse0 = lses[0];
  const float every_lse1 = lses[1];
  const float every_lse2 = lses[2];
  const float every_lse3 = lses[3];
  const float every_lse4 = lses[4];
  const float every_lse5 = lses[5];
  const float every_lse6 = lses[6];
  const float every_lse7 = lses[7];

  const Partial8 o0 = *(const MLA_GLOBAL Partial8*)(partials + (0u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o1 = *(const MLA_GLOBAL Partial8*)(partials + (1u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o2 = *(const MLA_GLOBAL Partial8*)(partials + (2u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o3 = *(const MLA_GLOBAL Partial8*)(partials + (3u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o4 = *(const MLA_GLOBAL Partial8*)(partials + (4u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o5 = *(const MLA_GLOBAL Partial8*)(partials + (5u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o6 = *(const MLA_GLOBAL Partial8*)(partials + (6u * o_step + latent * (unsigned)sizeof(Partial)));
  const Partial8 o7 = *(const MLA_GLOBAL Partial8*)(partials + (7u * o_step + latent * (unsigned)sizeof(Partial)));
  // Meanwhile the place of the result: its bytes, and what they are added to, which comes in behind the loads.
  const int position = row / args.heads, head = row - position * args.heads;
  const long token = (long)request * args.qlen + position;
  long o_bytes = (token * args.o_token_stride + head * args.o_head_stride + part * (unsigned)kLatents) * (long)sizeof(__bf16);
  long lse_bytes = (token * args.lse_token_stride + head * args.lse_head_stride) * (long)sizeof(float);
  asm volatile("" : "+s"(o_bytes), "+s"(lse_bytes) : "s"(args.o), "s"(args.lse));
  MLA_GLOBAL __bf16* to = (MLA_GLOBAL __bf16*)((MLA_GLOBAL u8*)args.o + o_bytes);
  asm volatile("" : "+s"(to));

  // Step 2. The row's maximum and weights. An empty split's lse is -inf and its o is 0: it adds exactly 0.
  float maximum = kLowest;
  maximum = __builtin_fmaxf(maximum, every_lse0);
  maximum = __builtin_fmaxf(maximum, every_lse1);
  maximum = __builtin_fmaxf(maximum, every_lse2);
  maximum = __builtin_fmaxf(maximum, every_lse3);
  maximum = __builtin_fmaxf(maximum, every_lse4);
  maximum = __builtin_fmaxf(maximum, every_lse5);
  maximum = __builtin_fmaxf(maximum, every_lse6);
  maximum = __builtin_fmaxf(maximum, every_lse7);

  float sum = 0.0f;
  sum += weight_of(every_lse0, maximum);
  sum += weight_of(every_lse1, maximum);
  sum += weight_of(every_lse2, maximum);
  sum += weight_of(every_lse3, maximum);
  sum += weight_of(every_lse4, maximum);
  sum += weight_of(every_lse5, maximum);
  sum += weight_of(every_lse6, maximum);
  sum += weight_of(every_lse7, maximum);

  // Step 3. The weighted sum of the lane's splits.
  f32x8 merged = {0, 0, 0, 0, 0, 0, 0, 0};
  merged += __builtin_convertvector(o0, f32x8) * weight_of(every_lse0, maximum);
  merged += __builtin_convertvector(o1, f32x8) * weight_of(every_lse1, maximum);
  merged += __builtin_convertvector(o2, f32x8) * weight_of(every_lse2, maximum);
  merged += __builtin_convertvector(o3, f32x8) * weight_of(every_lse3, maximum);
  merged += __builtin_convertvector(o4, f32x8) * weight_of(every_lse4, maximum);
  merged += __builtin_convertvector(o5, f32x8) * weight_of(every_lse5, maximum);
  merged += __builtin_convertvector(o6, f32x8) * weight_of(every_lse6, maximum);
  merged += __builtin_convertvector(o7, f32x8) * weight_of(every_lse7, maximum);
  float inverse = inverse_of(sum), row_lse = lse_of(maximum, sum);

  // Step 4. The row's result.
  *(MLA_GLOBAL bf16x8*)(to + latent) = __builtin_convertvector(merged * inverse, bf16x8);
  if (lane == 0 && args.lse) *(MLA_GLOBAL float*)((MLA_GLOBAL u8*)args.lse + lse_bytes) = row_lse;

}
