#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr real kInfinity = std::numeric_limits<real>::infinity();

const SoftmaxTable& table() { return isa().softmax; }

/// body(offset of row) for every row, shared among threads.
template <class Body>
void for_rows(index_t rows, index_t width, const Body& body) {
  const index_t piece = std::max<index_t>(1, (index_t{1} << 13) / std::max<index_t>(1, width));
  parallel_ranges(rows, piece, [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) body(r, r * width);
  });
}

/// A row of minus infinities has no softmax, and no gradient flows to it.
bool empty_row(double log_sum) { return log_sum == static_cast<double>(-kInfinity); }

void add_nothing(real* dx, bool accumulate, index_t width) {
  if (!accumulate) std::fill(dx, dx + width, real(0));
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
    const double log_sum = table().log_sum_exp(x + at, width);
    if (empty_row(log_sum)) return void(std::fill(y + at, y + at + width, -kInfinity));
    const real high = static_cast<real>(log_sum), low = static_cast<real>(log_sum - static_cast<double>(high));
    isa().elementwise.affine(x + at, 1, -high, y + at, width);
    if (std::abs(low) > 0) isa().elementwise.affine(y + at, 1, -low, y + at, width);
  });
}

void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t, index_t at) {
    if (y[at] == -kInfinity && table().max(y + at, width) == -kInfinity) return add_nothing(dx + at, accumulate, width);
    table().log_softmax_backward(y + at, dy + at, dx + at, accumulate, width);
  });
}

void log_sum_exp(const real* x, real* y, index_t rows, index_t width) {
  for_rows(rows, width, [&](index_t r, index_t at) { y[r] = static_cast<real>(table().log_sum_exp(x + at, width)); });
}

void log_sum_exp_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t rows,
                          index_t width) {
  for_rows(rows, width, [&](index_t r, index_t at) {
    table().scaled_exp(x + at, static_cast<double>(y[r]), dy[r], 0, dx + at, accumulate, width);
  });
}

void cross_entropy(const real* x, const index_t* targets, double smoothing, real* losses, double* log_sums,
                   index_t rows, index_t width) {
  const double spread = smoothing / static_cast<double>(width);
  for_rows(rows, width, [&](index_t r, index_t at) {
    losses[r] = 0;
    log_sums[r] = 0;
    if (targets[r] < 0) return;
    log_sums[r] = table().log_sum_exp(x + at, width);
    double loss = log_sums[r] - static_cast<double>(x[at + targets[r]]);
    if (smoothing > 0) loss = (1 - smoothing) * loss + spread * table().neg_log_prob_sum(x + at, log_sums[r], width);
    losses[r] = empty_row(log_sums[r]) ? kInfinity : static_cast<real>(loss);
  });
}

void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const double* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    if (targets[r] < 0 || empty_row(log_sums[r])) return add_nothing(dx + at, accumulate, width);
    const real weight = weights[r * step];
    table().scaled_exp(x + at, log_sums[r], weight, -weight * spread, dx + at, accumulate, width);
    dx[at + targets[r]] -= weight * sharp;
  });
}

void soft_cross_entropy(const real* x, const real* t, double smoothing, real* losses, double* log_sums, real* totals,
                        index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    double total = 0;
    log_sums[r] = table().log_sum_exp(x + at, width);
    losses[r] = static_cast<real>(table().soft_target_loss(x + at, t + at, sharp, spread, log_sums[r], &total, width));
    if (empty_row(log_sums[r])) losses[r] = total == 0 ? 0 : kInfinity;
    totals[r] = static_cast<real>(total);
  });
}

void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const double* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  const real spread = static_cast<real>(smoothing / static_cast<double>(width));
  for_rows(rows, width, [&](index_t r, index_t at) {
    if (empty_row(log_sums[r])) return add_nothing(dx + at, accumulate, width);
    const real weight = weights[r * step];
    table().scaled_exp_minus_target(x + at, log_sums[r], weight * totals[r], t + at, weight, sharp, spread, dx + at,
                                    accumulate, width);
  });
}

void soft_cross_entropy_target_backward(const real* x, double smoothing, const double* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width) {
  const real sharp = static_cast<real>(1 - smoothing);
  for_rows(rows, width, [&](index_t r, index_t at) {
    if (empty_row(log_sums[r])) return add_nothing(dt + at, accumulate, width);
    const real weight = weights[r * step] * sharp;
    for (index_t i = at; i < at + width; ++i) {
      const real term = weight == 0 ? 0 : weight * static_cast<real>(log_sums[r] - static_cast<double>(x[i]));
      dt[i] = accumulate ? dt[i] + term : term;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
