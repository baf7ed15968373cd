// The float64 reference against sums done by hand, and the comparison against differences put there on purpose.
#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"
#include "reference/attention.h"
#include "reference/bf16.h"
#include "reference/fp8.h"
#include "reference/inputs.h"

using namespace mlaforge::reference;

namespace {

/// Two heads, qlen 2, page size 2, three tokens on pages 5 and 2; cache rows and queries have few values that count.
struct ByHand {
  std::vector<uint16_t> q = std::vector<uint16_t>(2 * 2 * 576, 0);
  std::vector<uint8_t> kv = std::vector<uint8_t>(12 * 576, 0x7f);
  std::vector<int32_t> table = {5, 2};
  std::vector<int32_t> indptr = {0, 2};
  std::vector<int32_t> seq_len = {3};
  AttentionProblem problem;

  ByHand() {
    const int slots[] = {10, 11, 4};
    for (int token = 0; token < 3; ++token) {
      uint8_t* row = &kv[static_cast<size_t>(slots[token]) * 576];
      std::fill(row, row + 576, uint8_t{0});
      row[0] = encode_e4m3(token + 1);  // values 1, 2, 3 in latent 0
      row[575] = encode_e4m3(token);    // the last key column: 0, 1, 2
    }
    for (size_t row = 0; row < 4; ++row) {
      q[row * 576 + 575] = encode_bf16(row % 2 == 0 ? 1.0F : -2.0F);  // by head
    }
    problem = {.requests = 1,
               .heads = 2,
               .qlen = 2,
               .page_size = 2,
               .q = q.data(),
               .kv = kv.data(),
               .page_table = table.data(),
               .page_indptr = indptr.data(),
               .seq_len = seq_len.data(),
               .q_token_stride = 2 * 576,
               .q_head_stride = 576,
               .kv_row_stride = 576,
               .page_table_stride = 0,
               .softmax_scale = 0.5,
               .k_scale = 1.0,
               .v_scale = 1.0};
  }
};

}  // namespace

TEST_CASE("softmax, causal bound, pages and scales by hand") {
  ByHand hand;
  AttentionResult result = attention(hand.problem);
  // Position 0 sees tokens 0 and 1: logits 0 and 0.5 for head 0, 0 and -1 for head 1.
  const double a = std::exp(0.5);
  CHECK(result.o[0] == Approx((1 + 2 * a) / (1 + a)).epsilon(1e-14));
  CHECK(result.lse[0] == Approx(std::log(1 + a)).epsilon(1e-14));
  const double b = std::exp(-1.0);
  CHECK(result.o[512] == Approx((1 + 2 * b) / (1 + b)).epsilon(1e-14));
  CHECK(result.largest_logit[1] == 1.0);
  // Position 1 sees all three: logits 0, 0.5, 1 and 0, -1, -2.
  const double c = std::exp(1.0);
  CHECK(result.o[2 * 512] == Approx((1 + 2 * a + 3 * c) / (1 + a + c)).epsilon(1e-14));
  CHECK(result.lse[3] == Approx(std::log(1 + b + std::exp(-2.0))).epsilon(1e-14));
  CHECK(result.o[2 * 512 + 1] == 0.0);
  // k_scale once in the logits, v_scale once on the output.
  hand.problem.k_scale = 0.5;
  hand.problem.v_scale = 3.5;
  result = attention(hand.problem);
  const double d = std::exp(0.25);
  CHECK(result.o[0] == Approx(3.5 * (1 + 2 * d) / (1 + d)).epsilon(1e-14));
  CHECK(result.lse[0] == Approx(std::log(1 + d)).epsilon(1e-14));
}

