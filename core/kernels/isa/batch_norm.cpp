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

index_t column_values(const NormColumns& in, const real* weight, real* high, real* low, real* scale) {
  const double* mean = in.mean;
  const double* divisor = in.divisor;
  const index_t columns = in.columns;
  const auto each = [=](auto weight_of) {
    index_t out_of_range = 0;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      const double w = weight_of(c);
      high[c] = static_cast<real>(mean[c]);
      low[c] = static_cast<real>(mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(1 / divisor[c] * w);
      out_of_range += trusted_column(mean[c], divisor[c], w) ? 0 : 1;
    }
    return out_of_range;
  };
  return weight ? each([=](index_t c) { return static_cast<double>(weight[c]); }) : each([](index_t) { return 1.0; });
}

index_t gradient_means(const NormColumns& in, ColumnSums sums, real* dy_mean, real* x_factor) {
  const double* divisor = in.divisor;
  const double rows = static_cast<double>(in.rows);
  const index_t columns = in.columns;
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

void normalize(const CenteredRows& in, const real* scale, const real* bias, real* y) {
  for (index_t r = 0; r < in.rows; ++r, y += in.columns) {
    const CenteredRows x = in.from(r);
    if (bias) store_each({y}, in.columns, [=](index_t c) { return x[c] * scale[c] + bias[c]; });
    else store_each({y}, in.columns, [=](index_t c) { return x[c] * scale[c]; });
  }
}

void gradient_sums(const CenteredRows& in, const real* inverse_std, const real* dy, real* dy_sums,
                   real* dy_x_hat_sums) {
  const index_t columns = in.columns;
  for (index_t c = 0; c < columns; ++c) dy_sums[c] = dy_x_hat_sums[c] = 0;
  for (index_t r = 0; r < in.rows; ++r, dy += columns) {
    const CenteredRows x = in.from(r);
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      dy_sums[c] += dy[c];
      dy_x_hat_sums[c] += dy[c] * (x[c] * inverse_std[c]);
    }
  }
}

/// dx = scale (dy - dy_mean - (x - mean) x_factor) (Ioffe, Szegedy 2015), or scale dy if dy_mean is null.
void backward(const CenteredRows& in, const real* scale, const real* dy, const real* dy_mean, const real* x_factor,
              Output dx) {
  for (index_t r = 0; r < in.rows; ++r, dy += in.columns) {
    const CenteredRows x = in.from(r);
    const Output to = dx.at(r * in.columns);
    if (dy_mean)
      store_each(to, in.columns, [=](index_t c) { return scale[c] * (dy[c] - dy_mean[c] - x[c] * x_factor[c]); });
    else store_each(to, in.columns, [=](index_t c) { return scale[c] * dy[c]; });
  }
}

}  // namespace

const BatchNormTable batch_norm_table = {moments,   finish_moments, column_values, gradient_means,
                                         normalize, gradient_sums,  backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
