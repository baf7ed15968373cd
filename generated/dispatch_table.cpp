// Kernel set kimi_k3_tp8: 67 kernels for gfx950, sorted by key, and their code objects.
// Written by mlaforge 0.1.0 from templates/dispatch_table.cpp.mustache; config 80182e7b49acf6d6decf6f554fe277215b84a269ed9b69e16f275decaa609757.
#include "mlaforge_kernels_kimi_k3_tp8.h"

// The assembler puts each <name>.co of MLAFORGE_CODE_OBJECT_FOLDER into the object file, and a row of the list of code
// objects behind the last: name, bytes, size. All of it is constant data, so nothing runs before main.
__asm__(
    ".macro mlaforge_kimi_k3_tp8_object name\n"
    "  .pushsection .rodata.mlaforge_kernels_kimi_k3_tp8, \"a\", %progbits\n"
    "  .balign 4096\n"
    "  1: .incbin \"" MLAFORGE_CODE_OBJECT_FOLDER "/\\name\\().co\"\n"
    "  2: .asciz \"\\name\"\n"
    "  .popsection\n"
    "  .8byte 2b, 1b, 2b - 1b\n"
    ".endm\n"
    ".pushsection .data.rel.ro.mlaforge_kernels_kimi_k3_tp8, \"aw\", %progbits\n"
    ".balign 8\n"
    ".globl mlaforge_code_objects_kimi_k3_tp8\n"
    ".hidden mlaforge_code_objects_kimi_k3_tp8\n"
    "mlaforge_code_objects_kimi_k3_tp8:\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s2_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s4_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s8_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s16_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s32_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s64_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s64_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s128_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s128_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s256_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s1_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s2_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s4_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s8_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s16_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s32_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s64_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s128_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s1_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s1_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s2_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s2_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s4_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s4_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s8_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s8_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s16_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s16_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s32_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s32_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s64_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s64_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s80_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s80_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s85_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s1_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s1_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s2_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s2_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s4_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s4_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s32_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s32_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s64_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s64_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s80_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s80_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s1_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s1_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s2_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s2_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s4_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s4_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s8_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s8_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s16_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s16_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s32_p1__gfx950_ws\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s32_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s40_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s42_p1__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s2__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s4__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s8__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s16__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s32__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s40__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s42__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s64__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s80__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s85__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s128__gfx950\n"
    "mlaforge_kimi_k3_tp8_object mla_combine_bf16p_s256__gfx950\n"
    ".popsection\n"
    ".purgem mlaforge_kimi_k3_tp8_object\n");

extern "C" {
extern const mlaforge_code_object mlaforge_code_objects_kimi_k3_tp8[79] __attribute__((visibility("hidden")));
}

