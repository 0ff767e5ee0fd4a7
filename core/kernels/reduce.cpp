#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/pieces.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

constexpr index_t kRows = 64;  // rows that a column sum adds up in `real`

void put(real* out, double value, bool accumulate) {
  *out = static_cast<real>(accumulate ? static_cast<double>(*out) + value : value);
}

/// Sums over the rows of one [rows, columns] matrix.
void column_sums(const real* x, index_t rows, index_t columns, double scale, real* out, bool accumulate) {
  const index_t blocks = (rows + kRows - 1) / kRows;
  const Scratch<real> partial(blocks * columns);
  const auto block = [&](index_t b) {
    const index_t begin = b * kRows;
    level().reduce.column_sums(x + begin * columns, std::min(kRows, rows - begin), columns, columns,
                               partial.data() + b * columns);
  };
  if (rows * columns > kPiece) {
    parallel_for(blocks, block);
  } else {
    for (index_t b = 0; b < blocks; ++b) block(b);
  }
  for (index_t c = 0; c < columns; ++c) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += static_cast<double>(partial[b * columns + c]);
    put(out + c, scale * total, accumulate);
  }
}

}  // namespace

double sum(const real* x, index_t n) {
  return sum_in_pieces(n, [x](index_t b, index_t e) { return level().reduce.sum(x + b, e - b); });
}

double sum_of_squares(const real* x, index_t n) {
  return sum_in_pieces(n, [x](index_t b, index_t e) { return level().reduce.sum_of_squares(x + b, e - b); });
}

double norm(const real* x, index_t n) {
  const double squares = sum_of_squares(x, n);
  if (std::isnan(squares) || (squares > 1e-280 && !std::isinf(squares))) return std::sqrt(squares);
  double largest = 0;  // squares of doubles overflow or vanish: scale by the largest
  for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  if (largest == 0 || std::isinf(largest)) return largest;
  double scaled = 0;
  for (index_t i = 0; i < n; ++i) scaled += std::pow(static_cast<double>(x[i]) / largest, 2);
  return largest * std::sqrt(scaled);
}

bool all_finite(const real* x, index_t n) {
  const double failures =
      sum_in_pieces(n, [x](index_t b, index_t e) { return level().reduce.all_finite(x + b, e - b) ? 0.0 : 1.0; });
  return failures == 0;
}

void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double scale, real* out, bool accumulate) {
  if (inner == 1) {
    if (outer == 1) return put(out, scale * sum(x, count), accumulate);
    parallel_ranges(outer, std::max<index_t>(1, kPiece / std::max<index_t>(1, count)), [&](index_t b, index_t e) {
      for (index_t o = b; o < e; ++o) put(out + o, scale * level().reduce.sum(x + o * count, count), accumulate);
    });
    return;
  }
  for (index_t o = 0; o < outer; ++o)
    column_sums(x + o * count * inner, count, inner, scale, out + o * inner, accumulate);
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
