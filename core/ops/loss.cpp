#include <xtape/core/error.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Loss;
using kernels::Side;

namespace {

/// From the losses of the elements to the result, and back.
class LossReduction {
 public:
  /// `counted` losses enter the mean; `shape` is the shape of all losses. Throws ShapeError for the batch mean of a
  /// scalar.
  LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape);

  /// The losses themselves, or their sum divided by a divisor. If that is infinite, `divide(losses, divisor)` divides
  /// each loss before it, or the sum, leaves the range.
  template <class Divide>
  Tensor result(Array losses, const Divide& divide) const;

  /// d result / d losses, times the upstream gradient: one number for each loss, or one for all.
  Array weights(const Array& upstream) const;
  index_t step() const { return each_ ? 1 : 0; }
  kernels::LossWeights view(const Array& weights) const { return {weights.data(), step()}; }

 private:
  bool each_;  // Reduction::none
  double divisor_;
};

LossReduction::LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape)
    : each_(reduction == Reduction::none), divisor_(1) {
  if (reduction == Reduction::mean) divisor_ = static_cast<double>(std::max<index_t>(1, counted));
  if (reduction != Reduction::batchmean) return;
  if (shape.rank() == 0) throw ShapeError(op, "a batch to take the mean over", shape);
  divisor_ = static_cast<double>(std::max<index_t>(1, shape[0]));
}

template <class Divide>
Tensor LossReduction::result(Array losses, const Divide& divide) const {
  if (each_) return Tensor(std::move(losses));
  const auto sum = [&losses] { return kernels::sum(losses.data(), numel(losses)); };
  double mean = sum() / divisor_;
  if (std::isinf(mean)) {
    divide(losses, divisor_);
    mean = sum();
  }
  return Tensor::scalar(static_cast<real>(mean));
}

Array LossReduction::weights(const Array& upstream) const {
  if (each_) return upstream;
  Array out = empty_array({});
  out() = static_cast<real>(static_cast<double>(upstream()) / divisor_);
  return out;
}

// The backward functions keep the tensors into which their `in` points.

/// The targets, with -1 for every ignored one. Throws IndexError.
IndexArray checked_targets(const IndexArray& targets, index_t classes, index_t ignore) {
  IndexArray out = targets;
  for (index_t& target : out) {
    if (target == ignore) target = -1;
    else if (target < 0 || target >= classes)
      fail_index("cross_entropy", "targets but the ignored " + std::to_string(ignore), target, 0, classes - 1);
  }
  return out;
}

using LogSums = std::vector<kernels::LogSum, PoolAllocator<kernels::LogSum>>;

/// The logits' shape without its last axis.
Shape batch_shape(const Tensor& logits) {
  if (logits.rank() < 1) throw ShapeError("cross_entropy", "logits [..., C]", logits.shape());
  return Shape(logits.shape().begin(), logits.shape().end() - 1);
}

void check_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError("cross_entropy", "a label smoothing from 0 to 1", smoothing);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options) {
  check_shape("cross_entropy", "targets", targets.shape(), batch_shape(logits));
  check_smoothing(options.label_smoothing);
  const kernels::CrossEntropyRows in{logits.data(), numel(targets), logits.size(-1), options.label_smoothing};
  IndexArray classes = checked_targets(targets, in.width, options.ignore);
  const index_t counted = std::count_if(classes.begin(), classes.end(), [](index_t t) { return t >= 0; });
  const LossReduction reduction("cross_entropy", options.reduction, counted, targets.shape());
  Array losses = empty_array(targets.shape());
  LogSums log_sums(targets.size());
  const auto compute = [&](Array& to, double divisor) {
    kernels::cross_entropy(in, classes.data(), divisor, to.data(), log_sums.data());
  };
  compute(losses, 1);
  const Tensor loss = reduction.result(std::move(losses), compute);
  if (Probe* probe = Probe::active()) probe->targets({in.width, counted, in.rows});
  // dx = softmax(x) - q with the smoothed target q
  return Tape::record("cross_entropy", {logits}, loss,
                      [in, logits = logits.detach(), classes = std::move(classes), log_sums = std::move(log_sums),
                       reduction](const Array& dy, Grads& g) {
                        const Array weights = reduction.weights(dy);
                        kernels::cross_entropy_backward(in, classes.data(), log_sums.data(), reduction.view(weights),
                                                        g.buffer(0));
                      });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  const Shape shape = batch_shape(logits);
  check_shape("cross_entropy", "target distributions", targets.shape(), logits.shape());
  check_smoothing(options.label_smoothing);
  const kernels::CrossEntropyRows in{logits.data(), element_count(shape), logits.size(-1), options.label_smoothing};
  const LossReduction reduction("cross_entropy", options.reduction, in.rows, shape);
  Array losses = empty_array(shape), totals = empty_array(shape);
  LogSums log_sums(losses.size());
  const auto compute = [&](Array& to, double divisor) {
    kernels::soft_cross_entropy(in, targets.data(), divisor, to.data(), log_sums.data(), totals.data());
  };
  compute(losses, 1);
  const Tensor loss = reduction.result(std::move(losses), compute);
  if (Probe* probe = Probe::active()) probe->targets({in.width, in.rows, in.rows});
  // dx = sum(q) softmax(x) - q with the smoothed target q; dt = (1 - smoothing) (-log softmax(x))
  return Tape::record("cross_entropy_soft", {logits, targets}, loss,
                      [in, logits = logits.detach(), targets = targets.detach(), log_sums = std::move(log_sums),
                       totals = Tensor(std::move(totals)), reduction](const Array& dy, Grads& g) {
                        const Array weights = reduction.weights(dy);
                        const kernels::LossWeights up = reduction.view(weights);
                        if (g.needs(0))
                          kernels::soft_cross_entropy_backward(in, targets.data(), log_sums.data(), totals.data(), up,
                                                               g.buffer(0));
                        if (g.needs(1))
                          kernels::soft_cross_entropy_target_backward(in, log_sums.data(), up, g.buffer(1));
                      });
}

