#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/store.hpp>

void moments(const real* x, const real* origin, index_t rows, index_t columns, real* mean, real* residual,
             real* squares) {
  for (index_t c = 0; c < columns; ++c) mean[c] = residual[c] = squares[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) mean[c] += row[c] - origin[c];
  }
  const real inverse_rows = 1 / static_cast<real>(rows);
  for (index_t c = 0; c < columns; ++c) mean[c] *= inverse_rows;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      const real d = (row[c] - origin[c]) - mean[c];
      residual[c] += d;
      squares[c] += d * d;
    }
  }
}

index_t finish_moments(const real* origin, double rows, double eps, double* mean, double* variance, double* divisor,
                       index_t columns) {
  index_t out_of_range = 0;
#pragma GCC ivdep
  for (index_t c = 0; c < columns; ++c) {
    const double v = variance[c] < 0 ? 0 : variance[c] / rows;
    mean[c] += static_cast<double>(origin[c]);
    variance[c] = v;
    divisor[c] = __builtin_sqrt(v + eps);
    out_of_range += trusted_variance(v + eps) ? 0 : 1;
  }
  return out_of_range;
}

index_t column_values(ColumnNorm norm, const real* weight, real* high, real* low, real* scale, index_t columns) {
  const auto each = [=](auto weight_of) {
    index_t out_of_range = 0;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      const double w = weight_of(c);
      high[c] = static_cast<real>(norm.mean[c]);
      low[c] = static_cast<real>(norm.mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(1 / norm.divisor[c] * w);
      out_of_range += trusted_column(norm.mean[c], norm.divisor[c], w) ? 0 : 1;
    }
    return out_of_range;
  };
  return weight ? each([=](index_t c) { return static_cast<double>(weight[c]); }) : each([](index_t) { return 1.0; });
}

index_t gradient_means(const double* divisor, ColumnSums sums, double rows, real* dy_mean, real* x_factor,
                       index_t columns) {
  index_t out_of_range = 0;
#pragma GCC ivdep
  for (index_t c = 0; c < columns; ++c) {
    const double mean = sums.dy[c] / rows;
    dy_mean[c] = static_cast<real>(mean);
    x_factor[c] = static_cast<real>(1 / divisor[c] * sums.dy_x_hat[c] / rows);
    out_of_range += trusted_gradient(mean, sums.dy_x_hat[c] / rows) ? 0 : 1;
  }
  return out_of_range;
}

void normalize(const real* x, ColumnMeans mean, const real* scale, const real* bias, real* y, index_t rows,
               index_t columns) {
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
    real* out = y + r * columns;
    if (bias) {
#pragma GCC ivdep
      for (index_t c = 0; c < columns; ++c) out[c] = ((row[c] - mean.high[c]) - mean.low[c]) * scale[c] + bias[c];
    } else {
#pragma GCC ivdep
      for (index_t c = 0; c < columns; ++c) out[c] = ((row[c] - mean.high[c]) - mean.low[c]) * scale[c];
    }
  }
}

void gradient_sums(const real* x, ColumnMeans mean, const real* inverse_std, const real* dy, index_t rows,
                   index_t columns, real* dy_sums, real* dy_x_hat_sums) {
  for (index_t c = 0; c < columns; ++c) dy_sums[c] = dy_x_hat_sums[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
    const real* dy_row = dy + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      dy_sums[c] += dy_row[c];
      dy_x_hat_sums[c] += dy_row[c] * (((row[c] - mean.high[c]) - mean.low[c]) * inverse_std[c]);
    }
  }
}

/// dx = scale (dy - dy_mean - (x - mean) x_factor) (Ioffe, Szegedy 2015), or scale dy if dy_mean is null.
void backward(const real* x, ColumnMeans mean, const real* scale, const real* dy, const real* dy_mean,
              const real* x_factor, real* dx, bool accumulate, index_t rows, index_t columns) {
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
    const real* dy_row = dy + r * columns;
    real* out = dx + r * columns;
    if (!dy_mean) {
      store_each(out, accumulate, columns, [=](index_t c) { return scale[c] * dy_row[c]; });
      continue;
    }
    store_each(out, accumulate, columns, [=](index_t c) {
      return scale[c] * (dy_row[c] - dy_mean[c] - ((row[c] - mean.high[c]) - mean.low[c]) * x_factor[c]);
    });
  }
}

}  // namespace

extern const BatchNormTable batch_norm_table;
const BatchNormTable batch_norm_table = {moments,   finish_moments, column_values, gradient_means,
                                         normalize, gradient_sums,  backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
