#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/wide_range.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

const BatchNormTable& table() { return isa().batch_norm; }

/// What the inner loops read of each column: the mean in two parts, and the scale.
struct ColumnValues {
  Scratch<real> high, low, scale;

  /// scale = weight / divisor; the weight may be null.
  ColumnValues(const ColumnNorm& norm, const real* weight, index_t columns)
      : high(columns), low(columns), scale(columns) {
    for (index_t c = 0; c < columns; ++c) {
      high[c] = static_cast<real>(norm.mean[c]);
      low[c] = static_cast<real>(norm.mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(1 / norm.divisor[c] * (weight ? static_cast<double>(weight[c]) : 1));
    }
  }

  ColumnMeans means() const { return {high.data(), low.data()}; }
};

/// One column outside the range of the plain loops.
struct WideColumn {
  Wide mean, divisor;

  WideColumn(const ColumnNorm& norm, index_t c)
      : mean(static_cast<Wide>(norm.mean[c])), divisor(static_cast<Wide>(norm.divisor[c])) {}

  Wide x_hat(Wide x) const { return divisor == 0 ? 0 : (x - mean) / divisor; }
};

/// The sums of dy and of dy x_hat over one column. A divisor of 0 lets nothing pass, whatever dy is.
struct WideSums {
  Wide dy, dy_x_hat = 0;

  WideSums(const WideColumn& column, const Elements& x, const Elements& up) : dy(wide_sum(up)) {
    for (index_t r = 0; r < x.n && column.divisor != 0; ++r) dy_x_hat += up[r] * column.x_hat(x[r]);
  }
};

/// Whether the plain loops give a column its digits. Those of NaN need no other way.
bool trusted_column(const ColumnNorm& norm, const real* weight, index_t c) {
  constexpr double kLargestScale = sizeof(real) == 4 ? 1e25 : 1e285;
  const double divisor = norm.divisor[c], factor = std::abs(weight ? static_cast<double>(weight[c]) : 1);
  const double scale = factor / divisor;
  const bool scales = factor == 0 || (scale <= kLargestScale && scale >= 1 / kLargestScale);
  return std::isnan(divisor) || (trusted_variance(divisor * divisor) && trusted_mean(norm.mean[c]) && scales);
}

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

/// Combines the moments of the blocks: the mean less the first row of the matrix, and the sum of squares.
void combine_blocks(const real* parts, double* mean, double* squares, index_t rows, index_t columns) {
  std::fill_n(mean, columns, 0.0);
  std::fill_n(squares, columns, 0.0);
  double before = 0;
  for (index_t b = 0; b < row_blocks(rows); ++b) {
    const double count = static_cast<double>(std::min(kBlockRows, rows - b * kBlockRows)), now = before + count;
    const double step = count / now, weight = before * step;
    for (index_t c = 0; c < columns; ++c) {
      const BlockMoments block(parts + 3 * b * columns, columns, c, 1 / count);
      const double distance = block.mean - mean[c];
      mean[c] += distance * step;
      squares[c] += block.squares + distance * distance * weight;
    }
    before = now;
  }
}

}  // namespace

void column_moments(const real* x, double eps, double* mean, double* variance, double* divisor, index_t rows,
                    index_t columns) {
  const Scratch<real> parts(3 * row_blocks(rows) * columns);
  // The first row is subtracted, so that a large mean costs no digits.
  for_row_blocks(rows, rows * columns, [&](index_t b, index_t first, index_t count) {
    real* out = parts.data() + 3 * b * columns;
    table().moments(x + first * columns, x, count, columns, out, out + columns, out + 2 * columns);
  });
  combine_blocks(parts.data(), mean, variance, rows, columns);
  const auto n = static_cast<double>(rows);
  for (index_t c = 0; c < columns; ++c) {
    mean[c] += static_cast<double>(x[c]);
    variance[c] = variance[c] < 0 ? 0 : variance[c] / n;
    divisor[c] = std::sqrt(variance[c] + eps);
    if (trusted_variance(variance[c] + eps)) continue;
    const WideMoments wide = wide_moments(column_of(x, c, rows, columns));
    mean[c] = static_cast<double>(wide.mean);
    variance[c] = static_cast<double>(wide.squares / static_cast<Wide>(n));
    divisor[c] = static_cast<double>(std::sqrt(wide.squares / static_cast<Wide>(n) + static_cast<Wide>(eps)));
  }
}

