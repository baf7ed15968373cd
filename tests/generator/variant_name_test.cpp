#include <set>

#include "catch.h"
#include "generator/variants/variant.h"

using namespace mlaforge;

TEST_CASE("names are those of docs/names.md") {
  const Variant v{.heads = 12, .qlen = 4, .splits = 85, .head_groups = 3};
  CHECK(format(v) == "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950");
  Variant all = v;
  all.q_dtype = MLAFORGE_FP8_E4M3;
  all.pipeline = MLAFORGE_WARP_SPECIALIZED;
  all.wide_kv = true;
  all.context_parallel = 8;
  all.partial_dtype = MLAFORGE_F32;
  all.probability_parts = 1;
  all.page_size = 64;
  all.block_tokens = 64;
  CHECK(format(all) == "mla_decode_fp8q_fp8kv_h12_g3_q4_b64_s85_p64__gfx950_ws_wide_cp8_f32p_pp1");
}

TEST_CASE("parse(format(v)) == v, and no two variants share a name") {
  std::set<std::string> names;
  size_t count = 0;
  for (const int heads : {1, 3, 12, 20, 128})
    for (const int qlen : {1, 2, 3, 5, 8})
      for (const int page_size : {1, 2, 16, 64, 256})
        for (const mlaforge_dtype q : {MLAFORGE_BF16, MLAFORGE_FP8_E4M3})
          for (const int world : {1, 2, 4, 8})
            for (const bool wide : {false, true})
              for (const int splits : {1, 2, 31, 85, 256})
                for (const int groups : {1, heads})
                  for (const int block : {64, 128})
                    for (const mlaforge_pipeline pipeline : {MLAFORGE_UNIFORM, MLAFORGE_WARP_SPECIALIZED})
                      for (const mlaforge_dtype partial : {MLAFORGE_BF16, MLAFORGE_F32})
                        for (const int parts : {1, 2}) {
                          if (groups == 1 && heads == 1) continue;
                          const Variant v{.heads = heads,
                                          .qlen = qlen,
                                          .page_size = page_size,
                                          .q_dtype = q,
                                          .context_parallel = world,
                                          .wide_kv = wide,
                                          .splits = splits,
                                          .head_groups = groups,
                                          .block_tokens = block,
                                          .pipeline = pipeline,
                                          .partial_dtype = partial,
                                          .probability_parts = parts};
                          ++count;
                          const std::string name = format(v);
                          const auto parsed = parse(name);
                          if (!parsed || *parsed != v) FAIL(name);
                          names.insert(name);
                        }
  CHECK(names.size() == count);
  CHECK(count == 4U * 5 * 5 * 2 * 4 * 2 * 5 * 2 * 2 * 2 * 2 * 2);
}

TEST_CASE("names outside the grammar say where and what is allowed") {
  struct Case {
    const char* name;
    const char* rest;     // what the error shows
    const char* allowed;  // part of what may stand there
  };
  const Case cases[] = {
      {"", "", "mla_decode_"},
      {"mla_combine_bf16p_s85__gfx950", "mla_combine_bf16p_s85__gfx950", "mla_decode_"},
      {"mla_decode_f32q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950", "f32q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950", "bf16q_"},
      {"mla_decode_bf16q_bf16kv_h12_g3_q4_b128_s85_p1__gfx950", "bf16kv_h12_g3_q4_b128_s85_p1__gfx950", "fp8kv_"},
      {"mla_decode_bf16q_fp8kv_h0_g3_q4_b128_s85_p1__gfx950", "0_g3_q4_b128_s85_p1__gfx950", "1 to 128"},
      {"mla_decode_bf16q_fp8kv_h129_g3_q4_b128_s85_p1__gfx950", "129_g3_q4_b128_s85_p1__gfx950", "1 to 128"},
      {"mla_decode_bf16q_fp8kv_h12_g13_q4_b128_s85_p1__gfx950", "13_q4_b128_s85_p1__gfx950", "1 to 12"},
      {"mla_decode_bf16q_fp8kv_h12_g03_q4_b128_s85_p1__gfx950", "03_q4_b128_s85_p1__gfx950", "head groups"},
      {"mla_decode_bf16q_fp8kv_h12_g-3_q4_b128_s85_p1__gfx950", "-3_q4_b128_s85_p1__gfx950", "head groups"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q9_b128_s85_p1__gfx950", "9_b128_s85_p1__gfx950", "1 to 8"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b96_s85_p1__gfx950", "_s85_p1__gfx950", "64 or 128"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s99999999999_p1__gfx950", "99999999999_p1__gfx950", "1 to 256"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p3__gfx950", "__gfx950", "power of two"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx942", "gfx942", "gfx950"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950_cp1", "1", "2, 4 or 8"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950_cp6", "", "2, 4 or 8"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950_wide_ws", "_ws", "in the order"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950 ", " ", "the name's end"},
      {"mla_decode_bf16q_fp8kv_h12_g3_q4", "", "_b"}};
  for (const Case& c : cases) {
    INFO(c.name);
    const auto parsed = parse(c.name);
    REQUIRE_FALSE(parsed.has_value());
    REQUIRE(parsed.errors().size() == 1);
    CHECK(parsed.errors().front().where == c.name);
    CHECK(parsed.errors().front().value == c.rest);
    CHECK_THAT(parsed.errors().front().allowed, Catch::Matchers::Contains(c.allowed));
  }
}
