#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/wide_range.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr double kLeastSquares = 1e-280;  // below, squares of doubles have lost digits

const ReduceTable& table() { return isa().reduce; }

/// sum / divisor; x are the elements that were summed, to sum them again if the sum is not finite.
inline double quotient(double sum, double divisor, const Elements& x) {
  if (std::isfinite(sum)) [[likely]]
    return sizeof(real) == 4 ? sum * (1 / divisor) : sum / divisor;  // rounding to float hides that of the product
  return static_cast<double>(wide_sum(x) / static_cast<Wide>(divisor));
}

/// out [columns] = the sums over the rows of x [rows, columns], divided by the divisor.
void column_sums(const real* x, index_t rows, index_t columns, double divisor, Output out) {
  blocked_column_sums(
      rows, columns, rows * columns,
      [&](index_t first, index_t count, real* sums) {
        table().column_sums(x + first * columns, count, columns, columns, sums);
      },
      [&](const double* totals) {
        for (index_t c = 0; c < columns; ++c) out.put(c, quotient(totals[c], divisor, column_of(x, c, rows, columns)));
      });
}

double blocks_sum(const real* x, index_t n) {
  return blocked_sum(n, [x](index_t b, index_t e) { return table().sum(x + b, e - b); });
}

/// The root of a sum of squares, of the elements x.
inline double root(double squares, const Elements& x) {
  // In float only the sum of zeros is below: double holds squares of floats.
  if ((sizeof(real) == 4 || squares >= kLeastSquares) && squares <= std::numeric_limits<double>::max()) [[likely]]
    return std::sqrt(squares);
  return static_cast<double>(std::sqrt(wide_sum_of_squares(x)));
}

}  // namespace

double sum(const real* x, index_t n) { return quotient(blocks_sum(x, n), 1, {x, n}); }

double sum_of_squares(const real* x, index_t n) {
  return blocked_sum(n, [x](index_t b, index_t e) { return table().sum_of_squares(x + b, e - b); });
}

double norm(const real* x, index_t n) { return root(sum_of_squares(x, n), {x, n}); }

double joint_norm(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::hypot(a, b);
}

real largest_magnitude(const real* x, index_t n) {
  const index_t blocks = (n + kBlockSize - 1) / kBlockSize;
  const Scratch<real> largest(blocks);
  parallel_for(blocks, [&](index_t b) {
    const index_t begin = b * kBlockSize;
    largest[b] = table().largest_magnitude(x + begin, std::min(kBlockSize, n - begin));
  });
  return table().largest_magnitude(largest.data(), blocks);
}

double magnitude_bound(const real* x, index_t n) {
  // The norm, with more than the sum's rounding, and more than an element whose square vanishes.
  constexpr double kRounding = 1.001, kVanishing = sizeof(real) == 4 ? 1e-18 : 1e-150;
  const double squares = blocked_sum(n, [x](index_t b, index_t e) { return table().dot(x + b, x + b, e - b); });
  if (std::isfinite(squares)) return std::sqrt(squares) * kRounding + kVanishing;
  return static_cast<double>(largest_magnitude(x, n));
}

bool all_finite(const real* x, index_t n) {
  const double failures =
      blocked_sum(n, [x](index_t b, index_t e) { return table().all_finite(x + b, e - b) ? 0.0 : 1.0; });
  return failures == 0;
}

void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double divisor, Output out) {
  if (inner == 1) {
    if (outer == 1) return out.put(0, quotient(blocks_sum(x, count), divisor, {x, count}));
    const auto sum_of = table().sum;
    return for_each_row(outer, count, [=](index_t o, index_t at) {
      out.put(o, quotient(sum_of(x + at, count), divisor, {x + at, count}));
    });
  }
  for (index_t o = 0; o < outer; ++o) column_sums(x + o * count * inner, count, inner, divisor, out.at(o * inner));
}

void row_max_min(const real* x, bool largest, real* y, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) { y[r] = table().extreme(x + at, width, largest); });
}

