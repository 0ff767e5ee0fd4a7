#include <xtape/core/kernels/column_totals.hpp>
#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/layer_norm.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {
index_t rows_per_task(index_t width) { return std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, width)); }
}  // namespace

void layer_norm(const real* x, const real* gain, const real* bias, real eps, real* y, double* mean, real* inverse,
                index_t rows, index_t width) {
  parallel_ranges(rows, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      level().norm.layer_norm(x + r * width, gain, bias, eps, y + r * width, mean ? mean + r : nullptr, inverse + r,
                              width);
  });
}

namespace {

/// `count` rows from `first` on.
NormRows part(const NormRows& in, index_t first, index_t count) {
  const index_t at = first * in.width;
  return {in.x + at, in.gain, in.mean ? in.mean + first : nullptr, in.inverse + first, in.dy + at, count, in.width};
}

void rows_backward(const NormRows& in, Destination dx, index_t first, index_t count, real* gain_sums, real* bias_sums) {
  level().norm.layer_norm_backward(part(in, first, count), dx.data ? dx.data + first * in.width : nullptr,
                                   dx.accumulate, gain_sums, bias_sums);
}

}  // namespace

void layer_norm_backward(const NormRows& in, Destination dx, Destination dgain, Destination dbias) {
  const index_t width = in.width, sums = (dgain.data ? width : 0) + (dbias.data ? width : 0);
  // Few rows make too few blocks for all threads: then dx by itself.
  if (sums == 0 || (dx.data && threads() > 1 && row_blocks(in.rows) < 2 * threads())) {
    parallel_ranges(in.rows, rows_per_task(width),
                    [&](index_t begin, index_t end) { rows_backward(in, dx, begin, end - begin, nullptr, nullptr); });
    dx = {};
  }
  if (sums == 0) return;
  column_totals(
      in.rows, sums, in.rows * width,
      [&](index_t first, index_t count, real* out) {
        real* of_bias = dgain.data ? out + width : out;
        rows_backward(in, dx, first, count, dgain.data ? out : nullptr, dbias.data ? of_bias : nullptr);
      },
      [&](index_t i, double total) {
        const Destination& to = dgain.data && i < width ? dgain : dbias;
        real& sum = to.data[i < width ? i : i - width];
        sum = static_cast<real>(to.accumulate ? static_cast<double>(sum) + total : total);
      });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
