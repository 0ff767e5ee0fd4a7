#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
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

  /// d result / d losses, times the upstream gradient: `weights.data()[i * step()]` for loss i.
  Array weights(const Array& upstream) const;
  index_t step() const { return each_ ? 1 : 0; }

 private:
  bool each_;  // Reduction::none
  double divisor_;
};

LossReduction::LossReduction(const char* op, Reduction reduction, index_t counted, const Shape& shape)
    : each_(reduction == Reduction::none), divisor_(1) {
  if (reduction == Reduction::mean) divisor_ = static_cast<double>(std::max<index_t>(1, counted));
  if (reduction != Reduction::batchmean) return;
  if (shape.empty()) throw ShapeError(op, "a batch to take the mean over", shape);
  divisor_ = static_cast<double>(std::max<std::size_t>(1, shape[0]));
}

template <class Divide>
Tensor LossReduction::result(Array losses, const Divide& divide) const {
  if (each_) return Tensor(std::move(losses));
  const auto sum = [&losses] { return kernels::sum(losses.data(), count_of(losses)); };
  double mean = sum() / divisor_;
  if (std::isinf(mean)) {
    divide(losses, divisor_);
    mean = sum();
  }
  return Tensor::scalar(static_cast<real>(mean));
}

Array LossReduction::weights(const Array& upstream) const {
  if (each_) return upstream;
  Array out(Shape{});
  out() = static_cast<real>(static_cast<double>(upstream()) / divisor_);
  return out;
}

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
  const index_t width = logits.size(-1), rows = static_cast<index_t>(targets.size());
  IndexArray classes = checked_targets(targets, width, options.ignore);
  const index_t counted = std::count_if(classes.begin(), classes.end(), [](index_t t) { return t >= 0; });
  const LossReduction reduction("cross_entropy", options.reduction, counted, targets.shape());
  const double smoothing = options.label_smoothing;
  Array losses(targets.shape());
  LogSums log_sums(targets.size());
  const auto compute = [&](Array& to, double divisor) {
    kernels::cross_entropy(logits.data(), classes.data(), smoothing, divisor, to.data(), log_sums.data(), rows, width);
  };
  compute(losses, 1);
  const Tensor loss = reduction.result(std::move(losses), compute);
  if (Probe* probe = Probe::active()) probe->classes(width);
  // dx = softmax(x) - q with the smoothed target q
  return Tape::record("cross_entropy", {logits}, loss,
                      [logits = logits.detach(), classes = std::move(classes), log_sums = std::move(log_sums),
                       reduction, smoothing, rows, width](const Array& dy, Grads& g) {
                        const Array weights = reduction.weights(dy);
                        const Output to = g.buffer(0);
                        kernels::cross_entropy_backward(logits.data(), classes.data(), smoothing, log_sums.data(),
                                                        weights.data(), reduction.step(), to.data, to.add, rows, width);
                      });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  const Shape shape = batch_shape(logits);
  check_shape("cross_entropy", "target distributions", targets.shape(), logits.shape());
  check_smoothing(options.label_smoothing);
  const index_t width = logits.size(-1), rows = element_count(shape);
  const LossReduction reduction("cross_entropy", options.reduction, rows, shape);
  const double smoothing = options.label_smoothing;
  Array losses(shape), totals(shape);
  LogSums log_sums(losses.size());
  const auto compute = [&](Array& to, double divisor) {
    kernels::soft_cross_entropy(logits.data(), targets.data(), smoothing, divisor, to.data(), log_sums.data(),
                                totals.data(), rows, width);
  };
  compute(losses, 1);
  const Tensor loss = reduction.result(std::move(losses), compute);
  if (Probe* probe = Probe::active()) probe->classes(width);
  // dx = sum(q) softmax(x) - q with the smoothed target q; dt = (1 - smoothing) (-log softmax(x))
  return Tape::record(
      "cross_entropy_soft", {logits, targets}, loss,
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

// The formulas of losses and derivatives are in core/kernels/isa/loss.cpp.
Tensor pointwise(const char* op, Loss f, const Tensor& input, const Tensor& target, Reduction how, real delta = 0) {
  check_shape(op, "a target", target.shape(), input.shape());
  const LossReduction reduction(op, how, input.numel(), input.shape());
  const kernels::LossParameters parameters = {.delta = delta};
  Array losses(input.shape());
  kernels::pointwise_loss(f, parameters, input.data(), target.data(), losses.data(), input.numel());
  const auto divide = [&](Array& each, double divisor) {
    kernels::divide_pointwise_loss(f, parameters, input.data(), target.data(), each.data(), input.numel(), divisor);
  };
  return Tape::record(
      op, {input, target}, reduction.result(std::move(losses), divide),
      [f, parameters, reduction, input = input.detach(), target = target.detach()](const Array& dy, Grads& g) {
        const Array weights = reduction.weights(dy);
        for (Side side : {Side::input, Side::target}) {
          const std::size_t operand = side == Side::input ? 0 : 1;
          if (!g.needs(operand)) continue;
          const Output to = g.buffer(operand);
          kernels::pointwise_loss_backward(f, parameters, side, input.data(), target.data(), weights.data(),
                                           reduction.step(), to.data, to.add, input.numel());
        }
      });
}

/// A weight of the binary cross-entropy with the shape of the logits; an empty one stays empty.
Tensor broadcast_weight(const char* op, const Tensor& weight, const Tensor& logits) {
  if (!weight.defined() || same_shape(weight.shape(), logits.shape())) return weight;
  if (!same_shape(broadcast_shape(op, logits.shape(), weight.shape()), logits.shape()))
    throw ShapeError(op, "a weight that broadcasts to " + shape_text(logits.shape()), weight.shape());
  return broadcast_to(weight, Axes(logits.shape().begin(), logits.shape().end()));
}

/// factors x, read with steps of 0 or 1; 0 where the factor is 0.
Array weighted(const Array& factors, index_t step, const Array& x, index_t step_x) {
  Array out(step ? factors.shape() : x.shape());
  kernels::binary(kernels::Binary::mul_no_nan, factors.data(), step, x.data(), step_x, out.data(), count_of(out));
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
  constexpr Loss f = Loss::binary_cross_entropy;
  if (!options.weight.defined() && !options.pos_weight.defined())
    return pointwise(op, f, logits, target, options.reduction);
  check_shape(op, "a target", target.shape(), logits.shape());
  const LossReduction reduction(op, options.reduction, logits.numel(), logits.shape());
  const Tensor weight = broadcast_weight(op, options.weight, logits);
  const Tensor positive = broadcast_weight(op, options.pos_weight, logits);
  const auto parameters = [](const Tensor& w) {
    return kernels::LossParameters{.pos_weight = w.defined() ? w.data() : nullptr};
  };
  Array each(logits.shape());
  kernels::pointwise_loss(f, parameters(positive), logits.data(), target.data(), each.data(), logits.numel());
  const Tensor unweighted(std::move(each));
  Array losses = weight.defined() ? weighted(weight.value(), 1, unweighted.value(), 1) : unweighted.value();
  const auto divide = [&](Array& divided, double divisor) {
    for (index_t i = 0; i < logits.numel(); ++i) {
      const double factor = weight.defined() ? static_cast<double>(weight.data()[i]) / divisor : 1 / divisor;
      divided.data()[i] = factor == 0 ? 0 : static_cast<real>(factor * static_cast<double>(unweighted.data()[i]));
    }
  };
  const auto detached = [](const Tensor& x) { return x.defined() ? x.detach() : x; };
  return Tape::record(
      op, {logits, target, positive, weight}, reduction.result(std::move(losses), divide),
      [parameters, reduction, unweighted, logits = logits.detach(), target = target.detach(),
       positive = detached(positive), weight = detached(weight)](const Array& dy, Grads& g) {
        const Array of_losses = reduction.weights(dy);
        const bool scaled = weight.defined();
        const Array weights = scaled ? weighted(weight.value(), 1, of_losses, reduction.step()) : of_losses;
        for (Side side : {Side::input, Side::target, Side::pos_weight}) {
          const auto operand = static_cast<std::size_t>(side);
          if (!g.needs(operand)) continue;
          const Output to = g.buffer(operand);
          kernels::pointwise_loss_backward(f, parameters(positive), side, logits.data(), target.data(), weights.data(),
                                           scaled ? 1 : reduction.step(), to.data, to.add, logits.numel());
        }
        if (scaled && g.needs(3)) g.add(3, weighted(of_losses, reduction.step(), unweighted.value(), 1));
      });
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
    cases.push_back({"binary_cross_entropy_with_logits", "both weights", {x, t, w}, [r](Args a) {
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
