#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/unary.hpp>

#include <algorithm>

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

  /// The losses themselves, or their sum times `scale()`.
  Tensor result(Array losses) const;

  /// d result / d losses, times the upstream gradient: `weights.data()[i * step()]` for loss i.
  Array weights(const Array& upstream) const;
  index_t step() const { return each_ ? 1 : 0; }

  bool each() const { return each_; }
  real scale() const { return static_cast<real>(scale_); }

 private:
  bool each_;     // Reduction::none
  double scale_;  // factor of the sum
};

LossReduction::LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape)
    : each_(reduction == Reduction::none), scale_(1) {
  if (reduction == Reduction::mean) scale_ = 1.0 / static_cast<double>(std::max<index_t>(1, counted));
  if (reduction != Reduction::batchmean) return;
  if (shape.empty()) fail_shapes<Shape>(op, "a scalar has no batch to take the mean over", {shape});
  scale_ = 1.0 / static_cast<double>(std::max<std::size_t>(1, shape[0]));
}

Tensor LossReduction::result(Array losses) const {
  if (each_) return Tensor(std::move(losses));
  return Tensor::scalar(static_cast<real>(scale_ * kernels::sum(losses.data(), static_cast<index_t>(losses.size()))));
}

Array LossReduction::weights(const Array& upstream) const {
  if (each_) return upstream;
  Array out(Shape{});
  out() = static_cast<real>(scale_) * upstream();
  return out;
}

/// The targets, with -1 for every ignored one. Throws IndexError.
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

/// In double, because a float would lose the digits of a small loss between large logits.
using LogSums = std::vector<double, PoolAllocator<double>>;

void check_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError("cross_entropy", "the label smoothing must be from 0 to 1, not " + number_text(smoothing));
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
  // dx = softmax(x) - q with the smoothed target q
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
  // dx = sum(q) softmax(x) - q with the smoothed target q; dt = (1 - smoothing) (-log softmax(x))
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

