// mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s16_p1__gfx950_ws
// Written by mlaforge from templates/gfx950/attention.hip.mustache; edit the template, not this file.
//
// MLA decode attention, absorbed: 12 query heads of a rank over one shared latent cache, 8 query positions.
// bf16 query as two E4M3 parts, E4M3 cache, P as E4M3 hi + lo.
// 16 splits, page size 1, 128-token blocks, warp_specialized pipeline.
// A workgroup has 4 heads x 8 positions = 32 rows: row = head x 8 + position.
//
// LDS map (159232 of 163840 bytes)
//   slots         147456 B  two K slots of 8 tiles x 16 tokens x 576 B; V^T is read from them too
//   probability     8192 B  P of a block, E4M3: [row tile][part][16 rows][128 tokens]
//   wave_maxima      512 B  what a block's P stands against: [row tile][wave][row]
//   pages           2048 B  page ids of each PV wave's tokens of two blocks to come, in copies
//   totals          1024 B  at the end: each wave's row maxima, then its row sums: [row tile][maxima, sums][0][row][wave]
//
// Budget a block, in clocks of a CU: MFMA 2176, HBM 8101 when every CU streams a chunk of its own.
#include <mlaforge/kernel_contract.h>

namespace {

// ---- Types --------------------------------------------------------------------------------------------------------

using u8 = unsigned char;
using u16x2 = unsigned short __attribute__((ext_vector_type(2)));
using i32x2 = int __attribute__((ext_vector_type(2)));
using i32x4 = int __attribute__((ext_vector_type(4)));
using i32x8 = int __attribute__((ext_vector_type(8)));
using f32x2 = float __attribute__((ext_vector_type(2)));
using f32x4 = float __attribute__((ext_vector_type(4)));
using bf16x4 = __bf16 __attribute__((ext_vector_type(4)));

#define MLA_DEVICE static __attribute__((device, always_inline, unused))
#define MLA_LDS __attribute__((address_space(3)))
#define MLA_GLOBAL __attribute__((address_space(1)))
#define MLA_CONSTANT __attribute__((address_space(4)))  // uniform and never written: scalar loads

// ---- Waits and barriers -------------------------------------------------------------------------------------------

// No memory operation moves across; emits nothing.
MLA_DEVICE void compiler_fence() { asm volatile("" ::: "memory"); }

// Waits until at most N of the wave's vector memory operations are outstanding; they finish in order.
template <int N>
MLA_DEVICE void wait_vector_memory() {
  static_assert(N >= 0 && N <= 63, "vmcnt has six bits");
  compiler_fence();
  __builtin_amdgcn_s_waitcnt((N & 15) | ((N >> 4) << 14) | 0x0f70);
  compiler_fence();
}

// The wave's own LDS operations are done, then every wave of the workgroup is here.
MLA_DEVICE void workgroup_barrier() {
  compiler_fence();
  __builtin_amdgcn_s_waitcnt(0xc07f);  // lgkmcnt(0)
  __builtin_amdgcn_s_barrier();
  compiler_fence();
}

// ---- LDS and DMA --------------------------------------------------------------------------------------------------

MLA_DEVICE i32x4 lds_load16(const MLA_LDS u8* p) { return *(const MLA_LDS i32x4*)p; }

// Transpose read: of its 16-lane group's 8 tokens x 16 latents, a lane gets one latent's 8 tokens.
MLA_DEVICE i32x2 lds_load_transposed(MLA_LDS u8* p) {
  return __builtin_amdgcn_ds_read_tr8_b64_v2i32((MLA_LDS i32x2*)p);
}

MLA_DEVICE unsigned lds_address(MLA_LDS u8* p) { return (unsigned)(unsigned long)p; }

// global_load_lds_dwordx4: each lane's 16 bytes at base + offset + COLUMN go to LDS at lds + lane x 16. The immediate
// is added to both addresses, so M0 starts COLUMN bytes early. Assembly, so that the compiler adds no waits of its own
// to LDS reads; the kernel counts the waits (see `wait_vector_memory`). M0 needs a wait state before the DMA reads it.
template <int COLUMN>
MLA_DEVICE void dma16(const void* base, unsigned offset, unsigned lds) {
  asm volatile(
      "s_nop 0\n\t"
      "global_load_lds_dwordx4 %1, %2 offset:%c3"
      :
      : "{m0}"(lds - COLUMN), "v"(offset), "s"(base), "n"(COLUMN)
      : "memory");
}

// The same where offsets need 64 bits: each lane has its whole address.
template <int COLUMN>
MLA_DEVICE void dma16(const void* base, unsigned long offset, unsigned lds) {
  asm volatile(
      "s_nop 0\n\t"
      "global_load_lds_dwordx4 %1, off offset:%c2"
      :
      : "{m0}"(lds - COLUMN), "v"((const u8*)base + offset), "n"(COLUMN)
      : "memory");
}

// global_load_lds_dword: each lane's 4 bytes at base + offset go to LDS at lds + lane x 4.
MLA_DEVICE void dma4(const void* base, unsigned offset, unsigned lds) {
  asm volatile(
      "s_nop 0\n\t"
      "global_load_lds_dword %1, %2"
      :
      : "{m0}"(lds), "v"(offset), "s"(base)
      : "memory");
}

// ---- Arithmetic ---------------------------------------------------------------------------------------------------

MLA_DEVICE float as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
MLA_DEVICE unsigned as_bits(float x) { return __builtin_bit_cast(unsigned, x); }
MLA_DEVICE int min_int(int a, int b) { return a < b ? a : b; }
MLA_DEVICE float max_float(float a, float b) { return __builtin_fmaxf(a, b); }

// Maxima of values that the compiler knows nothing about; by assembly, since it would quiet each of them first. A lane
// swap may follow, which needs two wait states that the compiler does not see to here.
MLA_DEVICE float max3(float a, float b, float c) {
  float result;
  asm("v_max3_f32 %0, %1, %2, %3" : "=v"(result) : "v"(a), "v"(b), "v"(c));
  return result;
}
MLA_DEVICE float max_of_swapped(unsigned a, unsigned b) {
  float result;
  asm("v_max_f32 %0, %1, %2\n\ts_nop 1" : "=v"(result) : "v"(a), "v"(b));
  return result;
}

// Maximum (sum) over the four lanes that hold the same query row: lane ^ 32, then lane ^ 16.
MLA_DEVICE float max_over_lane_groups(float x) {
  auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = max_of_swapped(halves[0], halves[1]);
  halves = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  return max_of_swapped(halves[0], halves[1]);
}
MLA_DEVICE float sum_over_lane_groups(float x) {
  auto halves = __builtin_amdgcn_permlane32_swap(as_bits(x), as_bits(x), false, false);
  x = as_float(halves[0]) + as_float(halves[1]);
  halves = __builtin_amdgcn_permlane16_swap(as_bits(x), as_bits(x), false, false);
  return as_float(halves[0]) + as_float(halves[1]);
}

MLA_DEVICE i32x8 join(i32x4 a, i32x4 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7); }
MLA_DEVICE i32x4 join(i32x2 a, i32x2 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3); }
MLA_DEVICE i32x8 join(i32x2 a, i32x2 b, i32x2 c, i32x2 d) { return join(join(a, b), join(c, d)); }

// 64 bytes fill half of k; they stand twice, against hi | lo.
MLA_DEVICE i32x8 twice(i32x4 a) { return join(a, a); }

// D = A B + C, E4M3 x E4M3, 16x16x128. Both scales literal 0: the unscaled opcode.
MLA_DEVICE f32x4 mfma(i32x8 a, i32x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, 0, 0, 0);
}

// The same with B's k in blocks of 32, each times a power of two: lane l has the E8M0 byte of column l % 16, block
// l / 16. 127 is 1. A's scale is a vector register too; clang 21 would give the constant a scalar one, which is none of
// the instruction's operands.
MLA_DEVICE f32x4 mfma_scaled(i32x8 a, i32x8 b, f32x4 c, int b_scale) {
  int one = 127;
  asm("" : "+v"(one));
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, one, 0, b_scale);
}

