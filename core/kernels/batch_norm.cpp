#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

const BatchNormTable& table() { return isa().batch_norm; }

/// What the inner loops read of each column: the mean in two parts, and the scale.
struct ColumnValues {
  Scratch<real> high, low, scale;

  /// scale = inverse_std * weight; the weight may be null.
  ColumnValues(const double* mean, const double* inverse_std, const real* weight, index_t columns)
      : high(columns), low(columns), scale(columns) {
    for (index_t c = 0; c < columns; ++c) {
      high[c] = static_cast<real>(mean[c]);
      low[c] = static_cast<real>(mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(inverse_std[c] * (weight ? static_cast<double>(weight[c]) : 1));
    }
  }

  ColumnMeans means() const { return {high.data(), low.data()}; }
};

/// body(first row, rows) over blocks of rows, shared among threads.
template <class Body>
void parallel_row_blocks(index_t rows, index_t columns, const Body& body) {
  const index_t grain = std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, columns));
  parallel_ranges(rows, grain, [&](index_t begin, index_t end) { body(begin, end - begin); });
}

/// Of one column of a block: the mean of x minus the first row of the matrix, and the sum of squared deviations from
/// it.
struct BlockMoments {
  double mean, squares;

  /// `parts` [3, columns]: mean, residual and squares as BatchNormTable::moments gives them; the residual corrects both
  /// for rounding.
  BlockMoments(const real* parts, index_t columns, index_t c, double inverse_rows) {
    const double residual = static_cast<double>(parts[columns + c]);
    mean = static_cast<double>(parts[c]) + residual * inverse_rows;
    squares = static_cast<double>(parts[2 * columns + c]) - residual * residual * inverse_rows;
  }
};

}  // namespace

void column_moments(const real* x, double* mean, double* variance, index_t rows, index_t columns) {
  const Scratch<real> parts(3 * row_blocks(rows) * columns);
  const auto part = [&](index_t b) { return parts.data() + 3 * b * columns; };
  // The first row is subtracted, so that a large mean costs no digits.
  for_row_blocks(rows, rows * columns, [&](index_t b, index_t first, index_t count) {
    real* out = part(b);
    table().moments(x + first * columns, x, count, columns, out, out + columns, out + 2 * columns);
  });
  std::fill_n(mean, columns, 0.0);
  std::fill_n(variance, columns, 0.0);
  double before = 0;
  for (index_t b = 0; b < row_blocks(rows); ++b) {
    const double count = static_cast<double>(std::min(kBlockRows, rows - b * kBlockRows)), now = before + count;
    const double step = count / now, weight = before * step;
    for (index_t c = 0; c < columns; ++c) {
      const BlockMoments block(part(b), columns, c, 1 / count);
      const double distance = block.mean - mean[c];
      mean[c] += distance * step;
      variance[c] += block.squares + distance * distance * weight;
    }
    before = now;
  }
  for (index_t c = 0; c < columns; ++c) {
    mean[c] += static_cast<double>(x[c]);
    variance[c] = std::max(variance[c], 0.0) / before;
  }
}

void batch_norm(const real* x, const double* mean, const double* inverse_std, const real* weight, const real* bias,
                real* y, index_t rows, index_t columns) {
  const ColumnValues column_values(mean, inverse_std, weight, columns);
  parallel_row_blocks(rows, columns, [&](index_t first, index_t count) {
    table().normalize(x + first * columns, column_values.means(), column_values.scale.data(), bias, y + first * columns,
                      count, columns);
  });
}

void batch_norm_sums(const real* x, const double* mean, const double* inverse_std, const real* dy, double* dy_sums,
                     double* dy_x_hat_sums, index_t rows, index_t columns) {
  const ColumnValues column_values(mean, inverse_std, nullptr, columns);
  blocked_column_sums(
      rows, 2 * columns, rows * columns,
      [&](index_t first, index_t count, real* out) {
        table().gradient_sums(x + first * columns, column_values.means(), column_values.scale.data(),
                              dy + first * columns, count, columns, out, out + columns);
      },
      [&](index_t c, double total) { (c < columns ? dy_sums[c] : dy_x_hat_sums[c - columns]) = total; });
}

void batch_norm_backward(const real* x, const double* mean, const double* inverse_std, const real* weight,
                         const real* dy, const double* dy_sums, const double* dy_x_hat_sums, real* dx, bool accumulate,
                         index_t rows, index_t columns) {
  const ColumnValues column_values(mean, inverse_std, weight, columns);
  const Scratch<real> dy_mean(columns), x_factor(columns);
  for (index_t c = 0; c < columns; ++c) {
    dy_mean[c] = dy_sums ? static_cast<real>(dy_sums[c] / static_cast<double>(rows)) : 0;
    x_factor[c] = dy_sums ? static_cast<real>(inverse_std[c] * dy_x_hat_sums[c] / static_cast<double>(rows)) : 0;
  }
  parallel_row_blocks(rows, columns, [&](index_t first, index_t count) {
    table().backward(x + first * columns, column_values.means(), column_values.scale.data(), dy + first * columns,
                     dy_mean.data(), x_factor.data(), dx + first * columns, accumulate, count, columns);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
