#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/layer_norm.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/wide_range.hpp>
#include <xtape/core/threads.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

/// Of one row outside the range of the plain loops. The divisor is sqrt(variance + eps).
WideNorm wide_norm(const Elements& x, bool subtract_mean, double eps) {
  const WideMoments moments = subtract_mean ? wide_moments(x) : WideMoments{0, wide_sum_of_squares(x)};
  return {moments.mean, std::sqrt(moments.squares / static_cast<Wide>(x.n) + static_cast<Wide>(eps))};
}

/// Row r of `in`; mean may be null.
void wide_row(const NormInput& in, index_t r, real* y, double* mean, real* inverse_std) {
  const Elements x{in.x + r * in.width, in.width};
  const WideNorm norm = wide_norm(x, mean, in.eps);
  if (mean) *mean = static_cast<double>(norm.mean);
  *inverse_std = 0;
  for (index_t i = 0; i < in.width; ++i)
    y[i] = static_cast<real>(norm.x_hat(x[i]) * static_cast<Wide>(in.weight ? in.weight[i] : 1) +
                             static_cast<Wide>(in.bias ? in.bias[i] : 0));
}

/// The first row of `in`; adds to dweight and dbias.
void wide_row_backward(const NormRows& in, Output dx, real* dweight, real* dbias) {
  const Elements x{in.x, in.width}, dy{in.dy, in.width};
  const WideNorm norm = wide_norm(x, in.mean, in.eps);
  const auto g = [&](index_t i) { return dy[i] * static_cast<Wide>(in.weight ? in.weight[i] : 1); };
  Wide mean_g = 0, mean_gn = 0;
  for (index_t i = 0; i < in.width; ++i) {
    if (in.mean) mean_g += g(i) / static_cast<Wide>(in.width);
    mean_gn += g(i) * norm.x_hat(x[i]) / static_cast<Wide>(in.width);
  }
  for (index_t i = 0; i < in.width; ++i) {
    const bool fixed = norm.divisor == 0;  // no gradient passes, whatever dy is
    const Wide x_hat = norm.x_hat(x[i]);
    const real term = fixed ? 0 : static_cast<real>((g(i) - mean_g - x_hat * mean_gn) / norm.divisor);
    if (dx.data) dx.put(i, static_cast<double>(term));
    if (dweight && !fixed) dweight[i] += static_cast<real>(dy[i] * x_hat);
    if (dbias) dbias[i] += in.dy[i];
  }
}

}  // namespace

void layer_norm(const NormInput& in, real* y, double* mean, real* inverse_std) {
  const auto plain_row = isa().layer_norm.layer_norm;
  parallel_ranges(in.rows, rows_per_task(in.width), [=](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) {
      real* to = y + r * in.width;
      double* mean_at = offset_pointer(mean, r);
      if (!plain_row(in, r, to, mean_at, inverse_std + r)) [[unlikely]]
        wide_row(in, r, to, mean_at, inverse_std + r);
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
    r += isa().layer_norm.layer_norm_backward(part(in, r, end - r), dx.at(r * in.width), weight_sums, bias_sums);
    if (r < end) wide_row_backward(part(in, r, 1), dx.at(r * in.width), weight_sums, bias_sums);
  }
}

/// The sums of dweight and dbias, which may be null, over all rows.
void wide_sums(const NormRows& in, Wide* dweight, Wide* dbias) {
  for (index_t r = 0; r < in.rows; ++r) {
    const Elements x{in.x + r * in.width, in.width}, dy{in.dy + r * in.width, in.width};
    const WideNorm norm = wide_norm(x, in.mean, in.eps);
    for (index_t i = 0; i < in.width; ++i) {
      if (dweight && norm.divisor != 0) dweight[i] += dy[i] * norm.x_hat(x[i]);
      if (dbias) dbias[i] += dy[i];
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
          if (i < bias_at) dweight.put(i, total);
          else dbias.put(i - bias_at, total);
        }
      });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
