// Causal attention of three queries and keys, of which the last key is padded: query t sees the keys 0..min(t, 1).
#pragma once

#include <xtape/core/ops/shape.hpp>

#include <algorithm>

namespace xtape::test {

/// Sets row `at` of x [.., rows, width], of its first sequence and head, to a value.
inline Array with_row(Array x, std::size_t at, double value) {
  const std::size_t width = x.shape().back();
  std::fill_n(x.data() + at * width, width, static_cast<real>(value));
  return x;
}

inline Array row_of(const Array& x, std::size_t at) {
  return slice(Tensor(x), 2, static_cast<index_t>(at), static_cast<index_t>(at) + 1).value();
}

inline bool sees(std::size_t query, std::size_t key) { return key <= query && key < 2; }

/// Whether query t's result depends on row `at` of operand `what`: q, k, v, or the upstream gradient (3).
inline bool query_reads(std::size_t t, std::size_t what, std::size_t at) {
  return what == 0 || what == 3 ? t == at : sees(t, at);
}

/// Whether the gradient of that row of an input (q, k, v) does.
inline bool gradient_reads(std::size_t input, std::size_t row, std::size_t what, std::size_t at) {
  if (input == 0) return query_reads(row, what, at);
  for (std::size_t t = 0; t < 3; ++t)
    if (sees(t, row) && query_reads(t, what, at)) return true;
  return false;
}

}  // namespace xtape::test
