#include "reference/inputs.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "reference/bf16.h"
#include "reference/fp8.h"
#include "reference/input_values.h"
#include "reference/random.h"

namespace mlaforge::reference {
namespace {

constexpr uint16_t bf16_nan = 0x7fc0;
/// Entries after a request's last page, which nothing may read.
constexpr int32_t junk_entries[] = {-1, 2147480000, -1};

/// Bytes from a page to the next.
uint64_t page_bytes(const InputSpec& spec) {
  return static_cast<uint64_t>(spec.page_size) * static_cast<uint64_t>(spec.kv_row_stride);
}

int positions_of(const InputSpec& spec, int request) {
  return spec.kind == InputKind::one_token ? 1 : spec.contexts[static_cast<size_t>(request) % spec.contexts.size()];
}

int tokens_of(const InputSpec& spec, int request) {
  return tokens_on_rank(positions_of(spec, request), spec.context_parallel, spec.rank);
}

int pages_of(const InputSpec& spec, int request) {
  return (tokens_of(spec, request) + spec.page_size - 1) / spec.page_size;
}

int64_t pages_needed(const InputSpec& spec) {
  int64_t needed = 0;
  for (int request = 0; request < spec.requests; ++request) {
    needed += pages_of(spec, request);
  }
  return needed;
}

void shuffle(std::vector<int32_t>& ids, Random& random) {
  for (size_t i = ids.size(); i > 1; --i) {
    std::swap(ids[i - 1], ids[random.below(i)]);
  }
}

/// Every page of a pool with room left over, shuffled.
std::vector<int32_t> plain_pages(int64_t needed, Random& random) {
  std::vector<int32_t> ids(static_cast<size_t>(needed + needed / 8 + 3));
  std::iota(ids.begin(), ids.end(), 0);
  shuffle(ids, random);
  return ids;
}

/// Slots that a sparse pool has.
int64_t pool_slots(const InputSpec& spec) {
  return static_cast<int64_t>((spec.pool_bytes - MLAFORGE_KEY_DIM) / static_cast<uint64_t>(spec.kv_row_stride)) + 1;
}

/// `needed` whole pages of a sparse pool: the last one and those on both sides of each power of two of bytes from
/// 2^30 on (where 32-bit offsets break) before pages that are drawn.
std::vector<int32_t> sparse_pages(const InputSpec& spec, int64_t needed, Random& random) {
  const int64_t whole = pool_slots(spec) / spec.page_size;
  std::vector<int32_t> ids;
  const auto take = [&](int64_t id) {
    if (id >= 0 && id < whole && static_cast<int64_t>(ids.size()) < needed &&
        std::find(ids.begin(), ids.end(), static_cast<int32_t>(id)) == ids.end()) {
      ids.push_back(static_cast<int32_t>(id));
    }
  };
  take(whole - 1);
  for (int power = 40; power >= 30; --power) {
    const auto page = static_cast<int64_t>((uint64_t{1} << power) / page_bytes(spec));
    take(page);
    take(page + 1);
  }
  take((int64_t{1} << 24) + 1);  // slot numbers that a float does not have, at page size 1
  while (static_cast<int64_t>(ids.size()) < needed) {
    take(static_cast<int64_t>(random.below(static_cast<uint64_t>(whole))));
  }
  shuffle(ids, random);
  return ids;
}

/// Gives a sparse pool's ragged last page to a request whose last tokens fit there.
void use_ragged_page(const InputSpec& spec, std::vector<std::vector<int32_t>>& pages) {
  const int64_t ragged_slots = pool_slots(spec) % spec.page_size;
  for (size_t request = 0; request < pages.size(); ++request) {
    const int tokens = tokens_of(spec, static_cast<int>(request));
    if (tokens != 0 && (tokens - 1) % spec.page_size < ragged_slots) {
      pages[request].back() = static_cast<int32_t>(pool_slots(spec) / spec.page_size);
      return;
    }
  }
}

/// Page ids of all requests, drawn without repetition.
std::vector<std::vector<int32_t>> draw_pages(const InputSpec& spec, int64_t& pool_pages) {
  const int64_t needed = pages_needed(spec);
  Random random(spec.seed, 1 + (static_cast<uint64_t>(spec.rank) << 8));
  const bool sparse = spec.pool_bytes != 0;
  const std::vector<int32_t> ids = sparse ? sparse_pages(spec, needed, random) : plain_pages(needed, random);
  pool_pages = static_cast<int64_t>(ids.size());
  std::vector<std::vector<int32_t>> pages;
  auto next = ids.begin();
  for (int request = 0; request < spec.requests; ++request) {
    const auto end = next + pages_of(spec, request);
    pages.emplace_back(next, end);
    next = end;
  }
  if (sparse) {
    use_ragged_page(spec, pages);
  }
  return pages;
}

/// Runs one after another, each followed by junk but the last.
void make_csr_table(Inputs& inputs, const std::vector<std::vector<int32_t>>& pages) {
  inputs.page_indptr.push_back(0);
  for (size_t request = 0; request < pages.size(); ++request) {
    inputs.page_table.insert(inputs.page_table.end(), pages[request].begin(), pages[request].end());
    if (request + 1 < pages.size()) {
      inputs.page_table.insert(inputs.page_table.end(), std::begin(junk_entries), std::end(junk_entries));
    }
    inputs.page_indptr.push_back(static_cast<int32_t>(inputs.page_table.size()));
  }
}

void make_dense_table(Inputs& inputs, const std::vector<std::vector<int32_t>>& pages) {
  size_t longest = 0;
  for (const auto& run : pages) {
    longest = std::max(longest, run.size());
  }
  inputs.page_table_stride = static_cast<int64_t>(longest + std::size(junk_entries));
  for (size_t request = 0; request < pages.size(); ++request) {
    inputs.page_table.insert(inputs.page_table.end(), pages[request].begin(), pages[request].end());
    const size_t end = (request + 1) * static_cast<size_t>(inputs.page_table_stride);
    for (size_t entry = 0; request + 1 < pages.size() && inputs.page_table.size() < end; ++entry) {
      inputs.page_table.push_back(junk_entries[entry % std::size(junk_entries)]);
    }
  }
}

/// Numbers a sparse pool's pages in the order of the requests: notes where they lie, and replaces the ids.
void pack_pages(Inputs& inputs, std::vector<std::vector<int32_t>>& pages) {
  const uint64_t bytes = page_bytes(inputs.spec);
  std::map<int32_t, int32_t> places;
  for (std::vector<int32_t>& run : pages) {
    for (int32_t& page : run) {
      const auto place = static_cast<int32_t>(places.size());
      const uint64_t at = static_cast<uint64_t>(page) * bytes;
      inputs.pieces.push_back({at, static_cast<uint64_t>(place) * bytes, std::min(bytes, inputs.spec.pool_bytes - at)});
      places.emplace(page, place);
      page = place;
    }
  }
  inputs.packed_table = inputs.page_table;
  for (int32_t& entry : inputs.packed_table) {
    const auto place = places.find(entry);
    entry = place == places.end() ? entry : place->second;
  }
}

void put_nan(int position, std::span<uint8_t> row) {
  if (position % 2 == 0) {
    row[static_cast<size_t>(position * 7 % MLAFORGE_LATENT_DIM)] = e4m3_nan;
  } else {
    row[static_cast<size_t>(MLAFORGE_LATENT_DIM + position % MLAFORGE_ROPE_DIM)] = e4m3_nan | 0x80;
  }
}

/// `pages` counts in the order of `kv`.
void fill_cache(Inputs& inputs, const std::vector<std::vector<int32_t>>& pages, int64_t pool_pages) {
  const InputSpec& spec = inputs.spec;
  const int64_t slots = std::max<int64_t>(1, pool_pages * spec.page_size);
  // A plain pool ends with its last row, a sparse one's pages are all whole here.
  const int64_t end =
      spec.pool_bytes != 0 ? slots * spec.kv_row_stride : (slots - 1) * spec.kv_row_stride + MLAFORGE_KEY_DIM;
  inputs.kv.assign(static_cast<size_t>(end), e4m3_nan);
  for (int request = 0; request < spec.requests; ++request) {
    const RequestValues values(spec, request, positions_of(spec, request));
    for (int token = 0; token < tokens_of(spec, request); ++token) {
      const int64_t page = pages[static_cast<size_t>(request)][static_cast<size_t>(token / spec.page_size)];
      const int64_t slot = page * spec.page_size + token % spec.page_size;
      const int position = token * spec.context_parallel + spec.rank;
      const std::span<uint8_t> row(inputs.kv.data() + slot * spec.kv_row_stride, MLAFORGE_KEY_DIM);
      values.fill_cache_row(position, row);
      if (std::find(spec.nan_positions.begin(), spec.nan_positions.end(), position) != spec.nan_positions.end()) {
        put_nan(position, row);
      }
    }
  }
}

/// Heads are dense; between tokens there is a gap, so that a kernel that ignores a stride is caught.
void fill_queries(Inputs& inputs) {
  const InputSpec& spec = inputs.spec;
  inputs.q_head_stride = MLAFORGE_KEY_DIM;
  inputs.q_token_stride = int64_t{spec.heads} * MLAFORGE_KEY_DIM + 64;
  const int64_t tokens = int64_t{spec.requests} * spec.qlen;
  inputs.q.assign(static_cast<size_t>(tokens * inputs.q_token_stride - (tokens != 0 ? 64 : 0)), bf16_nan);
  for (int64_t token = 0; token < tokens; ++token) {
    const int request = static_cast<int>(token / spec.qlen);
    const RequestValues values(spec, request, inputs.seq_len[static_cast<size_t>(request)]);
    for (int head = 0; head < spec.heads; ++head) {
      values.fill_query_row(
          static_cast<int>(token % spec.qlen) * spec.heads + head,
          {inputs.q.data() + token * inputs.q_token_stride + head * inputs.q_head_stride, MLAFORGE_KEY_DIM});
    }
  }
}

/// The queries rounded to E4M3; gaps stay NaN.
void round_queries(Inputs& inputs) {
  for (const uint16_t element : inputs.q) {
    inputs.q_fp8.push_back(encode_e4m3(decode_bf16(element)));
  }
  inputs.q.clear();
}

}  // namespace

AttentionProblem Inputs::problem() const {
  AttentionProblem problem;
  problem.requests = spec.requests;
  problem.heads = spec.heads;
  problem.qlen = spec.qlen;
  problem.page_size = spec.page_size;
  problem.q = q.data();
  problem.q_fp8 = q_fp8.empty() ? nullptr : q_fp8.data();
  problem.kv = kv.data();
  problem.page_table = packed_table.empty() ? page_table.data() : packed_table.data();
  problem.page_indptr = page_indptr.empty() ? nullptr : page_indptr.data();
  problem.seq_len = seq_len.data();
  problem.q_token_stride = q_token_stride;
  problem.q_head_stride = q_head_stride;
  problem.kv_row_stride = spec.kv_row_stride;
  problem.page_table_stride = page_table_stride;
  problem.softmax_scale = spec.softmax_scale;
  problem.q_scale = spec.q_scale.value_or(1.0F);
  problem.k_scale = spec.k_scale.value_or(1.0F);
  problem.v_scale = spec.v_scale.value_or(1.0F);
  problem.context_parallel = spec.context_parallel;
  problem.context_parallel_rank = spec.rank;
  return problem;
}

int64_t Inputs::longest_context() const {
  const int positions = seq_len.empty() ? 0 : *std::max_element(seq_len.begin(), seq_len.end());
  return tokens_on_rank(positions, spec.context_parallel, spec.rank);
}

uint64_t least_pool_bytes(const InputSpec& spec) {
  return std::max<uint64_t>(MLAFORGE_KEY_DIM, 2 * static_cast<uint64_t>(pages_needed(spec)) * page_bytes(spec));
}

Inputs make_inputs(const InputSpec& spec) {
  Inputs inputs;
  inputs.spec = spec;
  for (int request = 0; request < spec.requests; ++request) {
    inputs.seq_len.push_back(positions_of(spec, request));
  }
  int64_t pool_pages = 0;
  std::vector<std::vector<int32_t>> pages = draw_pages(spec, pool_pages);
  if (spec.dense_table) {
    make_dense_table(inputs, pages);
  } else {
    make_csr_table(inputs, pages);
  }
  if (spec.pool_bytes != 0) {
    pack_pages(inputs, pages);
  }
  fill_cache(inputs, pages, pool_pages);
  fill_queries(inputs);
  if (spec.query_dtype == MLAFORGE_FP8_E4M3) {
    round_queries(inputs);
  }
  return inputs;
}

}  // namespace mlaforge::reference
