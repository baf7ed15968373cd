// Context-parallel ranks and fp8 queries in the reference: token counts by enumeration, merging by hand.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.h"
#include "reference/bf16.h"
#include "reference/inputs.h"
#include "reference/merge.h"

using namespace mlaforge::reference;

TEST_CASE("a rank's tokens are every world-th position") {
  for (const int world : {1, 2, 4, 8}) {
    for (int positions = -3; positions < 40; ++positions) {
      for (int rank = 0; rank < world; ++rank) {
        int counted = 0;
        for (int position = 0; position < positions; ++position) {
          counted += position % world == rank ? 1 : 0;
        }
        CHECK(tokens_on_rank(positions, world, rank) == counted);
      }
    }
  }
}

TEST_CASE("merging by hand: weights 1/4 and 3/4, an empty rank, nothing at all") {
  constexpr int heads = 3;
  const float nothing = -std::numeric_limits<float>::infinity();
  std::vector<uint16_t> o[2];
  // A head without tokens may hold anything: here NaN.
  for (int rank = 0; rank < 2; ++rank) {
    o[rank].assign(size_t{heads} * MLAFORGE_LATENT_DIM, encode_bf16(rank == 0 ? 4.0F : 8.0F));
  }
  std::fill(o[1].begin() + MLAFORGE_LATENT_DIM, o[1].end(), uint16_t{0x7fc0});
  std::fill(o[0].begin() + 2 * MLAFORGE_LATENT_DIM, o[0].end(), uint16_t{0x7fc0});
  const std::vector<float> lse[2] = {{0.0F, 2.5F, nothing}, {std::log(3.0F), nothing, nothing}};
  std::vector<StoredOutput> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.push_back({.o = o[rank].data(),
                     .lse = lse[rank].data(),
                     .o_token_stride = 0,
                     .o_head_stride = MLAFORGE_LATENT_DIM,
                     .lse_token_stride = 0,
                     .lse_head_stride = 1});
  }
  const MergedOutput merged = merge_ranks(ranks, 1, heads);
  CHECK(decode_bf16(merged.o[0]) == 7.0F);  // 4 / 4 + 8 x 3 / 4
  CHECK(merged.lse[0] == Approx(std::log(4.0)));
  CHECK(decode_bf16(merged.o[MLAFORGE_LATENT_DIM]) == 4.0F);
  CHECK(merged.lse[1] == 2.5F);
  CHECK(merged.o[2 * MLAFORGE_LATENT_DIM] == 0);
  CHECK(merged.lse[2] == nothing);
  CHECK(merged.row_scale[0] == Approx(7));
  CHECK(merged.row_scale[2] == 0);
}

TEST_CASE("the ranks' float64 results merge to the whole request's") {
  InputSpec spec;
  spec.heads = 2;
  spec.qlen = 3;
  spec.contexts = {37};
  const AttentionResult whole = attention(make_inputs(spec).problem());
  const size_t rows = whole.lse.size();
  std::vector<double> o(whole.o.size(), 0.0);
  std::vector<double> weight(rows, 0.0);
  spec.context_parallel = 4;
  for (spec.rank = 0; spec.rank < 4; ++spec.rank) {
    const AttentionResult part = attention(make_inputs(spec).problem());
    for (size_t row = 0; row < rows; ++row) {
      const double share = std::exp(part.lse[row] - whole.lse[row]);
      weight[row] += share;
      for (size_t column = 0; column < MLAFORGE_LATENT_DIM; ++column) {
        o[row * MLAFORGE_LATENT_DIM + column] += share * part.o[row * MLAFORGE_LATENT_DIM + column];
      }
    }
  }
  for (size_t row = 0; row < rows; ++row) {
    CHECK(weight[row] == Approx(1.0).epsilon(1e-12));
    CHECK(o[row * MLAFORGE_LATENT_DIM] == Approx(whole.o[row * MLAFORGE_LATENT_DIM]).epsilon(1e-10));
  }
}

TEST_CASE("an fp8 query is its bytes times q_scale") {
  InputSpec spec;
  spec.heads = 2;
  spec.contexts = {20};
  spec.query_dtype = MLAFORGE_FP8_E4M3;
  const Inputs inputs = make_inputs(spec);
  CHECK(inputs.q.empty());
  AttentionProblem problem = inputs.problem();
  const AttentionResult plain = attention(problem);
  // A factor of 0.5 on the query is a factor of 2 on the scale undone.
  problem.q_scale = 0.5;
  problem.softmax_scale *= 2;
  CHECK(attention(problem).lse == plain.lse);
}

TEST_CASE("a sparse pool's pages lie at its end and at powers of two, each once") {
  InputSpec spec;
  spec.page_size = 64;
  spec.contexts = {700, 130};
  spec.requests = 2;
  spec.pool_bytes = (uint64_t{1} << 32) + 576;
  const Inputs inputs = make_inputs(spec);
  CHECK(inputs.pool_bytes() == spec.pool_bytes);
  // 64 x 576 bytes a page: 2^30, 2^31 and 2^32 lie in pages 29,127, 58,254 and 116,508.
  for (const int page : {29127, 29128, 58254, 58255}) {
    CHECK(std::count(inputs.page_table.begin(), inputs.page_table.end(), page) == 1);
  }
  uint64_t end = 0;
  for (const Inputs::Piece& piece : inputs.pieces) {
    end = std::max(end, piece.pool_offset + piece.bytes);
  }
  CHECK(end <= spec.pool_bytes);
  CHECK(end + 576 > spec.pool_bytes);
  // Both views hold the same request.
  const AttentionResult sparse = attention(inputs.problem());
  spec.pool_bytes = 0;
  CHECK(sparse.o == attention(make_inputs(spec).problem()).o);
}

TEST_CASE("ranks that cancel are held to what they hold, not to what is left") {
  // 1 and -0.75 at equal weight: 0.125 is left of parts of 0.875. Off by 0.005: more than 2^-7 x 0.125, less than
  // 2^-7 x 0.875.
  constexpr int heads = 1;
  std::vector<uint16_t> o[2];
  o[0].assign(MLAFORGE_LATENT_DIM, encode_bf16(1.0F));
  o[1].assign(MLAFORGE_LATENT_DIM, encode_bf16(-0.75F));
  const float lse[2] = {0.0F, 0.0F};
  std::vector<StoredOutput> ranks;
  for (int rank = 0; rank < 2; ++rank) ranks.push_back({.o = o[rank].data(), .lse = &lse[rank]});
  const MergedOutput merged = merge_ranks(ranks, 1, heads);
  CHECK(decode_bf16(merged.o[0]) == 0.125F);
  CHECK(merged.row_scale[0] == Approx(0.875));

  InputSpec spec;
  spec.heads = heads;
  spec.contexts = {1};
  const Inputs inputs = make_inputs(spec);
  AttentionResult right = attention(inputs.problem());
  right.o.assign(MLAFORGE_LATENT_DIM, 0.125);
  right.lse = {std::log(2.0)};
  std::vector<uint16_t> off(MLAFORGE_LATENT_DIM, encode_bf16(0.125F));
  off[3] = encode_bf16(0.13F);
  const float stored_lse = std::log(2.0F);
  const StoredOutput stored = {.o = off.data(), .lse = &stored_lse};
  Tolerance tolerance = {.rel_l2 = 1};
  CHECK_FALSE(compare(inputs.problem(), right, stored, tolerance).passed);
  tolerance.row_scale = merged.row_scale;
  CHECK(compare(inputs.problem(), right, stored, tolerance).passed);
}
