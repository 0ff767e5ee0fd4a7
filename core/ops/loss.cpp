#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/ops/elementwise.hpp>
#include <xtape/core/ops/loss.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR {

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

}  // namespace

Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options) {
  if (logits.rank() < 1 || !same_shape(Shape(logits.shape().begin(), logits.shape().end() - 1), targets.shape()))
    fail_shapes<Shape>("cross_entropy", "targets must have the logits' shape without its last axis",
                       {logits.shape(), targets.shape()});
  const index_t width = logits.extent(-1), rows = static_cast<index_t>(targets.size());
  IndexArray classes = checked_targets(targets, width, options.ignore);
  const index_t counted = std::count_if(classes.begin(), classes.end(), [](index_t t) { return t >= 0; });
  Array losses(targets.shape()), log_sums(targets.shape());
  kernels::cross_entropy(logits.data(), classes.data(), losses.data(), log_sums.data(), rows, width);
  const bool each = options.reduction == Reduction::none;
  const double scale =
      options.reduction == Reduction::mean ? 1.0 / static_cast<double>(std::max<index_t>(1, counted)) : 1.0;
  Tensor loss =
      each ? Tensor(std::move(losses)) : Tensor::scalar(static_cast<real>(scale * kernels::sum(losses.data(), rows)));
  return Tape::record("cross_entropy", {logits}, std::move(loss),
                      [logits = logits.detach(), classes = std::move(classes), log_sums = Tensor(std::move(log_sums)),
                       each, scale, rows, width](const Array& dy, Grads& g) {
                        Array weights(log_sums.shape());  // d loss / d losses[r]
                        if (each) std::copy_n(dy.data(), rows, weights.data());
                        else kernels::fill(weights.data(), static_cast<real>(scale) * *dy.data(), rows);
                        const Destination to = g.buffer(0);
                        kernels::cross_entropy_backward(logits.data(), classes.data(), log_sums.data(), weights.data(),
                                                        to.data, to.accumulate, rows, width);
                      });
}

GradCases loss_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array logits = sample({2, 3, 5}, 91, -2, 2);
  const IndexArray targets = {{0, 4, kIgnore}, {2, 2, 1}};
  GradCases cases;
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    cases.push_back({"cross_entropy",
                     reduction == Reduction::mean  ? "mean"
                     : reduction == Reduction::sum ? "sum"
                                                   : "none",
                     {logits},
                     [=](Args a) { return cross_entropy(a[0], targets, {.reduction = reduction}); }});
  return cases;
}

}  // namespace xtape::inline XTAPE_FLAVOUR
