#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/unary.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/unary.hpp>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Unary;

// The formulas of values and derivatives are in core/kernels/isa/unary.cpp.

namespace {

enum class Saved { input, output };  // what the derivative is computed from

Tensor unary_op(const char* op, Unary f, const Tensor& x, Saved saved, kernels::Constants constants = {}) {
  Array out = empty_array(x.shape());
  kernels::unary(f, x.data(), out.data(), numel(out), constants);
  const Tensor y(std::move(out));
  const Tensor kept = saved == Saved::input ? x.detach() : y;
  return Tape::record(op, {x}, y, [f, kept, constants](const Array& dy, Grads& g) {
    kernels::unary_backward(f, kept.data(), kept.data(), dy.data(), g.buffer(0), numel(dy), constants);
  });
}

/// For a function whose derivative is expensive: it is computed together with the value and saved.
Tensor unary_op_saving_derivative(const char* op, Unary f, const Tensor& x) {
  Array y = empty_array(x.shape());
  if (!Tape::tracks({x})) {
    kernels::unary(f, x.data(), y.data(), numel(y));
    return Tape::record(op, {x}, Tensor(std::move(y)), [](const Array&, Grads&) {});
  }
  Array derivative = empty_array(x.shape());
  kernels::unary_and_derivative(f, x.data(), y.data(), derivative.data(), numel(y));
  return Tape::record(op, {x}, Tensor(std::move(y)),
                      [derivative = Tensor(std::move(derivative))](const Array& dy, Grads& g) {
                        kernels::product(dy.data(), derivative.data(), 1, g.buffer(0), numel(dy));
                      });
}

/// Also hands the values to the active probe, which counts saturated units.
Tensor probed_activation(const char* op, Unary f, const Tensor& x, Saved saved) {
  Tensor y = unary_op(op, f, x, saved);
  if (Probe* probe = Probe::active()) probe->activation(op, x, y);
  return y;
}

}  // namespace

Tensor exp(const Tensor& x) { return unary_op("exp", Unary::exp, x, Saved::output); }
Tensor expm1(const Tensor& x) { return unary_op("expm1", Unary::expm1, x, Saved::input); }
Tensor log(const Tensor& x) { return unary_op("log", Unary::log, x, Saved::input); }
Tensor log1p(const Tensor& x) { return unary_op("log1p", Unary::log1p, x, Saved::input); }
Tensor sqrt(const Tensor& x) { return unary_op("sqrt", Unary::sqrt, x, Saved::output); }
Tensor abs(const Tensor& x) { return unary_op("abs", Unary::abs, x, Saved::input); }
Tensor sin(const Tensor& x) { return unary_op("sin", Unary::sin, x, Saved::input); }
Tensor cos(const Tensor& x) { return unary_op("cos", Unary::cos, x, Saved::input); }

Tensor clamp(const Tensor& x, real low, real high) {
  if (!(low <= high)) throw ValueError("clamp", "a lower bound of at most the upper", low, high);
  return unary_op("clamp", Unary::clamp, x, Saved::input, {.a = low, .b = high});
}

Tensor tanh(const Tensor& x) { return probed_activation("tanh", Unary::tanh, x, Saved::output); }
Tensor sigmoid(const Tensor& x) { return probed_activation("sigmoid", Unary::sigmoid, x, Saved::output); }
Tensor relu(const Tensor& x) { return probed_activation("relu", Unary::relu, x, Saved::input); }
Tensor silu(const Tensor& x) { return unary_op("silu", Unary::silu, x, Saved::input); }
Tensor softsign(const Tensor& x) { return unary_op("softsign", Unary::softsign, x, Saved::input); }

Tensor leaky_relu(const Tensor& x, real negative_slope) {
  return unary_op("leaky_relu", Unary::leaky_relu, x, Saved::input, {.a = negative_slope});
}

Tensor elu(const Tensor& x, real alpha) { return unary_op("elu", Unary::elu, x, Saved::input, {.a = alpha}); }

Tensor softplus(const Tensor& x, real beta, real threshold) {
  if (!(beta > 0)) throw ValueError("softplus", "a positive beta", beta);
  return unary_op("softplus", Unary::softplus, x, Saved::input, {.a = beta, .b = threshold});
}

Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::exact ? unary_op_saving_derivative("gelu", Unary::gelu, x)
                             : unary_op_saving_derivative("gelu_tanh", Unary::gelu_tanh, x);
}

}  // namespace xtape::inline XTAPE_DTYPE
