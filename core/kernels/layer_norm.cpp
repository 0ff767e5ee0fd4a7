#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/layer_norm.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/wide_range.hpp>
#include <xtape/core/threads.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

index_t rows_per_task(index_t width) { return std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, width)); }

/// One row outside the range of the plain loops. The divisor is sqrt(variance + eps); if it is 0, all elements are
/// equal, and x_hat is 0.
struct WideRow {
  Wide mean = 0, divisor;

  WideRow(const real* x, bool subtract_mean, double eps, index_t width) {
    WideMoments moments{0, 0};
    if (subtract_mean) moments = wide_moments({x, width});
    else moments.squares = wide_sum_of_squares({x, width});
    mean = moments.mean;
    divisor = std::sqrt(moments.squares / static_cast<Wide>(width) + static_cast<Wide>(eps));
  }

  Wide x_hat(real x) const { return divisor == 0 ? 0 : (static_cast<Wide>(x) - mean) / divisor; }
};

void wide_row(const real* x, const real* weight, const real* bias, double eps, real* y, double* mean, real* inverse_std,
              index_t width) {
  const WideRow row(x, mean, eps, width);
  if (mean) *mean = static_cast<double>(row.mean);
  *inverse_std = 0;
  for (index_t i = 0; i < width; ++i)
    y[i] = static_cast<real>(row.x_hat(x[i]) * static_cast<Wide>(weight ? weight[i] : 1) +
                             static_cast<Wide>(bias ? bias[i] : 0));
}

/// The first row of `in`; adds to dweight and dbias.
void wide_row_backward(const NormRows& in, real* dx, bool accumulate, real* dweight, real* dbias) {
  const WideRow row(in.x, in.mean, in.eps, in.width);
  const auto g = [&](index_t i) {
    return static_cast<Wide>(in.dy[i]) * static_cast<Wide>(in.weight ? in.weight[i] : 1);
  };
  Wide mean_g = 0, mean_gn = 0;
  for (index_t i = 0; i < in.width; ++i) {
    if (in.mean) mean_g += g(i) / static_cast<Wide>(in.width);
    mean_gn += g(i) * row.x_hat(in.x[i]) / static_cast<Wide>(in.width);
  }
  for (index_t i = 0; i < in.width; ++i) {
    const bool fixed = row.divisor == 0;  // no gradient passes, whatever dy is
    const Wide x_hat = row.x_hat(in.x[i]);
    const real term = fixed ? 0 : static_cast<real>((g(i) - mean_g - x_hat * mean_gn) / row.divisor);
    if (dx) dx[i] = accumulate ? dx[i] + term : term;
    if (dweight && !fixed) dweight[i] += static_cast<real>(static_cast<Wide>(in.dy[i]) * x_hat);
    if (dbias) dbias[i] += in.dy[i];
  }
}

}  // namespace

void layer_norm(const real* x, const real* weight, const real* bias, double eps, real* y, double* mean,
                real* inverse_std, index_t rows, index_t width) {
  const auto plain_row = isa().layer_norm.layer_norm;
  parallel_ranges(rows, rows_per_task(width), [=](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) {
      const real* from = x + r * width;
      real* to = y + r * width;
      double* mean_at = offset_pointer(mean, r);
      if (!plain_row(from, weight, bias, eps, to, mean_at, inverse_std + r, width)) [[unlikely]]
        wide_row(from, weight, bias, eps, to, mean_at, inverse_std + r, width);
    }
  });
}

namespace {

/// Rows first .. first + count - 1.
NormRows part(const NormRows& in, index_t first, index_t count) {
  const index_t at = first * in.width;
  return {in.x + at,  in.weight, in.eps,  in.mean ? in.mean + first : nullptr, in.inverse_std + first,
          in.dy + at, count,     in.width};
}

/// Adds to the sums, which may be null.
void rows_backward(const NormRows& in, Output dx, index_t first, index_t count, real* weight_sums, real* bias_sums) {
  const index_t end = first + count;
  for (index_t r = first; r < end; ++r) {  // over the rows that are out of range
    const auto dx_at = [&](index_t row) { return dx.data ? dx.data + row * in.width : nullptr; };
    r += isa().layer_norm.layer_norm_backward(part(in, r, end - r), dx_at(r), dx.add, weight_sums, bias_sums);
    if (r < end) wide_row_backward(part(in, r, 1), dx_at(r), dx.add, weight_sums, bias_sums);
  }
}

/// The sums of dweight and dbias, which may be null, over all rows.
void wide_sums(const NormRows& in, Wide* dweight, Wide* dbias) {
  for (index_t r = 0; r < in.rows; ++r) {
    const NormRows now = part(in, r, 1);
    const WideRow row(now.x, in.mean, in.eps, in.width);
    for (index_t i = 0; i < in.width; ++i) {
      if (dweight && row.divisor != 0) dweight[i] += static_cast<Wide>(now.dy[i]) * row.x_hat(now.x[i]);
      if (dbias) dbias[i] += static_cast<Wide>(now.dy[i]);
    }
  }
}

}  // namespace

void layer_norm_backward(const NormRows& in, Output dx, Output dweight, Output dbias) {
  const index_t width = in.width, sums = (dweight.data ? width : 0) + (dbias.data ? width : 0);
  // With few rows there are fewer blocks than threads: then dx is computed by itself.
  if (sums == 0 || (dx.data && threads() > 1 && row_blocks(in.rows) < 2 * threads())) {
    parallel_ranges(in.rows, rows_per_task(width),
                    [&](index_t begin, index_t end) { rows_backward(in, dx, begin, end - begin, nullptr, nullptr); });
    dx = {};
  }
  if (sums == 0) return;
  const index_t bias_at = dweight.data ? width : 0;
  blocked_column_sums(
      in.rows, sums, in.rows * width,
      [&](index_t first, index_t count, real* out) {
        std::fill_n(out, sums, real(0));
        rows_backward(in, dx, first, count, dweight.data ? out : nullptr, dbias.data ? out + bias_at : nullptr);
      },
      [&](const double* totals) {
        const bool lost = !std::all_of(totals, totals + sums, [](double x) { return std::isfinite(x); });
        const Scratch<Wide> wide(lost ? sums : 0);
        std::fill_n(wide.data(), lost ? sums : 0, Wide{0});
        if (lost) wide_sums(in, dweight.data ? wide.data() : nullptr, dbias.data ? wide.data() + bias_at : nullptr);
        for (index_t i = 0; i < sums; ++i) {
          const double total = std::isfinite(totals[i]) ? totals[i] : static_cast<double>(wide[i]);
          const Output& to = i < bias_at ? dweight : dbias;
          real& sum = to.data[i < bias_at ? i : i - bias_at];
          sum = static_cast<real>(to.add ? static_cast<double>(sum) + total : total);
        }
      });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
