// The values of one request's cache rows and query rows, for each kind of input.
#pragma once

#include <cstdint>
#include <span>

#include "reference/inputs.h"

namespace mlaforge::reference {

class RequestValues {
 public:
  RequestValues(const InputSpec& spec, int request, int context);

  /// The 576 bytes of a token.
  void fill_cache_row(int token, std::span<uint8_t> row) const;
  /// The 576 bf16 of a row; row = position x heads + head.
  void fill_query_row(int row, std::span<uint16_t> q) const;

 private:
  void fill_spike_query(double nats, std::span<uint16_t> q, double pair) const;
  void fill_rising_key(int token, std::span<uint8_t> row) const;

  const InputSpec& spec_;
  int request_;
  int context_;
  int spike_token_;     ///< the one that stands out: seen by every position that sees anything
  double logit_scale_;  ///< logit = q.k x this
};

}  // namespace mlaforge::reference
