#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

void moments(const real* x, const real* from, index_t rows, index_t columns, real* mean, real* rest, real* squares) {
  for (index_t c = 0; c < columns; ++c) mean[c] = rest[c] = squares[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) mean[c] += row[c] - from[c];
  }
  const real share = 1 / static_cast<real>(rows);
  for (index_t c = 0; c < columns; ++c) mean[c] *= share;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      const real d = (row[c] - from[c]) - mean[c];
      rest[c] += d;
      squares[c] += d * d;
    }
  }
}

void normalize(const real* x, ColumnCenter mean, const real* scale, const real* bias, real* y, index_t rows,
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

void gradient_sums(const real* x, ColumnCenter mean, const real* inverse, const real* dy, index_t rows, index_t columns,
                   real* of_dy, real* of_dy_normal) {
  for (index_t c = 0; c < columns; ++c) of_dy[c] = of_dy_normal[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
    const real* up = dy + r * columns;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) {
      of_dy[c] += up[c];
      of_dy_normal[c] += up[c] * (((row[c] - mean.high[c]) - mean.low[c]) * inverse[c]);
    }
  }
}

/// dx = scale (dy - average - (x - mean) slope) (Ioffe, Szegedy 2015).
void backward(const real* x, ColumnCenter mean, const real* scale, const real* dy, const real* average,
              const real* derivative, real* dx, bool accumulate, index_t rows, index_t columns) {
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * columns;
    const real* up = dy + r * columns;
    real* out = dx + r * columns;
    const auto term = [=](index_t c) {
      return scale[c] * (up[c] - average[c] - ((row[c] - mean.high[c]) - mean.low[c]) * derivative[c]);
    };
    if (accumulate) {
#pragma GCC ivdep
      for (index_t c = 0; c < columns; ++c) out[c] += term(c);
    } else {
#pragma GCC ivdep
      for (index_t c = 0; c < columns; ++c) out[c] = term(c);
    }
  }
}

}  // namespace

extern const BatchNormTable batch_norm_table;
const BatchNormTable batch_norm_table = {moments, normalize, gradient_sums, backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
