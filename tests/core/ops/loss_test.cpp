// Losses: cross-entropy of class indices and of distributions, elementwise losses, options, edges, errors. Values
// without a formula are PyTorch 1.13's.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

Evaluated loss_of(const Array& logits, const IndexArray& targets, CrossEntropyOptions options = {}) {
  return evaluate([&](Inputs a) { return cross_entropy(a[0], targets, options); }, {logits});
}

const double kLse = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0));  // logsumexp of the logits 1, 2, 3

}  // namespace

TEST_CASE("cross-entropy of large logits is not clamped") {
  const Array logits = array({1, 2}, {1000, 0});
  const Evaluated wrong = loss_of(logits, {1});
  check_equal(wrong.value, array({}, {1000}));
  check_equal(wrong.grads[0], array({1, 2}, {1, -1}));
  const Evaluated right = loss_of(logits, {0});
  check_equal(right.value, array({}, {0}));
  check_equal(right.grads[0], array({1, 2}, {0, 0}));
}

TEST_CASE("a small loss between large logits keeps its precision") {
  const Evaluated got = loss_of(array({1, 2}, {4096, 4086}), {0});
  const double rest = std::exp(-10.0);
  check_near(got.value, array({}, {std::log1p(rest)}), {tolerance(1e-8, 1e-5), 0});
  check_near(got.grads[0], array({1, 2}, {-rest / (1 + rest), rest / (1 + rest)}), {tolerance(1e-8, 1e-3), 0});
}

TEST_CASE("ignored targets do not contribute to the loss") {
  const Array logits = array({2, 3}, {1, 2, 3, 1, 2, 3});
  const Evaluated half = loss_of(logits, {2, kIgnore});
  check_near(half.value, array({}, {0.4076059644}));
  check_near(half.grads[0], array({2, 3}, {0.0900305732, 0.2447284711, -0.3347590442, 0, 0, 0}));
  for (int i = 3; i < 6; ++i) CHECK(half.grads[0].data()[i] == 0);
}

TEST_CASE("if every target is ignored, the loss and its gradient are zero") {
  const Array logits = array({2, 3}, {1, 2, 3, 1, 2, 3});
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Evaluated got = loss_of(logits, {kIgnore, kIgnore}, {.reduction = reduction});
    check_equal(got.value, array({}, {0}));
    check_equal(got.grads[0], Tensor::zeros({2, 3}).value());
  }
  const Evaluated each = loss_of(logits, {kIgnore, kIgnore}, {.reduction = Reduction::none});
  check_equal(each.value, row({0, 0}));
  check_equal(each.grads[0], Tensor::zeros({2, 3}).value());
}

TEST_CASE("an ignored row may hold NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Evaluated got = loss_of(array({2, 2}, {nan, nan, 0, 0}), {kIgnore, 1});
  check_near(got.value, array({}, {std::log(2.0)}));
  check_near(got.grads[0], array({2, 2}, {0, 0, 0.5, -0.5}));
}

TEST_CASE("reductions of cross-entropy") {
  const Array logits = array({2, 1, 2}, {0, 0, 3, 1});
  const double first = std::log(2.0), second = std::log1p(std::exp(2.0));
  IndexArray targets = {0, 1};
  targets.reshape({2, 1});
  check_near(loss_of(logits, targets, {.reduction = Reduction::none}).value, array({2, 1}, {first, second}));
  check_near(loss_of(logits, targets, {.reduction = Reduction::sum}).value, array({}, {first + second}));
  check_near(loss_of(logits, targets).value, array({}, {(first + second) / 2}));
}

TEST_CASE("the gradient of cross-entropy is softmax minus one-hot, for many widths") {
  for (const index_t width : {1, 2, 15, 16, 17, 65, 600, 1500}) {
    INFO(width);
    const Array logits = sample({3, width}, width, -4, 4);
    const IndexArray targets = {0, static_cast<index_t>(width) - 1, static_cast<index_t>(width) / 2};
    const Evaluated got = loss_of(logits, targets, {.reduction = Reduction::sum});
    Array want = softmax(Tensor(logits)).value();
    double loss = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      const auto target = static_cast<std::size_t>(targets(r));
      loss -= std::log(static_cast<double>(want(r, target)));
      want(r, target) -= 1;
    }
    check_near(got.value, array({}, {loss}), {tolerance(1e-12, 1e-6), tolerance(1e-13, 1e-6)});
    check_near(got.grads[0], want, {tolerance(1e-11, 1e-5), tolerance(1e-14, 1e-6)});
  }
}

