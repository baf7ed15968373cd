#include "reference/input_values.h"

#include <algorithm>
#include <cmath>

#include "reference/bf16.h"
#include "reference/fp8.h"
#include "reference/random.h"

namespace mlaforge::reference {
namespace {

constexpr int latent_dim = MLAFORGE_LATENT_DIM;
constexpr int rope_dim = MLAFORGE_ROPE_DIM;
constexpr int rising_block_tokens = 128;
/// The span of rising's logits, and the most that they rise by from block to block, in nats.
constexpr double rising_span = 100.0;
constexpr double rising_most = 12.0;

constexpr uint64_t query_stream = uint64_t{1} << 40;
constexpr uint64_t cache_stream = uint64_t{2} << 40;
constexpr uint64_t spike_stream = uint64_t{3} << 40;

uint64_t stream_of(uint64_t kind, int request, int index) {
  return kind + (static_cast<uint64_t>(request) << 44) + static_cast<uint64_t>(index);
}

uint16_t bf16(double value) { return encode_bf16(static_cast<float>(value)); }

void fill(std::span<uint16_t> q, Random& random, double deviation) {
  for (uint16_t& element : q) {
    element = bf16(random.normal() * deviation);
  }
}

/// Scales a row so that its largest magnitude is exactly `largest` (a power of two).
void fill_scaled(std::span<uint16_t> q, Random& random, double largest) {
  for (uint16_t& element : q) {
    element = bf16(random.uniform() * largest * 0.99);
  }
  q[random.below(q.size())] = bf16(random.bits() % 2 == 0 ? largest : -largest);
}

}  // namespace

RequestValues::RequestValues(const InputSpec& spec, int request, int context)
    : spec_(spec),
      request_(request),
      context_(context),
      spike_token_(0),
      logit_scale_(static_cast<double>(spec.softmax_scale) * spec.q_scale.value_or(1.0F) *
                   spec.k_scale.value_or(1.0F)) {
  const int seen_by_all = std::max(1, context - spec.qlen + 1);
  spike_token_ = static_cast<int>(
      Random(spec.seed, stream_of(spike_stream, request, 0)).below(static_cast<uint64_t>(seen_by_all)));
}

/// Values of 1 cancel against a latent query of equal pairs +x, -x; the other tokens' rotary part, all -1, meets
/// queries that sum to nats / scale. 63 equal columns and one that takes up their rounding make that sum exact to
/// 2^-15.
void RequestValues::fill_spike_query(double nats, std::span<uint16_t> q, double pair) const {
  for (int column = 0; column < latent_dim; ++column) {
    q[column] = bf16(column % 2 == 0 ? pair : -pair);
  }
  const double total = nats / logit_scale_;
  const uint16_t each = bf16(total / rope_dim);
  for (int column = latent_dim; column < latent_dim + rope_dim; ++column) {
    q[column] = each;
  }
  q[latent_dim + rope_dim - 1] = bf16(total - (rope_dim - 1) * static_cast<double>(decode_bf16(each)));
}

/// The rotary part, against queries of 1, sums to the block's logit: each column takes its share of what is left.
void RequestValues::fill_rising_key(int token, std::span<uint8_t> row) const {
  const int blocks = (context_ + rising_block_tokens - 1) / rising_block_tokens;
  const double rise = std::min(rising_most, rising_span / std::max(1, blocks - 1));
  const int block = token / rising_block_tokens;
  const double logit = rise * (block - 0.5 * (blocks - 1));
  double left = logit / logit_scale_;
  for (int column = 0; column < rope_dim; ++column) {
    const uint8_t byte = encode_e4m3(left / (rope_dim - column));
    row[latent_dim + column] = byte;
    left -= decode_e4m3(byte);
  }
}

void RequestValues::fill_cache_row(int token, std::span<uint8_t> row) const {
  Random random(spec_.seed, stream_of(cache_stream, request_, token));
  const std::span<uint8_t> rope = row.subspan(latent_dim);
  for (uint8_t& byte : row) {
    if (spec_.kind == InputKind::all_bytes) {
      // 0x00 .. 0x7e and 0x80 .. 0xfe.
      const uint64_t index = random.below(254);
      byte = static_cast<uint8_t>(index < 127 ? index : index + 1);
    } else {
      byte = encode_e4m3(random.normal());
    }
  }
  switch (spec_.kind) {
    case InputKind::spike7:
    case InputKind::spike11:
      std::fill(row.begin(), row.begin() + latent_dim, encode_e4m3(1.0));
      std::fill(rope.begin(), rope.end(), encode_e4m3(token == spike_token_ ? 0.0 : -1.0));
      break;
    case InputKind::rising:
      fill_rising_key(token, row);
      break;
    case InputKind::huge_q:
      // The rotary part alone decides: 64 x 4 for one token, at most 64 x 2 for the others.
      for (uint8_t& byte : rope) {
        byte = encode_e4m3(token == spike_token_ ? 4.0 : random.uniform() * 2);
      }
      break;
    default:
      break;
  }
}

void RequestValues::fill_query_row(int row, std::span<uint16_t> q) const {
  Random random(spec_.seed, stream_of(query_stream, request_, row));
  // A cache factor must not push logits out of range.
  const double fit =
      1.0 / std::max(1.0, static_cast<double>(spec_.q_scale.value_or(1.0F)) * spec_.k_scale.value_or(1.0F));
  // E4M3 reaches from 2^-9 to 448.
  const bool fp8 = spec_.query_dtype == MLAFORGE_FP8_E4M3;
  const double tiny = fp8 ? 0x1p-8 : 0x1p-100;
  const double huge = fp8 ? 0x1p8 : 0x1p100;
  const std::span<uint16_t> rope = q.subspan(latent_dim);
  switch (spec_.kind) {
    case InputKind::normal:
    case InputKind::one_token:
      fill(q, random, fit);
      break;
    case InputKind::spike7:
      fill_spike_query(7.0, q, random.normal());
      break;
    case InputKind::spike11:
      fill_spike_query(11.0, q, random.normal());
      break;
    case InputKind::rising:
      fill(q, random, 0.05 * fit);
      std::fill(rope.begin(), rope.end(), bf16(1.0));
      break;
    case InputKind::tiny_q:
      if (row % 8 == 5) {
        std::fill(q.begin(), q.end(), uint16_t{0});
      } else if (row % 3 == 2) {
        fill(q, random, fit);
      } else {
        fill_scaled(q, random, tiny);
      }
      break;
    case InputKind::huge_q:
      fill(q, random, huge * 0x1p-8);
      std::fill(rope.begin(), rope.end(), bf16(huge));
      break;
    case InputKind::all_bytes:
      // Bytes have a root mean square of 118: a deviation of 15 nats.
      fill(q, random, 0.075 * fit);
      break;
  }
}

}  // namespace mlaforge::reference
