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
  index_t out_of_range;  ///< number of columns that the plain loops give no digits

  ColumnValues(const NormColumns& in, const real* weight)
      : high(in.columns),
        low(in.columns),
        scale(in.columns),
        out_of_range(table().column_values(in, weight, high.data(), low.data(), scale.data())) {}

  CenteredRows rows(const NormColumns& in, index_t first, index_t count) const {
    return {in.x + first * in.columns, count, in.columns, high.data(), low.data()};
  }
};

/// One column outside the range of the plain loops.
struct WideColumn {
  Elements x;
  WideNorm norm;

  WideColumn(const NormColumns& in, index_t c)
      : x(column_of(in.x, c, in.rows, in.columns)),
        norm{static_cast<Wide>(in.mean[c]), static_cast<Wide>(in.divisor[c])} {}
};

/// The sums of dy and of dy x_hat over one column. A divisor of 0 lets nothing pass, whatever dy is.
struct WideSums {
  Wide dy, dy_x_hat = 0;

  WideSums(const WideColumn& column, const Elements& up) : dy(wide_sum(up)) {
    for (index_t r = 0; r < up.n && column.norm.divisor != 0; ++r) dy_x_hat += up[r] * column.norm.x_hat(column.x[r]);
  }
};

bool is_trusted(const NormColumns& in, const real* weight, index_t c) {
  return trusted_column(in.mean[c], in.divisor[c], weight ? static_cast<double>(weight[c]) : 1);
}

/// body(first row, rows) over blocks of rows, shared among threads.
template <class Body>
void parallel_row_blocks(index_t rows, index_t columns, const Body& body) {
  parallel_ranges(rows, rows_per_task(columns), [&](index_t begin, index_t end) { body(begin, end - begin); });
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
  if (table().finish_moments(x, n, eps, mean, variance, divisor, columns) == 0) return;
  for (index_t c = 0; c < columns; ++c) {
    if (trusted_variance(variance[c] + eps)) continue;
    const WideMoments wide = wide_moments(column_of(x, c, rows, columns));
    mean[c] = static_cast<double>(wide.mean);
    variance[c] = static_cast<double>(wide.squares / static_cast<Wide>(n));
    divisor[c] = static_cast<double>(std::sqrt(wide.squares / static_cast<Wide>(n) + static_cast<Wide>(eps)));
  }
}

void batch_norm(const NormColumns& in, const real* weight, const real* bias, real* y) {
  const ColumnValues values(in, weight);
  parallel_row_blocks(in.rows, in.columns, [&](index_t first, index_t count) {
    table().normalize(values.rows(in, first, count), values.scale.data(), bias, y + first * in.columns);
  });
  for (index_t c = 0; c < in.columns && values.out_of_range > 0; ++c) {
    if (is_trusted(in, weight, c)) continue;
    const WideColumn column(in, c);
    const Wide factor = static_cast<Wide>(weight ? weight[c] : 1), shift = static_cast<Wide>(bias ? bias[c] : 0);
    for (index_t r = 0; r < in.rows; ++r)
      y[r * in.columns + c] = static_cast<real>(column.norm.x_hat(column.x[r]) * factor + shift);
  }
}

void batch_norm_sums(const NormColumns& in, const real* dy, ColumnSums sums) {
  const ColumnValues values(in, nullptr);
  const index_t columns = in.columns;
  blocked_column_sums(
      in.rows, 2 * columns, in.rows * columns,
      [&](index_t first, index_t count, real* out) {
        table().gradient_sums(values.rows(in, first, count), values.scale.data(), dy + first * columns, out,
                              out + columns);
      },
      [&](const double* totals) {
        std::copy_n(totals, columns, sums.dy);
        std::copy_n(totals + columns, columns, sums.dy_x_hat);
      });
  for (index_t c = 0; c < columns; ++c) {
    const bool trusted = values.out_of_range == 0 || is_trusted(in, nullptr, c);
    if (trusted && std::isfinite(sums.dy[c]) && std::isfinite(sums.dy_x_hat[c])) continue;
    const WideSums wide(WideColumn(in, c), column_of(dy, c, in.rows, columns));
    sums.dy[c] = static_cast<double>(wide.dy);
    sums.dy_x_hat[c] = static_cast<double>(wide.dy_x_hat);
  }
}

namespace {

/// The gradient of one column outside the range of the plain loops, added to before[r], which may be null. With `fixed`
/// statistics no gradient flows through them.
void wide_backward(const WideColumn& column, const Elements& dy, Wide factor, bool fixed, const real* before,
                   real* dx) {
  const auto n = static_cast<Wide>(dy.n);
  const WideSums sums(column, dy);
  const Wide dy_mean = fixed ? 0 : sums.dy / n, dy_x_hat_mean = fixed ? 0 : sums.dy_x_hat / n;
  for (index_t r = 0; r < dy.n; ++r) {
    const Wide centered = dy[r] - dy_mean - column.norm.x_hat(column.x[r]) * dy_x_hat_mean;
    const Wide term = column.norm.divisor == 0 ? 0 : factor * centered / column.norm.divisor;
    dx[r * dy.stride] = (before ? before[r] : 0) + static_cast<real>(term);
  }
}

}  // namespace

void batch_norm_backward(const NormColumns& in, const real* weight, const real* dy, ColumnSums sums, Output dx) {
  const ColumnValues values(in, weight);
  const index_t rows = in.rows, columns = in.columns;
  const auto n = static_cast<double>(rows);
  const Scratch<real> dy_mean(columns), x_factor(columns);
  index_t out_of_range = values.out_of_range;
  if (sums.dy) out_of_range += table().gradient_means(in, sums, dy_mean.data(), x_factor.data());
  const Scratch<index_t> wide(columns);
  index_t wide_count = 0;
  for (index_t c = 0; c < columns && out_of_range > 0; ++c) {
    const bool trusted = !sums.dy || trusted_gradient(sums.dy[c] / n, sums.dy_x_hat[c] / n);
    if (!trusted || !is_trusted(in, weight, c)) wide[wide_count++] = c;
  }
  const Scratch<real> before(dx.add ? wide_count * rows : 0);  // what the plain loops below spoil
  for (index_t i = 0; dx.add && i < wide_count; ++i)
    for (index_t r = 0; r < rows; ++r) before[i * rows + r] = dx.data[r * columns + wide[i]];
  parallel_row_blocks(rows, columns, [&](index_t first, index_t count) {
    table().backward(values.rows(in, first, count), values.scale.data(), dy + first * columns,
                     sums.dy ? dy_mean.data() : nullptr, x_factor.data(), dx.at(first * columns));
  });
  for (index_t i = 0; i < wide_count; ++i) {
    const index_t c = wide[i];
    wide_backward(WideColumn(in, c), column_of(dy, c, rows, columns), static_cast<Wide>(weight ? weight[c] : 1),
                  !sums.dy, dx.add ? before.data() + i * rows : nullptr, offset_pointer(dx.data, c));
  }
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