// Four floats as E4M3 bytes, the first lowest. Round to nearest even; |x| <= 448 is the caller's.
MLA_DEVICE int pack_fp8(f32x4 x) {
  const int low = __builtin_amdgcn_cvt_pk_fp8_f32(x[0], x[1], 0, false);
  return __builtin_amdgcn_cvt_pk_fp8_f32(x[2], x[3], low, true);
}
MLA_DEVICE f32x4 unpack_fp8(int bytes) {
  const f32x2 low = __builtin_amdgcn_cvt_pk_f32_fp8(bytes, false);
  const f32x2 high = __builtin_amdgcn_cvt_pk_f32_fp8(bytes, true);
  return f32x4{low[0], low[1], high[0], high[1]};
}

// Bytes that are E4M3 NaN (0x7f, 0xff) become 0.
MLA_DEVICE int nan_bytes_to_zero(int x) {
  const unsigned nan = (((unsigned)x & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
  return x & ~(int)(nan | (nan - (nan >> 7)));
}

}  // namespace

namespace {

// ---- The plan's constants -----------------------------------------------------------------------------------------

constexpr int kHeads = 12;
constexpr int kHeadGroups = 3;
constexpr int kHeadsPerGroup = 4;
constexpr int kQueryLength = 8;
constexpr int kRows = 32;
constexpr int kRowTiles = 2;
constexpr int kTileRows = 16;  // of a row tile's 16
constexpr int kSplits = 16;
constexpr int kPageSize = 1;
constexpr int kBlockTokens = 128;
constexpr int kProbabilityArrays = 2;
constexpr int kWorldLog2 = 0;  // context parallelism over 2^this ranks: rank r has the positions r, r + world, ...
using Output = __bf16;  // of a split's partial output
using Output4 = Output __attribute__((ext_vector_type(4)));
using PoolOffset = unsigned;  // bytes from the pool's base

constexpr int kTileTokens = 16;
constexpr int kLineBytes = 128;                             // a K tile's line: 128 bytes of each of its 16 tokens
constexpr int kTileLine = kTileTokens * kLineBytes;         // bytes of one line of a tile
constexpr int kTileTail = 4 * kTileLine;                    // the 64-byte tails lie behind the four lines
constexpr int kTileBytes = kTileTokens * MLAFORGE_KEY_DIM;  // 9,216
constexpr int kTiles = kBlockTokens / kTileTokens;
constexpr int kSlotBytes = kTiles * kTileBytes;
[[maybe_unused]] constexpr int kWaves = 8;
constexpr int kPvWaves = 4;                                 // waves that own latents
constexpr int kChunksPerWave = 8 / kPvWaves;                // their latents: 16-byte chunks of each line
constexpr int kQkWaves = 4;                                 // waves that own tokens
constexpr int kTilesPerWave = kTiles / kQkWaves;            // their tokens
constexpr int kProbabilityRow = 128;                        // bytes of a row of P: one part of 128 tokens
constexpr int kProbabilityArray = 16 * kProbabilityRow;

// P is carried in E4M3 as P x 2^8, so that the block's largest is 256 of at most 448.
constexpr float kProbabilityLog2 = 8.0f;
// Stands for "no token seen yet": finite, so that differences of two maxima are never NaN.
constexpr float kLowestLogit = -3.0e38f;
constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

struct Lds {
  u8 slots[2 * kSlotBytes];
  u8 probability[kRowTiles][kProbabilityArrays][kProbabilityArray];
  float wave_maxima[kRowTiles][kQkWaves][16];
  int pages[kPvWaves][2][64];
  float totals[kRowTiles][2][kQkWaves / 4][16][4];
};
static_assert(sizeof(Lds) == 159232, "the plan's LDS map");

// ---- What a wave holds --------------------------------------------------------------------------------------------

// Where a lane stands in the 16x16 tiles: column = query row, group = its quarter of the tokens or of k.
struct Lane {
  int wave, index, column, group;
};

// Q as MFMA operands, E4M3 hi and lo: k = 64 (b / 16) + 16 group + b % 16 of each line; the tail holds hi | lo.
struct QueryTile {
  i32x8 hi[4], lo[4], tail;
};

// One row tile's running softmax; the lane's column is its row. o[t]: four latents of V tile t (see `store_row`).
struct RowState {
  float logit_scale;  // raw dot products to log2 units
  int last_visible;   // last token that the row sees
  float maximum, sum;

  f32x4 o[8];
};

MLA_DEVICE RowState first_state(int last_visible) {
  return {.logit_scale = 0.0f, .last_visible = last_visible, .maximum = kLowestLogit, .sum = 0.0f, .o = {}};
}

// Byte offsets into LDS of what a lane reads and writes in every block.
struct LaneOffsets {
  int k[2];   // its token's two 16-byte pieces of a K line
  int k_tail;
  int v[2 * kChunksPerWave];  // its 8 bytes of a transpose read: two halves of a tile, each of the wave's chunks
  int p_write[kTilesPerWave];
  int p[2];  // its row's two pieces of P
};

// A row's head and position. Rows that do not fill the tile, and heads that do not fill the group, are not live: they
// are computed as the last head's and never stored.
struct Row {
  int head, position;
  bool live;
};

// The wave's place among those that own latents.
MLA_DEVICE int latent_wave(Lane lane) { return lane.wave - kQkWaves; }

// The workgroup's share: blocks begin .. end - 1 of one request, for one group of heads.
struct Work {
  int request, split, group;
  int positions;       // the request's KV tokens, over all ranks
  long first_page;     // of the page table: the request's first entry
  int begin, end;      // blocks of this split
  int last_token;      // of this split; later ones are read as this one: nothing past the request's pages is touched
  int visible_to_all;  // this rank's tokens that every row sees; the causal bound cuts those behind
};

struct Scales {
  float to_log2;  // raw dot products to log2 units, but for the query's own power of two
  float v;
};

// Source of the DMA.
struct Pool {
  const void* kv;
  const void* pages;    // the request's page ids
  unsigned row_stride;  // bytes
};

// Swizzle: 16-byte chunk c of token t lies at chunk c ^ (t / 2) of its 128-byte line, so that neither the K reads
// (16 tokens at two chunks) nor the transpose reads (16 tokens at one chunk) meet in a bank. Tails: tokens t and t + 8
// share a line.
MLA_DEVICE LaneOffsets lane_offsets(Lane lane) {
  const int row = lane.column, pair = row >> 1;
  const int swap = lane.group & 1;  // odd groups read a tile's halves in the other order; P is stored to match
  LaneOffsets at = {
      .k = {row * kLineBytes + ((lane.group ^ pair) << 4), row * kLineBytes + (((lane.group + 4) ^ pair) << 4)},
      .k_tail = kTileTail + (row & 7) * kLineBytes + (row >> 3) * 64 + ((lane.group ^ (pair & 3)) << 4),
      .v = {},
      .p_write = {},
      .p = {row * kProbabilityRow + ((lane.group ^ pair) << 4),
            row * kProbabilityRow + (((lane.group + 4) ^ pair) << 4)},
  };
#pragma unroll
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int token = (half ^ swap) * 8 + (row >> 1);  // two lanes a token
      at.v[2 * chunk + half] = lane.group * kTileBytes + token * kLineBytes +
                               (((latent_wave(lane) * kChunksPerWave + chunk) ^ (token >> 1)) << 4) + (row & 1) * 8;
    }
#pragma unroll
  for (int i = 0; i < kTilesPerWave; ++i) {
    const int tile = lane.wave * kTilesPerWave + i;
    at.p_write[i] = row * kProbabilityRow + ((tile ^ pair) << 4) + ((lane.group * 4) ^ ((tile & 1) * 8));
  }
  // Made while the request's length is on its way, not where they are first used.
#pragma unroll
  for (int i = 0; i < 2; ++i) asm volatile("" : "+v"(at.k[i]), "+v"(at.p[i]));
#pragma unroll
  for (int i = 0; i < 2 * kChunksPerWave; ++i) asm volatile("" : "+v"(at.v[i]));
#pragma unroll
  for (int i = 0; i < kTilesPerWave; ++i) asm volatile("" : "+v"(at.p_write[i]));
  asm volatile("" : "+v"(at.k_tail));
  return at;
}

// ---- The workgroup's share ----------------------------------------------------------------------------------------

// How many of this rank's tokens a query position sees: those at positions 0 .. positions - kQueryLength + position.
MLA_DEVICE int visible_tokens(const mlaforge_attention_args& args, int positions, int position) {
  const int rank = kWorldLog2 > 0 ? args.context_parallel_rank : 0;
  return ((positions - kQueryLength + position - rank) >> kWorldLog2) + 1;
}

// Workgroup i runs on XCD i % 8. All head groups of a (request, split) go to one XCD, so that its L2 serves their
// shared chunk: XCD x has the units x, x + 8, ..., each as kHeadGroups neighbours. Units past the last one have
// request == requests.
MLA_DEVICE Work find_place(const mlaforge_attention_args& args, int workgroup) {
  const int on_xcd = workgroup / MLAFORGE_XCDS;
  const int unit = on_xcd / kHeadGroups * MLAFORGE_XCDS + workgroup % MLAFORGE_XCDS;
  Work work = {};
  work.request = min_int(unit / kSplits, args.requests);
  work.split = unit % kSplits;
  work.group = on_xcd % kHeadGroups;
  return work;
}

// The request's length and where its pages start, asked for before all else.
struct Length {
  int positions, first_page;  // first_page: of the CSR
};
MLA_DEVICE Length load_length(const mlaforge_attention_args& args, const Work& work) {
  const MLA_CONSTANT int* const length = (const MLA_CONSTANT int*)args.seq_len + work.request;
  const MLA_CONSTANT int* const first_page =
      args.page_indptr ? (const MLA_CONSTANT int*)args.page_indptr + work.request : length;
  const Length loaded = {*length, *first_page};
  __builtin_amdgcn_sched_barrier(0);
  return loaded;
}

// What hangs on the request's length. The arguments that were not preloaded come in with it, not each where it is first
// used.
MLA_DEVICE void find_blocks(const mlaforge_attention_args& args, Length length, Work& work) {
  __builtin_amdgcn_sched_barrier(0);
  int positions = length.positions, first_of_csr = length.first_page;
  asm volatile(""
               : "+s"(positions), "+s"(first_of_csr)
               : "s"(args.kv), "s"(args.kv_row_stride), "s"(args.page_table_stride), "s"(args.k_scale),
                 "s"(args.v_scale), "s"(args.o_partial), "s"(args.lse_partial));
  work.positions = positions;
  work.first_page = args.page_indptr ? (long)first_of_csr : (long)work.request * args.page_table_stride;
  work.visible_to_all = visible_tokens(args, work.positions, 0);
  const int tokens = visible_tokens(args, work.positions, kQueryLength - 1);
  const unsigned blocks = (unsigned)((tokens > 0 ? tokens : 0) + kBlockTokens - 1) / kBlockTokens;
  const int share = (int)(blocks / kSplits), longer = (int)(blocks % kSplits);  // the first `longer` have one block more
  work.begin = work.split * share + min_int(work.split, longer);
  work.end = (work.split + 1) * share + min_int(work.split + 1, longer);
  work.last_token = min_int(tokens, work.end * kBlockTokens) - 1;
}

// The dequantisation factors, by vector loads: they come in behind the page ids, and no scalar wait meets them. Null: 1.
struct RawScales {
  float k, v;
};
MLA_DEVICE float load_scale(const mlaforge_attention_args& args, const float* scale) {
  unsigned none = 0;
  asm("" : "+v"(none));  // a vector: not a scalar load
  const void* const from = scale ? (const void*)scale : (const void*)args.seq_len;
  return *(const MLA_GLOBAL float*)((const MLA_GLOBAL u8*)from + none);
}
MLA_DEVICE RawScales load_scales(const mlaforge_attention_args& args) {
  return {load_scale(args, args.k_scale), load_scale(args, args.v_scale)};
}
MLA_DEVICE Scales take_scales(const mlaforge_attention_args& args, const RawScales& raw) {
  const float k_scale = args.k_scale ? as_float((unsigned)__builtin_amdgcn_readfirstlane((int)as_bits(raw.k))) : 1.0f;
  const float v_scale = args.v_scale ? as_float((unsigned)__builtin_amdgcn_readfirstlane((int)as_bits(raw.v))) : 1.0f;
  return {.to_log2 = args.softmax_scale * kLog2E * k_scale, .v = v_scale};
}

MLA_DEVICE Pool request_pool(const mlaforge_attention_args& args, const Work& work) {
  return {.kv = args.kv, .pages = args.page_table + work.first_page, .row_stride = (unsigned)args.kv_row_stride};
}

MLA_DEVICE Row find_row(int row, int group) {
  const int head = group * kHeadsPerGroup + row / kQueryLength;
  return {.head = min_int(head, kHeads - 1), .position = row % kQueryLength, .live = row < kRows && head < kHeads};
}

MLA_DEVICE void find_rows(Lane lane, int group, Row (&rows)[kRowTiles]) {
  rows[0] = find_row(0 + lane.column % kTileRows, group);

  rows[1] = find_row(16 + lane.column % kTileRows, group);

}

// ---- Rows over waves ----------------------------------------------------------------------------------------------

MLA_DEVICE float max_of(f32x4 x) { return max_float(max_float(x[0], x[1]), max_float(x[2], x[3])); }
MLA_DEVICE float sum_of(f32x4 x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// One value a row from each wave that holds tokens: [waves / 4][row][4], so that 16 rows' reads meet in no bank.
using Exchange = float[kQkWaves / 4][16][4];

// The lanes of a row have the same value.
MLA_DEVICE void put_exchanged(MLA_LDS Exchange& exchange, Lane lane, float value) {
  if (lane.group == 0) exchange[lane.wave >> 2][lane.column][lane.wave & 3] = value;
}

// The values of the lane's row; their maximum, their sum.

struct Exchanged {
  f32x4 all;
};
MLA_DEVICE Exchanged load_exchanged(const MLA_LDS Exchange& exchange, Lane lane) {
  return {*(const MLA_LDS f32x4*)exchange[0][lane.column]};
}
MLA_DEVICE float maximum_of(const Exchanged& x) { return max3(max3(x.all[0], x.all[1], x.all[2]), x.all[3], x.all[3]); }
MLA_DEVICE float sum_of(const Exchanged& x) { return sum_of(x.all); }

// ---- Query --------------------------------------------------------------------------------------------------------

// The query's operands are made once a workgroup: each wave converts some of the 16-byte pieces, and all meet in LDS.
// Piece i of a lane: eight bf16 from column 128 (i / 4) + 64 (i / 2 % 2) + 8 (i % 2) + 16 group; the last two are the
// tail.
constexpr int kPieces = MLAFORGE_KEY_DIM / 32;
static_assert(kWaves % 4 == 0, "a wave's pieces lie at the same place of their lines");
constexpr int kPiecesPerWave = (kPieces + kWaves - 1) / kWaves;  // pieces wave, wave + kWaves, ...
constexpr int kOperandBytes = 64 * kPieces * 16;                     // a row tile's hi and lo: 16 bytes a lane together

struct RawQuery {
  i32x4 piece[kPiecesPerWave];
};

MLA_DEVICE RawQuery load_query(const MLA_GLOBAL u8* row, Lane lane) {
  RawQuery raw;
  const int column = 128 * (lane.wave >> 2) + 64 * (lane.wave >> 1 & 1) + 8 * (lane.wave & 1) + 16 * lane.group;
  const MLA_GLOBAL u8* const first = row + 2 * column;
#pragma unroll
  for (int i = 0; i + 1 < kPiecesPerWave; ++i) raw.piece[i] = *(const MLA_GLOBAL i32x4*)(first + 64 * kWaves * i);
  // Of the last round only some waves have a piece; the others ask for their first again.
  constexpr int kLast = kPiecesPerWave - 1;
  raw.piece[kLast] = *(const MLA_GLOBAL i32x4*)(first + (lane.wave < kPieces - kLast * kWaves ? 64 * kWaves * kLast : 0));
  return raw;
}

// The row's largest magnitude among the wave's pieces.
MLA_DEVICE float largest_magnitude(const RawQuery& raw) {
  u16x2 largest = {0, 0};
#pragma unroll
  for (int i = 0; i < kPiecesPerWave; ++i)
#pragma unroll
    for (int word = 0; word < 4; ++word)
      largest = __builtin_elementwise_max(largest, __builtin_bit_cast(u16x2, raw.piece[i][word] & 0x7fff7fff));
  const unsigned bits = largest[0] > largest[1] ? largest[0] : largest[1];
  return max_over_lane_groups(as_float(bits << 16));
}

// The power of two k for which magnitude x 2^k lies in (224, 448].
MLA_DEVICE int query_exponent(float magnitude) {
  return (__builtin_amdgcn_frexp_mantf(magnitude) > 0.875f ? 8 : 9) - __builtin_amdgcn_frexp_expf(magnitude);
}

// Four bf16 x 2^exponent.
MLA_DEVICE f32x4 scale_query(int first_pair, int second_pair, int exponent) {
  const unsigned a = (unsigned)first_pair, b = (unsigned)second_pair;
  return f32x4{__builtin_ldexpf(as_float(a << 16), exponent), __builtin_ldexpf(as_float(a & 0xffff0000u), exponent),
               __builtin_ldexpf(as_float(b << 16), exponent), __builtin_ldexpf(as_float(b & 0xffff0000u), exponent)};
}

// The wave's pieces as E4M3 hi + lo: hi keeps four significant bits, lo the next four.
MLA_DEVICE void store_operands(MLA_LDS u8* to, const RawQuery& raw, Lane lane, int exponent) {
#pragma unroll
  for (int i = 0; i < kPiecesPerWave; ++i) {
    const int piece = lane.wave + i * kWaves;
    if (piece >= kPieces) break;
    i32x2 hi, lo;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const f32x4 x = scale_query(raw.piece[i][2 * half], raw.piece[i][2 * half + 1], exponent);
      hi[half] = pack_fp8(x);
      lo[half] = pack_fp8(x - unpack_fp8(hi[half]));
    }
    const int hi_quad = piece < 16 ? piece >> 1 : 16, lo_quad = piece < 16 ? 8 + (piece >> 1) : 17;
    const int at = lane.index * 16 + (piece & 1) * 8;
    *(MLA_LDS i32x2*)(to + 1024 * hi_quad + at) = hi;
    *(MLA_LDS i32x2*)(to + 1024 * lo_quad + at) = lo;
  }
}

MLA_DEVICE QueryTile load_operands(const MLA_LDS u8* from, Lane lane) {
  const MLA_LDS u8* const quad = from + lane.index * 16;
  QueryTile q;
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    q.hi[line] = join(lds_load16(quad + 2048 * line), lds_load16(quad + 2048 * line + 1024));
    q.lo[line] = join(lds_load16(quad + 8192 + 2048 * line), lds_load16(quad + 8192 + 2048 * line + 1024));
  }
  q.tail = join(lds_load16(quad + 16384), lds_load16(quad + 17408));
  return q;
}

