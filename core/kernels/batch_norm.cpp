#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/kernels/column_totals.hpp>
#include <xtape/core/kernels/levels/levels.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

const BatchNormTable& table() { return level().batch_norm; }

/// Numbers of the columns as `real`, the mean as real plus remainder so that x - mean keeps the digits of a large mean.
struct Columns {
  Scratch<real> high, low, scale;

  /// scale = inverse * gain; the gain may be null.
  Columns(const double* mean, const double* inverse, const real* gain, index_t columns)
      : high(columns), low(columns), scale(columns) {
    for (index_t c = 0; c < columns; ++c) {
      high[c] = static_cast<real>(mean[c]);
      low[c] = static_cast<real>(mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(inverse[c] * (gain ? static_cast<double>(gain[c]) : 1));
    }
  }

  ColumnCentre centre() const { return {high.data(), low.data()}; }
};

/// body(first row, rows) over pieces of a matrix, shared among threads.
template <class Body>
void for_row_pieces(index_t rows, index_t columns, const Body& body) {
  const index_t piece = std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, columns));
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) { body(begin, end - begin); });
}

}  // namespace

void column_moments(const real* x, double* mean, double* variance, index_t rows, index_t columns) {
  const double n = static_cast<double>(rows);
  const Scratch<real> offset(columns);
  std::fill_n(offset.data(), columns, real(0));
  // Measured from the first row, so that a large mean costs nothing; then from the mean.
  column_totals(
      rows, columns, rows * columns,
      [&](index_t first, index_t count, real* sums) {
        table().sums(x + first * columns, {x, offset.data()}, count, columns, sums);
      },
      [&](index_t c, double total) { mean[c] = total / n; });
  for (index_t c = 0; c < columns; ++c) {
    offset[c] = static_cast<real>(mean[c]);
    mean[c] += static_cast<double>(x[c]);
  }
  column_totals(
      rows, columns, rows * columns,
      [&](index_t first, index_t count, real* sums) {
        table().squares(x + first * columns, {x, offset.data()}, count, columns, sums);
      },
      [&](index_t c, double total) { variance[c] = total / n; });
}

void batch_norm(const real* x, const double* mean, const double* inverse, const real* gain, const real* bias, real* y,
                index_t rows, index_t columns) {
  const Columns numbers(mean, inverse, gain, columns);
  for_row_pieces(rows, columns, [&](index_t first, index_t count) {
    table().normalise(x + first * columns, numbers.centre(), numbers.scale.data(), bias, y + first * columns, count,
                      columns);
  });
}

void batch_norm_sums(const real* x, const double* mean, const double* inverse, const real* dy, double* sums,
                     double* normal_sums, index_t rows, index_t columns) {
  const Columns numbers(mean, inverse, nullptr, columns);
  column_totals(
      rows, 2 * columns, rows * columns,
      [&](index_t first, index_t count, real* out) {
        table().gradient_sums(x + first * columns, numbers.centre(), numbers.scale.data(), dy + first * columns, count,
                              columns, out, out + columns);
      },
      [&](index_t c, double total) { (c < columns ? sums[c] : normal_sums[c - columns]) = total; });
}

void batch_norm_backward(const real* x, const double* mean, const double* inverse, const real* gain, const real* dy,
                         const double* sums, const double* normal_sums, real* dx, bool accumulate, index_t rows,
                         index_t columns) {
  const Columns numbers(mean, inverse, gain, columns);
  const Scratch<real> average(columns), slope(columns);
  for (index_t c = 0; c < columns; ++c) {
    average[c] = sums ? static_cast<real>(sums[c] / static_cast<double>(rows)) : 0;
    slope[c] = sums ? static_cast<real>(inverse[c] * normal_sums[c] / static_cast<double>(rows)) : 0;
  }
  for_row_pieces(rows, columns, [&](index_t first, index_t count) {
    table().backward(x + first * columns, numbers.centre(), numbers.scale.data(), dy + first * columns, average.data(),
                     slope.data(), dx + first * columns, accumulate, count, columns);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