namespace {

// The formulas of losses and derivatives are in core/kernels/isa/loss.cpp.
Tensor pointwise(const char* op, Loss f, const Tensor& input, const Tensor& target, Reduction how, real delta = 0) {
  check_shape(op, "a target", target.shape(), input.shape());
  const LossReduction reduction(op, how, input.numel(), input.shape());
  const kernels::LossOperands in{f, input.data(), target.data(), input.numel(), delta};
  Array losses = empty_array(input.shape());
  kernels::pointwise_loss(in, losses.data());
  const auto divide = [&](Array& each, double divisor) { kernels::divide_pointwise_loss(in, each.data(), divisor); };
  return Tape::record(op, {input, target}, reduction.result(std::move(losses), divide),
                      [in, reduction, input = input.detach(), target = target.detach()](const Array& dy, Grads& g) {
                        const Array weights = reduction.weights(dy);
                        for (Side side : {Side::input, Side::target}) {
                          const index_t operand = side == Side::input ? 0 : 1;
                          if (g.needs(operand))
                            kernels::pointwise_loss_backward(in, side, reduction.view(weights), g.buffer(operand));
                        }
                      });
}

/// A weight of the binary cross-entropy with the shape of the logits; an empty one stays empty.
Tensor broadcast_weight(const char* op, const Tensor& weight, const Tensor& logits) {
  if (!weight.defined() || weight.shape() == logits.shape()) return weight;
  if (broadcast_shape(op, logits.shape(), weight.shape()) != logits.shape())
    throw ShapeError(op, "a weight that broadcasts to " + shape_text(logits.shape()), weight.shape());
  return broadcast_to(weight, logits.shape());
}

/// factors x, read with steps of 0 or 1; 0 where the factor is 0.
Array weighted(const Array& factors, index_t step, const Array& x, index_t step_x) {
  Array out = empty_array(step ? factors.shape() : x.shape());
  kernels::binary(kernels::Binary::mul_no_nan, factors.data(), step, x.data(), step_x, out.data(), numel(out));
  return out;
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return pointwise("mse_loss", Loss::squared, input, target, reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return pointwise("l1_loss", Loss::absolute, input, target, reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, HuberOptions options) {
  if (!(options.delta > 0)) throw ValueError("huber_loss", "a positive delta", options.delta);
  return pointwise("huber_loss", Loss::huber, input, target, options.reduction, options.delta);
}

Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options) {
  return options.log_target ? pointwise("kl_div_log", Loss::divergence_of_logs, input, target, options.reduction)
                            : pointwise("kl_div", Loss::divergence, input, target, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  if (!options.weight.defined() && !options.pos_weight.defined())
    return pointwise(op, Loss::binary_cross_entropy, logits, target, options.reduction);
  check_shape(op, "a target", target.shape(), logits.shape());
  const LossReduction reduction(op, options.reduction, logits.numel(), logits.shape());
  const Tensor weight = broadcast_weight(op, options.weight, logits);
  const Tensor positive = broadcast_weight(op, options.pos_weight, logits);
  const kernels::LossOperands in{.f = Loss::binary_cross_entropy,
                                 .x = logits.data(),
                                 .t = target.data(),
                                 .n = logits.numel(),
                                 .pos_weight = positive.defined() ? positive.data() : nullptr};
  Array each = empty_array(logits.shape());
  kernels::pointwise_loss(in, each.data());
  const Tensor unweighted(std::move(each));
  Array losses = weight.defined() ? weighted(weight.value(), 1, unweighted.value(), 1) : unweighted.value();
  const auto divide = [&](Array& divided, double divisor) {
    for (index_t i = 0; i < logits.numel(); ++i) {
      const double factor = weight.defined() ? static_cast<double>(weight.data()[i]) / divisor : 1 / divisor;
      divided.data()[i] = factor == 0 ? 0 : static_cast<real>(factor * static_cast<double>(unweighted.data()[i]));
    }
  };
  const auto detached = [](const Tensor& x) { return x.defined() ? x.detach() : x; };
  return Tape::record(op, {logits, target, positive, weight}, reduction.result(std::move(losses), divide),
                      [in, reduction, unweighted, logits = logits.detach(), target = target.detach(),
                       positive = detached(positive), weight = detached(weight)](const Array& dy, Grads& g) {
                        const Array of_losses = reduction.weights(dy);
                        const bool scaled = weight.defined();
                        const Array weights =
                            scaled ? weighted(weight.value(), 1, of_losses, reduction.step()) : of_losses;
                        for (Side side : {Side::input, Side::target, Side::pos_weight}) {
                          const auto operand = static_cast<index_t>(side);
                          if (g.needs(operand))
                            kernels::pointwise_loss_backward(in, side, {weights.data(), scaled ? 1 : reduction.step()},
                                                             g.buffer(operand));
                        }
                        if (scaled && g.needs(3))
                          g.add(3, weighted(of_losses, reduction.step(), unweighted.value(), 1));
                      });
}

}  // namespace xtape::inline XTAPE_DTYPE
