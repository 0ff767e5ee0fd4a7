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

const BatchNormTable batch_norm_table = {moments, normalize, gradient_sums, backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