void batch_norm(const real* x, const ColumnNorm& norm, const real* weight, const real* bias, real* y, index_t rows,
                index_t columns) {
  const ColumnValues column_values(norm, weight, columns);
  parallel_row_blocks(rows, columns, [&](index_t first, index_t count) {
    table().normalize(x + first * columns, column_values.means(), column_values.scale.data(), bias, y + first * columns,
                      count, columns);
  });
  for (index_t c = 0; c < columns; ++c) {
    if (trusted_column(norm, weight, c)) continue;
    const WideColumn column(norm, c);
    const Wide factor = static_cast<Wide>(weight ? weight[c] : 1), shift = static_cast<Wide>(bias ? bias[c] : 0);
    const Elements elements = column_of(x, c, rows, columns);
    for (index_t r = 0; r < rows; ++r)
      y[r * columns + c] = static_cast<real>(column.x_hat(elements[r]) * factor + shift);
  }
}

void batch_norm_sums(const real* x, const ColumnNorm& norm, const real* dy, double* dy_sums, double* dy_x_hat_sums,
                     index_t rows, index_t columns) {
  const ColumnValues column_values(norm, nullptr, columns);
  blocked_column_sums(
      rows, 2 * columns, rows * columns,
      [&](index_t first, index_t count, real* out) {
        table().gradient_sums(x + first * columns, column_values.means(), column_values.scale.data(),
                              dy + first * columns, count, columns, out, out + columns);
      },
      [&](const double* totals) {
        std::copy_n(totals, columns, dy_sums);
        std::copy_n(totals + columns, columns, dy_x_hat_sums);
      });
  for (index_t c = 0; c < columns; ++c) {
    if (trusted_column(norm, nullptr, c) && std::isfinite(dy_sums[c]) && std::isfinite(dy_x_hat_sums[c])) continue;
    const WideSums sums(WideColumn(norm, c), column_of(x, c, rows, columns), column_of(dy, c, rows, columns));
    dy_sums[c] = static_cast<double>(sums.dy);
    dy_x_hat_sums[c] = static_cast<double>(sums.dy_x_hat);
  }
}

namespace {

/// The gradient of one column outside the range of the plain loops, added to before[r * step]. With `fixed` statistics
/// no gradient flows through them.
void wide_backward(const WideColumn& column, const Elements& x, const Elements& dy, Wide factor, bool fixed,
                   const real* before, index_t step, real* dx) {
  const auto n = static_cast<Wide>(x.n);
  const WideSums sums(column, x, dy);
  const Wide dy_mean = fixed ? 0 : sums.dy / n, dy_x_hat_mean = fixed ? 0 : sums.dy_x_hat / n;
  for (index_t r = 0; r < x.n; ++r) {
    const Wide centered = dy[r] - dy_mean - column.x_hat(x[r]) * dy_x_hat_mean;
    const Wide term = column.divisor == 0 ? 0 : factor * centered / column.divisor;
    dx[r * x.stride] = before[r * step] + static_cast<real>(term);
  }
}

}  // namespace

void batch_norm_backward(const real* x, const ColumnNorm& norm, const real* weight, const real* dy,
                         const double* dy_sums, const double* dy_x_hat_sums, real* dx, bool accumulate, index_t rows,
                         index_t columns) {
  const ColumnValues column_values(norm, weight, columns);
  const auto n = static_cast<double>(rows);
  const Scratch<real> dy_mean(columns), x_factor(columns);
  const Scratch<index_t> wide(columns);
  index_t wide_count = 0;
  for (index_t c = 0; c < columns; ++c) {
    bool trusted = trusted_column(norm, weight, c);
    if (dy_sums) {
      dy_mean[c] = static_cast<real>(dy_sums[c] / n);
      x_factor[c] = static_cast<real>(1 / norm.divisor[c] * dy_x_hat_sums[c] / n);
      const double product = dy_x_hat_sums[c] / n;
      trusted = trusted && (std::isnan(product) || (trusted_mean(dy_sums[c] / n) && trusted_mean(product)));
    }
    if (!trusted) wide[wide_count++] = c;
  }
  const Scratch<real> before(accumulate ? wide_count * rows : 0);  // what the plain loops below spoil
  for (index_t i = 0; accumulate && i < wide_count; ++i)
    for (index_t r = 0; r < rows; ++r) before[i * rows + r] = dx[r * columns + wide[i]];
  parallel_row_blocks(rows, columns, [&](index_t first, index_t count) {
    table().backward(x + first * columns, column_values.means(), column_values.scale.data(), dy + first * columns,
                     dy_sums ? dy_mean.data() : nullptr, x_factor.data(), dx + first * columns, accumulate, count,
                     columns);
  });
  const real zero = 0;
  for (index_t i = 0; i < wide_count; ++i) {
    const index_t c = wide[i];
    wide_backward(WideColumn(norm, c), column_of(x, c, rows, columns), column_of(dy, c, rows, columns),
                  static_cast<Wide>(weight ? weight[c] : 1), !dy_sums, accumulate ? before.data() + i * rows : &zero,
                  accumulate ? 1 : 0, offset_pointer(dx, c));
  }
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
