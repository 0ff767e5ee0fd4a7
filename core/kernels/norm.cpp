#include <xtape/core/kernels/column_totals.hpp>
#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/norm.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

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

void layer_norm_backward(const real* x, const real* gain, const double* mean, const real* inverse, const real* dy,
                         real* dx, bool accumulate, index_t rows, index_t width) {
  parallel_ranges(rows, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      level().norm.layer_norm_backward(x + r * width, gain, mean ? mean + r : nullptr, inverse[r], dy + r * width,
                                       dx + r * width, accumulate, width);
  });
}

void layer_norm_gain_backward(const real* x, const double* mean, const real* inverse, const real* dy, real* dgain,
                              bool accumulate, index_t rows, index_t width) {
  column_totals(
      rows, width, rows * width,
      [&](index_t first, index_t count, real* sums) {
        level().norm.layer_norm_gain(x + first * width, mean ? mean + first : nullptr, inverse + first,
                                     dy + first * width, count, width, sums, nullptr);
      },
      [&](index_t i, double total) {
        dgain[i] = static_cast<real>(accumulate ? static_cast<double>(dgain[i]) + total : total);
      });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