// The rows' largest magnitudes of each wave's pieces: [wave / 4][row][wave % 4].
MLA_DEVICE MLA_LDS float (*magnitudes(MLA_LDS Lds* lds, int row_tile))[16][4] {
  return (MLA_LDS float (*)[16][4])lds->totals[row_tile];
}

MLA_DEVICE float largest_of_waves(const MLA_LDS float (*magnitude)[16][4], Lane lane) {
  f32x4 largest = *(const MLA_LDS f32x4*)magnitude[0][lane.column];
  if (kWaves > 4) largest = __builtin_elementwise_max(largest, *(const MLA_LDS f32x4*)magnitude[1][lane.column]);
  return max_of(largest);
}

// Every wave tells the others its pieces' largest magnitudes, and all know the rows' exponents.
MLA_DEVICE void measure_queries(MLA_LDS Lds* lds, Lane lane, const RawQuery (&raw)[kRowTiles],
                                int (&exponent)[kRowTiles]) {
  const float magnitude0 = largest_magnitude(raw[0]);
  if (lane.group == 0) magnitudes(lds, 0)[lane.wave >> 2][lane.column][lane.wave & 3] = magnitude0;
  const float magnitude1 = largest_magnitude(raw[1]);
  if (lane.group == 0) magnitudes(lds, 1)[lane.wave >> 2][lane.column][lane.wave & 3] = magnitude1;
  workgroup_barrier();
  exponent[0] = query_exponent(largest_of_waves(magnitudes(lds, 0), lane));
  exponent[1] = query_exponent(largest_of_waves(magnitudes(lds, 1), lane));
}