TEST_CASE("cross-entropy of rows with infinite logits") {
  check_equal(loss_of(array({1, 2}, {-kInf, 1}), {1}).value, array({}, {0}));
  const Evaluated impossible = loss_of(array({1, 2}, {-kInf, 1}), {0});
  check_equal(impossible.value, array({}, {kInf}));
  check_equal(impossible.grads[0], array({1, 2}, {-1, 1}));
  const Evaluated nothing = loss_of(array({1, 2}, {-kInf, -kInf}), {0});
  check_equal(nothing.value, array({}, {kInf}));
  check_equal(nothing.grads[0], array({1, 2}, {0, 0}));
}

TEST_CASE("a target out of range is refused before anything is written") {
  Parameter logits("logits", array({1, 3}, {1, 2, 3}));
  logits.set_grad(array({1, 3}, {7, 8, 9}));
  for (const index_t bad : {index_t{-4}, index_t{3}, index_t{-1}, index_t{1} << 31, index_t{255}}) {
    Tape tape;
    check_throws<IndexError>(
        [&] { (void)cross_entropy(logits, IndexArray{bad}); },
        "[cross_entropy] expected targets but the ignored -100 in 0..2, got " + std::to_string(bad));
  }
  check_equal(logits.grad(), array({1, 3}, {7, 8, 9}));
  check_equal(cross_entropy(logits, IndexArray{255}, {.ignore = 255}).value(), array({}, {0}));
  check_near(cross_entropy(logits, IndexArray{2}, {.ignore = 0}).value(), array({}, {0.4076059644}));
  check_equal(cross_entropy(logits, IndexArray{0}, {.ignore = 0}).value(),
              array({}, {0}));  // the id of a class may be the ignored value
}

TEST_CASE("targets of the wrong shape are refused") {
  const Tensor logits = Tensor::zeros({2, 3});
  check_throws<ShapeError>([&] { (void)cross_entropy(logits, IndexArray{0, 1, 2}); },
                           "[cross_entropy] expected targets of shape (2), got (3)");
  check_throws<ShapeError>([&] { (void)cross_entropy(logits, IndexArray::from_shape({2, 1})); },
                           "[cross_entropy] expected targets of shape (2), got (2,1)");
  check_throws<ShapeError>([&] { (void)cross_entropy(Tensor::scalar(1), IndexArray{0}); },
                           "[cross_entropy] expected logits [..., C], got ()");
}

TEST_CASE("label smoothing spreads a part of each target over all classes") {
  const Array logits = array({2, 3}, {1, 2, 3, 0, 1, -1});
  const IndexArray targets = indices({2}, {2, kIgnore});
  for (double smoothing : {0.0, 0.1, 0.3, 1.0}) {
    const auto f = [&](Inputs x) { return cross_entropy(x[0], targets, {.label_smoothing = smoothing}); };
    const Evaluated e = evaluate(f, {logits});
    check_near(e.value, array({}, {(1 - smoothing) * (kLse - 3) + smoothing * (kLse - 2)}));
    Array want = empty_array({2, 3});
    for (std::size_t i = 0; i < 3; ++i) {
      want(0, i) =
          static_cast<real>(std::exp(static_cast<double>(i + 1) - kLse) - smoothing / 3 - (i == 2 ? 1 - smoothing : 0));
      want(1, i) = 0;  // an ignored row gets a gradient of exactly zero
    }
    check_near(e.grads[0], want, {tolerance(1e-9, 1e-5), tolerance(1e-12, 2e-7)});
  }
}

TEST_CASE("soft targets that are one-hot rows give the loss of the class indices") {
  const Array logits = sample({4, 7}, 1, -3, 3);
  const IndexArray targets = indices({4}, {3, 0, 6, 3});
  Array soft = Tensor::zeros({4, 7}).value();
  for (std::size_t r = 0; r < 4; ++r) soft(r, static_cast<std::size_t>(targets(r))) = 1;
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none, Reduction::batchmean}) {
    const CrossEntropyOptions options{.reduction = reduction, .label_smoothing = 0.2};
    const Evaluated hard = evaluate([&](Inputs x) { return cross_entropy(x[0], targets, options); }, {logits});
    const Evaluated same = evaluate([&](Inputs x) { return cross_entropy(x[0], Tensor(soft), options); }, {logits});
    check_near(same.value, hard.value);
    check_near(same.grads[0], hard.grads[0], {tolerance(1e-9, 1e-5), tolerance(1e-12, 3e-7)});
  }
}

