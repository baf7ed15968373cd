#include <algorithm>
#include <cmath>
#include <cstdio>

#include "reference/attention.h"
#include "reference/bf16.h"

namespace mlaforge::reference {
namespace {

std::string text(const char* format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  return buffer;
}

/// Walks the rows, keeps the figures and the first failure.
class Comparer {
 public:
  Comparer(const AttentionProblem& problem, const AttentionResult& right, const StoredOutput& stored,
           const Tolerance& tolerance)
      : problem_(problem), right_(right), stored_(stored), tolerance_(tolerance) {}

  Comparison run() {
    size_t row = 0;
    for (int64_t token = 0; token < int64_t{problem_.requests} * problem_.qlen; ++token) {
      for (int head = 0; head < problem_.heads; ++head, ++row) {
        compare_o(row, stored_.o + token * stored_.o_token_stride + head * stored_.o_head_stride);
        if (stored_.lse != nullptr) {
          compare_lse(row, stored_.lse[token * stored_.lse_token_stride + head * stored_.lse_head_stride]);
        }
      }
    }
    result_.rel_l2 = right_square_ > 0 ? std::sqrt(difference_square_ / right_square_) : std::sqrt(difference_square_);
    if (!(result_.rel_l2 <= tolerance_.rel_l2)) {
      fail(text("rel_l2 is %.3g, at most %.3g is allowed", result_.rel_l2, tolerance_.rel_l2));
    }
    result_.passed = result_.failure.empty();
    return result_;
  }

 private:
  void fail(std::string failure) {
    if (result_.failure.empty()) {
      result_.failure = std::move(failure);
    }
  }

  std::string where(size_t row) const {
    const size_t heads = static_cast<size_t>(problem_.heads);
    const size_t token = row / heads;
    return text("request %zu, position %zu, head %zu", token / problem_.qlen, token % problem_.qlen, row % heads);
  }

  void compare_o(size_t row, const uint16_t* stored) {
    const double* right = right_.o.data() + row * MLAFORGE_LATENT_DIM;
    double largest = 0;
    double worst = 0;
    int worst_column = 0;
    for (int column = 0; column < MLAFORGE_LATENT_DIM; ++column) {
      const double value = decode_bf16(stored[column]);
      if (std::isnan(right[column]) || !std::isfinite(value)) {
        if (std::isnan(right[column]) != std::isnan(value) || std::isinf(value)) {
          fail(where(row) + text(", column %d: o is %g, right is %g", column, value, right[column]));
        }
        continue;
      }
      const double difference = std::fabs(value - right[column]);
      largest = std::max(largest, std::fabs(right[column]));
      difference_square_ += difference * difference;
      right_square_ += right[column] * right[column];
      if (difference > worst) {
        worst = difference;
        worst_column = column;
      }
    }
    if (worst > 0) {
      result_.max_row_error = std::max(result_.max_row_error, largest > 0 ? worst / largest : worst);
    }
    if (!tolerance_.row_scale.empty()) {
      largest = std::max(largest, tolerance_.row_scale[row]);
    }
    if (worst > tolerance_.row_error * largest) {
      fail(where(row) + text(", column %d: o is %g, right is %g; at most %g off is allowed", worst_column,
                             static_cast<double>(decode_bf16(stored[worst_column])), right[worst_column],
                             tolerance_.row_error * largest));
    }
  }

  void compare_lse(size_t row, float stored) {
    const double right = right_.lse[row];
    if (!std::isfinite(right) || !std::isfinite(stored)) {
      const bool same = std::isnan(right) ? std::isnan(stored) : static_cast<double>(stored) == right;
      if (!same) {
        fail(where(row) + text(": lse is %g, right is %g", static_cast<double>(stored), right));
      }
      return;
    }
    const double difference = std::fabs(stored - right);
    const double bound = std::max(tolerance_.lse_absolute, tolerance_.lse_of_logit * right_.largest_logit[row]);
    result_.lse_max_abs = std::max(result_.lse_max_abs, difference);
    result_.lse_of_bound = std::max(result_.lse_of_bound, difference / bound);
    if (difference > bound) {
      fail(where(row) + text(": lse is %.9g, right is %.9g; at most %.3g off is allowed", static_cast<double>(stored),
                             right, bound));
    }
  }

  const AttentionProblem& problem_;
  const AttentionResult& right_;
  const StoredOutput& stored_;
  const Tolerance& tolerance_;
  Comparison result_;
  double difference_square_ = 0;
  double right_square_ = 0;
};

}  // namespace

Comparison compare(const AttentionProblem& problem, const AttentionResult& right, const StoredOutput& stored,
                   const Tolerance& tolerance) {
  return Comparer(problem, right, stored, tolerance).run();
}

}  // namespace mlaforge::reference