// Every wave converts its pieces of every row tile. Takes the second K slot for the exchange: no DMA may be on its way
// there. Behind the barrier the operands are there.
MLA_DEVICE void convert_queries(MLA_LDS Lds* lds, Lane lane, const RawQuery (&raw)[kRowTiles],
                                const int (&exponent)[kRowTiles]) {
  store_operands(lds->slots + kSlotBytes + 0 * kOperandBytes, raw[0], lane, exponent[0]);
  store_operands(lds->slots + kSlotBytes + 1 * kOperandBytes, raw[1], lane, exponent[1]);
  workgroup_barrier();
}

// The operands of every row tile, and the rows' factors from raw dot products to log2 units; behind it the slot is free
// at the next barrier.
MLA_DEVICE void take_queries(MLA_LDS Lds* lds, Lane lane, const RawQuery (&)[kRowTiles], float to_log2,
                             const int (&exponent)[kRowTiles], RowState (&state)[kRowTiles],
                             QueryTile (&q)[kRowTiles]) {
  state[0].logit_scale = __builtin_ldexpf(to_log2, -exponent[0]);
  q[0] = load_operands(lds->slots + kSlotBytes + 0 * kOperandBytes, lane);
  state[1].logit_scale = __builtin_ldexpf(to_log2, -exponent[1]);
  q[1] = load_operands(lds->slots + kSlotBytes + 1 * kOperandBytes, lane);
}

MLA_DEVICE const MLA_GLOBAL u8* query_row(const mlaforge_attention_args& args, const Work& work, Row row) {
  const long token = (long)work.request * kQueryLength + row.position;
  const long element = token * args.q_token_stride + (long)row.head * args.q_head_stride;
  return (const MLA_GLOBAL u8*)args.q + 2 * element;
}

// Asked for first of all: nothing of it hangs on the request's length.
MLA_DEVICE void load_queries(const mlaforge_attention_args& args, const Work& work, Lane lane,
                             const Row (&rows)[kRowTiles], RawQuery (&raw)[kRowTiles]) {
  raw[0] = load_query(query_row(args, work, rows[0]), lane);
  raw[1] = load_query(query_row(args, work, rows[1]), lane);
  compiler_fence();
}

// ---- DMA ----------------------------------------------------------------------------------------------------------

// Byte offset of a token's row in the pool.
MLA_DEVICE PoolOffset row_offset(const Pool& pool, int page, int token) {
  const PoolOffset slot = (PoolOffset)page * kPageSize + (unsigned)token % kPageSize;

  return (slot & 0xffffffu) * (pool.row_stride & 0xffffffu);  // a pool below 4 GiB has fewer than 2^23 rows
}

// Bytes from the request's first page id to that of a token, or of the split's last token.
MLA_DEVICE unsigned page_offset(const Work& work, int token) {
  return (unsigned)min_int(token, work.last_token) / kPageSize * 4u;
}

// The page ids of the two tokens of a 16-token tile that the lane brings: lane / 8 and 8 further on.
MLA_DEVICE i32x2 load_page_ids(const Pool& pool, const Work& work, Lane lane, int tile_token) {
  const MLA_GLOBAL u8* const ids = (const MLA_GLOBAL u8*)pool.pages;
  const int token = tile_token + (lane.index >> 3);
  return i32x2{*(const MLA_GLOBAL int*)(ids + page_offset(work, token)),
               *(const MLA_GLOBAL int*)(ids + page_offset(work, token + 8))};
}

// Brings the page ids of the wave's 32 tokens of a block to LDS, each in 2 copies. One vector memory operation.
MLA_DEVICE void dma_pages(const Pool& pool, const Work& work, Lane lane, int wave_token, MLA_LDS int* to) {
  dma4(pool.pages, page_offset(work, wave_token + lane.index / 2), lds_address((MLA_LDS u8*)to));
}

// What dma_pages brought, as load_page_ids has it.
MLA_DEVICE i32x2 read_page_ids(const MLA_LDS int* from, Lane lane, int tile) {
  const int token = 16 * tile + (lane.index >> 3);
  return i32x2{from[2 * token], from[2 * (token + 8)]};
}