TEST_CASE("soft targets need not be normalized and get a gradient") {
  const Array logits = array({2, 3}, {1, 2, 3, 0, 1, -1}), targets = array({2, 3}, {0.2, 0.3, 0.5, 0, 0.5, 0.6});
  const auto f = [](Inputs x) { return cross_entropy(x[0], x[1], {.label_smoothing = 0.1}); };
  const Evaluated e = evaluate(f, {logits, targets});
  const double second = std::log(1 + std::exp(1.0) + std::exp(-1.0));
  check_near(e.value, array({}, {1.3809484}), {1e-6, 0});
  const double part = 0.9 / 2;
  check_near(e.grads[1], array({2, 3}, {part * (kLse - 1), part * (kLse - 2), part * (kLse - 3), part * second,
                                        part * (second - 1), part * (second + 1)}));
}

TEST_CASE("a class of probability 0 may have a logit of minus infinity") {
  const auto f = [](Inputs x) { return cross_entropy(x[0], x[1]); };
  const Evaluated e = evaluate(f, {row({-kInf, 0, 0}), row({0, 0.5, 0.5})});
  check_near(e.value, array({}, {std::log(2.0)}));
  check_near(e.grads[0], row({0, 0, 0}), {0, tolerance(1e-12, 1e-7)});
}

TEST_CASE("cross-entropy refuses soft targets and options that do not match") {
  const Tensor logits = array({1, 3}, {1, 2, 3}), short_row = array({1, 2}, {0.5, 0.5});
  const IndexArray target = indices({1}, {0});
  check_throws<ShapeError>([&] { cross_entropy(logits, short_row); },
                           "[cross_entropy] expected target distributions of shape (1,3), got (1,2)");
  for (double bad : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    check_throws<ValueError>([&] { cross_entropy(logits, target, {.label_smoothing = bad}); },
                             "[cross_entropy] expected a label smoothing from 0 to 1, got");
    check_throws<ValueError>([&] { cross_entropy(logits, logits, {.label_smoothing = bad}); }, "[cross_entropy]");
  }
}

TEST_CASE("mse, l1 and huber losses") {
  const Tensor a = row({1, -2, 0.5, 3}), b = row({0.5, 0, 2, 3});
  check_near(mse_loss(a, b).value(), array({}, {1.625}));
  check_near(mse_loss(a, b, Reduction::sum).value(), array({}, {6.5}));
  check_near(l1_loss(a, b).value(), array({}, {1}));
  check_near(l1_loss(a, b, Reduction::none).value(), row({0.5, 2, 1.5, 0}));
  check_near(huber_loss(a, b, {.delta = real(1.5), .reduction = Reduction::none}).value(),
             row({0.125, 1.875, 1.125, 0}));
  const auto f = [](Inputs x) { return huber_loss(x[0], x[1], {.delta = real(1.5), .reduction = Reduction::sum}); };
  const Evaluated e = evaluate(f, {a.value(), b.value()});
  check_near(e.grads[0], row({0.5, -1.5, -1.5, 0}));
  check_near(e.grads[1], row({-0.5, 1.5, 1.5, 0}));
}

TEST_CASE(
    "reductions of elementwise losses: mean over all elements, batch mean over the first axis, 0 without elements") {
  const Tensor a = array({2, 3}, {1, 2, 3, 4, 5, 6}), zero = Tensor::zeros({2, 3}), none = Tensor::zeros({0, 3});
  check_near(mse_loss(a, zero).value(), array({}, {91.0 / 6}));
  check_near(mse_loss(a, zero, Reduction::batchmean).value(), array({}, {91.0 / 2}));
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::batchmean})
    check_equal(mse_loss(none, none, reduction).value(), array({}, {0}));
  check_throws<ShapeError>([] { l1_loss(Tensor::scalar(1), Tensor::scalar(2), Reduction::batchmean); },
                           "[l1_loss] expected a batch to take the mean over, got ()");
}

TEST_CASE("binary cross-entropy from logits, plain and weighted") {
  const Array x = row({1, -2, 0.5, 3}), t = row({0, 1, 0.3, 0.9});
  const auto plain = [](Inputs a) {
    return binary_cross_entropy_with_logits(a[0], a[1], {.reduction = Reduction::none});
  };
  const Evaluated e = evaluate(plain, {x, t});
  check_near(e.value, row({1.3132616875, 2.1269280110, 0.8240769842, 0.3485873516}), {tolerance(1e-9, 1e-6), 0});
  check_near(e.grads[0], row({0.7310585786, -0.8807970780, 0.3224593312, 0.0525741268}), {tolerance(1e-9, 1e-5), 0});
  check_near(e.grads[1], row({-1, 2, -0.5, -3}));
  const Tensor weight = row({1, 2, 3, 4}), positive = Tensor::scalar(2);
  const auto weighted = [&](Inputs a) {
    return binary_cross_entropy_with_logits(a[0], a[1],
                                            {.weight = weight, .pos_weight = positive, .reduction = Reduction::none});
  };
  const Evaluated w = evaluate(weighted, {x, t});
  check_near(w.value, row({1.3133, 8.5077, 2.8989, 1.5693}), {0, 6e-5});
  check_near(w.grads[0], row({0.7311, -3.5232, 0.6276, 0.0396}), {0, 6e-5});
  check_near(w.grads[1], row({-0.6867, 8.2539, -0.0778, -11.8057}), {0, 6e-5});
  const Tensor all = binary_cross_entropy_with_logits(x, t, {.weight = weight});
  check_near(all.value(), array({}, {(1.3132616875 + 2 * 2.1269280110 + 3 * 0.8240769842 + 4 * 0.3485873516) / 4}),
             {tolerance(1e-9, 1e-6), 0});
}

