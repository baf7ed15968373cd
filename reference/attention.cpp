#include "reference/attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "reference/bf16.h"
#include "reference/fp8.h"

namespace mlaforge::reference {
namespace {

constexpr int key_dim = MLAFORGE_KEY_DIM;
constexpr int latent_dim = MLAFORGE_LATENT_DIM;
/// Rows that share one pass over the cache: decoding a token is then a small part of the work.
constexpr int rows_per_task = 8;
/// Independent sums of a dot product, so that the loop vectorizes without reordering a single one.
constexpr int lanes = 8;

struct Task {
  int request = 0;
  int first_row = 0;  ///< of the request's qlen x heads rows
  int rows = 0;
};

std::array<double, 256> decode_table() {
  std::array<double, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<size_t>(byte)] = decode_e4m3(static_cast<uint8_t>(byte));
  }
  return table;
}

const uint8_t* cache_row(const AttentionProblem& problem, int request, int token) {
  const int64_t first =
      problem.page_indptr != nullptr ? problem.page_indptr[request] : request * problem.page_table_stride;
  const int64_t page = problem.page_table[first + token / problem.page_size];
  return problem.kv + (page * problem.page_size + token % problem.page_size) * problem.kv_row_stride;
}

double dot(const double* a, const double* b) {
  double sums[lanes] = {};
  for (int column = 0; column < key_dim; column += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      sums[lane] += a[column + lane] * b[column + lane];
    }
  }
  double sum = 0;
  for (const double part : sums) {
    sum += part;
  }
  return sum;
}

/// One task: logits of all tokens, then the softmax, then the values.
class RowsOfRequest {
 public:
  RowsOfRequest(const AttentionProblem& problem, const Task& task, const std::array<double, 256>& values,
                AttentionResult& result)
      : problem_(problem), task_(task), values_(values), result_(result) {}

  void run() {
    positions_ = problem_.seq_len[task_.request];
    tokens_ = on_rank(positions_);
    logits_.assign(static_cast<size_t>(task_.rows) * tokens_, 0.0);
    load_queries();
    make_logits();
    for (int row = 0; row < task_.rows; ++row) {
      make_weights(row);
    }
    add_values();
  }

 private:
  int position(int row) const { return (task_.first_row + row) / problem_.heads; }
  int head(int row) const { return (task_.first_row + row) % problem_.heads; }
  size_t result_row(int row) const {
    return static_cast<size_t>(task_.request) * problem_.qlen * problem_.heads +
           static_cast<size_t>(task_.first_row + row);
  }
  int on_rank(int positions) const {
    return tokens_on_rank(positions, problem_.context_parallel, problem_.context_parallel_rank);
  }
  int seen(int row) const { return on_rank(positions_ - problem_.qlen + position(row) + 1); }
  double* logits(int row) { return logits_.data() + static_cast<size_t>(row) * tokens_; }

  void load_queries() {
    for (int row = 0; row < task_.rows; ++row) {
      const int64_t token = int64_t{task_.request} * problem_.qlen + position(row);
      const int64_t first = token * problem_.q_token_stride + head(row) * problem_.q_head_stride;
      for (int column = 0; column < key_dim; ++column) {
        queries_[row][column] = problem_.q_fp8 != nullptr ? values_[problem_.q_fp8[first + column]]
                                                          : double{decode_bf16(problem_.q[first + column])};
      }
    }
  }

  void decode_token(int token, int columns) {
    const uint8_t* bytes = cache_row(problem_, task_.request, token);
    for (int column = 0; column < columns; ++column) {
      key_[column] = values_[bytes[column]];
    }
  }

  int most_seen() const {
    int most = 0;
    for (int row = 0; row < task_.rows; ++row) {
      most = std::max(most, seen(row));
    }
    return most;
  }

  void make_logits() {
    const double scale = problem_.softmax_scale * problem_.q_scale * problem_.k_scale;
    for (int token = 0; token < most_seen(); ++token) {
      decode_token(token, key_dim);
      for (int row = 0; row < task_.rows; ++row) {
        logits(row)[token] = dot(queries_[row], key_) * scale;
      }
    }
  }

  /// Turns a row's logits into weights, and stores lse.
  void make_weights(int row) {
    const int count = seen(row);
    double* values = logits(row);
    double maximum = -std::numeric_limits<double>::infinity();
    double largest = 0;
    for (int token = 0; token < count; ++token) {
      maximum = std::max(maximum, values[token]);
      largest = std::max(largest, std::fabs(values[token]));
    }
    double sum = 0;
    for (int token = 0; token < count; ++token) {
      values[token] = std::exp(values[token] - maximum);
      sum += values[token];
    }
    for (int token = 0; token < count; ++token) {
      values[token] /= sum;
    }
    std::fill(values + count, values + tokens_, 0.0);
    result_.lse[result_row(row)] = count == 0 ? -std::numeric_limits<double>::infinity() : maximum + std::log(sum);
    result_.largest_logit[result_row(row)] = largest;
  }

  void add_values() {
    for (int token = 0; token < most_seen(); ++token) {
      decode_token(token, latent_dim);
      for (int row = 0; row < task_.rows; ++row) {
        // A token that the row does not see may hold anything, NaN among it.
        if (token >= seen(row)) {
          continue;
        }
        const double weight = logits(row)[token] * problem_.v_scale;
        double* o = result_.o.data() + result_row(row) * latent_dim;
        for (int column = 0; column < latent_dim; ++column) {
          o[column] += weight * key_[column];
        }
      }
    }
  }

  const AttentionProblem& problem_;
  const Task task_;
  const std::array<double, 256>& values_;
  AttentionResult& result_;
  int positions_ = 0;  ///< of all ranks
  int tokens_ = 0;     ///< of this one
  std::vector<double> logits_;
  double queries_[rows_per_task][key_dim] = {};
  double key_[key_dim] = {};
};

std::vector<Task> make_tasks(const AttentionProblem& problem) {
  std::vector<Task> tasks;
  const int rows = problem.qlen * problem.heads;
  for (int request = 0; request < problem.requests; ++request) {
    for (int row = 0; row < rows; row += rows_per_task) {
      tasks.push_back({.request = request, .first_row = row, .rows = std::min(rows_per_task, rows - row)});
    }
  }
  return tasks;
}

}  // namespace

int tokens_on_rank(int positions, int context_parallel, int rank) {
  return positions <= rank ? 0 : (positions - rank + context_parallel - 1) / context_parallel;
}

AttentionResult attention(const AttentionProblem& problem, unsigned threads) {
  const size_t rows = static_cast<size_t>(problem.requests) * problem.qlen * problem.heads;
  AttentionResult result;
  result.o.assign(rows * latent_dim, 0.0);
  result.lse.assign(rows, 0.0);
  result.largest_logit.assign(rows, 0.0);
  const std::array<double, 256> values = decode_table();
  const std::vector<Task> tasks = make_tasks(problem);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      RowsOfRequest(problem, tasks[i], values, result).run();
    }
  };
  const unsigned count = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < count && i < tasks.size(); ++i) {
    helpers.emplace_back(work);
  }
  work();
  for (std::thread& helper : helpers) {
    helper.join();
  }
  return result;
}

}  // namespace mlaforge::reference