// Brings a tile of 16 tokens to LDS. 9 vector memory operations, in the order of the lines.
MLA_DEVICE void dma_tile(const Pool& pool, const Work& work, Lane lane, int tile_token, i32x2 page, unsigned tile) {
  const int first = tile_token + (lane.index >> 3);
  const PoolOffset row0 = row_offset(pool, page[0], min_int(first, work.last_token));
  const PoolOffset row1 = row_offset(pool, page[1], min_int(first + 8, work.last_token));
  const unsigned chunk = (unsigned)((lane.index & 7) ^ (lane.index >> 4)) << 4;  // the swizzle, on the source's side
  const PoolOffset line0 = row0 + chunk, line1 = row1 + (chunk ^ 64u);
  const PoolOffset tail = ((lane.index & 4) ? row1 : row0) + ((unsigned)((lane.index & 3) ^ (lane.index >> 4)) << 4);
  dma16<0>(pool.kv, line0, tile + 0);  // line 0, tokens 0 .. 7
  dma16<0>(pool.kv, line1, tile + 1024);  // line 0, tokens 8 .. 15
  dma16<128>(pool.kv, line0, tile + 2048);  // line 1, tokens 0 .. 7
  dma16<128>(pool.kv, line1, tile + 3072);  // line 1, tokens 8 .. 15
  dma16<256>(pool.kv, line0, tile + 4096);  // line 2, tokens 0 .. 7
  dma16<256>(pool.kv, line1, tile + 5120);  // line 2, tokens 8 .. 15
  dma16<384>(pool.kv, line0, tile + 6144);  // line 3, tokens 0 .. 7
  dma16<384>(pool.kv, line1, tile + 7168);  // line 3, tokens 8 .. 15
  dma16<512>(pool.kv, tail, tile + 8192);  // tails, tokens 0 .. 15
}

// ---- QK -----------------------------------------------------------------------------------------------------------

// A tile's line (and its tail, twice: it fills half of k) as MFMA operands.
MLA_DEVICE i32x8 load_line(const MLA_LDS u8* tile, const LaneOffsets& at, int line_offset) {
  return join(lds_load16(tile + at.k[0] + line_offset), lds_load16(tile + at.k[1] + line_offset));
}
MLA_DEVICE i32x8 load_tail(const MLA_LDS u8* tile, const LaneOffsets& at) {
  return twice(lds_load16(tile + at.k_tail));
}

// ---- Softmax ------------------------------------------------------------------------------------------------------

// Logits of four tokens; those behind the row's causal bound become -inf.
MLA_DEVICE f32x4 masked_logits(f32x4 s, const RowState& row, int token) {
#pragma unroll
  for (int i = 0; i < 4; ++i) s[i] = token + i <= row.last_visible ? s[i] : -kInfinity;
  return s;
}

// The least power of two, as its exponent, that is no smaller than 2^logit.
MLA_DEVICE float power_of_two_above(float logit) { return __builtin_ceilf(max3(logit, kLowestLogit, kLowestLogit)); }

// Factors that bring what was summed so far, and what the block adds, to the row's new maximum.
struct Rescale {
  float old, block;
};

MLA_DEVICE Rescale take_maximum(RowState& row, float block_max) {
  const float maximum = max_float(row.maximum, block_max);
  const Rescale rescale = {__builtin_amdgcn_exp2f(row.maximum - maximum), __builtin_amdgcn_exp2f(block_max - maximum)};
  row.maximum = maximum;
  return rescale;
}

// P x 2^8 by the block's own maximum, so that a far larger running maximum does not clip it.
MLA_DEVICE f32x4 probabilities(f32x4 s, float block_max) {
  s += kProbabilityLog2 - block_max;
#pragma unroll
  for (int i = 0; i < 4; ++i) s[i] = __builtin_amdgcn_exp2f(s[i]);
  return s;
}

// Stores four tokens of P as E4M3 hi + lo. What PV takes them for comes back.
MLA_DEVICE f32x4 store_probabilities(MLA_LDS u8 (*arrays)[kProbabilityArray], [[maybe_unused]] Lane lane, int at, f32x4 p) {
  const int hi = pack_fp8(p);

  *(MLA_LDS int*)(arrays[0] + at) = hi;
  const int lo = pack_fp8(p - unpack_fp8(hi));
  *(MLA_LDS int*)(arrays[1] + at) = lo;
  return p;

}

// ---- The result ---------------------------------------------------------------------------------------------------

// Where the row's output goes: the result itself with one split, else the split's partial.
struct Place {
  MLA_GLOBAL Output* o;
  MLA_GLOBAL float* lse;  // may be null
};

MLA_DEVICE Place row_place(const mlaforge_attention_args& args, const Work& work, Row row) {

  // The workgroup's place by scalars, the row's in 32 bits.
  const long request_split = (long)work.request * kSplits + work.split;
  const unsigned in_request = (unsigned)(row.position * kHeads + row.head);
  MLA_GLOBAL Output* const o = (MLA_GLOBAL Output*)args.o_partial +
                               request_split * (kQueryLength * kHeads * MLAFORGE_LATENT_DIM) +
                               in_request * (unsigned)MLAFORGE_LATENT_DIM;
  MLA_GLOBAL float* const lse_to = (MLA_GLOBAL float*)args.lse_partial +
                                   ((long)work.request * (kSplits * kQueryLength * kHeads) + work.split) +
                                   in_request * (unsigned)kSplits;
  return {o, lse_to};
}

// o of the row, the wave's latents; one wave stores the row's lse.
MLA_DEVICE void store_row(const mlaforge_attention_args& args, const Work& work, float v_scale, Lane lane, Row row,
                          RowState state) {

  // O is done here: MFMAs, which take all lanes' operands, must not sink to where some lanes are masked.
#pragma unroll
  for (int t = 0; t < 8; ++t) asm volatile("" : "+v"(state.o[t]));
  if (!row.live) return;
  // No token seen: o = 0, lse = -inf. A NaN sum stays NaN.
  const float scale = state.sum == 0.0f ? 0.0f : v_scale * __builtin_amdgcn_rcpf(state.sum);
  const float lse =
      state.sum == 0.0f ? -kInfinity : (state.maximum - kProbabilityLog2 + __builtin_amdgcn_logf(state.sum)) * kLn2;
  const Place to = row_place(args, work, row);
  *(MLA_GLOBAL Output4*)(to.o + 0 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[0] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 16 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[1] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 128 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[2] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 144 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[3] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 256 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[4] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 272 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[5] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 384 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[6] * scale, Output4);
  *(MLA_GLOBAL Output4*)(to.o + 400 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) =
      __builtin_convertvector(state.o[7] * scale, Output4);
  if (latent_wave(lane) == 0 && lane.group == 0 && to.lse) *to.lse = lse;
}

