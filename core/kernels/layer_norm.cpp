#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/layer_norm.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/threads.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {
index_t rows_per_task(index_t width) { return std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, width)); }
}  // namespace

void layer_norm(const real* x, const real* weight, const real* bias, real eps, real* y, double* mean, real* inverse_std,
                index_t rows, index_t width) {
  parallel_ranges(rows, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      isa().layer_norm.layer_norm(x + r * width, weight, bias, eps, y + r * width, mean ? mean + r : nullptr,
                                  inverse_std + r, width);
  });
}

namespace {

/// Rows first .. first + count - 1.
NormRows part(const NormRows& in, index_t first, index_t count) {
  const index_t at = first * in.width;
  return {in.x + at, in.weight, in.mean ? in.mean + first : nullptr, in.inverse_std + first, in.dy + at,
          count,     in.width};
}

void rows_backward(const NormRows& in, Output dx, index_t first, index_t count, real* weight_sums, real* bias_sums) {
  isa().layer_norm.layer_norm_backward(part(in, first, count), dx.data ? dx.data + first * in.width : nullptr, dx.add,
                                       weight_sums, bias_sums);
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
  blocked_column_sums(
      in.rows, sums, in.rows * width,
      [&](index_t first, index_t count, real* out) {
        real* bias_sums = dweight.data ? out + width : out;
        rows_backward(in, dx, first, count, dweight.data ? out : nullptr, dbias.data ? bias_sums : nullptr);
      },
      [&](index_t i, double total) {
        const Output& to = dweight.data && i < width ? dweight : dbias;
        real& sum = to.data[i < width ? i : i - width];
        sum = static_cast<real>(to.add ? static_cast<double>(sum) + total : total);
      });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
