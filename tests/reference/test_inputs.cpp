// That each kind of input is what its name says, by what the reference makes of it, and that layouts are hostile as
// told.
#include <cmath>
#include <map>
#include <set>

#include "catch.h"
#include "reference/bf16.h"
#include "reference/fp8.h"
#include "reference/inputs.h"

using namespace mlaforge::reference;

namespace {

InputSpec spec_of(const std::string& name, int context = 1024) {
  InputSpec spec;
  spec.kind = parse_input(name).value();
  spec.heads = 4;
  spec.qlen = 2;
  spec.contexts = {context};
  return spec;
}

/// The largest |q| of a row, in the order of rows.
double largest_q(const Inputs& inputs, int row) {
  double largest = 0;
  for (int column = 0; column < 576; ++column) {
    const int64_t at =
        row / inputs.spec.heads * inputs.q_token_stride + row % inputs.spec.heads * inputs.q_head_stride + column;
    largest = std::max(largest, std::fabs(static_cast<double>(decode_bf16(inputs.q[static_cast<size_t>(at)]))));
  }
  return largest;
}

}  // namespace

TEST_CASE("names and kinds belong together") {
  CHECK(input_names().size() == 8);
  CHECK(parse_input("normal") == InputKind::normal);
  CHECK(parse_input("one_token") == InputKind::one_token);
  CHECK_FALSE(parse_input("Normal").has_value());
}

TEST_CASE("a seed means the same bytes, another seed others") {
  const Inputs a = make_inputs(spec_of("normal"));
  const Inputs b = make_inputs(spec_of("normal"));
  InputSpec other = spec_of("normal");
  other.seed = 2;
  const Inputs c = make_inputs(other);
  CHECK(a.q == b.q);
  CHECK(a.kv == b.kv);
  CHECK(a.page_table == b.page_table);
  CHECK(a.q != c.q);
  CHECK(a.page_table != c.page_table);
}

TEST_CASE("logits stay within +-100 nats, but for huge_q") {
  for (const std::string& name : input_names()) {
    for (const float k_scale : {0.5F, 1.0F, 3.7F}) {
      InputSpec spec = spec_of(name, 4096);
      spec.k_scale = k_scale;
      const AttentionResult result = attention(make_inputs(spec).problem());
      for (const double logit : result.largest_logit) {
        INFO(name << " k_scale " << k_scale);
        CHECK((name == "huge_q" || logit <= 100.0));
      }
    }
  }
}

TEST_CASE("spikes: the tail's weight is that of 1,023 tokens at -7 and -11 nats, and the output is 1") {
  for (const auto& [name, nats] : std::map<std::string, double>{{"spike7", 7.0}, {"spike11", 11.0}}) {
    const AttentionResult result = attention(make_inputs(spec_of(name)).problem());
    for (size_t row = 0; row < result.lse.size(); ++row) {
      const double tail = row / 4 == 0 ? 1022 : 1023;  // position 0 does not see the last token
      INFO(name << " row " << row);
      CHECK(result.lse[row] == Approx(std::log(1 + tail * std::exp(-nats))).margin(5e-4));
      CHECK(result.o[row * 512] == Approx(1.0).epsilon(1e-12));
      CHECK(result.o[row * 512 + 511] == Approx(1.0).epsilon(1e-12));
    }
  }
}

TEST_CASE("rising: each block of 128 lifts the maximum by 100 / 7 held to 12 nats") {
  InputSpec spec = spec_of("rising");
  spec.qlen = 1;
  const Inputs inputs = make_inputs(spec);
  double last = 0;
  for (int blocks = 1; blocks <= 8; ++blocks) {
    AttentionProblem prefix = inputs.problem();
    const int32_t seq_len = blocks * 128;
    prefix.seq_len = &seq_len;
    const double lse = attention(prefix).lse[0];
    INFO(blocks);
    CHECK((blocks == 1 || std::fabs(lse - last - 12.0) < 1.0));
    last = lse;
  }
}

TEST_CASE("tiny_q: rows at 2^-100, rows of zeros and ordinary rows") {
  const Inputs inputs = make_inputs(spec_of("tiny_q"));
  CHECK(largest_q(inputs, 0) == 0x1p-100);
  CHECK(largest_q(inputs, 1) == 0x1p-100);
  CHECK(largest_q(inputs, 2) > 1);
  CHECK(largest_q(inputs, 5) == 0);
}

TEST_CASE("huge_q: 2^100 and a softmax that is one-hot") {
  const Inputs inputs = make_inputs(spec_of("huge_q"));
  CHECK(largest_q(inputs, 0) == 0x1p100);
  const AttentionResult result = attention(inputs.problem());
  for (size_t row = 0; row < result.lse.size(); ++row) {
    // The one token's logit: 64 x 4 x 2^100 / sqrt(192), and the latent part's share.
    CHECK(result.lse[row] == Approx(256 * 0x1p100 / std::sqrt(192.0)).epsilon(0.02));
    // One token's bytes come out: each is an E4M3 value.
    CHECK(decode_e4m3(encode_e4m3(result.o[row * 512 + 9])) == result.o[row * 512 + 9]);
  }
}

TEST_CASE("all_bytes: all 254 finite bytes are there") {
  const Inputs inputs = make_inputs(spec_of("all_bytes"));
  std::set<uint8_t> seen(inputs.kv.begin(), inputs.kv.end());
  CHECK(seen.size() == 255);  // and 0x7f in unused slots
  CHECK(seen.count(0xff) == 0);
}

TEST_CASE("one_token: every request has one") {
  InputSpec spec = spec_of("one_token");
  spec.requests = 3;
  spec.contexts = {5, 1000};
  CHECK(make_inputs(spec).seq_len == std::vector<int32_t>{1, 1, 1});
}

TEST_CASE("tables end with the last page that is used, junk before; unused slots are NaN bytes") {
  InputSpec spec = spec_of("normal");
  spec.requests = 4;
  spec.contexts = {33, 0, 16};
  spec.page_size = 16;
  for (const bool dense : {false, true}) {
    spec.dense_table = dense;
    const Inputs inputs = make_inputs(spec);
    CHECK(inputs.seq_len == std::vector<int32_t>{33, 0, 16, 33});
    std::set<int32_t> used;
    size_t junk = 0;
    for (const int32_t page : inputs.page_table) {
      if (page == -1 || page == 2147480000) {
        ++junk;
      } else {
        CHECK(used.insert(page).second);
      }
    }
    CHECK(used.size() == 3 + 0 + 1 + 3);
    CHECK(inputs.page_table.back() != -1);
    CHECK(inputs.page_table.size() == used.size() + junk);
    CHECK(junk == (dense ? 3 + 6 + 5 : 9));
    CHECK((inputs.page_indptr.empty()) == dense);
    // The third token of request 0's last page was never written, nor was anything on a page that nobody owns.
    const auto slot_is_nan = [&](int64_t slot) { return inputs.kv[static_cast<size_t>(slot * 576)] == 0x7f; };
    CHECK_FALSE(slot_is_nan(inputs.page_table[2] * 16));
    CHECK(slot_is_nan(inputs.page_table[2] * 16 + 1));
    for (int32_t page = 0; page < static_cast<int32_t>(inputs.kv.size() / 576 / 16); ++page) {
      CHECK(slot_is_nan(page * 16) == (used.count(page) == 0));
    }
  }
}
