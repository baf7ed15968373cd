// mla_combine_bf16p_s32__gfx950
// Written by mlaforge from templates/gfx950/combine.hip.mustache; edit the template, not this file.
//
// Merges 32 splits' partial outputs by their LSE: o = sum_s exp(lse_s - lse) o_s, lse = log sum_s exp(lse_s).
// Grid: requests in x, qlen x heads x 4 in y. 4 workgroup(s) a row (request, position, head), each with
// 128 latents; 2 wave(s), each merging 4 split(s) at a time in 4 step(s): split = step x 8 + wave x
// 4 + group of 16 lanes.
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

constexpr int kSplits = 32;
constexpr int kParts = 4;               // workgroups a row
constexpr unsigned kPartialBytes = 1024;  // of a row of one split
constexpr int kLatents = 128;           // of a workgroup
constexpr int kGroupLanes = 16;         // lanes that hold one split's latents, eight each
constexpr int kWaves = 2;
constexpr float kLowest = -3.0e38f;  // stands for no token: finite, so that differences are never NaN
constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;
constexpr int kRotate1 = 0x121, kRotate2 = 0x122, kRotate4 = 0x124, kRotate8 = 0x128;  // DPP row_ror:n

MLA_DEVICE float as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
MLA_DEVICE unsigned as_bits(float x) { return __builtin_bit_cast(unsigned, x); }

// Over the wave's lanes.
template <int kControl>
MLA_DEVICE float moved(float x) {  // by a DPP control within 16 lanes
  return as_float((unsigned)__builtin_amdgcn_update_dpp(0, (int)as_bits(x), kControl, 0xf, 0xf, true));
}
MLA_DEVICE float sum_over_lanes(float x) {
  const auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = as_float(halves[0]) + as_float(halves[1]);
  const auto quarters = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  x = as_float(quarters[0]) + as_float(quarters[1]);
  x += moved<kRotate8>(x);
  x += moved<kRotate4>(x);
  x += moved<kRotate2>(x);
  return x + moved<kRotate1>(x);
}
// By assembly, since the compiler would quiet each value first; it does not see to the two wait states that a lane move
// behind it needs.
MLA_DEVICE float larger(float a, float b) {
  float result;
  asm("v_max_f32 %0, %1, %2\n\ts_nop 1" : "=v"(result) : "v"(a), "v"(b));
  return result;
}
MLA_DEVICE float max_over_lanes(float x) {
  const auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = larger(as_float(halves[0]), as_float(halves[1]));
  const auto quarters = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  x = larger(as_float(quarters[0]), as_float(quarters[1]));
  x = larger(x, moved<kRotate8>(x));
  x = larger(x, moved<kRotate4>(x));
  x = larger(x, moved<kRotate2>(x));
  return larger(x, moved<kRotate1>(x));
}

// Sums over the groups of lanes, each of which keeps a share of them: of the two sums that a lane gives and takes, lower
// lanes keep `low` and upper ones `high`. Lanes 0 .. 31 are the lower ones; of 32 the first 16; of 16 the first 8.
MLA_DEVICE float shared_over_halves(float low, float high) {
  const auto swapped = __builtin_amdgcn_permlane32_swap(as_bits(low), as_bits(high), false, false);
  return as_float(swapped[0]) + as_float(swapped[1]);
}
MLA_DEVICE float shared_over_quarters(float low, float high) {
  const auto swapped = __builtin_amdgcn_permlane16_swap(as_bits(low), as_bits(high), false, false);
  return as_float(swapped[0]) + as_float(swapped[1]);
}

// The result of one row: lse, and the factor of its outputs. No token in any split: o = 0, lse = -inf; a NaN stays.
MLA_DEVICE float inverse_of(float sum) { return sum == 0.0f ? 0.0f : __builtin_amdgcn_rcpf(sum); }
MLA_DEVICE float lse_of(float maximum, float sum) {
  return sum == 0.0f ? -kInfinity : maximum + __builtin_amdgcn_logf(sum) * kLn2;
}

