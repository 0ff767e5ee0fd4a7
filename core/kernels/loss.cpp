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

/// The loss of one row x with a class index as its target, over the divisor.
double class_loss(const CrossEntropyRows& in, const real* x, index_t target, LogSum log_sum, double divisor) {
  const double smoothing = in.smoothing, width = static_cast<double>(in.width), uniform = smoothing / width;
  const double shift = log_sum.shift, rest = std::log(log_sum.total);
  double loss = 0;
  if (smoothing < 1) loss = (1 - smoothing) * ((shift - static_cast<double>(x[target])) + rest);
  if (smoothing > 0) loss += uniform * (table().sum_below(x, log_sum.shift, in.width) + width * rest);
  if (std::isfinite(loss) || std::isinf(shift)) return loss / divisor;
  return wide_loss(x, log_sum, in.width, divisor,
                   [&](index_t i) { return uniform + (i == target ? 1 - smoothing : 0); });
}

/// (x - t)^2, |x - t| or the Huber loss.
long double distance_loss(Loss f, long double delta, long double x, long double t) {
  const long double d = std::abs(x - t);
  if (f == Loss::absolute) return d;
  if (f == Loss::squared) return d * d;
  return d <= delta ? d * d / 2 : delta * (d - delta / 2);
}

}  // namespace

void pointwise_loss(const LossOperands& in, real* loss) {
  parallel_ranges(in.n, kGrainSize,
                  [&](index_t begin, index_t end) { table().value(in.range(begin, end), loss + begin); });
}

void pointwise_loss_backward(const LossOperands& in, Side side, LossWeights weights, Output out) {
  parallel_ranges(in.n, kGrainSize, [&](index_t begin, index_t end) {
    table().backward(in.range(begin, end), side, {weights.data + begin * weights.step, weights.step}, out.at(begin));
  });
}

void divide_pointwise_loss(const LossOperands& in, real* loss, double divisor) {
  const bool of_distance = in.f == Loss::squared || in.f == Loss::absolute || in.f == Loss::huber;
  for (index_t i = 0; i < in.n; ++i) {
    const long double value =
        of_distance ? distance_loss(in.f, in.delta, in.x[i], in.t[i]) : static_cast<long double>(loss[i]);
    loss[i] = static_cast<real>(value / static_cast<long double>(divisor));
  }
}

void cross_entropy(const CrossEntropyRows& in, const index_t* targets, double divisor, real* losses, LogSum* log_sums) {
  for_each_row(in.rows, in.width, [&](index_t r, index_t at) {
    losses[r] = 0;
    log_sums[r] = {0, 0};
    if (targets[r] < 0) return;
    log_sums[r] = isa().softmax.log_sum_exp(in.x + at, in.width);
    losses[r] = has_no_softmax(log_sums[r])
                    ? kInfinity
                    : static_cast<real>(class_loss(in, in.x + at, targets[r], log_sums[r], divisor));
  });
}

void cross_entropy_backward(const CrossEntropyRows& in, const index_t* targets, const LogSum* log_sums,
                            LossWeights weights, Output dx) {
  const real target_part = in.target_part(), uniform_part = in.uniform_part();
  for_each_row(in.rows, in.width, [&](index_t r, index_t at) {
    const real weight = weights[r];
    if (targets[r] < 0 || weight == 0 || has_no_softmax(log_sums[r])) return put_zeros(dx.at(at), in.width);
    isa().softmax.scaled_exp(in.x + at, log_sums[r].shift,
                             static_cast<real>(static_cast<double>(weight) / log_sums[r].total),
                             uniform_part == 0 ? 0 : -weight * uniform_part, dx.at(at), in.width);
    dx.data[at + targets[r]] -= weight * target_part;
  });
}

void soft_cross_entropy(const CrossEntropyRows& in, const real* t, double divisor, real* losses, LogSum* log_sums,
                        real* totals) {
  for_each_row(in.rows, in.width, [&](index_t r, index_t at) {
    const SoftTargets row{in.x + at, t + at, in.width, in.target_part(), in.uniform_part()};
    double total = 0;
    const LogSum log_sum = log_sums[r] = isa().softmax.log_sum_exp(row.x, row.n);
    double loss = table().soft_target_loss(row, log_sum, &total) / divisor;
    if (has_no_softmax(log_sum)) loss = total == 0 ? 0 : static_cast<double>(kInfinity);
    else if (!std::isfinite(loss) && std::isfinite(log_sum.shift))
      loss = wide_loss(row.x, log_sum, row.n, divisor, [&](index_t i) { return row.a * row.t[i] + row.b; });
    losses[r] = static_cast<real>(loss);
    totals[r] = static_cast<real>(total);
  });
}

void soft_cross_entropy_backward(const CrossEntropyRows& in, const real* t, const LogSum* log_sums, const real* totals,
                                 LossWeights weights, Output dx) {
  for_each_row(in.rows, in.width, [&](index_t r, index_t at) {
    const real weight = weights[r];
    if (weight == 0 || has_no_softmax(log_sums[r])) return put_zeros(dx.at(at), in.width);
    const real scale =
        static_cast<real>(static_cast<double>(weight) * static_cast<double>(totals[r]) / log_sums[r].total);
    table().scaled_exp_minus_target({in.x + at, t + at, in.width, in.target_part(), in.uniform_part()},
                                    log_sums[r].shift, scale, weight, dx.at(at));
  });
}

void soft_cross_entropy_target_backward(const CrossEntropyRows& in, const LogSum* log_sums, LossWeights weights,
                                        Output dt) {
  for_each_row(in.rows, in.width, [&](index_t r, index_t at) {
    const double weight = static_cast<double>(weights[r]) * (1 - in.smoothing);
    if (weight == 0 || has_no_softmax(log_sums[r])) return put_zeros(dt.at(at), in.width);
    const double half_shift = static_cast<double>(log_sums[r].shift) / 2, half_rest = std::log(log_sums[r].total) / 2;
    for (index_t i = at; i < at + in.width; ++i) {  // halved: the difference may leave the range before it is weighted
      const double half = static_cast<double>(in.x[i]) / 2;
      dt.put(i, static_cast<double>(static_cast<real>(2 * (weight * ((half_shift - half) + half_rest)))));
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
