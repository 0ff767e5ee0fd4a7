#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

const SoftmaxTable& table() { return level().softmax; }

/// body(offset of row) for every row, shared among threads.
template <class Body>
void for_rows(index_t rows, index_t width, const Body& body) {
  const index_t piece = std::max<index_t>(1, (index_t{1} << 13) / std::max<index_t>(1, width));
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) body(r, r * width);
  });
}

}  // namespace

void softmax(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t, index_t at) { table().softmax(x + at, y + at, width); });
}

void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width,
           [&](index_t, index_t at) { table().softmax_backward(y + at, dy + at, dx + at, accumulate, width); });
}

void log_softmax(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t, index_t at) {
    const real log_sum = table().log_sum_exp(x + at, width);
    level().elementwise.affine(x + at, 1, -log_sum, y + at, width);
  });
}

void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width,
           [&](index_t, index_t at) { table().log_softmax_backward(y + at, dy + at, dx + at, accumulate, width); });
}

void log_sum_exp(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t r, index_t at) { y[r] = table().log_sum_exp(x + at, width); });
}

void log_sum_exp_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t rows,
                          index_t width) {
  for_rows(rows, width,
           [&](index_t r, index_t at) { table().exp_shifted(x + at, y[r], dy[r], 0, dx + at, accumulate, width); });
}

void cross_entropy(const real* x, const index_t* targets, double smoothing, real* losses, real* log_sums, index_t rows,
                   index_t width) {
  const double spread = smoothing / static_cast<double>(width);
  for_rows(rows, width, [&](index_t r, index_t at) {
    losses[r] = log_sums[r] = 0;
    if (targets[r] < 0) return;
    log_sums[r] = table().log_sum_exp(x + at, width);
    losses[r] = log_sums[r] - x[at + targets[r]];
    if (smoothing > 0)
      losses[r] = static_cast<real>((1 - smoothing) * static_cast<double>(losses[r]) +
                                    spread * table().gaps(x + at, log_sums[r], width));
  });
}

void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const real* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    if (targets[r] < 0) {
      if (!accumulate) std::fill(dx + at, dx + at + width, real(0));
      return;
    }
    const real weight = weights[r * step];
    table().exp_shifted(x + at, log_sums[r], weight, -weight * spread, dx + at, accumulate, width);
    dx[at + targets[r]] -= weight * sharp;
  });
}

void soft_cross_entropy(const real* x, const real* t, double smoothing, real* losses, real* log_sums, real* totals,
                        index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    double total = 0;
    log_sums[r] = table().log_sum_exp(x + at, width);
    losses[r] = static_cast<real>(table().weighted_gaps(x + at, t + at, sharp, spread, log_sums[r], &total, width));
    totals[r] = static_cast<real>(total);
  });
}

void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const real* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    const real weight = weights[r * step];
    table().exp_shifted_less(x + at, log_sums[r], weight * totals[r], t + at, weight, sharp, spread, dx + at,
                             accumulate, width);
  });
}

void soft_cross_entropy_target_backward(const real* x, double smoothing, const real* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  for_rows(rows, width, [&](index_t r, index_t at) {
    const real weight = weights[r * step] * sharp;
    for (index_t i = at; i < at + width; ++i) {
      const real term = weight == 0 ? 0 : weight * (log_sums[r] - x[i]);
      dt[i] = accumulate ? dt[i] + term : term;
    }
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
