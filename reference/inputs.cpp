#include "reference/inputs.h"

#include <algorithm>
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

int pages_of(int context, int page_size) { return (context + page_size - 1) / page_size; }

/// Page ids of all requests, drawn without repetition from a pool with room left over.
std::vector<std::vector<int32_t>> draw_pages(const Inputs& inputs, int64_t& pool_pages) {
  int64_t needed = 0;
  for (const int context : inputs.seq_len) {
    needed += pages_of(context, inputs.spec.page_size);
  }
  pool_pages = needed + needed / 8 + 3;
  std::vector<int32_t> ids(static_cast<size_t>(pool_pages));
  std::iota(ids.begin(), ids.end(), 0);
  Random random(inputs.spec.seed, 1);
  for (size_t i = ids.size(); i > 1; --i) {
    std::swap(ids[i - 1], ids[random.below(i)]);
  }
  std::vector<std::vector<int32_t>> pages;
  auto next = ids.begin();
  for (const int context : inputs.seq_len) {
    const auto end = next + pages_of(context, inputs.spec.page_size);
    pages.emplace_back(next, end);
    next = end;
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

void fill_cache(Inputs& inputs, const std::vector<std::vector<int32_t>>& pages, int64_t pool_pages) {
  const InputSpec& spec = inputs.spec;
  const int64_t slots = pool_pages * spec.page_size;
  inputs.kv.assign(static_cast<size_t>((slots - 1) * spec.kv_row_stride + MLAFORGE_KEY_DIM), e4m3_nan);
  for (size_t request = 0; request < pages.size(); ++request) {
    const RequestValues values(spec, static_cast<int>(request), inputs.seq_len[request]);
    for (int token = 0; token < inputs.seq_len[request]; ++token) {
      const int64_t slot = int64_t{pages[request][static_cast<size_t>(token / spec.page_size)]} * spec.page_size +
                           token % spec.page_size;
      values.fill_cache_row(token, {inputs.kv.data() + slot * spec.kv_row_stride, MLAFORGE_KEY_DIM});
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

}  // namespace

AttentionProblem Inputs::problem() const {
  AttentionProblem problem;
  problem.requests = spec.requests;
  problem.heads = spec.heads;
  problem.qlen = spec.qlen;
  problem.page_size = spec.page_size;
  problem.q = q.data();
  problem.kv = kv.data();
  problem.page_table = page_table.data();
  problem.page_indptr = page_indptr.empty() ? nullptr : page_indptr.data();
  problem.seq_len = seq_len.data();
  problem.q_token_stride = q_token_stride;
  problem.q_head_stride = q_head_stride;
  problem.kv_row_stride = spec.kv_row_stride;
  problem.page_table_stride = page_table_stride;
  problem.softmax_scale = spec.softmax_scale;
  problem.k_scale = spec.k_scale.value_or(1.0F);
  problem.v_scale = spec.v_scale.value_or(1.0F);
  return problem;
}

int64_t Inputs::longest_context() const {
  return seq_len.empty() ? 0 : *std::max_element(seq_len.begin(), seq_len.end());
}

Inputs make_inputs(const InputSpec& spec) {
  Inputs inputs;
  inputs.spec = spec;
  for (int request = 0; request < spec.requests; ++request) {
    const int context = spec.contexts[static_cast<size_t>(request) % spec.contexts.size()];
    inputs.seq_len.push_back(spec.kind == InputKind::one_token ? 1 : context);
  }
  int64_t pool_pages = 0;
  const std::vector<std::vector<int32_t>> pages = draw_pages(inputs, pool_pages);
  if (spec.dense_table) {
    make_dense_table(inputs, pages);
  } else {
    make_csr_table(inputs, pages);
  }
  fill_cache(inputs, pages, pool_pages);
  fill_queries(inputs);
  return inputs;
}

}  // namespace mlaforge::reference
