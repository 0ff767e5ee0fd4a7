#include <xtape/core/kernels/column_totals.hpp>
#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/pieces.hpp>
#include <xtape/core/kernels/reduce.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

void put(real* out, double value, bool accumulate) {
  *out = static_cast<real>(accumulate ? static_cast<double>(*out) + value : value);
}

/// Sums over the rows of one [rows, columns] matrix.
void column_sums(const real* x, index_t rows, index_t columns, double scale, real* out, bool accumulate) {
  blocked_column_sums(
      rows, columns, rows * columns,
      [&](index_t first, index_t count, real* sums) {
        isa().reduce.column_sums(x + first * columns, count, columns, columns, sums);
      },
      [&](index_t c, double total) { put(out + c, scale * total, accumulate); });
}

}  // namespace

double sum(const real* x, index_t n) {
  return blocked_sum(n, [x](index_t b, index_t e) { return isa().reduce.sum(x + b, e - b); });
}

double sum_of_squares(const real* x, index_t n) {
  return blocked_sum(n, [x](index_t b, index_t e) { return isa().reduce.sum_of_squares(x + b, e - b); });
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
      blocked_sum(n, [x](index_t b, index_t e) { return isa().reduce.all_finite(x + b, e - b) ? 0.0 : 1.0; });
  return failures == 0;
}

void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double scale, real* out, bool accumulate) {
  if (inner == 1) {
    if (outer == 1) return put(out, scale * sum(x, count), accumulate);
    parallel_ranges(outer, std::max<index_t>(1, kGrainSize / std::max<index_t>(1, count)), [&](index_t b, index_t e) {
      for (index_t o = b; o < e; ++o) put(out + o, scale * isa().reduce.sum(x + o * count, count), accumulate);
    });
    return;
  }
  for (index_t o = 0; o < outer; ++o)
    column_sums(x + o * count * inner, count, inner, scale, out + o * inner, accumulate);
}

namespace {

/// body(row, offset of row) for every row, shared among threads.
template <class Body>
void for_each_row(index_t rows, index_t width, const Body& body) {
  parallel_ranges(rows, std::max<index_t>(1, kGrainSize / std::max<index_t>(1, width)),
                  [&](index_t begin, index_t end) {
                    for (index_t r = begin; r < end; ++r) body(r, r * width);
                  });
}

}  // namespace

void row_max_min(const real* x, bool largest, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) { y[r] = isa().reduce.extreme(x + at, width, largest); });
}

void max_min_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t rows,
                      index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    isa().reduce.max_min_backward_row(x + at, y[r], dy[r], dx + at, accumulate, width);
  });
}

void argument_of(const real* x, const real* y, index_t* positions, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    const bool nan = std::isnan(y[r]);
    positions[r] =
        std::find_if(x + at, x + at + width, [&](real v) { return nan ? std::isnan(v) : v == y[r]; }) - x - at;
  });
}

void moments(const real* x, double* mean, double* squares, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) { isa().reduce.moments(x + at, width, mean + r, squares + r); });
}

void subtract_mean(const real* x, const double* mean, const double* scale, real* dx, bool accumulate, index_t rows,
                   index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    isa().reduce.subtract_mean(x + at, mean ? mean[r] : 0, scale[r], dx + at, accumulate, width);
  });
}

void norms(const real* x, real* y, index_t rows, index_t width) {
  if (rows == 1) {
    *y = static_cast<real>(std::sqrt(sum_of_squares(x, width)));
    return;
  }
  for_each_row(rows, width, [&](index_t r, index_t at) {
    y[r] = static_cast<real>(std::sqrt(isa().reduce.sum_of_squares(x + at, width)));
  });
}

void cumulative_sum(const real* x, index_t outer, index_t count, index_t inner, bool reverse, real* y,
                    bool accumulate) {
  for_each_row(outer, count * inner, [&](index_t, index_t at) {
    const Scratch<double> total(inner);
    std::fill_n(total.data(), inner, 0.0);
    for (index_t j = 0; j < count; ++j) {
      const index_t line = at + (reverse ? count - 1 - j : j) * inner;
      for (index_t i = 0; i < inner; ++i) {
        double& sum = total[i];
        sum += static_cast<double>(x[line + i]);
        put(y + line + i, sum, accumulate);
      }
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