// exp(lse - maximum), maximum finite.
MLA_DEVICE float weight_of(float lse, float maximum) { return __builtin_amdgcn_exp2f((lse - maximum) * kLog2E); }

}  // namespace

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) void
mla_combine_bf16p_s32__gfx950(
    const void* o_partial, const float* lse_partial, int32_t qlen, int32_t heads, int64_t o_token_stride,
    int64_t o_head_stride, int64_t lse_token_stride, int64_t lse_head_stride, void* o, float* lse, int32_t requests,
    int32_t reserved) {
  // By themselves, not as the struct, whose arguments could not be preloaded.
  const mlaforge_combine_args args = {
      o_partial, lse_partial, qlen, heads, o_token_stride, o_head_stride, lse_token_stride, lse_head_stride, o, lse,
      requests, reserved};
  const int lane = (int)__builtin_amdgcn_workitem_id_x() & 63;
  const int thread = (int)__builtin_amdgcn_workitem_id_x(), wave = __builtin_amdgcn_readfirstlane(thread >> 6);
  const int request = (int)__builtin_amdgcn_workgroup_id_x();
  const unsigned part = __builtin_amdgcn_workgroup_id_y() % kParts;
  const int row = (int)(__builtin_amdgcn_workgroup_id_y() / kParts), rows = args.qlen * args.heads;  // of the request
  const unsigned o_step = (unsigned)rows * kPartialBytes;    // bytes from a split's partial of the row to the next one's
  const unsigned latent = (unsigned)lane % kGroupLanes * 8;  // of the workgroup's
  const unsigned own_split = (unsigned)(wave * kParts + lane / kGroupLanes);  // of the first step
  const unsigned own_o = own_split * o_step + latent * (unsigned)sizeof(Partial);

  // Step 1. All is asked for at once: every LSE, and every partial that the lane merges.
  const MLA_GLOBAL float* const lses =
      (const MLA_GLOBAL float*)args.lse_partial + ((long)request * rows + row) * (long)kSplits;
  const MLA_GLOBAL u8* const partials =
      (const MLA_GLOBAL u8*)args.o_partial +
      (((long)request * kSplits * rows + row) * (long)kPartialBytes + part * (unsigned)(kLatents * sizeof(Partial)));
  const float every_lse0 = (unsigned)lane < kSplits ? lses[(unsigned)lane] : -kInfinity;
  const float lse0 = lses[own_split];
  const float lse1 = lses[own_split + 8];
  const float lse2 = lses[own_split + 16];
  const float lse3 = lses[own_split + 24];
  const Partial8 o0 = *(const MLA_GLOBAL Partial8*)(partials + own_o);
  const Partial8 o1 = *(const MLA_GLOBAL Partial8*)(partials + (own_o + 8u * o_step));
  const Partial8 o2 = *(const MLA_GLOBAL Partial8*)(partials + (own_o + 16u * o_step));
  const Partial8 o3 = *(const MLA_GLOBAL Partial8*)(partials + (own_o + 24u * o_step));
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
  maximum = max_over_lanes(maximum);
  float sum = 0.0f;
  sum += weight_of(every_lse0, maximum);
  sum = sum_over_lanes(sum);
  // Step 3. The weighted sum of the lane's splits.
  f32x8 merged = {0, 0, 0, 0, 0, 0, 0, 0};
  merged += __builtin_convertvector(o0, f32x8) * weight_of(lse0, maximum);
  merged += __builtin_convertvector(o1, f32x8) * weight_of(lse1, maximum);
  merged += __builtin_convertvector(o2, f32x8) * weight_of(lse2, maximum);
  merged += __builtin_convertvector(o3, f32x8) * weight_of(lse3, maximum);
  float inverse = inverse_of(sum), row_lse = lse_of(maximum, sum);

  // Step 4. Over the groups of the wave; 2 latent(s) stay with a lane.
  float half[4], quarter[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) half[i] = shared_over_halves(merged[i], merged[i + 4]);
#pragma unroll
  for (int i = 0; i < 2; ++i) quarter[i] = shared_over_quarters(half[i], half[i + 2]);
  __attribute__((shared)) __attribute__((aligned(16))) static float storage[kWaves][kLatents];
  MLA_LDS float (*const waves)[kLatents] = (MLA_LDS float (*)[kLatents])storage;
  const int own_latent = latent + 4 * (lane >> 5) + 2 * (lane >> 4 & 1);

  *(MLA_LDS f32x2*)&waves[wave][own_latent] = f32x2{quarter[0], quarter[1]};
  asm volatile("" : "+v"(inverse), "+v"(row_lse) : : "memory");  // not behind the barrier, where all wait for them
  __builtin_amdgcn_s_waitcnt(0xc07f);  // lgkmcnt(0)
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");

  // Step 5. Over the waves, one latent a thread.
  if (thread >= kLatents) return;
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kWaves; ++i) total += waves[i][thread];
  to[thread] = (__bf16)(total * inverse);
  if (part == 0 && thread == 0 && args.lse) *(MLA_GLOBAL float*)((MLA_GLOBAL u8*)args.lse + lse_bytes) = row_lse;
}
