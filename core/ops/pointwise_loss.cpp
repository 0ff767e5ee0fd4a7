#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/loss.hpp>
#include <xtape/core/ops/activation.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/loss_reduction.hpp>
#include <xtape/core/ops/pointwise_loss.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/select.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::Loss;
using kernels::Side;

void check_shapes(const char* op, const Tensor& input, const Tensor& target) {
  if (!same_shape(input.shape(), target.shape()))
    fail_shapes<Shape>(op, "input and target must have one shape", {input.shape(), target.shape()});
}

// Values and slopes stand side by side in core/kernels/levels/loss_level.cpp.
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
    throw ValueError("huber_loss", "delta must be positive, but is " + std::to_string(options.delta));
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

GradCases pointwise_loss_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 5}, 141, -2, 2), t = sample({2, 5}, 142, 0.1, 0.9), w = sample({5}, 143, 0.5, 2);
  const Array positive = sample({2, 5}, 144, 0.1, 0.9);
  GradCases cases;
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
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