TEST_CASE("binary cross-entropy neither overflows nor loses precision") {
  const auto f = [](Inputs a) { return binary_cross_entropy_with_logits(a[0], a[1], {.reduction = Reduction::none}); };
  const Evaluated e = evaluate(f, {row({1000, -1000, 50, kInf, -kInf, 1000}), row({1, 0, 1, 1, 0, 0})});
  check_near(e.value, row({0, 0, std::exp(-50.0), 0, 0, 1000}), {tolerance(1e-12, 1e-6), 0});
  check_near(e.grads[0], row({0, 0, -std::exp(-50.0), 0, 0, 1}), {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("Kullback-Leibler divergence of probabilities and of log probabilities") {
  const Array x = row({std::log(0.2), std::log(0.3), std::log(0.5)}), p = row({0.5, 0.5, 0});
  const double want = 0.5 * std::log(0.5 / 0.2) + 0.5 * std::log(0.5 / 0.3);
  check_near(kl_div(x, p, {.reduction = Reduction::sum}).value(), array({}, {want}));
  check_near(kl_div(x, p).value(), array({}, {want / 3}));
  Array batch = x, target = p;
  batch.reshape({1, 3});
  target.reshape({1, 3});
  check_near(kl_div(batch, target, {.reduction = Reduction::batchmean}).value(), array({}, {want}));
  const Array logs = row({std::log(0.5), std::log(0.5), -kInf});
  check_near(kl_div(x, logs, {.log_target = true, .reduction = Reduction::sum}).value(), array({}, {want}));
}

TEST_CASE("a target of 0 adds nothing to the Kullback-Leibler divergence, even if the input is minus infinity") {
  const auto f = [](Inputs a) { return kl_div(a[0], a[1], {.reduction = Reduction::none}); };
  const Evaluated e = evaluate(f, {row({-kInf, -1}), row({0, 0})});
  check_equal(e.value, row({0, 0}));
  check_equal(e.grads[0], row({0, 0}));
  check_equal(e.grads[1], row({0, 0}));
  const auto logs = [](Inputs a) { return kl_div(a[0], a[1], {.log_target = true, .reduction = Reduction::none}); };
  const Evaluated l = evaluate(logs, {row({-kInf, -1}), row({-kInf, -kInf})});
  check_equal(l.value, row({0, 0}));
  check_equal(l.grads[0], row({0, 0}));
  check_equal(l.grads[1], row({0, 0}));
}

TEST_CASE("pointwise losses refuse shapes and options that do not match") {
  const Tensor a = row({1, 2}), b = array({1, 2}, {1, 2}), three = row({1, 2, 3});
  check_throws<ShapeError>([&] { mse_loss(a, b); }, "[mse_loss] expected a target of shape (2), got (1,2)");
  check_throws<ShapeError>([&] { l1_loss(a, b); }, "[l1_loss]");
  check_throws<ShapeError>([&] { huber_loss(a, b); }, "[huber_loss]");
  check_throws<ShapeError>([&] { kl_div(a, b); }, "[kl_div]");
  check_throws<ShapeError>([&] { kl_div(a, b, {.log_target = true}); }, "[kl_div_log]");
  check_throws<ShapeError>([&] { binary_cross_entropy_with_logits(a, b); }, "[binary_cross_entropy_with_logits]");
  check_throws<ShapeError>([&] { binary_cross_entropy_with_logits(a, a, {.weight = three}); },
                           "expected shapes that broadcast");
  check_throws<ShapeError>([&] { binary_cross_entropy_with_logits(a, a, {.pos_weight = b}); },
                           "expected a weight that broadcasts to");
  for (real delta : {real(0), real(-1), std::numeric_limits<real>::quiet_NaN()})
    check_throws<ValueError>([&] { huber_loss(a, a, {.delta = delta}); },
                             "[huber_loss] expected a positive delta, got");
}