// The same for a split without a block.
MLA_DEVICE void store_empty_row(const mlaforge_attention_args& args, const Work& work, Lane lane, Row row) {
  if (!row.live) return;
  const Place to = row_place(args, work, row);
  *(MLA_GLOBAL Output4*)(to.o + 0 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 16 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 128 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 144 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 256 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 272 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 384 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  *(MLA_GLOBAL Output4*)(to.o + 400 + 16 * kChunksPerWave * latent_wave(lane) + 4 * lane.group) = Output4{};
  if (latent_wave(lane) == 0 && lane.group == 0 && to.lse) *to.lse = -kInfinity;
}

// ---- PV -----------------------------------------------------------------------------------------------------------

// V^T of the wave's latents as MFMA operands, all tokens of the block.
struct Values {
  i32x8 tile[8];
};

MLA_DEVICE Values load_values(MLA_LDS u8* keys, const LaneOffsets& at) {
  Values v;
  v.tile[0] = join(lds_load_transposed(keys + at.v[0] + 0),
                   lds_load_transposed(keys + at.v[1] + 0),
                   lds_load_transposed(keys + at.v[0] + 36864),
                   lds_load_transposed(keys + at.v[1] + 36864));
  v.tile[1] = join(lds_load_transposed(keys + at.v[2] + 0),
                   lds_load_transposed(keys + at.v[3] + 0),
                   lds_load_transposed(keys + at.v[2] + 36864),
                   lds_load_transposed(keys + at.v[3] + 36864));
  v.tile[2] = join(lds_load_transposed(keys + at.v[0] + 2048),
                   lds_load_transposed(keys + at.v[1] + 2048),
                   lds_load_transposed(keys + at.v[0] + 38912),
                   lds_load_transposed(keys + at.v[1] + 38912));
  v.tile[3] = join(lds_load_transposed(keys + at.v[2] + 2048),
                   lds_load_transposed(keys + at.v[3] + 2048),
                   lds_load_transposed(keys + at.v[2] + 38912),
                   lds_load_transposed(keys + at.v[3] + 38912));
  v.tile[4] = join(lds_load_transposed(keys + at.v[0] + 4096),
                   lds_load_transposed(keys + at.v[1] + 4096),
                   lds_load_transposed(keys + at.v[0] + 40960),
                   lds_load_transposed(keys + at.v[1] + 40960));
  v.tile[5] = join(lds_load_transposed(keys + at.v[2] + 4096),
                   lds_load_transposed(keys + at.v[3] + 4096),
                   lds_load_transposed(keys + at.v[2] + 40960),
                   lds_load_transposed(keys + at.v[3] + 40960));
  v.tile[6] = join(lds_load_transposed(keys + at.v[0] + 6144),
                   lds_load_transposed(keys + at.v[1] + 6144),
                   lds_load_transposed(keys + at.v[0] + 43008),
                   lds_load_transposed(keys + at.v[1] + 43008));
  v.tile[7] = join(lds_load_transposed(keys + at.v[2] + 6144),
                   lds_load_transposed(keys + at.v[3] + 6144),
                   lds_load_transposed(keys + at.v[2] + 43008),
                   lds_load_transposed(keys + at.v[3] + 43008));
  return v;
}

// A NaN of a token that only later rows see must not reach the others as 0 x NaN; rows that see it have NaN in P.
MLA_DEVICE void drop_nans(Values& v) {
#pragma unroll
  for (int t = 0; t < 8; ++t)
#pragma unroll
    for (int i = 0; i < 8; ++i) v.tile[t][i] = nan_bytes_to_zero(v.tile[t][i]);
}

// A row tile's P as MFMA operands.
struct Probabilities {
  i32x8 part[kProbabilityArrays];
};

MLA_DEVICE Probabilities load_probabilities(const MLA_LDS u8 (*arrays)[kProbabilityArray], const LaneOffsets& at) {
  Probabilities p;
  p.part[0] = join(lds_load16(arrays[0] + at.p[0]), lds_load16(arrays[0] + at.p[1]));
  p.part[1] = join(lds_load16(arrays[1] + at.p[0]), lds_load16(arrays[1] + at.p[1]));
  return p;
}

// O stands against a maximum that may be this far, in powers of two, below the row's: O is rescaled when it would be
// farther, so hardly ever. 2^32 x 448 x 448 x any number of tokens is far from f32's end.
constexpr float kSlack = 32.0f;

// The scale of the lane's k block of P, which stands against wave_max, with O rescaled where it must be.
MLA_DEVICE int block_scale(RowState& row, float wave_max) {
  const float block_max = max_over_lane_groups(wave_max);
  const bool far = block_max > row.maximum + kSlack;
  if (__builtin_amdgcn_ballot_w64(far) != 0) {
    const float maximum = far ? block_max : row.maximum;
    const float factor = __builtin_amdgcn_exp2f(row.maximum - maximum);
    row.maximum = maximum;
#pragma unroll
    for (int t = 0; t < 8; ++t) row.o[t] *= factor;
  }
  // An E8M0 byte; below 2^-127 nothing is left of P.
  return (int)__builtin_amdgcn_fmed3f(wave_max - row.maximum + 127.0f, 0.0f, 254.0f);
}

// O^T += V^T P^T for one row tile.
MLA_DEVICE void accumulate(RowState& row, const Values& v, const Probabilities& p, int scale) {
#pragma unroll
  for (int part = 0; part < kProbabilityArrays; ++part)
#pragma unroll
    for (int t = 0; t < 8; ++t) row.o[t] = mfma_scaled(v.tile[t], p.part[part], row.o[t], scale);
}

// The row's sum over the QK waves, each against its own maximum, against the maximum that O stands against.
MLA_DEVICE float total_sum(const Exchanged& maxima, const Exchanged& sums, float maximum) {
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) total += sums.all[i] * __builtin_amdgcn_exp2f(maxima.all[i] - maximum);
  return total;
}

// ---- One block, warp-specialized ----------------------------------------------------------------------------------
//
// Waves 0 .. 3 have 32 tokens each and run QK and softmax one block ahead of waves 4 .. 7, which have 128 latents each,
// run PV and bring the blocks. A QK wave scales P by its own tokens' maximum, a power of two, and never waits for the
// other three: its 32 tokens are 32 neighbouring k of PV's MFMA, which takes a power of two for each (its block scale).
// Two barriers a block: behind the first the PV waves have V^T and P of the block before in registers, so that its slot
// takes the block to come, and the second half of this block has landed; behind the second this block's P is there,
// and the first half of the next one.