void max_min_backward(const real* x, const real* y, const real* dy, Output dx, index_t rows, index_t width) {
  for_each_row(rows, width,
               [&](index_t r, index_t at) { table().max_min_backward_row(x + at, y[r], dy[r], dx.at(at), width); });
}

void argument_of(const real* x, const real* y, index_t* positions, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    const bool nan = std::isnan(y[r]);
    positions[r] =
        std::find_if(x + at, x + at + width, [&](real v) { return nan ? std::isnan(v) : v == y[r]; }) - x - at;
  });
}

void moments(const real* x, double freedom, bool take_root, double* mean, double* spread, real* y, index_t rows,
             index_t width) {
  const auto plain_moments = table().moments;
  for_each_row(rows, width, [=](index_t r, index_t at) { plain_moments(x + at, width, mean + r, spread + r); });
  const auto from_squares = [=](double squares) {
    return take_root ? std::sqrt(squares / freedom) : squares / freedom;
  };
  const auto n = static_cast<double>(width);
  const double least = from_squares(kLeastVariance * n), most = from_squares(kLargestVariance * n);
  const auto trusted = [=](index_t r) { return (spread[r] >= least) & (spread[r] <= most); };
  bool all_trusted = true;
  for (index_t r = 0; r < rows; ++r) {
    spread[r] = from_squares(spread[r]);
    y[r] = static_cast<real>(spread[r]);
    all_trusted &= trusted(r);
  }
  if (all_trusted) return;
  for_each_row(rows, width, [=](index_t r, index_t at) {
    if (trusted(r)) return;
    const WideMoments wide = wide_moments({x + at, width});
    const Wide variance = wide.squares / static_cast<Wide>(freedom);
    mean[r] = static_cast<double>(wide.mean);
    spread[r] = static_cast<double>(take_root ? std::sqrt(variance) : variance);
    y[r] = static_cast<real>(spread[r]);
  });
}

namespace {

void wide_subtract_mean(const Elements& x, double mean, double numerator, double denominator, Output dx) {
  for (index_t i = 0; i < x.n; ++i) {
    const Wide difference = x[i] - static_cast<Wide>(mean);
    const auto term = static_cast<real>(static_cast<Wide>(numerator) * difference / static_cast<Wide>(denominator));
    dx.put(i, static_cast<double>(term));
  }
}

}  // namespace

void subtract_mean(const real* x, const double* mean, const real* dy, double divisor, const double* spread, Output dx,
                   index_t rows, index_t width) {
  // Products of three floats stay in the range of double.
  const auto trusted = [](double v) { return sizeof(real) == 4 || v == 0 || trusted_variance(std::abs(v)); };
  const auto plain = table().subtract_mean;
  for_each_row(rows, width, [=](index_t r, index_t at) {
    const double middle = mean ? mean[r] : 0, up = static_cast<double>(dy[r]) / divisor;
    const double scale = spread[r] == 0 ? 0 : up / spread[r];
    if (spread[r] == 0 || (trusted(scale) && trusted(middle) && trusted(spread[r]))) [[likely]]
      plain(x + at, middle, scale, dx.at(at), width);
    else wide_subtract_mean({x + at, width}, middle, up, spread[r], dx.at(at));
  });
}

void norms(const real* x, double* length, real* y, index_t rows, index_t width) {
  if (rows == 1) {
    *length = norm(x, width);
    *y = static_cast<real>(*length);
    return;
  }
  const auto squares = table().sum_of_squares;
  for_each_row(rows, width, [=](index_t r, index_t at) {
    const double out = root(squares(x + at, width), {x + at, width});
    length[r] = out;
    y[r] = static_cast<real>(out);
  });
}

void cumulative_sum(const real* x, index_t outer, index_t count, index_t inner, bool reverse, Output y) {
  for_each_row(outer, count * inner, [&](index_t, index_t at) {
    const Scratch<double> total(inner);
    std::fill_n(total.data(), inner, 0.0);
    for (index_t j = 0; j < count; ++j) {
      const index_t line = at + (reverse ? count - 1 - j : j) * inner;
      for (index_t i = 0; i < inner; ++i) {
        total[i] += static_cast<double>(x[line + i]);
        y.put(line + i, total[i]);
      }
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