static const mlaforge_kernel_row rows[] = {
    // heads, qlen, page_size, q_dtype, kv_dtype, context_parallel, wide_kv, splits, head_groups, block_tokens, pipeline,
    // partial_dtype, probability_parts, threads, combine_threads, combine_parts, target, name, combine_name
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s1_p1__gfx950", nullptr},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s2_p1__gfx950", "mla_combine_bf16p_s2__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s4_p1__gfx950", "mla_combine_bf16p_s4__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s8_p1__gfx950", "mla_combine_bf16p_s8__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s16_p1__gfx950", "mla_combine_bf16p_s16__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s32_p1__gfx950", "mla_combine_bf16p_s32__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 1, 64, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 256, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s64_p1__gfx950", "mla_combine_bf16p_s64__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s64_p1__gfx950", "mla_combine_bf16p_s64__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 128, 1, 64, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 256, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b64_s128_p1__gfx950", "mla_combine_bf16p_s128__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 128, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s128_p1__gfx950", "mla_combine_bf16p_s128__gfx950"},
    {12, 1, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 256, 1, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 512, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g1_q1_b128_s256_p1__gfx950", "mla_combine_bf16p_s256__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s1_p1__gfx950", nullptr},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s2_p1__gfx950", "mla_combine_bf16p_s2__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s4_p1__gfx950", "mla_combine_bf16p_s4__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s8_p1__gfx950", "mla_combine_bf16p_s8__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s16_p1__gfx950", "mla_combine_bf16p_s16__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s32_p1__gfx950", "mla_combine_bf16p_s32__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s64_p1__gfx950", "mla_combine_bf16p_s64__gfx950"},
    {12, 2, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 128, 2, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q2_b128_s128_p1__gfx950", "mla_combine_bf16p_s128__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s1_p1__gfx950_ws", nullptr},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s1_p1__gfx950", nullptr},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s2_p1__gfx950_ws", "mla_combine_bf16p_s2__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s2_p1__gfx950", "mla_combine_bf16p_s2__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q3_b128_s4_p1__gfx950_ws", "mla_combine_bf16p_s4__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s4_p1__gfx950", "mla_combine_bf16p_s4__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s8_p1__gfx950", "mla_combine_bf16p_s8__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s8_p1__gfx950_ws", "mla_combine_bf16p_s8__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s16_p1__gfx950", "mla_combine_bf16p_s16__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s16_p1__gfx950_ws", "mla_combine_bf16p_s16__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s32_p1__gfx950", "mla_combine_bf16p_s32__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s32_p1__gfx950_ws", "mla_combine_bf16p_s32__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s64_p1__gfx950", "mla_combine_bf16p_s64__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s64_p1__gfx950_ws", "mla_combine_bf16p_s64__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 80, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s80_p1__gfx950", "mla_combine_bf16p_s80__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 80, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s80_p1__gfx950_ws", "mla_combine_bf16p_s80__gfx950"},
    {12, 3, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 85, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q3_b128_s85_p1__gfx950", "mla_combine_bf16p_s85__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s1_p1__gfx950_ws", nullptr},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s1_p1__gfx950", nullptr},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s2_p1__gfx950_ws", "mla_combine_bf16p_s2__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s2_p1__gfx950", "mla_combine_bf16p_s2__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 2, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g2_q4_b128_s4_p1__gfx950_ws", "mla_combine_bf16p_s4__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s4_p1__gfx950", "mla_combine_bf16p_s4__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950", "mla_combine_bf16p_s8__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s8_p1__gfx950_ws", "mla_combine_bf16p_s8__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950", "mla_combine_bf16p_s16__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s16_p1__gfx950_ws", "mla_combine_bf16p_s16__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s32_p1__gfx950", "mla_combine_bf16p_s32__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s32_p1__gfx950_ws", "mla_combine_bf16p_s32__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s64_p1__gfx950", "mla_combine_bf16p_s64__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 64, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s64_p1__gfx950_ws", "mla_combine_bf16p_s64__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 80, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s80_p1__gfx950", "mla_combine_bf16p_s80__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 80, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s80_p1__gfx950_ws", "mla_combine_bf16p_s80__gfx950"},
    {12, 4, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 85, 3, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 256, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950", "mla_combine_bf16p_s85__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s1_p1__gfx950_ws", nullptr},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 1, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 0, 0, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s1_p1__gfx950", nullptr},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s2_p1__gfx950_ws", "mla_combine_bf16p_s2__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 2, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s2_p1__gfx950", "mla_combine_bf16p_s2__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s4_p1__gfx950_ws", "mla_combine_bf16p_s4__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 4, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s4_p1__gfx950", "mla_combine_bf16p_s4__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s8_p1__gfx950_ws", "mla_combine_bf16p_s8__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 8, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 64, 1, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s8_p1__gfx950", "mla_combine_bf16p_s8__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s16_p1__gfx950_ws", "mla_combine_bf16p_s16__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 16, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s16_p1__gfx950", "mla_combine_bf16p_s16__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 3, 128, MLAFORGE_WARP_SPECIALIZED,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g3_q8_b128_s32_p1__gfx950_ws", "mla_combine_bf16p_s32__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 32, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 4, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s32_p1__gfx950", "mla_combine_bf16p_s32__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 40, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s40_p1__gfx950", "mla_combine_bf16p_s40__gfx950"},
    {12, 8, 1, MLAFORGE_BF16, MLAFORGE_FP8_E4M3, 1, 0, 42, 6, 128, MLAFORGE_UNIFORM,
     MLAFORGE_BF16, 2, 512, 128, 8, "gfx950",
     "mla_decode_bf16q_fp8kv_h12_g6_q8_b128_s42_p1__gfx950", "mla_combine_bf16p_s42__gfx950"},
};

static const mlaforge_kernel_set kernel_set = {sizeof(mlaforge_kernel_set), "kimi_k3_tp8", rows, 67,
                                               mlaforge_code_objects_kimi_k3_tp8, 79};

const mlaforge_kernel_set* mlaforge_kernels_kimi_k3_tp8(void) { return &kernel_set; }