// One block of a QK wave.
MLA_DEVICE void attend_keys(MLA_LDS Lds* lds, const Work& work, Lane lane, const LaneOffsets& at,
                            const QueryTile (&q)[kRowTiles], RowState (&state)[kRowTiles], int block, int slot) {
  MLA_LDS u8* const tile = lds->slots + slot + lane.wave * 2 * kTileBytes;
  const int token = block * kBlockTokens + lane.wave * 2 * kTileTokens;
  const bool cut = (block + 1) * kBlockTokens > work.visible_to_all;  // some row does not see all of the block

  // Step 1. S^T = K Q^T on the wave's two tiles; a line is read one ahead.
  f32x4 s0_0 = {0, 0, 0, 0};
  f32x4 s0_1 = {0, 0, 0, 0};
  const i32x8 k0_0 = load_line(tile + 0, at, 0);
  const i32x8 k0_1 = load_line(tile + 0, at, 2048);
  __builtin_amdgcn_sched_barrier(0);
  s0_0 = mfma(k0_0, q[0].hi[0], s0_0);  // tile 0, QK 0
  s0_1 = mfma(k0_0, q[1].hi[0], s0_1);  // tile 0, QK 1
  s0_0 = mfma(k0_0, q[0].lo[0], s0_0);  // tile 0, QK 2
  s0_1 = mfma(k0_0, q[1].lo[0], s0_1);  // tile 0, QK 3

  const i32x8 k0_2 = load_line(tile + 0, at, 4096);
  __builtin_amdgcn_sched_barrier(0);
  s0_0 = mfma(k0_1, q[0].hi[1], s0_0);  // tile 0, QK 4
  s0_1 = mfma(k0_1, q[1].hi[1], s0_1);  // tile 0, QK 5
  s0_0 = mfma(k0_1, q[0].lo[1], s0_0);  // tile 0, QK 6
  s0_1 = mfma(k0_1, q[1].lo[1], s0_1);  // tile 0, QK 7

  const i32x8 k0_3 = load_line(tile + 0, at, 6144);
  __builtin_amdgcn_sched_barrier(0);
  s0_0 = mfma(k0_2, q[0].hi[2], s0_0);  // tile 0, QK 8
  s0_1 = mfma(k0_2, q[1].hi[2], s0_1);  // tile 0, QK 9
  s0_0 = mfma(k0_2, q[0].lo[2], s0_0);  // tile 0, QK 10
  s0_1 = mfma(k0_2, q[1].lo[2], s0_1);  // tile 0, QK 11

  const i32x8 k0_4 = load_tail(tile + 0, at);
  __builtin_amdgcn_sched_barrier(0);
  s0_0 = mfma(k0_3, q[0].hi[3], s0_0);  // tile 0, QK 12
  s0_1 = mfma(k0_3, q[1].hi[3], s0_1);  // tile 0, QK 13
  s0_0 = mfma(k0_3, q[0].lo[3], s0_0);  // tile 0, QK 14
  s0_1 = mfma(k0_3, q[1].lo[3], s0_1);  // tile 0, QK 15

  s0_0 = mfma(k0_4, q[0].tail, s0_0);  // tile 0, QK 16
  s0_1 = mfma(k0_4, q[1].tail, s0_1);  // tile 0, QK 17
  workgroup_barrier();  // the PV waves have read the block before, its P and its scales; the second tiles have landed
  f32x4 s1_0 = {0, 0, 0, 0};
  f32x4 s1_1 = {0, 0, 0, 0};
  const i32x8 k1_0 = load_line(tile + 9216, at, 0);
  const i32x8 k1_1 = load_line(tile + 9216, at, 2048);
  __builtin_amdgcn_sched_barrier(0);
  s1_0 = mfma(k1_0, q[0].hi[0], s1_0);  // tile 1, QK 0
  s1_1 = mfma(k1_0, q[1].hi[0], s1_1);  // tile 1, QK 1
  s1_0 = mfma(k1_0, q[0].lo[0], s1_0);  // tile 1, QK 2
  s1_1 = mfma(k1_0, q[1].lo[0], s1_1);  // tile 1, QK 3

  const i32x8 k1_2 = load_line(tile + 9216, at, 4096);
  __builtin_amdgcn_sched_barrier(0);
  s1_0 = mfma(k1_1, q[0].hi[1], s1_0);  // tile 1, QK 4
  s1_1 = mfma(k1_1, q[1].hi[1], s1_1);  // tile 1, QK 5
  s1_0 = mfma(k1_1, q[0].lo[1], s1_0);  // tile 1, QK 6
  s1_1 = mfma(k1_1, q[1].lo[1], s1_1);  // tile 1, QK 7

  const i32x8 k1_3 = load_line(tile + 9216, at, 6144);
  __builtin_amdgcn_sched_barrier(0);
  s1_0 = mfma(k1_2, q[0].hi[2], s1_0);  // tile 1, QK 8
  s1_1 = mfma(k1_2, q[1].hi[2], s1_1);  // tile 1, QK 9
  s1_0 = mfma(k1_2, q[0].lo[2], s1_0);  // tile 1, QK 10
  s1_1 = mfma(k1_2, q[1].lo[2], s1_1);  // tile 1, QK 11

  const i32x8 k1_4 = load_tail(tile + 9216, at);
  __builtin_amdgcn_sched_barrier(0);
  s1_0 = mfma(k1_3, q[0].hi[3], s1_0);  // tile 1, QK 12
  s1_1 = mfma(k1_3, q[1].hi[3], s1_1);  // tile 1, QK 13
  s1_0 = mfma(k1_3, q[0].lo[3], s1_0);  // tile 1, QK 14
  s1_1 = mfma(k1_3, q[1].lo[3], s1_1);  // tile 1, QK 15

  s1_0 = mfma(k1_4, q[0].tail, s1_0);  // tile 1, QK 16
  s1_1 = mfma(k1_4, q[1].tail, s1_1);  // tile 1, QK 17

  // Step 2. Logits in log2 units, causal mask, P = exp2(S - maximum of the wave's tokens) x 2^8 as E4M3 hi + lo.
  s0_0 *= state[0].logit_scale;
  s1_0 *= state[0].logit_scale;
  s0_1 *= state[1].logit_scale;
  s1_1 *= state[1].logit_scale;
  if (cut) {
    s0_0 = masked_logits(s0_0, state[0], token + 0 + 4 * lane.group);
    s1_0 = masked_logits(s1_0, state[0], token + 16 + 4 * lane.group);
    s0_1 = masked_logits(s0_1, state[1], token + 0 + 4 * lane.group);
    s1_1 = masked_logits(s1_1, state[1], token + 16 + 4 * lane.group);
  }
  const float wave_max0 =
      power_of_two_above(max_over_lane_groups(max_float(max_of(s0_0), max_of(s1_0))));
  if (lane.group == 0) lds->wave_maxima[0][lane.wave][lane.column] = wave_max0;
  const Rescale rescale0 = take_maximum(state[0], wave_max0);
  const f32x4 p0_0 = probabilities(s0_0, wave_max0);
  store_probabilities(lds->probability[0], lane, at.p_write[0], p0_0);
  const f32x4 p1_0 = probabilities(s1_0, wave_max0);
  store_probabilities(lds->probability[0], lane, at.p_write[1], p1_0);
  state[0].sum = state[0].sum * rescale0.old +
                 (sum_of(p0_0) + sum_of(p1_0)) * rescale0.block;

  const float wave_max1 =
      power_of_two_above(max_over_lane_groups(max_float(max_of(s0_1), max_of(s1_1))));
  if (lane.group == 0) lds->wave_maxima[1][lane.wave][lane.column] = wave_max1;
  const Rescale rescale1 = take_maximum(state[1], wave_max1);
  const f32x4 p0_1 = probabilities(s0_1, wave_max1);
  store_probabilities(lds->probability[1], lane, at.p_write[0], p0_1);
  const f32x4 p1_1 = probabilities(s1_1, wave_max1);
  store_probabilities(lds->probability[1], lane, at.p_write[1], p1_1);
  state[1].sum = state[1].sum * rescale1.old +
                 (sum_of(p0_1) + sum_of(p1_1)) * rescale1.block;

  workgroup_barrier();  // P and its scales are there, and the next block's first tiles
}

MLA_DEVICE void attend_keys_of_split(const mlaforge_attention_args& args, MLA_LDS Lds* lds, const Work& work,
                                     Lane lane, const LaneOffsets& at, const Row (&rows)[kRowTiles],
                                     const RawQuery (&raw)[kRowTiles]) {
  RowState state[kRowTiles];
  state[0] = first_state(visible_tokens(args, work.positions, rows[0].position) - 1);
  state[1] = first_state(visible_tokens(args, work.positions, rows[1].position) - 1);
  int exponent[kRowTiles];
  QueryTile q[kRowTiles];
  const RawScales raw_scales = load_scales(args);
  measure_queries(lds, lane, raw, exponent);
  convert_queries(lds, lane, raw, exponent);
  const Scales scales = take_scales(args, raw_scales);
  take_queries(lds, lane, raw, scales.to_log2, exponent, state, q);
  workgroup_barrier();  // the first block's first tiles have landed, the second slot is free
  int slot = 0;
  for (int block = work.begin; block < work.end; ++block, slot = kSlotBytes - slot)
    attend_keys(lds, work, lane, at, q, state, block, slot);
  const float sum0 = sum_over_lane_groups(state[0].sum);
  put_exchanged(lds->totals[0][0], lane, state[0].maximum);
  put_exchanged(lds->totals[0][1], lane, sum0);

  const float sum1 = sum_over_lane_groups(state[1].sum);
  put_exchanged(lds->totals[1][0], lane, state[1].maximum);
  put_exchanged(lds->totals[1][1], lane, sum1);

  workgroup_barrier();  // the row sums are there
}

// Vector memory operations that bring one tile.
constexpr int kHalfBlock = 9;

// A PV wave's two tiles of a block.
MLA_DEVICE void dma_pair(const Pool& pool, const Work& work, Lane lane, int token, i32x2 first_page, i32x2 second_page,
                         unsigned tiles) {
  dma_tile(pool, work, lane, token, first_page, tiles);
  __builtin_amdgcn_sched_barrier(0);  // one tile's addresses at a time
  dma_tile(pool, work, lane, token + kTileTokens, second_page, tiles + kTileBytes);
}

