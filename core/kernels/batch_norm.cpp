#include <xtape/core/kernels/batch_norm.hpp>
#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

const BatchNormTable& table() { return isa().batch_norm; }

/// Numbers of the columns as `real`, the mean as real plus remainder so that x - mean keeps the digits of a large mean.
struct Columns {
  Scratch<real> high, low, scale;

  /// scale = inverse * gain; the gain may be null.
  Columns(const double* mean, const double* inverse, const real* weight, index_t columns)
      : high(columns), low(columns), scale(columns) {
    for (index_t c = 0; c < columns; ++c) {
      high[c] = static_cast<real>(mean[c]);
      low[c] = static_cast<real>(mean[c] - static_cast<double>(high[c]));
      scale[c] = static_cast<real>(inverse[c] * (weight ? static_cast<double>(weight[c]) : 1));
    }
  }

  ColumnCenter center() const { return {high.data(), low.data()}; }
};

/// body(first row, rows) over pieces of a matrix, shared among threads.
template <class Body>
void for_row_pieces(index_t rows, index_t columns, const Body& body) {
  const index_t piece = std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, columns));
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) { body(begin, end - begin); });
}

/// Mean, measured from the first row of all, and sum of the squared distances from it, of one column of a block.
struct BlockMoments {
  double mean, squares;

  /// `parts`: what the kernel gave for all columns, one after the other; `share`: 1 / rows of the block.
  BlockMoments(const real* parts, index_t columns, index_t c, double share) {
    const double rest = static_cast<double>(parts[columns + c]);
    mean = static_cast<double>(parts[c]) + rest * share;
    squares = static_cast<double>(parts[2 * columns + c]) - rest * rest * share;
  }
};

}  // namespace

void column_moments(const real* x, double* mean, double* variance, index_t rows, index_t columns) {
  const Scratch<real> parts(3 * row_blocks(rows) * columns);
  const auto part = [&](index_t b) { return parts.data() + 3 * b * columns; };
  // Measured from the first row, so that a large mean costs nothing.
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

void batch_norm(const real* x, const double* mean, const double* inverse, const real* weight, const real* bias, real* y,
                index_t rows, index_t columns) {
  const Columns numbers(mean, inverse, weight, columns);
  for_row_pieces(rows, columns, [&](index_t first, index_t count) {
    table().normalize(x + first * columns, numbers.center(), numbers.scale.data(), bias, y + first * columns, count,
                      columns);
  });
}

void batch_norm_sums(const real* x, const double* mean, const double* inverse, const real* dy, double* sums,
                     double* normal_sums, index_t rows, index_t columns) {
  const Columns numbers(mean, inverse, nullptr, columns);
  blocked_column_sums(
      rows, 2 * columns, rows * columns,
      [&](index_t first, index_t count, real* out) {
        table().gradient_sums(x + first * columns, numbers.center(), numbers.scale.data(), dy + first * columns, count,
                              columns, out, out + columns);
      },
      [&](index_t c, double total) { (c < columns ? sums[c] : normal_sums[c - columns]) = total; });
}

void batch_norm_backward(const real* x, const double* mean, const double* inverse, const real* weight, const real* dy,
                         const double* sums, const double* normal_sums, real* dx, bool accumulate, index_t rows,
                         index_t columns) {
  const Columns numbers(mean, inverse, weight, columns);
  const Scratch<real> average(columns), derivative(columns);
  for (index_t c = 0; c < columns; ++c) {
    average[c] = sums ? static_cast<real>(sums[c] / static_cast<double>(rows)) : 0;
    derivative[c] = sums ? static_cast<real>(inverse[c] * normal_sums[c] / static_cast<double>(rows)) : 0;
  }
  for_row_pieces(rows, columns, [&](index_t first, index_t count) {
    table().backward(x + first * columns, numbers.center(), numbers.scale.data(), dy + first * columns, average.data(),
                     derivative.data(), dx + first * columns, accumulate, count, columns);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
