#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/softmax.hpp>

#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr real kInfinity = std::numeric_limits<real>::infinity();
constexpr index_t kGrainSize = 1 << 15;  // elements

const LossTable& table() { return isa().loss; }

/// sum of q(i) (log(sum(exp(x))) - x[i]) / divisor in long double, for sums that left the range on the way.
template <class Target>
double wide_loss(const real* x, LogSum log_sum, index_t width, double divisor, const Target& q) {
  const long double rest = std::log(static_cast<long double>(log_sum.total));
  long double sum = 0;
  for (index_t i = 0; i < width; ++i)
    if (q(i) != 0) sum += q(i) * ((static_cast<long double>(log_sum.shift) - static_cast<long double>(x[i])) + rest);
  return static_cast<double>(sum / static_cast<long double>(divisor));
}

/// The loss of one row with a class index as its target, over the divisor.
double class_loss(const real* x, index_t target, double smoothing, LogSum log_sum, index_t width, double divisor) {
  const double shift = log_sum.shift, rest = std::log(log_sum.total), uniform = smoothing / static_cast<double>(width);
  double loss = 0;
  if (smoothing < 1) loss = (1 - smoothing) * ((shift - static_cast<double>(x[target])) + rest);
  if (smoothing > 0) loss += uniform * (table().sum_below(x, log_sum.shift, width) + static_cast<double>(width) * rest);
  if (std::isfinite(loss) || std::isinf(shift)) return loss / divisor;
  return wide_loss(x, log_sum, width, divisor, [&](index_t i) { return uniform + (i == target ? 1 - smoothing : 0); });
}

/// (x - t)^2, |x - t| or the Huber loss.
long double distance_loss(Loss f, long double delta, long double x, long double t) {
  const long double d = std::abs(x - t);
  if (f == Loss::absolute) return d;
  if (f == Loss::squared) return d * d;
  return d <= delta ? d * d / 2 : delta * (d - delta / 2);
}

}  // namespace

void pointwise_loss(Loss f, LossParameters p, const real* x, const real* t, real* loss, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().value(f, p.from(begin), x + begin, t + begin, loss + begin, end - begin);
  });
}

void pointwise_loss_backward(Loss f, LossParameters p, Side side, const real* x, const real* t, const real* weights,
                             index_t step, real* out, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().backward(f, p.from(begin), side, x + begin, t + begin, weights + begin * step, step, out + begin,
                     accumulate, end - begin);
  });
}

void divide_pointwise_loss(Loss f, LossParameters p, const real* x, const real* t, real* loss, index_t n,
                           double divisor) {
  const bool of_distance = f == Loss::squared || f == Loss::absolute || f == Loss::huber;
  for (index_t i = 0; i < n; ++i) {
    const long double value = of_distance ? distance_loss(f, p.delta, x[i], t[i]) : static_cast<long double>(loss[i]);
    loss[i] = static_cast<real>(value / static_cast<long double>(divisor));
  }
}

void cross_entropy(const real* x, const index_t* targets, double smoothing, double divisor, real* losses,
                   LogSum* log_sums, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    losses[r] = 0;
    log_sums[r] = {0, 0};
    if (targets[r] < 0) return;
    log_sums[r] = isa().softmax.log_sum_exp(x + at, width);
    losses[r] = has_no_softmax(log_sums[r])
                    ? kInfinity
                    : static_cast<real>(class_loss(x + at, targets[r], smoothing, log_sums[r], width, divisor));
  });
}

void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const LogSum* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    const real weight = weights[r * step];
    if (targets[r] < 0 || weight == 0 || has_no_softmax(log_sums[r]))
      return write_zero_gradient(dx + at, accumulate, width);
    isa().softmax.scaled_exp(x + at, log_sums[r].shift,
                             static_cast<real>(static_cast<double>(weight) / log_sums[r].total),
                             uniform_part == 0 ? 0 : -weight * uniform_part, dx + at, accumulate, width);
    dx[at + targets[r]] -= weight * target_part;
  });
}

void soft_cross_entropy(const real* x, const real* t, double smoothing, double divisor, real* losses, LogSum* log_sums,
                        real* totals, index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    double total = 0;
    const LogSum log_sum = log_sums[r] = isa().softmax.log_sum_exp(x + at, width);
    double loss = table().soft_target_loss(x + at, t + at, target_part, uniform_part, log_sum, &total, width) / divisor;
    if (has_no_softmax(log_sum)) loss = total == 0 ? 0 : static_cast<double>(kInfinity);
    else if (!std::isfinite(loss) && std::isfinite(log_sum.shift))
      loss =
          wide_loss(x + at, log_sum, width, divisor, [&](index_t i) { return target_part * t[at + i] + uniform_part; });
    losses[r] = static_cast<real>(loss);
    totals[r] = static_cast<real>(total);
  });
}

void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const LogSum* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width) {
  const real target_part = static_cast<real>(1 - smoothing);
  const real uniform_part = static_cast<real>(smoothing / static_cast<double>(width));
  for_each_row(rows, width, [&](index_t r, index_t at) {
    const real weight = weights[r * step];
    if (weight == 0 || has_no_softmax(log_sums[r])) return write_zero_gradient(dx + at, accumulate, width);
    const real scale =
        static_cast<real>(static_cast<double>(weight) * static_cast<double>(totals[r]) / log_sums[r].total);
    table().scaled_exp_minus_target(x + at, log_sums[r].shift, scale, t + at, weight, target_part, uniform_part,
                                    dx + at, accumulate, width);
  });
}

void soft_cross_entropy_target_backward(const real* x, double smoothing, const LogSum* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width) {
  for_each_row(rows, width, [&](index_t r, index_t at) {
    const double weight = static_cast<double>(weights[r * step]) * (1 - smoothing);
    if (weight == 0 || has_no_softmax(log_sums[r])) return write_zero_gradient(dt + at, accumulate, width);
    const double half_shift = static_cast<double>(log_sums[r].shift) / 2, half_rest = std::log(log_sums[r].total) / 2;
    for (index_t i = at; i < at + width; ++i) {  // halved, as the difference may leave the range before it is weighted
      const real term = static_cast<real>(2 * (weight * ((half_shift - static_cast<double>(x[i]) / 2) + half_rest)));
      dt[i] = accumulate ? dt[i] + term : term;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
