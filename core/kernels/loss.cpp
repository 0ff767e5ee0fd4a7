#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/softmax.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr real kInfinity = std::numeric_limits<real>::infinity();
constexpr index_t kGrainSize = 1 << 15;  // elements

const LossTable& table() { return isa().loss; }

}  // namespace

void pointwise_loss(Loss f, real p, const real* x, const real* t, real* loss, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().value(f, p, x + begin, t + begin, loss + begin, end - begin);
  });
}

void pointwise_loss_backward(Loss f, real p, Side side, const real* x, const real* t, const real* weights, index_t step,
                             real* out, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().backward(f, p, side, x + begin, t + begin, weights + begin * step, step, out + begin, accumulate,
                     end - begin);
  });
}

void cross_entropy(const real* x, const index_t* targets, double smoothing, real* losses, double* log_sums,
                   index_t rows, index_t width) {
  const double uniform_part = smoothing / static_cast<double>(width);
  for_each_row(rows, width, [&](index_t r, index_t at) {
    losses[r] = 0;
    log_sums[r] = 0;
    if (targets[r] < 0) return;
    log_sums[r] = isa().softmax.log_sum_exp(x + at, width);
    double loss = log_sums[r] - static_cast<double>(x[at + targets[r]]);
    if (smoothing > 0)
      loss = (1 - smoothing) * loss + uniform_part * table().neg_log_prob_sum(x + at, log_sums[r], width);
    losses[r] = has_no_softmax(log_sums[r]) ? kInfinity : static_cast<real>(loss);
  });
}

void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const double* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    if (targets[r] < 0 || has_no_softmax(log_sums[r])) return write_zero_gradient(dx + at, accumulate, width);
    const real weight = weights[r * step];
    isa().softmax.scaled_exp(x + at, log_sums[r], weight, -weight * uniform_part, dx + at, accumulate, width);
    dx[at + targets[r]] -= weight * target_part;
  });
}

void soft_cross_entropy(const real* x, const real* t, double smoothing, real* losses, double* log_sums, real* totals,
                        index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    double total = 0;
    log_sums[r] = isa().softmax.log_sum_exp(x + at, width);
    losses[r] = static_cast<real>(
        table().soft_target_loss(x + at, t + at, target_part, uniform_part, log_sums[r], &total, width));
    if (has_no_softmax(log_sums[r])) losses[r] = total == 0 ? 0 : kInfinity;
    totals[r] = static_cast<real>(total);
  });
}

void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const double* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    if (has_no_softmax(log_sums[r])) return write_zero_gradient(dx + at, accumulate, width);
    const real weight = weights[r * step];
    table().scaled_exp_minus_target(x + at, log_sums[r], weight * totals[r], t + at, weight, target_part, uniform_part,
                                    dx + at, accumulate, width);
  });
}

void soft_cross_entropy_target_backward(const real* x, double smoothing, const double* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  for_each_row(rows, width, [&](index_t r, index_t at) {
    if (has_no_softmax(log_sums[r])) return write_zero_gradient(dt + at, accumulate, width);
    const real weight = weights[r * step] * target_part;
    for (index_t i = at; i < at + width; ++i) {
      const real term = weight == 0 ? 0 : weight * static_cast<real>(log_sums[r] - static_cast<double>(x[i]));
      dt[i] = accumulate ? dt[i] + term : term;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
