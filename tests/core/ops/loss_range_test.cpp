// Softmax and losses where an intermediate result could leave the range of the scalar, though the result does not.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

constexpr double kMost = std::numeric_limits<real>::max();
const double kRoot = std::sqrt(kMost);
const double kLn2 = std::log(2.0);
const Limits kLossClose = {tolerance(1e-14, 1e-6), 0};

/// Scales from the bottom to the top of the range, as far as their inverse is in it too.
std::vector<double> all_scales() {
  return kDouble ? std::vector<double>{1e-300, 1e-200, 1e-20, 1, 1e20, 1e200, 1e300}
                 : std::vector<double>{1e-30, 1e-20, 1e-10, 1, 1e10, 1e20, 1e30};
}

Array scaled_by(double factor, Array x) {
  for (real& element : x) element = static_cast<real>(factor * static_cast<double>(element));
  return x;
}

std::vector<double> huge_logits() {
  return kDouble ? std::vector<double>{1e8, 1e15, 1e100, 1e300, -1e300}
                 : std::vector<double>{1e5, 1e8, 1e15, 1e38, -1e38};
}

Tensor hard(Inputs a, CrossEntropyOptions o) { return cross_entropy(a[0], indices({1}, {0}), o); }
Tensor soft(Inputs a, CrossEntropyOptions o) { return cross_entropy(a[0], Tensor(array({1, 2}, {1, 0})), o); }

}  // namespace

TEST_CASE("log_softmax, logsumexp and cross_entropy of huge equal logits") {
  for (double m : huge_logits()) {
    INFO("logits of ", m);
    const Array x = array({1, 2}, {m, m});
    const Evaluated logs = evaluate([](Inputs a) { return log_softmax(a[0]); }, {x}, array({1, 2}, {1, 0}));
    check_near(logs.value, array({1, 2}, {-kLn2, -kLn2}), kLossClose);
    check_near(logs.grads[0], array({1, 2}, {0.5, -0.5}), kLossClose);
    check_near(evaluate([](Inputs a) { return logsumexp(a[0], {-1}); }, {x}).grads[0], array({1, 2}, {0.5, 0.5}),
               kLossClose);
    for (const auto& loss : {hard, soft}) {
      const Evaluated plain = evaluate([&](Inputs a) { return loss(a, {}); }, {x});
      check_near(plain.value, array({}, {kLn2}), kLossClose);
      check_near(plain.grads[0], array({1, 2}, {-0.5, 0.5}), kLossClose);
      const Evaluated smooth = evaluate([&](Inputs a) { return loss(a, {.label_smoothing = 0.5}); }, {x});
      check_near(smooth.value, array({}, {kLn2}), kLossClose);
      check_near(smooth.grads[0], array({1, 2}, {-0.25, 0.25}), kLossClose);
    }
    const Evaluated targets = evaluate([](Inputs a) { return cross_entropy(a[0], a[1]); }, {x, array({1, 2}, {1, 0})});
    check_near(targets.grads[1], array({1, 2}, {kLn2, kLn2}), kLossClose);
  }
}

TEST_CASE("softmax and cross-entropy do not change when all logits are shifted") {
  const std::vector<double> row = {0, 0.125, -1, 3, 0.5, -2.25};
  const double shift = kDouble ? 0x1p48 : 0x1p20;  // the elements of the row stay exact beside it
  const Array dy = sample({1, 6}, 3), t = sample({1, 6}, 4, 0, 1);
  const std::vector<TensorFunction> functions = {
      [](Inputs a) { return softmax(a[0]); },
      [](Inputs a) { return log_softmax(a[0]); },
      [](Inputs a) { return cross_entropy(a[0], indices({1}, {2}), {.label_smoothing = 0.1}) * softmax(a[0]); },
      [&](Inputs a) { return cross_entropy(a[0], Tensor(t), {.reduction = Reduction::sum}) * log_softmax(a[0]); },
  };
  for (std::size_t f = 0; f < functions.size(); ++f) {
    INFO("function ", f);
    const auto at = [&](double by) {
      Array x = empty_array({1, 6});
      for (std::size_t i = 0; i < 6; ++i) x.data()[i] = static_cast<real>(row[i] + by);
      return evaluate(functions[f], {x}, dy);
    };
    const Evaluated base = at(0);
    for (double by : {shift, -shift}) {
      const Evaluated moved = at(by);
      check_near(moved.value, base.value, {tolerance(1e-13, 2e-6), 0});
      check_near(moved.grads[0], base.grads[0], {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-6)});
    }
  }
}

