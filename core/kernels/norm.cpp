#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/norm.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {
constexpr index_t kRows = 64;  // rows added up in `real` before the sum goes on in double

index_t rows_per_task(index_t width) { return std::max<index_t>(1, (index_t{1} << 14) / std::max<index_t>(1, width)); }
}  // namespace

void layer_norm(const real* x, const real* gain, const real* bias, real eps, real* y, double* mean, real* inverse,
                index_t rows, index_t width) {
  parallel_ranges(rows, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      level().norm.layer_norm(x + r * width, gain, bias, eps, y + r * width, mean + r, inverse + r, width);
  });
}

void layer_norm_backward(const real* x, const real* gain, const double* mean, const real* inverse, const real* dy,
                         real* dx, bool accumulate, index_t rows, index_t width) {
  parallel_ranges(rows, rows_per_task(width), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r)
      level().norm.layer_norm_backward(x + r * width, gain, mean[r], inverse[r], dy + r * width, dx + r * width,
                                       accumulate, width);
  });
}

void layer_norm_gain_backward(const real* x, const double* mean, const real* inverse, const real* dy, real* dgain,
                              bool accumulate, index_t rows, index_t width) {
  const index_t blocks = (rows + kRows - 1) / kRows;
  const Scratch<real> partial(blocks * width);
  parallel_for(blocks, [&](index_t b) {
    const index_t begin = b * kRows;
    level().norm.layer_norm_gain(x + begin * width, mean + begin, inverse + begin, dy + begin * width,
                                 std::min(kRows, rows - begin), width, partial.data() + b * width, nullptr);
  });
  for (index_t i = 0; i < width; ++i) {
    double total = accumulate ? static_cast<double>(dgain[i]) : 0;
    for (index_t b = 0; b < blocks; ++b) total += static_cast<double>(partial[b * width + i]);
    dgain[i] = static_cast<real>(total);
  }
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