namespace {

void check_shapes(const char* op, const Tensor& input, const Tensor& target) {
  if (!same_shape(input.shape(), target.shape()))
    fail_shapes<Shape>(op, "input and target must have one shape", {input.shape(), target.shape()});
}

// The formulas of losses and derivatives are in core/kernels/isa/loss.cpp.
Tensor pointwise(const char* op, Loss f, const Tensor& input, const Tensor& target, Reduction how, real parameter = 0) {
  check_shapes(op, input, target);
  const LossReduction reduction(op, how, input.numel(), input.shape());
  Array losses(input.shape());
  kernels::pointwise_loss(f, parameter, input.data(), target.data(), losses.data(), input.numel());
  return Tape::record(
      op, {input, target}, reduction.result(std::move(losses)),
      [f, parameter, reduction, input = input.detach(), target = target.detach()](const Array& dy, Grads& g) {
        const Array weights = reduction.weights(dy);
        for (Side side : {Side::input, Side::target}) {
          const std::size_t operand = side == Side::input ? 0 : 1;
          if (!g.needs(operand)) continue;
          const Output to = g.buffer(operand);
          kernels::pointwise_loss_backward(f, parameter, side, input.data(), target.data(), weights.data(),
                                           reduction.step(), to.data, to.add, input.numel());
        }
      });
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return pointwise("mse_loss", Loss::squared, input, target, reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return pointwise("l1_loss", Loss::absolute, input, target, reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, HuberOptions options) {
  if (!(options.delta > 0))
    throw ValueError("huber_loss", "delta must be positive, but is " + number_text(options.delta));
  return pointwise("huber_loss", Loss::huber, input, target, options.reduction, options.delta);
}

Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options) {
  return options.log_target ? pointwise("kl_div_log", Loss::divergence_of_logs, input, target, options.reduction)
                            : pointwise("kl_div", Loss::divergence, input, target, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, BinaryCrossEntropyOptions options) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  if (!options.weight.defined() && !options.pos_weight.defined())
    return pointwise(op, Loss::binary_cross_entropy, logits, target, options.reduction);
  check_shapes(op, logits, target);
  for (const Tensor* weight : {&options.weight, &options.pos_weight})
    if (weight->defined() && !same_shape(broadcast_shape(op, logits.shape(), weight->shape()), logits.shape()))
      fail_shapes<Shape>(op, "a weight does not broadcast to the input", {logits.shape(), weight->shape()});
  Tensor loss;
  if (options.pos_weight.defined()) {  // (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x))
    const Tensor factor = (options.pos_weight - real(1)) * target + real(1);
    loss = (real(1) - target) * logits + factor * softplus(-logits, 1, kInfinity);
  } else {
    loss = pointwise(op, Loss::binary_cross_entropy, logits, target, Reduction::none);
  }
  if (options.weight.defined()) loss = loss * options.weight;
  const LossReduction reduction(op, options.reduction, logits.numel(), logits.shape());
  return reduction.each() ? loss : sum(loss) * reduction.scale();
}

namespace {

void add_cross_entropy_cases(GradCases& cases) {
  using Args = std::span<const Tensor>;
  const Array logits = sample({2, 3, 5}, 91, -2, 2), soft = sample({2, 3, 5}, 92, 0, 1);
  const Array wide = sample({2, 37}, 93, -2, 2), wide_soft = sample({2, 37}, 94, 0, 1);
  const IndexArray targets = {{0, 4, kIgnore}, {2, 2, 1}};
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
}

void add_pointwise_cases(GradCases& cases) {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 5}, 141, -2, 2), t = sample({2, 5}, 142, 0.1, 0.9), w = sample({5}, 143, 0.5, 2);
  const Array positive = sample({2, 5}, 144, 0.1, 0.9);
  const auto add = [&](const std::string& op, const char* title, TensorFunction f) {
    cases.push_back({op, title, {op == "kl_div" ? positive : x, t}, std::move(f)});
  };
  const auto all = [&](const char* op, const std::function<Tensor(const Tensor&, const Tensor&, Reduction)>& f) {
    add(op, "mean", [f](Args a) { return f(a[0], a[1], Reduction::mean); });
    add(op, "sum", [f](Args a) { return f(a[0], a[1], Reduction::sum); });
    add(op, "none", [f](Args a) { return f(a[0], a[1], Reduction::none); });
    add(op, "batchmean", [f](Args a) { return f(a[0], a[1], Reduction::batchmean); });
  };
  all("mse_loss", mse_loss);
  all("l1_loss", l1_loss);
  all("huber_loss", [](const Tensor& a, const Tensor& b, Reduction r) {
    return huber_loss(a, b, {.delta = real(0.7), .reduction = r});
  });
  all("binary_cross_entropy_with_logits", [](const Tensor& a, const Tensor& b, Reduction r) {
    return binary_cross_entropy_with_logits(a, b, {.reduction = r});
  });
  all("kl_div", [](const Tensor& a, const Tensor& b, Reduction r) { return kl_div(a, b, {.reduction = r}); });
  all("kl_div_log",
      [](const Tensor& a, const Tensor& b, Reduction r) { return kl_div(a, b, {.log_target = true, .reduction = r}); });
  for (Reduction r : {Reduction::mean, Reduction::none}) {
    cases.push_back({"binary_cross_entropy_with_logits", "weighted", {x, t, w}, [r](Args a) {
                       return binary_cross_entropy_with_logits(a[0], a[1], {.weight = a[2], .reduction = r});
                     }});
    cases.push_back({"softplus", "binary cross-entropy with both weights", {x, t, w}, [r](Args a) {
                       return binary_cross_entropy_with_logits(a[0], a[1],
                                                               {.weight = a[2], .pos_weight = a[2], .reduction = r});
                     }});
  }
}

}  // namespace

GradCases loss_grad_cases() {
  GradCases cases;
  add_cross_entropy_cases(cases);
  add_pointwise_cases(cases);
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