TEST_CASE("mean losses are finite where their sum, or one loss, is not") {
  const double m = 0.9 * kMost;
  const Array zeros = row({0, 0, 0, 0}), ones = row({1, 1, 1, 1}), top = row({m, m, m, m});
  const Limits close = {tolerance(1e-14, 1e-6), 0};
  for (const Reduction how : {Reduction::mean, Reduction::batchmean}) {
    const double root = 0.9 * kRoot;
    check_near(mse_loss(Tensor(row({root, -root, root, root})), Tensor(zeros), how).value(), array({}, {0.81 * kMost}),
               close);
    check_near(mse_loss(Tensor(row({1.8 * kRoot, 0, 0, 0})), Tensor(zeros), how).value(), array({}, {0.81 * kMost}),
               close);
    check_near(l1_loss(Tensor(top), Tensor(zeros), how).value(), array({}, {m}), close);
    check_near(l1_loss(Tensor(row({m, 0, 0, 0})), Tensor(row({-m, 0, 0, 0})), how).value(), array({}, {m / 2}), close);
    check_near(huber_loss(Tensor(top), Tensor(zeros), {.reduction = how}).value(), array({}, {m}), close);
    check_near(binary_cross_entropy_with_logits(Tensor(top), Tensor(zeros), {.reduction = how}).value(), array({}, {m}),
               close);
    check_near(kl_div(Tensor(row({-m, -m, -m, -m})), Tensor(ones), {.reduction = how}).value(), array({}, {m}), close);
    check_near(kl_div(Tensor(row({-m, -m, -m, -m})), Tensor(zeros), {.log_target = true, .reduction = how}).value(),
               array({}, {m}), close);
    check_near(binary_cross_entropy_with_logits(Tensor(row({m, 0, 0, 0})), Tensor(zeros),
                                                {.weight = Tensor(row({3, 0, 0, 0})), .reduction = how})
                   .value(),
               array({}, {0.75 * m}), close);
    const Array far = array({4, 2}, {m, -m, 0, -kInf, 0, -kInf, 0, -kInf});
    check_near(cross_entropy(Tensor(far), indices({4}, {1, 0, 0, 0}), {.reduction = how}).value(), array({}, {m / 2}),
               close);
    const Tensor targets(array({4, 2}, {0, 1, 1, 0, 1, 0, 1, 0}));
    check_near(cross_entropy(Tensor(far), targets, {.reduction = how}).value(), array({}, {m / 2}), close);
    const Array pairs = array({4, 2}, {0, -m, 0, -m, 0, -m, 0, -m});
    check_near(cross_entropy(Tensor(pairs), indices({4}, {1, 1, 1, 1}), {.reduction = how}).value(), array({}, {m}),
               close);
  }
}

TEST_CASE("losses of elements are finite where a step on the way is not") {
  const double m = 0.9 * kMost;
  const Tensor high(row({m})), low(row({-m}));
  check_near(huber_loss(high, low, {.delta = real(0.25), .reduction = Reduction::none}).value(), row({0.45 * kMost}),
             kLossClose);
  const Tensor logits(array({1, 2}, {m, -m}));
  check_near(cross_entropy(logits, indices({1}, {0}), {.label_smoothing = 0.1}).value(), array({}, {0.09 * kMost}),
             kLossClose);
  check_near(cross_entropy(logits, Tensor(array({1, 2}, {0.75, 0.25}))).value(), array({}, {0.45 * kMost}), kLossClose);
  const Evaluated e = evaluate([](Inputs a) { return cross_entropy(a[0], a[1]); },
                               {array({1, 2}, {m, -m}), array({1, 2}, {0.75, 0.25})}, array({}, {0.25}));
  check_near(e.grads[1], array({1, 2}, {0, 0.45 * kMost}), kLossClose);
  check_near(e.grads[0], array({1, 2}, {0.0625, -0.0625}), kLossClose);
}

TEST_CASE("gradients of losses are finite where a step on the way is not") {
  const double m = 0.6 * kMost;
  const Evaluated mse = evaluate([](Inputs a) { return mse_loss(a[0], a[1]); },
                                 {row({m, m, -m, 0, 0, 0, 0, 0}), row({0, -m, m, -m, 0, 0, 0, 0})});
  const Array want = row({m / 4, m / 2, -m / 2, m / 4, 0, 0, 0, 0});
  check_near(mse.grads[0], want, kLossClose);
  check_near(mse.grads[1], scaled_by(-1, want), kLossClose);
  const Evaluated steep = evaluate([](Inputs a) { return mse_loss(a[0], a[1], Reduction::none); },
                                   {row({1e-3, 0}), row({0, 0})}, row({m, m}));
  check_near(steep.grads[0], row({2e-3 * m, 0}), kLossClose);
  const Array zeros = array({1, 2}, {0, 0});
  check_near(evaluate([](Inputs a) { return log_softmax(a[0]); }, {zeros}, array({1, 2}, {m, m})).grads[0], zeros,
             {0, 0});
  const double p = 1 / (1 + std::exp(20.0));
  const Evaluated far =
      evaluate([](Inputs a) { return softmax(a[0]); }, {array({1, 2}, {0, 20})}, array({1, 2}, {m, -m}));
  check_near(static_cast<double>(far.grads[0].data()[0]), 2 * p * (1 - p) * m, {1e-5, 0});
}

TEST_CASE("mse_loss, l1_loss and huber_loss scale with their operands") {
  const Array x = sample({7}, 1), t = sample({7}, 2);
  const auto check = [&](const char* title, const std::function<TensorFunction(double)>& of, double degree) {
    const Evaluated base = evaluate(of(1), {x, t});
    for (double a : all_scales()) {
      INFO(title, " scaled by ", a);
      const Evaluated e = evaluate(of(a), {scaled_by(a, x), scaled_by(a, t)});
      const double value = static_cast<double>(base.value()) * std::pow(a, degree);
      if (value < kMost && value > 1e3 * std::numeric_limits<real>::min())
        check_near(static_cast<double>(e.value()), value, {tolerance(1e-13, 1e-5), 0});
      for (std::size_t i : {0, 1})
        check_near(e.grads[i], scaled_by(std::pow(a, degree - 1), base.grads[i]), {tolerance(1e-12, 1e-5), 0});
    }
  };
  check("mse", [](double) -> TensorFunction { return [](Inputs a) { return mse_loss(a[0], a[1]); }; }, 2);
  check("l1", [](double) -> TensorFunction { return [](Inputs a) { return l1_loss(a[0], a[1]); }; }, 1);
  check(
      "huber, quadratic part",
      [](double a) -> TensorFunction {
        return [a](Inputs in) { return huber_loss(in[0], in[1], {.delta = static_cast<real>(10 * a)}); };
      },
      2);
}