TEST_CASE("rows that see nothing: o 0 and lse -inf, and no table entry is read") {
  ByHand hand;
  hand.seq_len[0] = 1;
  AttentionResult result = attention(hand.problem);
  CHECK(result.lse[0] == -std::numeric_limits<double>::infinity());
  CHECK(result.o[0] == 0.0);
  CHECK(result.o[2 * 512] == 1.0);
  CHECK(result.lse[2] == 0.0);
  hand.seq_len[0] = 0;
  hand.problem.page_table = nullptr;
  result = attention(hand.problem);
  for (const double lse : result.lse) {
    CHECK(lse == -std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("a NaN byte reaches only the rows that see it") {
  ByHand hand;
  hand.kv[4 * 576 + 100] = 0xff;  // token 2, seen by position 1 alone
  const AttentionResult result = attention(hand.problem);
  CHECK(std::isfinite(result.o[0]));
  CHECK(std::isfinite(result.lse[1]));
  CHECK(std::isnan(result.o[2 * 512]));
  CHECK(std::isnan(result.lse[3]));
}

TEST_CASE("CSR and dense tables, and any number of threads, give the same bits") {
  InputSpec spec;
  spec.requests = 3;
  spec.heads = 5;
  spec.qlen = 3;
  spec.page_size = 16;
  spec.contexts = {200, 0, 33};
  const Inputs csr = make_inputs(spec);
  spec.dense_table = true;
  const Inputs dense = make_inputs(spec);
  const AttentionResult one = attention(csr.problem(), 1);
  const AttentionResult many = attention(dense.problem(), 7);
  CHECK(one.o == many.o);
  CHECK(one.lse == many.lse);
}

namespace {

/// The reference's own result, stored as a kernel stores it, with gaps between rows.
struct Stored {
  Inputs inputs;
  AttentionResult right;
  std::vector<uint16_t> o;
  std::vector<float> lse;
  StoredOutput view;

  explicit Stored(const InputSpec& spec) : inputs(make_inputs(spec)), right(attention(inputs.problem())) {
    const size_t rows = right.lse.size();
    o.resize(rows * 520, 0x7fc0);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < 512; ++column) {
        o[row * 520 + column] = encode_bf16(static_cast<float>(right.o[row * 512 + column]));
      }
      lse.push_back(static_cast<float>(right.lse[row]));
    }
    view = {.o = o.data(),
            .lse = lse.data(),
            .o_token_stride = int64_t{spec.heads} * 520,
            .o_head_stride = 520,
            .lse_token_stride = spec.heads,
            .lse_head_stride = 1};
  }
  Comparison compare() const { return mlaforge::reference::compare(inputs.problem(), right, view); }
};

InputSpec small_spec() {
  InputSpec spec;
  spec.requests = 2;
  spec.heads = 3;
  spec.qlen = 2;
  spec.contexts = {300, 1};
  return spec;
}

size_t row_of(size_t request, size_t position, size_t head) { return (request * 2 + position) * 3 + head; }

}  // namespace

TEST_CASE("rounding to bf16 alone passes") {
  const Comparison comparison = Stored(small_spec()).compare();
  INFO(comparison.failure);
  CHECK(comparison.passed);
  CHECK(comparison.rel_l2 < 2.5e-3);  // bf16's largest rounding error is 2^-9 of the value
  CHECK(comparison.rel_l2 > 1e-4);
  CHECK(comparison.max_row_error < 0x1p-8);
  CHECK(comparison.lse_max_abs < 1e-6);
}

TEST_CASE("each kind of wrong output fails, with its place") {
  Stored stored(small_spec());
  const size_t row = row_of(0, 1, 2);
  SECTION("one element off by 2^-6 of its row") {
    double largest = 0;
    for (size_t column = 0; column < 512; ++column) {
      largest = std::max(largest, std::fabs(stored.right.o[row * 512 + column]));
    }
    stored.o[row * 520 + 7] = encode_bf16(static_cast<float>(stored.right.o[row * 512 + 7] + largest / 64));
    CHECK(stored.compare().failure.find("request 0, position 1, head 2, column 7: o is") == 0);
  }
  SECTION("everything off by half a percent") {
    for (size_t r = 0; r < stored.right.lse.size(); ++r) {
      for (size_t column = 0; column < 512; ++column) {
        stored.o[r * 520 + column] = encode_bf16(static_cast<float>(stored.right.o[r * 512 + column] * 1.005));
      }
    }
    CHECK(stored.compare().failure.find("rel_l2") == 0);
  }
  SECTION("an lse off by 2e-4") {
    stored.lse[row] += 2e-4F;
    CHECK(stored.compare().failure.find("request 0, position 1, head 2: lse") == 0);
  }
  SECTION("a NaN and an infinity") {
    stored.o[row * 520] = 0x7fc0;
    CHECK_FALSE(stored.compare().passed);
    stored.o[row * 520] = 0x7f80;
    CHECK_FALSE(stored.compare().passed);
  }
  SECTION("a row that sees nothing is not exactly 0, or has a finite lse") {
    const size_t blind = row_of(1, 0, 1);
    REQUIRE(stored.right.lse[blind] == -std::numeric_limits<double>::infinity());
    stored.o[blind * 520 + 3] = 0x0080;
    CHECK(stored.compare().failure.find("request 1, position 0, head 1, column 3") == 0);
    stored.o[blind * 520 + 3] = 0;
    CHECK(stored.compare().passed);
    stored.lse[blind] = -1e30F;
    CHECK(stored.compare().failure.find("request 1, position 0, head 1: lse is -1e+30, right is -inf") == 0);
  }
}

TEST_CASE("where a NaN is right, a number is wrong") {
  Stored stored(small_spec());
  for (size_t column = 0; column < 512; ++column) {
    stored.right.o[column] = std::numeric_limits<double>::quiet_NaN();
  }
  CHECK(stored.compare().failure.find("request 0, position 0, head 0, column 0") == 0);
  for (size_t column = 0; column < 512; ++column) {
    stored.o[column] = 0x7fc0;
  }
  CHECK(stored.compare().passed);
}
