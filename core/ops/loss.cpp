#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/ops/loss_reduction.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Targets with every ignored one replaced by -1. Throws IndexError.
IndexArray checked_targets(const IndexArray& targets, index_t classes, index_t ignore) {
  IndexArray out = targets;
  for (index_t& target : out) {
    if (target == ignore) target = -1;
    else if (target < 0 || target >= classes)
      throw IndexError("cross_entropy", "target " + std::to_string(target) + " is outside 0.." +
                                            std::to_string(classes - 1) + " and is not the ignored value " +
                                            std::to_string(ignore));
  }
  return out;
}

/// In double: a float would lose the digits of a small loss between large logits.
using LogSums = std::vector<double, PoolAllocator<double>>;

void check_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError("cross_entropy", "the label smoothing must be from 0 to 1, not " + std::to_string(smoothing));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options) {
  if (logits.rank() < 1 || !same_shape(Shape(logits.shape().begin(), logits.shape().end() - 1), targets.shape()))
    fail_shapes<Shape>("cross_entropy", "targets must have the logits' shape without its last axis",
                       {logits.shape(), targets.shape()});
  check_smoothing(options.label_smoothing);
  const index_t width = logits.size(-1), rows = static_cast<index_t>(targets.size());
  IndexArray classes = checked_targets(targets, width, options.ignore);
  const index_t counted = std::count_if(classes.begin(), classes.end(), [](index_t t) { return t >= 0; });
  const LossReduction reduction("cross_entropy", options.reduction, counted, targets.shape());
  const double smoothing = options.label_smoothing;
  Array losses(targets.shape());
  LogSums log_sums(targets.size());
  kernels::cross_entropy(logits.data(), classes.data(), smoothing, losses.data(), log_sums.data(), rows, width);
  if (Probe* probe = Probe::active()) probe->classes(width);
  // dx = softmax(x) - q, q the smoothed target
  return Tape::record("cross_entropy", {logits}, reduction.result(std::move(losses)),
                      [logits = logits.detach(), classes = std::move(classes), log_sums = std::move(log_sums),
                       reduction, smoothing, rows, width](const Array& dy, Grads& g) {
                        const Array weights = reduction.weights(dy);
                        const Output to = g.buffer(0);
                        kernels::cross_entropy_backward(logits.data(), classes.data(), smoothing, log_sums.data(),
                                                        weights.data(), reduction.step(), to.data, to.add, rows, width);
                      });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  if (logits.rank() < 1 || !same_shape(logits.shape(), targets.shape()))
    fail_shapes<Shape>("cross_entropy", "target distributions must have the logits' shape",
                       {logits.shape(), targets.shape()});
  check_smoothing(options.label_smoothing);
  const Shape shape(logits.shape().begin(), logits.shape().end() - 1);
  const index_t width = logits.size(-1), rows = element_count(shape);
  const LossReduction reduction("cross_entropy", options.reduction, rows, shape);
  const double smoothing = options.label_smoothing;
  Array losses(shape), totals(shape);
  LogSums log_sums(losses.size());
  kernels::soft_cross_entropy(logits.data(), targets.data(), smoothing, losses.data(), log_sums.data(), totals.data(),
                              rows, width);
  if (Probe* probe = Probe::active()) probe->classes(width);
  // dx = sum(q) softmax(x) - q, q the smoothed target; dt = (1 - smoothing) (-log softmax(x))
  return Tape::record(
      "cross_entropy_soft", {logits, targets}, reduction.result(std::move(losses)),
      [logits = logits.detach(), targets = targets.detach(), log_sums = std::move(log_sums),
       totals = Tensor(std::move(totals)), reduction, smoothing, rows, width](const Array& dy, Grads& g) {
        const Array weights = reduction.weights(dy);
        if (g.needs(0)) {
          const Output to = g.buffer(0);
          kernels::soft_cross_entropy_backward(logits.data(), targets.data(), smoothing, log_sums.data(), totals.data(),
                                               weights.data(), reduction.step(), to.data, to.add, rows, width);
        }
        if (g.needs(1)) {
          const Output to = g.buffer(1);
          kernels::soft_cross_entropy_target_backward(logits.data(), smoothing, log_sums.data(), weights.data(),
                                                      reduction.step(), to.data, to.add, rows, width);
        }
      });
}

GradCases loss_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array logits = sample({2, 3, 5}, 91, -2, 2), soft = sample({2, 3, 5}, 92, 0, 1);
  const Array wide = sample({2, 37}, 93, -2, 2), wide_soft = sample({2, 37}, 94, 0, 1);
  const IndexArray targets = {{0, 4, kIgnore}, {2, 2, 1}};
  GradCases cases;
  const auto both = [&](const char* title, CrossEntropyOptions options) {
    cases.push_back({"cross_entropy", title, {logits}, [=](Args a) { return cross_entropy(a[0], targets, options); }});
    cases.push_back(
        {"cross_entropy_soft", title, {logits, soft}, [=](Args a) { return cross_entropy(a[0], a[1], options); }});
  };
  both("mean", {});
  both("sum", {.reduction = Reduction::sum});
  both("none", {.reduction = Reduction::none});
  both("batchmean", {.reduction = Reduction::batchmean});
  both("smoothed", {.label_smoothing = 0.2});
  both("smoothed, none", {.reduction = Reduction::none, .label_smoothing = 0.7});
  cases.push_back({"cross_entropy_soft", "wider than the lanes", {wide, wide_soft}, [](Args a) {
                     return cross_entropy(a[0], a[1], {.label_smoothing = 0.1});
                   }});
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