// One block of a PV wave, whose V^T is in registers. kBring: the block after the next one starts to come in; kLast: the
// split's last block.
template <bool kBring, bool kLast>
MLA_DEVICE void attend_values(MLA_LDS Lds* lds, const Pool& pool, const Work& work, Lane lane, const LaneOffsets& at,
                              RowState (&state)[kRowTiles], Values& v, int block, int slot) {
  // Step 3. P and its scales into registers, so that P is free at the next barrier.
  Probabilities p[kRowTiles];
  float wave_max[kRowTiles];  // what P of the lane's k block stands against
  p[0] = load_probabilities(lds->probability[0], at);
  wave_max[0] = lds->wave_maxima[0][lane.group][lane.column];
  p[1] = load_probabilities(lds->probability[1], at);
  wave_max[1] = lds->wave_maxima[1][lane.group][lane.column];

  // Step 4. The block's slot has been read by all: it takes the block after the next one.
  if constexpr (kBring) {
    MLA_LDS int* const pages = lds->pages[latent_wave(lane)][(block - work.begin) & 1];  // came in two blocks ago
    const i32x2 page0 = read_page_ids(pages, lane, 0);
    const i32x2 page1 = read_page_ids(pages, lane, 1);
    const int token = block * kBlockTokens + latent_wave(lane) * 2 * kTileTokens;
    dma_pair(pool, work, lane, token + 2 * kBlockTokens, page0, page1,
             lds_address(lds->slots + slot + latent_wave(lane) * 2 * kTileBytes));
    dma_pages(pool, work, lane, token + 4 * kBlockTokens, pages);
  }
  if constexpr (!kLast) {
    wait_vector_memory<(kBring ? 2 * kHalfBlock + 1 : 0)>();  // all of the next block
    workgroup_barrier();  // P and its scales are free; the next block's second tiles have landed
  }
  __builtin_amdgcn_sched_barrier(0);

  // Step 5. O^T += V^T P^T; behind a V tile's last MFMA the next block's comes in.
  if ((block + 1) * kBlockTokens > work.visible_to_all) drop_nans(v);
  const int scale0 = block_scale(state[0], wave_max[0]);
  const int scale1 = block_scale(state[1], wave_max[1]);
  accumulate(state[0], v, p[0], scale0);
  accumulate(state[1], v, p[1], scale1);
  if constexpr (!kLast) v = load_values(lds->slots + (kSlotBytes - slot), at);
  __builtin_amdgcn_sched_barrier(0);
  if constexpr (kBring) wait_vector_memory<kHalfBlock + 1>();  // all but the second tile and the page ids
  if constexpr (!kLast) workgroup_barrier();                   // the next block's P, and first tiles of the one behind it
}

MLA_DEVICE void attend_values_of_split(const mlaforge_attention_args& args, MLA_LDS Lds* lds, const Work& work,
                                       Lane lane, const LaneOffsets& at,
                                       [[maybe_unused]] const RawQuery (&raw)[kRowTiles],
                                       RowState (&state)[kRowTiles], Scales& scales) {
  // Prologue. All waves convert the query while the first page ids and the first block come in; the second comes behind it.
  const Pool pool = request_pool(args, work);
  const int token = work.begin * kBlockTokens + latent_wave(lane) * 2 * kTileTokens;
  const i32x2 page0 = load_page_ids(pool, work, lane, token);
  const i32x2 page1 = load_page_ids(pool, work, lane, token + kTileTokens);
  const i32x2 next_page0 = load_page_ids(pool, work, lane, token + kBlockTokens);
  const i32x2 next_page1 = load_page_ids(pool, work, lane, token + kBlockTokens + kTileTokens);
  const RawScales raw_scales = load_scales(args);
  __builtin_amdgcn_sched_barrier(0);
  int exponent[kRowTiles];
  measure_queries(lds, lane, raw, exponent);
  wait_vector_memory<0>();
  const unsigned tiles = lds_address(lds->slots + latent_wave(lane) * 2 * kTileBytes);
  dma_pair(pool, work, lane, token, page0, page1, tiles);
  __builtin_amdgcn_s_setprio(0);
  scales = take_scales(args, raw_scales);
  state[0] = first_state(0);
  state[1] = first_state(0);
  convert_queries(lds, lane, raw, exponent);
  wait_vector_memory<kHalfBlock>();
  workgroup_barrier();  // the first block's first tiles have landed, the second slot is free
  if (work.begin + 1 < work.end) {
    dma_pages(pool, work, lane, token + 2 * kBlockTokens, lds->pages[latent_wave(lane)][0]);
    dma_pages(pool, work, lane, token + 3 * kBlockTokens, lds->pages[latent_wave(lane)][1]);
    dma_pair(pool, work, lane, token + kBlockTokens, next_page0, next_page1, tiles + kSlotBytes);
    wait_vector_memory<2 * kHalfBlock + 2>();
  } else {
    wait_vector_memory<0>();
  }
  workgroup_barrier();  // its second tiles
  Values v = load_values(lds->slots, at);
  wait_vector_memory<kHalfBlock>();
  workgroup_barrier();  // its P, and the second block's first tiles

  int slot = 0, block = work.begin;
  for (; block + 2 < work.end; ++block, slot = kSlotBytes - slot)
    attend_values<true, false>(lds, pool, work, lane, at, state, v, block, slot);
  if (block + 1 < work.end) {
    attend_values<false, false>(lds, pool, work, lane, at, state, v, block, slot);
    ++block, slot = kSlotBytes - slot;
  }
  attend_values<false, true>(lds, pool, work, lane, at, state, v, block, slot);
  wait_vector_memory<0>();  // no DMA outlives the workgroup's LDS
  workgroup_barrier();      // the row sums are there
  state[0].sum = total_sum(load_exchanged(lds->totals[0][0], lane),
                             load_exchanged(lds->totals[0][1], lane), state[0].maximum);

  state[1].sum = total_sum(load_exchanged(lds->totals[1][0], lane),
                             load_exchanged(lds->totals[1][1], lane), state[1].maximum);

}

MLA_DEVICE void attend(const mlaforge_attention_args& args, MLA_LDS Lds* lds, Work work, Lane lane) {
  const Length length = load_length(args, work);
  Row rows[kRowTiles];
  RawQuery raw[kRowTiles];
  find_rows(lane, work.group, rows);
  if (lane.wave < kQkWaves) {
    __builtin_amdgcn_s_setprio(1);  // of the two waves of a SIMD the QK wave goes first: the other has more slack
    load_queries(args, work, lane, rows, raw);
    const LaneOffsets at = lane_offsets(lane);
    find_blocks(args, length, work);
    if (work.begin < work.end) attend_keys_of_split(args, lds, work, lane, at, rows, raw);
    return;
  }
  __builtin_amdgcn_s_setprio(2);  // but the way to the first block's DMA is the longest
  load_queries(args, work, lane, rows, raw);
  const LaneOffsets at = lane_offsets(lane);
  find_blocks(args, length, work);
  if (work.begin >= work.end) {
    store_empty_row(args, work, lane, rows[0]);
    store_empty_row(args, work, lane, rows[1]);
    return;
  }
  RowState state[kRowTiles];
  Scales scales;
  attend_values_of_split(args, lds, work, lane, at, raw, state, scales);
  store_row(args, work, scales.v, lane, rows[0], state[0]);
  store_row(args, work, scales.v, lane, rows[1], state[1]);
}

}  // namespace

extern "C" __attribute__((global))
__attribute__((amdgpu_flat_work_group_size(512, 512), amdgpu_waves_per_eu(2, 2))) void
mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s16_p1__gfx950_ws(
    const int32_t* seq_len, const int32_t* page_indptr, const void* q, int64_t q_token_stride, int64_t q_head_stride,
    int32_t requests, float softmax_scale, const int32_t* page_table, const void* kv, int64_t kv_row_stride,
    int64_t page_table_stride, const float* q_scale, const float* k_scale, const float* v_scale, void* o, float* lse,
    void* o_partial, float* lse_partial, int64_t o_token_stride, int64_t o_head_stride, int64_t lse_token_stride,
    int64_t lse_head_stride, int32_t context_parallel_rank, int32_t reserved) {
  // By themselves, not as the struct, whose arguments could not be preloaded.
  const mlaforge_attention_args args = {
      seq_len, page_indptr, q, q_token_stride, q_head_stride, requests, softmax_scale, page_table, kv, kv_row_stride,
      page_table_stride, q_scale, k_scale, v_scale, o, lse, o_partial, lse_partial, o_token_stride, o_head_stride,
      lse_token_stride, lse_head_stride, context_parallel_rank, reserved};
  __attribute__((shared)) __attribute__((aligned(1024))) static Lds storage;
  MLA_LDS Lds* const lds = (MLA_LDS Lds*)&storage;
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const Lane lane = {.wave = __builtin_amdgcn_readfirstlane(thread >> 6),
                     .index = thread & 63,
                     .column = thread & 15,
                     .group = (thread & 63) >> 4};
  const Work work = find_place(args, (int)__builtin_amdgcn_workgroup_id_x());
  if (work.request == args.requests) return;
  attend(args, lds, work, lane);
}
